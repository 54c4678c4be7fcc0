"""The verbs that this memory has, each with its endpoint's place, and how all of it is told as OpenAPI 3.1.

Nothing is written here twice: parameters, types and words come from the signatures and docstrings of the library;
only what a signature cannot say (limits of ids, examples) stands in tables.
"""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Final, Union, get_args, get_origin

from pydantic import TypeAdapter

from mnemic.model.answer import Answer
from mnemic.shells.http.adding import SEVERAL, AddedFile
from mnemic.shells.http.arguments import ABSENT, Parameter, kinds_of, returned, takes_several
from mnemic.shells.http.bodies import JSON, LINES
from mnemic.shells.http.examples import EXAMPLES
from mnemic.shells.http.limits import IN_HEADERS, LIMITS, MESSAGES
from mnemic.shells.http.repeating import IDEMPOTENCY_KEY, may_repeat
from mnemic.shells.http.verbs import ADDS_FILES, Verb
from mnemic.wire.forms import FORM
from mnemic.wire.problems import MEDIA_TYPE, STATUS
from mnemic.wire.routes import VERSION, Route
from mnemic.wire.values import PRIVATE

_REFERENCE: Final = "#/components/schemas/{model}"
_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_AREAS: Final[Mapping[str, str]] = {
    "": "memory", "cubes": "cubes", "llm": "llm", "jobs": "jobs", "keys": "keys",
}  # fmt: skip

Schema = dict[str, Any]


class Description:
    """The OpenAPI description of some verbs: `paths` and `schemas`."""

    def __init__(self, verbs: Sequence[Verb]) -> None:
        given = {verb.route.verb: _given(verb) for verb in verbs}
        given[_SEVERAL] = Sequence[AddedFile]
        results, self.schemas = _schemas([(verb, kind) for verb, kind in given.items() if kind is not None], "out")
        self.schemas["AddedFile"]["properties"] |= _OUTCOME
        kinds = [(f"{verb.route.verb} {each.name}", travelling(each)) for verb in verbs for each in verb.parameters]
        takes, inputs = _schemas([(name, kind) for name, kind in kinds if not name.endswith(" messages")], "in")
        self.schemas |= {name: schema for name, schema in inputs.items() if name not in self.schemas}
        self.schemas |= {"Problem": _problem_schema(), "MessageToStore": MESSAGES}
        self.paths: dict[str, Schema] = {}
        for verb in verbs:
            operation = _Operation(verb, takes, results.get(verb.route.verb)).told()
            if verb.route.verb == ADDS_FILES:
                operation["responses"][str(SEVERAL)] = _several(results[_SEVERAL])
            self.paths.setdefault(VERSION + verb.route.path, {})[verb.route.method.lower()] = operation


def _given(verb: Verb) -> Any:
    """Return the type of a verb's result; for streams, of what comes in one event."""
    kind = returned(verb.method)
    if verb.route.verb in ("ask_stream", "chat_stream"):
        return Answer
    if get_origin(kind) is not None and issubclass(get_origin(kind), Iterator):
        (kind,) = get_args(kind)
    return None if verb.route.lines or kind is bytes else kind


def travelling(parameter: Parameter) -> Any:
    """Return the types of a parameter that can come over HTTP; in a text, no values with fields."""
    kinds = [
        kind
        for kind in kinds_of(parameter.kind)
        if get_origin(kind) is not collections.abc.Iterator and not (parameter.place != "body" and is_dataclass(kind))
    ]
    return Union[tuple(kinds)]  # noqa: UP007 - a list of types


def _schemas(kinds: Sequence[tuple[str, Any]], way: str) -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Return the schemas of types, and of those that they name."""
    mode: Any = "serialization" if way == "out" else "validation"
    adapters = [(name, mode, TypeAdapter(kind)) for name, kind in kinds]
    found, named = TypeAdapter.json_schemas(adapters, ref_template=_REFERENCE)
    defined = named.get("$defs", {})
    for schema in defined.values():
        _tidy(schema, closed=way == "in")
    return {name: _untitled(schema) for (name, _), schema in found.items()}, defined


def _tidy(schema: Schema, *, closed: bool) -> None:
    """Take out of an object's schema what never leaves the process; say what is always there."""
    properties = schema.get("properties")
    if properties is None:
        return
    for name in PRIVATE:
        if properties.get(name, {}).get("type") == "integer":
            del properties[name]
    for each in properties.values():
        each.pop("title", None)
    if closed:
        schema["additionalProperties"] = False
        return
    schema["required"] = list(properties)
    for each in properties.values():
        each.pop("default", None)


def _untitled(schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != "title"}


class _Operation:
    """One operation."""

    def __init__(self, verb: Verb, takes: Mapping[str, Schema], result: Schema | None) -> None:
        self._verb = verb
        self._route: Route = verb.route
        self._takes = takes
        self._result = result

    def told(self) -> Schema:
        """Return it as OpenAPI has it."""
        words = inspect.getdoc(self._verb.method) or ""
        summary = words.partition("\n\n")[0].replace("\n", " ")
        told: Schema = {
            "operationId": self._route.verb,
            "summary": summary,
            "description": words,
            "tags": [_AREAS.get(self._route.group, self._route.group)],
            "parameters": [*self._parameters(), *self._headers()],
            "responses": {str(self._route.status): self._response(), **_refusals(self._route)},
            "security": [{}, {"bearer": []}, {"key": []}],
            "x-power": self._route.power.value,
        }
        if not self._route.in_query:
            told["requestBody"] = self._body()
        return told

    def _example(self) -> Mapping[str, Any]:
        return EXAMPLES.get(self._route.verb, {})

    def _schema(self, each: Parameter) -> Schema:
        found = LIMITS.get(f"{self._route.verb} {each.name}") or LIMITS.get(each.name)
        schema = dict(found) if found is not None else dict(self._takes[f"{self._route.verb} {each.name}"])
        if each.place == "path" and takes_several(each):
            schema = _WITH_COMMAS
        if each.place != "body":
            schema = _in_text(schema)
        if each.default is not ABSENT and each.default is not None:
            schema["default"] = each.default
        return schema

    def _parameters(self) -> Iterator[Schema]:
        for each in self._verb.parameters:
            if each.place == "body":
                continue
            told: Schema = {
                "name": each.name,
                "in": each.place,
                "required": each.needed or each.place == "path",
            }
            schema = self._schema(each)
            told |= {"content": {JSON: {"schema": schema}}} if schema.get("type") == "object" else {"schema": schema}
            if each.name in self._example():
                told["example"] = self._example()[each.name]
            yield told

    def _headers(self) -> Iterator[Schema]:
        names = {each.name for each in self._verb.parameters}
        if "since" in names:
            yield _header("Last-Event-ID", "The id of the event that was heard last; the stream goes on behind it.")
        if "if_version" in names:
            yield _header("If-Match", "The ETag of the version that is to be changed; 412 when another one holds.")
        if may_repeat(self._verb):
            yield _header(IDEMPOTENCY_KEY, "A name of your own for this call: sent again, it is not carried out again.")

    def _body(self) -> Schema:
        inside = [each for each in self._verb.parameters if each.place == "body"]
        schema: Schema = {
            "type": "object",
            "properties": {each.name: self._schema(each) for each in inside},
            "additionalProperties": False,
        }
        needed = [each.name for each in inside if each.needed]
        if needed:
            schema["required"] = needed
        example = {name: value for name, value in self._example().items() if name not in self._route.in_path}
        content: Schema = {JSON: {"schema": schema, "example": example}}
        if self._route.verb == "load":
            content[LINES] = {"schema": {"type": "string"}}
        if self._route.verb == ADDS_FILES:
            content[FORM] = _form(inside, schema["properties"])
        return {"required": bool(needed), "content": content}

    def _response(self) -> Schema:
        content: Schema
        if self._route.lines:
            words, content = "Lines of JSON.", {LINES: {"schema": {"type": "string"}}}
        elif returned(self._verb.method) is bytes:
            words, content = "The file, as its type.", {"*/*": {"schema": {"type": "string", "format": "binary"}}}
        elif self._route.streams:
            words, content = "Server-sent events; see docs/server.md.", {"text/event-stream": {"schema": _EVENTS}}
        else:
            words, content = "What the call gives.", {JSON: {"schema": self._shaped()}}
        told: Schema = {"description": words, "content": content, "headers": _NAMED}
        if returned(self._verb.method) is bytes:
            told["headers"] = {**_NAMED, "Content-Disposition": _text("The file's name, for saving it.")}
        if self._route.verb in ("get", "update"):
            told["headers"] = {**_NAMED, "ETag": _text("The number of a memory's version.")}
        return told

    def _shaped(self) -> Schema:
        result = self._result or {}
        if result.get("type") != "array":
            return result
        properties: Schema = {"data": result}
        if self._verb.has_pages:
            properties["next"] = {
                "anyOf": [{"type": "integer" if self._verb.counts_pages else "string"}, {"type": "null"}],
                "description": "What `after` takes for the next page; null behind the last one.",
            }
        return {"type": "object", "properties": properties, "required": list(properties)}


def _form(inside: Sequence[Parameter], known: Mapping[str, Schema]) -> Schema:
    """Return what is told of a form with files: its fields are texts, and `metadata` is JSON."""
    texts = {each.name: _in_text(known[each.name]) for each in inside if each.name not in ("source", "text", "file")}
    properties = {**texts, "file": {"type": "array", "items": _BINARY, "minItems": 1}}
    schema = {"type": "object", "properties": properties, "required": ["file"], "additionalProperties": False}
    encoding = {name: {"contentType": JSON} for name, each in texts.items() if each.get("type") == "object"}
    return {"schema": schema, "encoding": encoding}


def _several(result: Schema) -> Schema:
    """Return what is told of the reply to a form with several files."""
    schema = {"type": "object", "properties": {"data": result}, "required": ["data"]}
    words = "Several files came: what became of each, in their order."
    return {"description": words, "content": {JSON: {"schema": schema}}, "headers": _NAMED}


def _in_text(schema: Schema) -> Schema:
    """Return what a schema says of a value that travels as text: a query and a path hold no null."""
    kinds = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if not kinds:
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    plain = [each for each in kinds if "$ref" not in each]
    return {**rest, **plain[0]} if len(plain) == 1 else {**rest, "anyOf": plain}


def _text(words: str) -> Schema:
    return {"description": words, "schema": {"type": "string"}}


def _header(name: str, words: str) -> Schema:
    return {"name": name, "in": "header", "required": False, "schema": IN_HEADERS[name], "description": words}


_SEVERAL: Final = "several files"
_BINARY: Final[Schema] = {"type": "string", "format": "binary"}
_WITH_COMMAS: Final[Schema] = {"type": "string", "minLength": 1, "description": "An id; several have commas between."}
_OUTCOME: Final[Schema] = {
    "document": {"anyOf": [{"$ref": "#/components/schemas/Document"}, {"type": "null"}]},
    "problem": {"anyOf": [_PROBLEM, {"type": "null"}]},
}
_NAMED: Final = {"X-Request-Id": _text("The id of the request, as its lines in the log have it.")}
_EVENTS: Final = {
    "type": "object",
    "description": "One event. The data is JSON: {text}, an answer, a job, an item, or a problem.",
    "properties": {
        "event": {"type": "string", "enum": ["text", "answer", "job", "item", "error"]},
        "data": {"type": "string", "contentMediaType": JSON},
        "id": {"type": "string", "description": "Of a job: what Last-Event-ID and `since` go on behind."},
    },
    "required": ["event", "data"],
}


def _refusals(route: Route) -> Schema:
    """Return the problems that any call may end in."""
    statuses = {401, 403, 404, 409, 412, 413, 422, 429, 500, 502, 503, 504} & {*STATUS.values()}
    if not route.in_query:
        statuses.add(415)
    refused = {"description": "A problem (RFC 9457).", "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
    return {str(status): refused for status in sorted(statuses)}


def _problem_schema() -> Schema:
    text = {"type": "string"}
    return {
        "type": "object",
        "description": "What went wrong, and what to do: `code` is stable, `detail` is for people.",
        "properties": {
            "type": text,
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": {"type": "string", "enum": sorted(STATUS)},
            "field": {"type": "string", "description": "The place of what was wrong, such as messages[2].content."},
            "faults": {"type": "array", "items": {"type": "object"}},
            "request": {"type": "string", "description": "The id of the request."},
        },
        "required": ["type", "title", "status", "detail", "code"],
    }
