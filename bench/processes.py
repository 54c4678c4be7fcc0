"""New processes of this Python, with this package on their path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.tables import ROOT


def run(*arguments: str) -> str:
    """Run Python with these arguments in a new process and return what it printed."""
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def child(*arguments: str) -> Any:
    """Run `bench.child` and return what it measured."""
    return json.loads(run("-m", "bench.child", *arguments))
