"""Bringing what an address holds into the files of a cube: fetched, checked, kept; no transaction is open meanwhile.

Who calls it names the blob in a row (`mnemic.services.blobs`) or lets it go: a file without a row is erased an hour
later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemic.errors import FetchError
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.fetch import Fetcher

_GONE: Final = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Brought:
    """What came from an address, kept as a file of the cube.

    `name` and `media` are what it is called, and what it is, by its server and its bytes; `address` is where the last
    redirect led. `etag` and `modified` are told to the server the next time.
    """

    blob: Blob
    name: str
    media: str
    address: str
    etag: str = ""
    modified: str = ""


class Fetching:
    """Fetches into the files of cubes."""

    def __init__(self, fetcher: Fetcher, blobs: Blobs) -> None:
        self._fetcher = fetcher
        self._blobs = blobs

    def check(self, address: str) -> str:
        """Return an address as it is kept. Raises `InputError` for one that is none, or leads to what is not public."""
        return self._fetcher.check(address)

    def bring(self, cube: str, address: str, *, etag: str = "", modified: str = "") -> Brought | None:
        """Fetch an address into the files of a cube (its id); None when nothing has changed since `etag`, `modified`.

        Raises `FetchError`; its `passing` says whether trying again can help, and `is_gone` whether the server says
        that there is nothing any more. A size beyond the limit is a `FetchError` too.
        """
        with self._fetcher.fetch(address, etag=etag, modified=modified) as found:
            if found.path is None:
                return None
            with found.path.open("rb") as file:
                blob = self._blobs.put(cube, file)
            return Brought(blob, found.name, found.media, found.address, found.etag, found.modified)


def is_gone(error: FetchError) -> bool:
    """Tell whether a server has said that an address holds nothing, for now (404) or for good (410)."""
    return error.fields.get("status") in _GONE
