"""How a document comes in over HTTP: an address, a text, or a file in base64 as JSON; or files themselves, as a form.

Nothing names a file of the server's machine: a path is refused. A form with one file answers as JSON does. Several are
added one by one, and each has its own outcome: a file that cannot be taken keeps no other from being stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from starlette.responses import Response

from mnemic.errors import ConflictError, InputError, MnemicError
from mnemic.shells.http.arguments import from_texts
from mnemic.shells.http.bodies import JSON
from mnemic.shells.http.verbs import FileInJson, Verb
from mnemic.wire.forms import FILE, Form, FormLimits, Sent, bare_name, decoded
from mnemic.wire.problems import problem_of
from mnemic.wire.sources import checked_address
from mnemic.wire.values import plain

SEVERAL: Final = 207
"""The status of a reply that has an outcome for each of several files (RFC 4918, 11.1)."""


@dataclass(frozen=True, slots=True)
class AddedFile:
    """What became of one of several files: the document, or the problem that kept it out."""

    file: str
    document: Any = None
    problem: Mapping[str, Any] | None = None


def given_by_json(given: Mapping[str, Any], limits: FormLimits) -> dict[str, Any]:
    """Return what the verb is called with. Raises `InputError`."""
    taken = {name: value for name, value in given.items() if name != FILE}
    file, source = given.get(FILE), taken.get("source")
    beside = [name for name in ("source", "text") if given.get(name) is not None]
    if file is not None and beside:
        raise InputError(FILE, f"was given beside {beside[0]}; give one of them")
    if isinstance(source, str):
        taken["source"] = checked_address(source)
    if isinstance(file, FileInJson):
        taken["source"] = BytesIO(decoded(file.data, f"{FILE}.data", limits, file.name))
        taken.setdefault("name", bare_name(file.name) or None)
        taken.setdefault("media", file.media or None)
    return taken


def given_by_form(verb: Verb, form: Form) -> dict[str, Any]:
    """Return what the fields of a form say. Raises `InputError` naming the field."""
    if not form.files:
        raise InputError(FILE, "is missing; send a file in it, or an address or a text as JSON")
    fields = [each for each in verb.parameters if each.place == "body" and each.name not in ("source", "text", FILE)]
    if len(form.files) > 1:
        for name, why in (("name", "each file has its own"), ("media", "each file has its own"),
                          ("wait", "look at the states of the documents instead")):  # fmt: skip
            if name in form.texts:
                raise InputError(name, f"goes with one file, and {len(form.files)} have come: {why}")
    return from_texts(fields, form.texts, verb.route.verb)


def one_of_form(given: Mapping[str, Any], file: Sent, limits: FormLimits) -> dict[str, Any]:
    """Return what the verb is called with for one file of a form."""
    if file.too_large:
        raise limits.too_large(file.name)
    beside = {name: told for name, told in (("name", file.name), ("media", file.media)) if told}
    return {"source": file.content, **beside, **given}


def several(verb: Verb, given: Mapping[str, Any], files: Sequence[Sent], limits: FormLimits) -> Response:
    """Add files one by one; return what became of each. Who may not add any is refused as for one."""
    found: list[AddedFile] = []
    for file in files:
        try:
            document = verb.method(**one_of_form(given, file, limits))
        except (InputError, ConflictError) as error:
            found.append(AddedFile(file.name, problem=problem_of(error)))
        except MnemicError as error:
            if not any(each.document for each in found):
                raise
            found.append(AddedFile(file.name, problem=problem_of(error)))
        else:
            found.append(AddedFile(file.name, document))
    body = json.dumps({"data": plain(found)}, allow_nan=False).encode("ascii")
    return Response(body, SEVERAL, media_type=JSON)
