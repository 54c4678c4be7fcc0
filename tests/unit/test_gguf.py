"""A GGUF file is known for what it is before llama.cpp gets it: whole, cut, damaged, or no model that chats."""

from __future__ import annotations

import contextlib
import re
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.backends.models import gguf
from mnemic.backends.models.gguf import GgufError
from mnemic.backends.models.llama import LlamaModel
from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Turn
from tests.unit.gguf_files import Q8_0, write_gguf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tiny.gguf"


def test_a_whole_file_tells_its_context_its_template_and_what_steers_it(path: Path) -> None:
    assert gguf.read(write_gguf(path)) == gguf.GgufFile(context=4096, template=True, controls=("<|end|>",))


def test_a_file_may_leave_out_what_it_does_not_know(path: Path) -> None:
    write_gguf(
        path, llama__context_length=None, tokenizer__chat_template=None, tokenizer__ggml__token_type=None, kind=Q8_0
    )
    assert gguf.read(path) == gguf.GgufFile(context=0, template=False, controls=())


def test_a_file_cut_anywhere_is_refused(path: Path) -> None:
    whole = write_gguf(path).read_bytes()
    for length in [*range(0, len(whole), 11), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(GgufError, match=r"is no GGUF file|inside its description|is cut off"):
            gguf.read(path)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(at=st.integers(0, 450), byte=st.integers(0, 255))
def test_a_damaged_byte_is_read_or_refused_and_nothing_else(path: Path, at: int, byte: int) -> None:
    damaged = bytearray(write_gguf(path).read_bytes())
    damaged[at] = byte
    path.write_bytes(damaged)
    with contextlib.suppress(GgufError):
        gguf.read(path)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"version": 1}, "GGUF version 1"),
        ({"tensors": 0}, "names 0 tensors"),
        ({"general__architecture": None}, "does not tell its architecture"),
        ({"general__architecture": "clip"}, "writes no text"),
        ({"general__architecture": "bert"}, "writes no text"),
        ({"split__count": 3}, "one of 3 parts"),
        ({"tokenizer__ggml__tokens": None}, "has no vocabulary"),
    ],
)
def test_a_file_that_is_no_whole_language_model_is_refused(path: Path, changed: dict[str, int], told: str) -> None:
    with pytest.raises(GgufError, match=told):
        gguf.read(write_gguf(path, **changed))


def test_a_length_that_cannot_be_is_refused_before_it_is_read(path: Path) -> None:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 1 << 60))
    with pytest.raises(GgufError, match="cannot be"):
        gguf.read(path)


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04 a zip", b"GGUF\x03\0\0\0"])
def test_the_model_of_such_a_file_says_so_at_its_first_call(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    model = LlamaModel(path, context=1_024, threads=1, timeout=1)
    with pytest.raises(LanguageError, match=rf"tiny cannot be loaded: {re.escape(str(path))}") as caught:
        model.complete(Prompt((Turn("user", "Hello"),)))
    assert caught.value.fields["passing"] is False


def test_a_file_that_has_gone_is_named(path: Path) -> None:
    with pytest.raises(LanguageError, match=r"tiny cannot be read: .*No such file.*llm_model"):
        LlamaModel(path, context=1_024, threads=1, timeout=1).complete(Prompt((Turn("user", "Hello"),)))
