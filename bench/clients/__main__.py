"""The command: `python -m bench.clients NAME` runs a client and writes what was said to `bench/clients/NAME.txt`.

A client's file has `main`, which returns the exit status.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

OWN = ("__init__", "__main__", "transcript")


def names() -> list[str]:
    """Return the clients that there are."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in OWN)


def main() -> int:
    """Run the client that is named; return its exit status."""
    if len(sys.argv) < 2 or sys.argv[1] not in names():
        print(f"usage: python -m bench.clients {{{'|'.join(names())}}}", file=sys.stderr)
        return 2
    status: int = import_module(f"bench.clients.{sys.argv[1]}").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
