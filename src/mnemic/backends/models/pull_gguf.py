"""Brings a language model as a GGUF file from the Hugging Face hub into a folder of ours, checked before it is there.

Of a repository's many files one is taken, by its quantization, with the licence; never code.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.backends.models import gguf
from mnemic.backends.models.hub import TIMEOUT, hub
from mnemic.backends.models.pull import safe_name
from mnemic.errors import InputError, LanguageError

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recommended:
    """A model that is worth a try: `file` is what `pull` takes of `name`, `bytes` its size, about."""

    name: str
    file: str
    bytes: int
    licence: str
    good_for: str


RECOMMENDED: Final = (
    Recommended(
        "Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf", 2_497_280_256, "Apache-2.0",
        "refining and answers in some hundred languages; wants 5 GB of memory, and a fast CPU or a GPU",
    ),
    Recommended(
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf", 1_117_320_736, "Apache-2.0",
        "refining short conversations in some thirty languages on any machine",
    ),
    Recommended(
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf", 1_060_000_000, "Apache-2.0",
        "short answers in English on any machine",
    ),
)  # fmt: skip

USUAL: Final = ("Q4_K_M", "Q4_K_S", "Q5_K_M", "Q4_0", "Q5_0", "Q6_K", "Q8_0", "BF16", "F16")
"""Which quantization is taken when none is named: the first of these that the repository has."""
_QUANTIZED = re.compile(r"[^:]+:\w+", re.ASCII)
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_PAPERS: Final = ("README.md", "LICENSE*", "NOTICE*")
_SPARE: Final = 100_000_000
"""Bytes that stay free beside a model."""


def is_gguf(name: str) -> bool:
    """Tell whether a name means a GGUF file: `…-GGUF`, as repositories of them end, or `name:quantization`."""
    return _QUANTIZED.fullmatch(name) is not None or name.lower().endswith("gguf")


def pull_gguf(name: str, into: Path, *, endpoint: str | None = None) -> Path:
    """Bring the model `name`, or `name:quantization`, into `into/<safe name>`; return the file.

    Others of the same repository stay beside it. Raises InputError for a name or a quantization that cannot be, and
    LanguageError when the hub cannot be reached or what comes is not whole; then the folder is as it was.
    """
    repository, _, quantization = name.partition(":")
    target = into / safe_name(repository)
    into.mkdir(parents=True, exist_ok=True)
    fault = partial(LanguageError, passing=False, retry_after=None, status=None, model=name)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=into) as scratch:
        fresh = Path(scratch)
        with hub(repository, endpoint, fault) as api:
            told = api.model_info(repository, timeout=TIMEOUT, files_metadata=True)
            entry = _entry(told.siblings or (), repository, quantization)
            _check_room(entry.size or 0, into)
            patterns = [entry.rfilename, *_PAPERS]
            api.snapshot_download(
                repository, revision=told.sha, local_dir=fresh, allow_patterns=patterns, max_workers=2
            )
        try:
            _check(fresh / entry.rfilename, entry)
        except gguf.GgufError as error:
            raise fault(f"{name} was fetched and cannot be used, nothing was changed: the file {error}") from error
        file = _place(fresh, entry.rfilename, target)
    _log.info("model_pulled", extra={"model": name, "folder": str(target), "source": "hub"})
    return file


def choose(files: Iterable[str], repository: str, quantization: str = "") -> str:
    """Return which of a repository's files has the quantization, or the usual one. Raises InputError."""
    whole = [
        name for name in sorted(files)
        if name.lower().endswith(".gguf") and "mmproj" not in name.lower() and not _PART.search(name[:-5])
    ]  # fmt: skip
    for wanted in (quantization,) if quantization else USUAL:
        found = [name for name in whole if _has(name, wanted)]
        if found:
            return min(found, key=len)  # `model-Q4_K_M.gguf` before `model-imat-Q4_K_M.gguf`
    if len(whole) == 1 and not quantization:
        return whole[0]
    if not whole:
        raise InputError("name", f"{repository} has no GGUF file in one piece; name another repository")
    raise InputError(
        "name",
        f"{repository} has no file {quantization or 'of a usual quantization'}; name one as {repository}:QUANTIZATION, "
        f"of {', '.join(Path(name).stem for name in whole)}",
    )


def _has(file: str, quantization: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(quantization)}$", Path(file).stem, re.IGNORECASE) is not None


def _entry(siblings: Sequence[RepoSibling], repository: str, quantization: str) -> RepoSibling:
    chosen = choose([entry.rfilename for entry in siblings], repository, quantization)
    return next(entry for entry in siblings if entry.rfilename == chosen)


def _check_room(needed: int, into: Path) -> None:
    free = shutil.disk_usage(into).free
    if free < needed + _SPARE:
        raise InputError("name", f"needs {needed / 1e9:.1f} GB in {into}, and {free / 1e9:.1f} GB are free there")


def _check(path: Path, entry: RepoSibling) -> None:
    """Hold a file against the hub's own sum of it, and look whether it is a language model."""
    if entry.lfs is not None:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != entry.lfs.sha256:
            raise gguf.GgufError(f"is not the one that the hub has (SHA-256 {found}): fetch it again")
    gguf.read(path)


def _place(fresh: Path, file: str, target: Path) -> Path:
    """Move what was fetched to where it belongs, the model last; return its place."""
    target.mkdir(exist_ok=True)
    for paper in fresh.iterdir():
        if paper.is_file() and paper.name != file:
            paper.replace(target / paper.name)
    return (fresh / file).replace(target / Path(file).name)
