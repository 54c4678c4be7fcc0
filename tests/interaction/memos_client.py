"""Drives MemOS's own public client: a line of JSON for each call on stdin, a line of JSON with what it gave on stdout.

It runs in an environment of its own, which has `MemoryOS` from the package index and what its client module imports,
and nothing of ours. The package's front door imports all of MemOS with its models; the client does not need them, so
the package is entered by the side, and one class of `transformers` that a type mentions is an empty one here. The
client's code is as it was published.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any


def load_client() -> Any:
    """Return the class of the client."""
    found = importlib.util.find_spec("memos")
    if found is None or found.submodule_search_locations is None:
        raise SystemExit("MemoryOS is not installed here")
    package = types.ModuleType("memos")
    package.__path__ = list(found.submodule_search_locations)
    package.__dict__["__version__"] = version("MemoryOS")
    sys.modules["memos"] = package
    models = types.ModuleType("transformers")
    models.__dict__["DynamicCache"] = type("DynamicCache", (), {})
    sys.modules["transformers"] = models
    from memos.api.client import MemOSClient  # type: ignore[import-not-found]  # noqa: PLC0415 - not before the above

    return MemOSClient


def plain(value: Any) -> Any:
    """Return what a method gave as JSON can hold it."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    return list(value) if isinstance(value, Iterator) else value


def told(error: Exception) -> dict[str, Any]:
    """Return what a method raised, with what the server said."""
    found: dict[str, Any] = {"raised": type(error).__name__, "message": str(error)[:500]}
    response = getattr(error, "response", None)
    if response is not None:
        try:
            body: Any = response.json()
        except ValueError:
            body = response.text
        found |= {"status": response.status_code, "body": body}
    return found


def main() -> None:
    """Make the calls that come in, until there are no more."""
    out = sys.stdout
    sys.stdout = sys.stderr  # the client logs there, too
    client = load_client()(api_key=sys.argv[2], base_url=sys.argv[1])
    if len(sys.argv) > 3:
        client.headers["X-Mnemic-User"] = sys.argv[3]
    print(json.dumps({"client": version("MemoryOS")}), file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            given: Any = {"gave": plain(getattr(client, asked["method"])(**asked["arguments"]))}
        except Exception as error:  # noqa: BLE001 - what it raises is what is looked at
            given = told(error)
        print(json.dumps(given), file=out, flush=True)


if __name__ == "__main__":
    main()
