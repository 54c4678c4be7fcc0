"""docs/clients.md: its example for OpenAI's library runs as it stands, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from mnemic.acting import acting
from mnemic.model.caller import LOCAL
from mnemic.shells.doors import cloud_bodies, product
from mnemic.shells.doors.filtering import FIELDS
from mnemic.testing.model_server import ModelServer
from tests.interaction.doors_served import new_key, new_memory, served

TEXT: Final = (Path(__file__).parents[2] / "docs" / "clients.md").read_text("utf-8")


def test_the_example_for_openais_library_runs(tmp_path: Path) -> None:
    code = next(each for each in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "from openai" in each)
    with ModelServer(default="You live in Porto.") as server:
        settings = {"llm": "openai", "llm_base_url": server.url, "llm_model": "fake-model", "refine": False}
        with new_memory(tmp_path, **settings) as memory, served(memory) as address:
            run = code.replace("http://127.0.0.1:8765", address).replace("mnk_…", new_key(memory))
            found: dict[str, Any] = {}
            exec(run, found)
            found["client"].close()
            assert found["answer"].choices[0].message.content == "You live in Porto."
            with acting(LOCAL):
                assert len(memory.list(user="ann", kinds="message")) == 2


def test_the_paths_of_the_open_server_are_there(tmp_path: Path) -> None:
    named = TEXT.partition("The paths under `/product`:")[2].partition("Code 200")[0]
    with new_memory(tmp_path) as memory:
        made: Any = product.router(memory, threads=None)  # type: ignore[arg-type]  # nothing is called
        paths = {route.path.removeprefix("/product/") for route in made.routes}
    shown = re.findall(r"`([a-z_/]+)`", named)
    assert len(shown) > 15
    assert [
        each for each in shown if not any(path in (each, f"scheduler/{each}") for path in paths) and each != "/product"
    ] == []


@pytest.mark.parametrize(
    "name", ["allow_public", "allow_knowledgebase_ids", "include_tool_memory", "include_skill", "top_p"]
)
def test_fields_that_are_refused_are_named(name: str) -> None:
    assert f"`{name}`" in TEXT
    assert any(
        name in body.model_fields
        for body in (cloud_bodies.AddMessage, cloud_bodies.SearchMemory, cloud_bodies.CloudChat)
    )


def test_fields_of_filters_are_named() -> None:
    told = TEXT.partition("A filter has")[2].partition("**Ids.**")[0]
    assert {each for each in re.findall(r"`([a-z_]+)`", told) if each not in ("and", "or")} <= set(FIELDS)
