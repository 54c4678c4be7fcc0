"""The faces that are written from the library's verbs are what would be written now, and lack none of them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

from mnemic import AsyncClient, AsyncMemory, Client, Memory
from mnemic.wire.routes import BY_VERB
from tests.services.opened import open_memory
from tools import faces
from tools.verbs import AT_THE_MACHINE, PAGED

WRITTEN = faces.pages()


@pytest.mark.parametrize("name", WRITTEN)
def test_the_faces_are_as_they_would_be_written_now(name: str) -> None:
    there = (faces.SOURCE / name).read_text("utf-8")
    assert there == WRITTEN[name], "the verbs have changed: run `./dev faces`"


def verbs(face: object) -> Iterator[str]:
    """Yield the verbs of a face and of its groups."""
    for name, found in inspect.getmembers(face):
        if name.startswith("_"):
            continue
        if inspect.ismethod(found):
            yield name
        elif type(found).__module__.startswith("mnemic.") and hasattr(found, "_line"):
            yield from (f"{name}.{inner}" for inner in verbs(found))


def test_a_client_has_every_verb_that_a_server_has() -> None:
    with Client() as client:
        assert set(verbs(client)) == {*BY_VERB, *PAGED, "close"}


def test_what_does_not_travel_is_there_and_has_a_reason(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for name, reason in AT_THE_MACHINE.items():
            attrgetter(name)(memory)  # raises for what is not there any more
            assert reason and not any(verb == name or verb.startswith(f"{name}.") for verb in BY_VERB)


@pytest.mark.parametrize("face", [Client, AsyncClient, AsyncMemory])
def test_arguments_have_the_names_and_defaults_of_the_memory(face: type) -> None:
    for name, method in inspect.getmembers(face, inspect.isfunction):
        original = getattr(Memory, name, None)
        if name.startswith("_") or original is None or name == "close":
            continue
        given = dict(inspect.signature(method).parameters)
        told = dict(inspect.signature(original).parameters)
        assert list(given) == list(told), name
        differing = {
            each for each in told if (given[each].kind, given[each].default) != (told[each].kind, told[each].default)
        }
        assert differing <= ({"user"} if face is not AsyncMemory else set()), name


def test_a_client_brings_in_nothing_of_a_memory() -> None:
    heavy = ("numpy", "sqlalchemy", "onnxruntime", "mnemic.api", "mnemic.wiring", "mnemic.core")
    asked = f"import sys; from mnemic import Client; Client().close(); print([m for m in {heavy} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[]"
