"""The real `openai` library at the proxy with memory of a running server, with a scripted model behind it."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openai

from bench.clients.transcript import Transcript
from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from mnemic.testing.model_says import calls_tool, cuts, fails
from mnemic.testing.model_server import ModelServer
from tests.interaction.doors_served import served

TOOLS: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
ASKED: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where do I live?"}]


class Run:
    """A client, the model behind the server, and what was said."""

    def __init__(self, memory: Memory, model: ModelServer, told: Transcript) -> None:
        self.memory = memory
        self.model = model
        self.told = told

    def asked(self, what: str, answer: Any) -> None:
        """Tell of a request and of what came back."""
        self.told.asked(what)
        self.told.answered(answer)

    def sent(self) -> None:
        """Tell what reached the model."""
        messages = self.model.requests[-1].body["messages"]
        self.told.say(f"  the model got: {[(turn['role'], turn.get('content')) for turn in messages]}")

    def stored(self, user: str) -> None:
        """Tell what is stored of a user."""
        with acting(LOCAL):
            items: Any = self.memory.list(user=user, kinds="message")
        self.told.say(f"  stored of {user}: {[(item.role.value, item.content) for item in items]}")


def main() -> int:
    """Make the requests and keep what was said."""
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(default="You live in Porto."))
        settings = {
            "llm": "openai",
            "llm_base_url": model.url,
            "llm_model": "fake-model",
            "llm_tries": 1,
            "refine": False,
        }
        folder = stack.enter_context(TemporaryDirectory())
        memory = stack.enter_context(Memory(folder, settings=settings, guarded=True))
        with acting(LOCAL):
            key = memory.keys.create("app").secret
            memory.add("I moved to Porto in May.", user="ann", session="earlier", wait=True)
        address = stack.enter_context(served(memory))
        hidden = {address: "<server>", key: "<key>", model.root: "<model>"}
        told = Transcript(f"openai {version('openai')} at /v1/chat/completions", hidden=hidden)
        run = Run(memory, model, told)
        with openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0) as client:
            _whole(run, client)
            _streamed(run, client)
            _tools(run, client)
            _errors(run, client)
        asyncio.run(_async(run, f"{address}/v1", key))
    told.write(Path(__file__).with_suffix(".txt"))
    return 0


def _whole(run: Run, client: openai.OpenAI) -> None:
    run.told.part("Whole answers")
    run.asked("models.list()", [each.id for each in client.models.list()])
    raw = client.chat.completions.with_raw_response.create(model="fake-model", messages=ASKED, user="ann")
    answer = raw.parse()
    run.asked(
        "chat.completions.create(messages=…, user='ann')",
        answer.model_dump(exclude_none=True, exclude={"id", "created"}),
    )
    run.told.say(f"  X-Mnemic-Memories: {raw.headers['x-mnemic-memories']}")
    run.sent()
    run.stored("ann")
    headers = {"X-Mnemic-User": "ben", "X-Mnemic-Session": "s1", "X-Mnemic-Store": "false"}
    client.chat.completions.create(model="fake-model", messages=ASKED, extra_headers=headers)
    run.told.asked("the same with X-Mnemic-User: ben and X-Mnemic-Store: false")
    run.stored("ben")


def _streamed(run: Run, client: openai.OpenAI) -> None:
    run.told.part("Streams")
    options: Any = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(
            model="fake-model", messages=ASKED, user="cas", stream=True, stream_options=options
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    shown = f"{len(chunks)} chunks, {len({chunk.id for chunk in chunks})} id: {text!r}, {chunks[-1].usage}"
    run.asked("create(stream=True, stream_options={'include_usage': True})", shown)
    run.stored("cas")
    run.model.default = cuts("This sentence will never come to its end.")
    heard = ""
    try:
        for chunk in client.chat.completions.create(model="fake-model", messages=ASKED, user="dan", stream=True):
            heard += chunk.choices[0].delta.content or ""
    except openai.APIError as error:
        run.asked("create(stream=True), and the model breaks off", f"{heard!r}, then {type(error).__name__}: {error}")
    run.stored("dan")


def _tools(run: Run, client: openai.OpenAI) -> None:
    run.told.part("Tools")
    run.model.default = calls_tool("weather", '{"city": "Porto"}')
    question: Any = {"role": "user", "content": "What is the weather at my place?"}
    call = client.chat.completions.create(model="fake-model", messages=[question], tools=TOOLS, user="eve").choices[0]
    run.asked("create(tools=…)", call.model_dump(exclude_none=True))
    run.stored("eve")


def _errors(run: Run, client: openai.OpenAI) -> None:
    run.told.part("Errors")
    for status in (400, 429, 503, 401):
        run.model.default = fails(status, "the model is not well")
        try:
            client.chat.completions.create(model="fake-model", messages=ASKED, user="fay")
        except openai.APIStatusError as error:
            raised = f"{type(error).__name__} {error.status_code}: {error.body}"
            run.asked(f"the model's server says {status}", raised)
    run.model.default = "You live in Porto."
    try:
        client.chat.completions.create(model="fake-model", messages=[], user="fay")
    except openai.BadRequestError as error:
        run.asked("create(messages=[])", f"{type(error).__name__} {error.status_code}: {error.body}")


async def _async(run: Run, address: str, key: str) -> None:
    run.told.part("AsyncOpenAI")
    async with openai.AsyncOpenAI(base_url=address, api_key=key, max_retries=0) as client:
        whole = await client.chat.completions.create(model="fake-model", messages=ASKED, user="gus")
        run.asked("await create(…)", whole.choices[0].message.content)
        stream = await client.chat.completions.create(model="fake-model", messages=ASKED, user="gus", stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        run.asked("await create(stream=True)", text)
    run.stored("gus")
