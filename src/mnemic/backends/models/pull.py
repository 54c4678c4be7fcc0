"""Brings a sentence embedder into a folder of ours, from the Hugging Face hub or from a folder on this machine.

Only what an embedder needs is taken: one set of weights (ONNX, else safetensors), the tokenizer, and small JSON files;
never code. A model appears in the folder whole or not at all.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from mnemic.backends.models import folder
from mnemic.backends.models.hub import TIMEOUT, hub
from mnemic.backends.models.local import open_folder
from mnemic.backends.models.overrides import FILE, read_overrides
from mnemic.backends.models.static import is_static
from mnemic.errors import EmbedderError, InputError

log = logging.getLogger(__name__)

STATIC: Final = "0_StaticEmbedding"
DESCRIPTIONS: Final = (
    folder.TOKENIZER,
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
    "[0-9]_Dense/config.json",
    "[0-9]_Dense/model.safetensors",
    f"{STATIC}/{folder.TOKENIZER}",
    FILE,
    "README.md",
    "LICENSE*",
    "NOTICE*",
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def pull(name: str, into: Path, *, source: str | None = None, endpoint: str | None = None) -> Path:
    """Bring model `name` into `into/<safe name>` and return that folder; an earlier copy is replaced.

    `source` is a folder to copy from, else the hub is asked for the repository `name`, at `endpoint` where a mirror
    stands in for it. Raises InputError for a name or a source that cannot be, EmbedderError when the hub cannot be
    reached or the model lacks a needed file; then `into` is as it was.
    """
    target = into / safe_name(name)
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=into) as scratch:
        fresh = Path(scratch) / "model"
        if source is None:
            _download(name, fresh, endpoint)
        else:
            _copy(Path(source).expanduser(), fresh)
        verify(fresh, name)
        _swap(fresh, target, Path(scratch) / "old")
    log.info("model_pulled", extra={"model": name, "folder": str(target), "source": source or "hub"})
    return target


def safe_name(name: str) -> str:
    """Return the folder name of a model: `org/model` becomes `org--model`; no name leads elsewhere."""
    safe = _UNSAFE.sub("-", name.replace("/", "--")).strip(".-")
    if not safe:
        raise InputError("name", "must name a model, such as sentence-transformers/all-MiniLM-L6-v2")
    return safe


def wanted(files: Iterable[str]) -> list[str]:
    """Return which of a model's files tell what it is."""
    return [name for name in sorted(files) if any(fnmatchcase(name, pattern) for pattern in DESCRIPTIONS)]


def wanted_weights(files: Iterable[str], *, static: bool = False) -> list[str]:
    """Return one set of a model's weights, with its external data; those of a static model lie in no graph."""
    files = sorted(files)
    kinds = (folder.SAFETENSORS, f"{STATIC}/{folder.SAFETENSORS}") if static else (*folder.GRAPHS, folder.SAFETENSORS)
    weights = next((name for name in kinds if name in files), None)
    return (
        [] if weights is None else [name for name in files if name in (weights, f"{weights}_data", f"{weights}.data")]
    )


def verify(path: Path, name: str) -> None:
    """Check that a folder holds a usable embedder; raises EmbedderError that names what is missing."""
    if is_static(path):
        open_folder(path)
        return
    weights = folder.find_graph(path) or path / folder.SAFETENSORS
    if not weights.is_file():
        raise EmbedderError(
            f"model {name} has no weights that Mnemic can use: none of {', '.join(folder.GRAPHS)}, "
            f"{folder.SAFETENSORS}; choose a model of the sentence-transformers family, or name a language model in "
            f"GGUF as {name}:Q4_K_M",
            model=name,
        )
    recipe = folder.describe(path, weights)
    recipe.tokenizer()
    for layer in recipe.layers:
        layer.load()


def _swap(fresh: Path, target: Path, old: Path) -> None:
    """Put the fresh folder in place of the target; a target that cannot be replaced is put back."""
    if target.exists():
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise


def _copy(source: Path, fresh: Path) -> None:
    if not source.is_dir():
        raise InputError("source", f"{source} is not a folder")
    files = [path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()]
    described = wanted(files)
    named = read_overrides(source).graph
    chosen = [named] if named in files else wanted_weights(files, static=is_static(source))
    for name in [*described, *chosen]:
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, fresh / name)


def _download(name: str, fresh: Path, endpoint: str | None) -> None:
    with hub(name, endpoint, partial(EmbedderError, model=name)) as api:
        told = api.model_info(name, timeout=TIMEOUT)  # unlike the listing, it does not try for 20 s when offline
        listed = [entry.rfilename for entry in told.siblings or ()]
        fetch = partial(api.snapshot_download, name, revision=told.sha, local_dir=fresh, max_workers=2)
        if described := wanted(listed):
            fetch(allow_patterns=described)
        if weights := wanted_weights(listed, static=is_static(fresh)):
            fetch(allow_patterns=weights)
    shutil.rmtree(fresh / ".cache", ignore_errors=True)  # the hub's own bookkeeping
