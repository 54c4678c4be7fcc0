"""Files of knowledge bases as MemOS cloud's clients know them: documents, added by address, in base64 or as a form.

A file's id carries its user and its knowledge base, as calls there name a file by its id alone. All files of one call
are looked at before the first is added: one that is too large keeps the others out, too, and is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from starlette.requests import Request

from mnemic.api import Memory
from mnemic.errors import InputError
from mnemic.model.caller import Caller
from mnemic.model.document import Document, DocumentState
from mnemic.shells.doors import cloud_bodies as asked
from mnemic.shells.doors.shapes import millis
from mnemic.shells.doors.subjects import Place, place_of, user_for
from mnemic.wire.forms import Form, FormLimits, Sent, bare_name, decoded
from mnemic.wire.sources import address_in

TakesForms = Callable[[Request], AbstractAsyncContextManager[Form]]
"""Takes the form in that a request brings."""

_PAGE: Final = 500  # documents that are read at one time
_DATA: Final = re.compile(
    r"data:(?P<media>[\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*(?P<base64>;base64)?,", re.IGNORECASE
)
_WORDS: Final[Mapping[DocumentState, str]] = {
    DocumentState.QUEUED: "processing",
    DocumentState.READY: "completed",
    DocumentState.FAILED: "failed",
}
_BETWEEN: Final = "running"


class CloudFiles:
    """The calls of one request about files of knowledge bases."""

    def __init__(self, memory: Memory, caller: Caller | None, named: str | None, limits: FormLimits) -> None:
        self._memory = memory
        self._caller = caller
        self._named = named
        self._limits = limits

    def add(self, body: asked.AddKnowledgebaseFile) -> list[dict[str, Any]]:
        """Add files by address, or in base64."""
        if len(body.file) > self._limits.files:
            raise self._limits.too_many()
        return self._added(body.knowledgebase_id, [self._source(each, at) for at, each in enumerate(body.file)])

    def add_form(self, base: str, files: Sequence[Sent]) -> list[dict[str, Any]]:
        """Add the files of a form."""
        for each in files:
            if each.too_large:
                raise self._limits.too_large(each.name)
        if not files:
            raise InputError("file", "is missing: the form brings no file")
        return self._added(base, [{"source": each.content, "name": each.name, "media": each.media or None}
                                  for each in files])  # fmt: skip

    def files(self, body: asked.GetKnowledgebaseFile) -> dict[str, Any]:
        """Return files by their ids, or a page of those of a knowledge base."""
        if bool(body.file_ids) == bool(body.knowledgebase_id):
            raise InputError("file_ids", "give exactly one of file_ids and knowledgebase_id")
        if body.file_ids:
            found = [self._get(each, f"file_ids[{at}]") for at, each in enumerate(body.file_ids)]
            return {"file_detail_list": found, "total": len(found), "page": 1, "page_size": len(found)}
        place = place_of(str(body.knowledgebase_id), "knowledgebase_id")
        user, page, size = self._user(place), body.given("page"), body.given("page_size")
        listed = [self._shown(each, user) for each in self._documents(place.id, user)]
        shown = listed[(page - 1) * size : page * size]
        return {"file_detail_list": shown, "total": len(listed), "page": page, "page_size": size}

    def delete(self, body: asked.DeleteKnowledgebaseFile) -> dict[str, Any]:
        """Erase files with all that was read from them."""
        by_place: dict[tuple[str, str], list[str]] = {}
        for at, each in enumerate(body.file_ids):
            place, cube = _of_base(each, f"file_ids[{at}]")
            by_place.setdefault((self._user(place), cube), []).append(place.id)
        removed: dict[str, int] = {}
        for (user, cube), ids in by_place.items():
            for kind, count in self._memory.knowledge.remove(ids, cube=cube, user=user).removed.items():
                removed[kind] = removed.get(kind, 0) + count
        return {"success": True, "removed": removed}

    def status(self, place: Place) -> str:
        """Return MemOS's word for where a file is. Raises `NotFoundError`."""
        found = self._memory.knowledge.get(place.id, cube=str(place.cube), user=self._user(place))
        word = _word(found)
        return "running" if word == "processing" else word

    def _added(self, base: str, sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        place = place_of(base, "knowledgebase_id")
        user = self._user(place)
        added = [self._memory.knowledge.add(cube=place.id, user=user, **each) for each in sources]
        return [self._shown(each, user) for each in added]

    def _source(self, given: asked.FileToAdd, at: int) -> dict[str, Any]:
        """Return what is added for a file in JSON: an address, a data URI, or bare base64."""
        field = f"file[{at}].content"
        if (address := address_in(given.content)) is not None:
            return {"source": address, "name": given.name or _name_in(address)}
        if not given.name:
            raise InputError(f"file[{at}].name", "is missing: what is sent in base64 needs a name")
        found, data = _DATA.match(given.content), given.content
        if found is not None:
            if not found["base64"]:
                raise InputError(field, "needs base64 in its data URI")
            data = data[found.end() :]
        content = BytesIO(decoded("".join(data.split()), field, self._limits, given.name))
        return {"source": content, "name": bare_name(given.name), "media": found["media"] if found else None}

    def _documents(self, cube: str, user: str) -> list[Document]:
        found: list[Document] = []
        after: str | None = None
        while True:
            page = self._memory.knowledge.documents(cube, user=user, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                return found
            after = page[-1].id

    def _get(self, name: str, field: str) -> dict[str, Any]:
        place, cube = _of_base(name, field)
        user = self._user(place)
        return self._shown(self._memory.knowledge.get(place.id, cube=cube, user=user), user)

    def _shown(self, document: Document, user: str) -> dict[str, Any]:
        version = document.latest
        name = str(Place(document.id, (user,), document.cube))
        return {
            "id": name, "name": document.name, "status": _word(document), "task_id": name,
            "knowledgebase_id": str(Place(document.cube, (user,))), "size": version.size, "type": version.media,
            "url": document.address or None, "message": version.error or None, "page": version.error_page,
            "pages": version.pages, "chunks": version.chunks, "version": version.number,
            "create_time": millis(document.created_at), "update_time": millis(version.stored_at),
        }  # fmt: skip

    def _user(self, place: Place) -> str:
        return user_for(self._caller, self._named, place)


def _word(document: Document) -> str:
    return _WORDS.get(document.state, _BETWEEN)


def _of_base(name: str, field: str) -> tuple[Place, str]:
    """Return where a file is. Raises `InputError` for an id that is none of a file's."""
    place = place_of(name, field)
    if place.cube is None:
        raise InputError(field, f"{name[:80]!r} is no id of a file; add/knowledgebase-file gives them out")
    return place, place.cube


def _name_in(address: str) -> str | None:
    """Return the last part of an address, when it has one; None for what the library calls it."""
    return unquote(urlsplit(address).path.rpartition("/")[2]) or None
