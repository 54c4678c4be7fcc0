"""The example of MemoryOS's README, with its import changed, as a program of its own: without a model, and with one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.clients.transcript import Transcript
from mnemic.testing.model_server import ModelServer

DOCUMENT = Path(__file__).parents[2] / "docs" / "memoryos.md"
REPLY = "You told me that you work as a data scientist in San Francisco [1]."


def example(document: str) -> str:
    """Return the program that the document shows."""
    found = re.search(r"```python\n# readme\n(.*?)```", document, re.DOTALL)
    return found.group(1) if found else ""


def main() -> int:
    """Run it twice and keep what it printed."""
    program = example(DOCUMENT.read_text("utf-8"))
    status = 0
    with TemporaryDirectory() as folder, ModelServer(default=REPLY) as server:
        told = Transcript("The example of MemoryOS's README, with its import changed", hidden={folder: "<home>"})
        with_model = program.replace("YOUR_OPENAI_API_KEY", "sk-example").replace(
            'BASE_URL = ""', f"BASE_URL = {server.url!r}"
        )
        runs = (("without a model: the key is the README's placeholder", program), ("with a model", with_model))
        for number, (title, code) in enumerate(runs):
            told.part(title)
            place = Path(folder) / str(number)
            place.mkdir()
            env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run(
                [sys.executable, "-W", "always", "-c", code],
                capture_output=True, text=True, check=False, timeout=300, cwd=place, env=env,
            )  # fmt: skip
            for line in done.stdout.splitlines():
                told.say(line)
            for line in done.stderr.splitlines():
                if "Warning: " in line:
                    told.say(f"[warning] {line.partition('Warning: ')[2]}")
            told.say(f"[ended with code {done.returncode}]")
            status = max(status, done.returncode)
    told.write(Path(__file__).with_suffix(".txt"))
    return status
