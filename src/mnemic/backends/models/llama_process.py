"""The process that llama.cpp runs in, a script that `llama_engine.py` starts: it reads requests and tells chunks.

A fault in llama.cpp ends the process that it happens in; here that is not the user's. It imports nothing of Mnemic, so
that it starts at once, and ends when its input does: whoever started it is gone then.

    in   {"id": 1, "request": {…}}   a chat completion as OpenAI's API has it
         {"stop": 1}                 end it early
    out  {"ready": true}             the file is loaded; {"failed": "why"} and the end when it cannot be
         {"id": 1, "chunk": {…}}     as OpenAI's API streams them, or with an `error`
         {"id": 1, "end": null}      the call has ended; with the reason when llama.cpp refused it
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import signal
import sys
import threading
from typing import Any, BinaryIO

BATCH = 128
"""Tokens of a prompt that are read at once: between batches a call can be ended. More make it no faster on a CPU."""
ERRORS = 1
"""llama.cpp's level of messages that tells errors only."""


class Line:
    """What comes in, read by a thread of its own; its end is the end of the process."""

    def __init__(self) -> None:
        self.requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stopped = 0
        threading.Thread(target=self._read, daemon=True).start()

    def stopped(self, number: int) -> bool:
        """Tell whether a call is to end early."""
        return number <= self._stopped

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            told = json.loads(line)
            if "stop" in told:
                self._stopped = max(self._stopped, told["stop"])
            else:
                self.requests.put(told)
        os._exit(0)  # nothing here is worth more than the time that a call in progress would take


def load(path: str, context: int, threads: int, door: str) -> Any:
    """Return the server of the library over a file. Its door is `door`, a socket's path; empty is a loopback port."""
    import xllamacpp  # noqa: PLC0415 - told as a failure when it is missing

    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.n_ctx = context
    settings.n_batch = settings.n_ubatch = BATCH
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.cache_ram_mib = 0  # up to 8 GiB of earlier prompts otherwise
    settings.fit_params = settings.warmup = settings.ui = settings.endpoint_slots = False
    settings.verbosity = ERRORS
    settings.n_threads_http = 1
    settings.api_keys = [secrets.token_urlsafe(32)]  # nobody is told: the door is not used
    if door:
        settings.hostnames = [door]
    return xllamacpp.Server(settings)


def serve(out: BinaryIO, path: str, context: int, threads: int, door: str) -> None:
    """Load a file and answer requests until the input ends."""

    def tell(**what: Any) -> None:
        out.write(json.dumps(what).encode() + b"\n")
        out.flush()

    line = Line()
    try:
        server = load(path, context, threads, door)
    except (ImportError, RuntimeError, ValueError) as error:
        tell(failed="missing" if isinstance(error, ImportError) else str(error))
        os._exit(1)  # the thread that reads would keep Python from ending
    tell(ready=True)
    while True:
        asked = line.requests.get()
        number = asked["id"]

        def hear(chunk: Any, number: int = number) -> bool:
            tell(id=number, chunk=chunk)
            return line.stopped(number)

        end = None
        try:
            if not line.stopped(number):
                server.handle_chat_completions(asked["request"], hear)
        except (RuntimeError, ValueError) as error:
            end = str(error) or type(error).__name__
        tell(id=number, end=end)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all processes; whoever started this one decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    os.environ["GGML_NO_BACKTRACE"] = "1"  # ggml would start a debugger when it fails
    serve(answers, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
