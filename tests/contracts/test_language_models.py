"""Every language model that Mnemic ships keeps the contract of language models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from mnemic.backends.models.anthropic_chat import AnthropicChat
from mnemic.backends.models.openai_chat import OpenAIChat
from mnemic.ports.llm import LanguageModel
from mnemic.testing.llm_contract import CHECKS, KEY, SERVED_CHECKS, Opener
from mnemic.testing.model_server import ModelServer
from mnemic.testing.scripted_model import ScriptedModel


@pytest.fixture(params=["openai", "anthropic"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Give models at servers, and close them after the test."""
    with ExitStack() as stack:

        def open_at(server: ModelServer, *, timeout: float = 5.0) -> LanguageModel:
            model: LanguageModel
            if request.param == "openai":
                model = OpenAIChat(server.url, KEY, "fake-model", timeout=timeout, tries=2)
            else:
                model = AnthropicChat(server.root, KEY, "fake-model", timeout=timeout, tries=2)
            stack.callback(model.close)
            return model

        yield open_at


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_language_model_keeps_its_contract(opened: Opener, check: Callable[[LanguageModel], None]) -> None:
    with ModelServer(default="Ann lives in Paris.") as server:
        check(opened(server))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_model_that_tests_script_keeps_the_contract_too(check: Callable[[LanguageModel], None]) -> None:
    check(ScriptedModel(lambda _: "Ann lives in Paris."))


@pytest.mark.parametrize("check", SERVED_CHECKS, ids=lambda check: check.__name__)
def test_a_language_model_at_a_server_keeps_its_contract(opened: Opener, check: Callable[[Opener], None]) -> None:
    check(opened)
