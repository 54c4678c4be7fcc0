"""Writes the faces that follow from `mnemic.Memory`: `Client`, `AsyncClient` and `AsyncMemory`, with their groups.

A method's name, arguments, defaults and types are those of the library's source, its docstring is the first sentence of
the original's. Each body is one line that hands the arguments on to a core that is written by hand. Run it by
`./dev faces`; a test compares what it would write with what is there.
"""

from __future__ import annotations

import builtins
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from mnemic.api import memory
from tools.verbs import PAGED, Group, Method, read

SOURCE: Final = Path(inspect.getfile(memory)).resolve().parents[1]
"""The folder of the package, which is written to."""

WIDTH: Final = 120  # columns of a line of code
MARK: Final = "Written by `./dev faces` from the verbs of `mnemic.Memory`: change those, not this."

_HANDED: Final = {"load": ("load", "lines"), "knowledge.add": ("upload", "source")}
"""Verbs that do not travel as JSON: the core that carries each, and what is handed to it as it is."""

Colour = Literal["sync", "async", "embedded"]


@dataclass
class Page:
    """A module in the making: its text, and the names that it takes from elsewhere."""

    doc: str
    parts: list[str] = field(default_factory=list)
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, origin: tuple[str, str], name: str = "") -> None:
        self.names[origin] = name or origin[1]

    def take_names(self, text: str, origins: Mapping[str, tuple[str, str]]) -> None:
        """Import what a type names."""
        for name in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", text)):
            if name in origins:
                self.take(origins[name], name)
            elif not hasattr(builtins, name):
                raise SystemExit(f"{name!r} in {text!r} is imported nowhere")

    def written(self) -> str:
        ours = {origin: name for origin, name in self.names.items() if origin[0].startswith("mnemic")}
        others = {origin: name for origin, name in self.names.items() if origin not in ours}
        sections = ["\n".join(_imports(some)) for some in (others, ours) if some]
        head = f'"""{self.doc}\n\n{MARK}\n"""\n\nfrom __future__ import annotations\n'
        return "\n".join([head, "\n\n".join(sections), "", "", "\n\n\n".join(self.parts)]) + "\n"


def _imports(names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield import statements as isort would order them."""
    modules: dict[str, list[str]] = {}
    lines: list[tuple[str, str, str]] = []
    for (module, origin), name in names.items():
        if name == origin:
            modules.setdefault(module, []).append(name)
        else:
            lines.append((module, origin, f"from {module} import {origin} as {name}"))
    for module, found in modules.items():
        found.sort()
        line = f"from {module} import {', '.join(found)}"
        if len(line) > WIDTH:
            line = f"from {module} import (\n" + "".join(f"    {each},\n" for each in found) + ")"
        lines.append((module, found[0], line))
    for _, _, line in sorted(lines):
        yield line


def _type(text: str, colour: Colour, name: str) -> str:
    """Return a parameter's type in a face: clients may leave the user out, and async lines may come async."""
    if name == "user" and colour != "embedded":
        return f"{text} | None"
    if name == "lines" and colour != "sync":
        return f"AsyncIterator[str] | {text}"
    return text


def _returned(method: Method, colour: Colour) -> str:
    if not method.element:
        return method.returns
    if method.verb in PAGED and colour != "embedded":
        return f"{'Async' if colour == 'async' else ''}Iterator[{method.element}]"
    return f"{ {'sync': 'Stream', 'async': 'AsyncStream', 'embedded': 'AsyncPieces'}[colour] }[{method.element}]"


def _signature(method: Method, colour: Colour) -> str:
    """Return the first lines of a method: one when it fits, else a line for each parameter."""
    told = ["self"]
    told += [_parameter(each, colour) for each in method.positional]
    if method.named:
        told.append("*")
    told += [_parameter(each, colour) for each in method.named]
    if method.options:
        told.append(f"**options: {method.options}")
    waits = "async " if colour != "sync" and not method.element else ""
    start, end = f"    {waits}def {method.name}(", f") -> {_returned(method, colour)}:"
    return _fitting(start, told, end)


def _parameter(given: tuple[str, str, str], colour: Colour) -> str:
    name, kind, default = given
    if name == "user" and colour != "embedded":
        default = "None"
    return f"{name}: {_type(kind, colour, name)}{f' = {default}' if default else ''}"


def _fitting(start: str, parts: Iterable[str], end: str) -> str:
    """Return a call or a signature as the formatter would: on one line, or on a line for each part."""
    told = list(parts)
    line = f"{start}{', '.join(told)}{end}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(start) - len(start.lstrip()))
    return "\n".join([start, *(f"{indent}    {part}," for part in told), f"{indent}{end}"])


def _docstring(method: Method) -> str:
    told = method.sentence
    line = f'        """{told}"""'
    if len(line) <= WIDTH:
        return line
    first, *rest = textwrap.wrap(told, WIDTH - 20, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f'        """{first}', *(f"        {each}" for each in rest), '        """'])


def _body(group: Group, method: Method, colour: Colour) -> str:
    passed = [f"{name}={name}" for name, _, _ in (*method.positional, *method.named)]
    if method.options:
        passed.append("**options")
    wait = "return " if colour == "sync" or method.element else "return await "
    if colour == "embedded":
        waits = {"wait", "timeout"} & {name for name, _, _ in method.named}
        core = "pieces" if method.element else "load" if method.verb == "load" else "wait" if waits else "call"
        plain = [name for name, _, _ in method.positional]
        passed = [*plain, *passed[len(plain) :]]
        return _fitting(f"        {wait}self._calls.{core}(", [f"{group.cls}.{method.name}", *passed], ")")
    if method.verb in PAGED:
        gives = f"Gives[Sequence[{method.element}]]()"
        return _fitting(f"        {wait}self._line.pages(", [f'"{PAGED[method.verb]}"', gives, *passed], ")")
    core = "stream" if method.element else _HANDED.get(method.verb, ("call", ""))[0]
    gives = f"Gives[{method.element or method.returns}]()"
    if method.verb in _HANDED:
        passed[0] = _HANDED[method.verb][1]
    return _fitting(f"        {wait}self._line.{core}(", [f'"{method.verb}"', gives, *passed], ")")


def _methods(page: Page, group: Group, colour: Colour) -> str:
    written = []
    for method in group.methods:
        origins = {**group.origins, **_EXTRA}
        for name, kind, _ in (*method.positional, *method.named):
            page.take_names(_type(kind, colour, name), origins)
        page.take_names(method.options, origins)
        page.take_names(_returned(method, colour), origins)
        if colour != "embedded":
            page.take_names(method.element or method.returns, origins)
            page.take(("mnemic.client.asking", "Gives"))
        if method.verb in PAGED and colour != "embedded":
            page.take(("collections.abc", "Sequence"))
        written.append("\n".join([_signature(method, colour), _docstring(method), _body(group, method, colour)]))
    return "\n\n".join(written)


_EXTRA: Final = {
    "Stream": ("mnemic.client.line", "Stream"),
    "AsyncStream": ("mnemic.client.async_line", "AsyncStream"),
    "AsyncPieces": ("mnemic.api.awaiting", "AsyncPieces"),
    "Iterator": ("collections.abc", "Iterator"),
    "AsyncIterator": ("collections.abc", "AsyncIterator"),
}

_CLIENT: Final = '''
class {name}:
    """A memory on a server: the verbs of `Memory`, which tells of each in full, with the same values and errors.

    {sharing}

    `url` and `key` are those of the environment (`MNEMIC_URL`, `MNEMIC_KEY`) unless given, the address of a server on
    this machine without. `user` is for whom calls are that name none; without, the server takes the only one that the
    key may call for. A call fails as `UnreachableError` when the server is silent for `timeout` seconds (longer where a
    language model answers or work is waited for). What can be made again without harm is, `retries` times: reads, and
    writes under a key of their own (`Idempotency-Key`), by which the server knows them again. A key goes to another
    machine over https; `allow_http` lets it go in the clear. Raises `InputError` for what is no address or no key.

{example}
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        user: str | int | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        allow_http: bool = False,
    ) -> None:
        self._line = {line}(address_of(url, key, user, timeout, retries, allow_http=allow_http))
{groups}

    {wait}def __{a}enter__(self) -> Self:
        return self

    {wait}def __{a}exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        {awaited}self.close()

    def __repr__(self) -> str:
        return f"<{name} {{self._line.address.url}}>"

    {wait}def close(self) -> None:
        """Close the connections; streams that are open end."""
        {awaited}self._line.close()

{methods}
'''

_MEMORY: Final = '''
class AsyncMemory:
    """A memory in a folder for programs with an event loop: the verbs of `Memory`, each on a thread beside the loop.

    It is opened by `async with`, or by the first call. `calls` run at one time, and as many as `streams` are open; more
    calls wait for their turn, more streams are refused with `BusyError`. A call that is cancelled runs to its end.
    It belongs to the event loop that uses it first.

        async with AsyncMemory("~/my-memory") as memory:
            await memory.add("I moved to Porto last week.", user="ann")
            print((await memory.search("Where does Ann live?", user="ann"))[0].text)
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        settings: Settings | Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        llm: LanguageModel | None = None,
        clock: Clock | None = None,
        calls: int = CALLS,
        streams: int = STREAMS,
    ) -> None:
        made = partial(Memory, path, settings=settings, embedder=embedder, llm=llm, clock=clock)
        self._calls = Calls(Opening(made, calls=calls, streams=streams), lambda memory: memory)
{groups}

    async def __aenter__(self) -> Self:
        await self.opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def opened(self) -> Memory:
        """Return the memory behind this, opened when it was not: for what has no verb, such as its settings."""
        return await self._calls.opening.memory()

    async def close(self) -> None:
        """Close the memory when calls and streams have ended; what is queued goes on at the next opening."""
        await self._calls.opening.close()

{methods}
'''

_GROUP: Final = '''
class {cls}:
    """{doc}"""

    def __init__(self, {given}) -> None:
        self._{attribute} = {attribute}

{methods}
'''

_EXAMPLES: Final = {
    "sync": """
        with Client("http://127.0.0.1:8765") as memory:
            memory.add("I moved to Porto last week.", user="ann")
            print(memory.search("Where does Ann live?", user="ann")[0].text)
""",
    "async": """
        async with AsyncClient("http://127.0.0.1:8765") as memory:
            await memory.add("I moved to Porto last week.", user="ann")
            print((await memory.search("Where does Ann live?", user="ann"))[0].text)
""",
}


def _client(found: tuple[Group, ...], colour: Literal["sync", "async"]) -> str:
    is_async = colour == "async"
    a, prefix = ("a", "Async") if is_async else ("", "")
    page = Page(f"`{prefix}Client`, the face of a memory on a server{', for programs with an event loop' * is_async}.")
    module = "mnemic.client.async_groups" if is_async else "mnemic.client.groups"
    line = ("mnemic.client.async_line", "AsyncLine") if is_async else ("mnemic.client.line", "Line")
    for origin in (line, ("types", "TracebackType"), ("typing", "Self")):
        page.take(origin)
    for name in ("RETRIES", "TIMEOUT", "address_of"):
        page.take(("mnemic.client.address", name))
    for group in found[1:]:
        page.take((module, f"{prefix}{group.cls}"))
    text = _CLIENT.format(
        name=f"{prefix}Client",
        sharing="It belongs to the event loop that uses it first." if is_async else "Threads may share it.",
        example=_EXAMPLES[colour].strip("\n"),
        line=line[1],
        groups="\n".join(f"        self.{group.name} = {prefix}{group.cls}(self._line)" for group in found[1:]),
        wait="async " * is_async,
        awaited="await " * is_async,
        a=a,
        methods=_methods(page, found[0], colour),
    )
    page.parts.append(text.strip("\n"))
    return page.written()


def _client_groups(found: tuple[Group, ...], colour: Literal["sync", "async"]) -> str:
    is_async = colour == "async"
    prefix, line = ("Async", "AsyncLine") if is_async else ("", "Line")
    page = Page(f"The groups of a client's verbs{', for programs with an event loop' * is_async}.")
    page.take(("mnemic.client.async_line" if is_async else "mnemic.client.line", line))
    for group in found[1:]:
        methods = _methods(page, group, colour)
        doc = re.sub(r"`memory\.", "`client.", group.doc)
        text = _GROUP.format(
            cls=f"{prefix}{group.cls}", doc=doc, given=f"line: {line}", attribute="line", methods=methods
        )
        page.parts.append(text.strip("\n"))
    return page.written()


def _embedded(found: tuple[Group, ...]) -> str:
    page = Page("`AsyncMemory`, the embedded face for programs with an event loop.")
    taken = {
        "functools": ["partial"], "pathlib": ["Path"], "types": ["TracebackType"], "typing": ["Any", "Self"],
        "collections.abc": ["Mapping"], "mnemic.config": ["Settings"], "mnemic.ports.clock": ["Clock"],
        "mnemic.ports.embedder": ["Embedder"], "mnemic.ports.llm": ["LanguageModel"],
        "mnemic.api.memory": ["Memory"], "mnemic.api.awaiting": ["Calls", "Opening"],
        "mnemic.api.threads": ["CALLS", "STREAMS"],
    }  # fmt: skip
    for module, names in taken.items():
        for name in names:
            page.take((module, name))
    made = []
    for group in found[1:]:
        page.take(("mnemic.api.asynchronous_groups", f"Async{group.cls}"))
        calls = f"Calls(self._calls.opening, lambda memory: memory.{group.name})"
        made.append(f"        self.{group.name} = Async{group.cls}({calls})")
    text = _MEMORY.format(groups="\n".join(made), methods=_methods(page, found[0], "embedded"))
    page.parts.append(text.strip("\n"))
    return page.written()


def _embedded_groups(found: tuple[Group, ...]) -> str:
    page = Page("The groups of an `AsyncMemory`'s verbs.")
    page.take(("mnemic.api.awaiting", "Calls"))
    for group in found[1:]:
        page.take(group.origins[group.cls])
        methods = _methods(page, group, "embedded")
        given = f"calls: Calls[{group.cls}]"
        text = _GROUP.format(cls=f"Async{group.cls}", doc=group.doc, given=given, attribute="calls", methods=methods)
        page.parts.append(text.strip("\n"))
    return page.written()


def pages() -> dict[str, str]:
    """Return what is to be written, by the path inside the package."""
    found = read()
    return {
        "client/client.py": _client(found, "sync"),
        "client/groups.py": _client_groups(found, "sync"),
        "client/async_client.py": _client(found, "async"),
        "client/async_groups.py": _client_groups(found, "async"),
        "api/asynchronous.py": _embedded(found),
        "api/asynchronous_groups.py": _embedded_groups(found),
    }


def main() -> None:
    """Write the faces. Ends with an error for a verb that is neither routed nor excused."""
    for name, text in pages().items():
        path = SOURCE / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"written: {name}")  # noqa: T201 - it is run by hand
    sys.exit(0)


if __name__ == "__main__":
    main()
