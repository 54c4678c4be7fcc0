"""One question answered under one condition: what stands beside it, who answers, and what that took.

All conditions but `ask` and `extractive`, which are Mnemic's own answers, share one prompt and one model. Nothing is
cut to make it fit. An outage is raised, never noted as an answer.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.generation.replies import without_references
from mnemic.core.prompts import load
from mnemic.evaluation import answered, prompting
from mnemic.evaluation.answered import Answered
from mnemic.evaluation.asking import turns_of
from mnemic.evaluation.scoring import denies

if TYPE_CHECKING:
    from mnemic.api import Memory
    from mnemic.config import Settings
    from mnemic.evaluation.datasets import Conversation, Question

PURPOSE: Final = "evaluation"
"""What the calls are accounted under."""


class Answering:
    """Answers the questions of one conversation from its memory."""

    def __init__(
        self, memory: Memory, conversation: Conversation, layout: str, settings: Settings, budget: int
    ) -> None:
        self._memory = memory
        self._conversation = conversation
        self._layout = layout
        self._settings = settings
        self._budget = budget

    def answer(self, question: Question, condition: str) -> Answered:
        """Return the answer under a condition. Raises `LanguageError` and `BudgetError`."""
        blank = Answered(self._conversation.id, question.id, condition)
        match condition:
            case answered.NONE:
                return self._prompted(question, blank, "")
            case answered.FULL:
                everything = replace(blank, held=question.evidence)
                return self._prompted(question, everything, prompting.whole(self._conversation))
            case answered.MNEMIC:
                return self._from_memory(question, blank)
            case answered.ASK:
                return self._by_ask(question, blank)
            case _:
                return self._by_rules(question, blank)

    def _from_memory(self, question: Question, blank: Answered) -> Answered:
        began = time.perf_counter()
        found = self._memory.context(
            question.text, user=self._conversation.id, budget=self._budget, reference_time=self._when(question)
        )
        inside = {turn for hit in found.hits for turn in turns_of(hit)}
        held = tuple(each for each in question.evidence if each in inside)
        return self._prompted(question, replace(blank, held=held, finding=time.perf_counter() - began), found.text)

    def _prompted(self, question: Question, blank: Answered, context: str) -> Answered:
        prompt = prompting.question_prompt(
            question,
            self._when(question),
            context,
            layout=self._layout,
            max_tokens=self._settings.llm_max_tokens,
            temperature=self._settings.llm_temperature,
        )
        known = replace(blank, context=prompting.tokens(context))
        if prompting.size(prompt) + prompt.max_tokens > self._settings.llm_context:
            return replace(known, fits=False)
        began = time.perf_counter()
        reply = self._memory.llm.complete(prompt, user=self._conversation.id, purpose=PURPOSE)
        return replace(
            known,
            text=reply.text.strip(),
            withheld=denies(reply.text),
            model=reply.model,
            calls=1,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            seconds=blank.finding + time.perf_counter() - began,
            cut=reply.cut,
        )

    def _by_ask(self, question: Question, blank: Answered) -> Answered:
        began = time.perf_counter()
        found = self._memory.ask(
            question.text,
            user=self._conversation.id,
            reference_time=self._when(question),
            mode="model",
            budget=self._budget,
            system=load("brief", prompting.FOLDER),
        )
        text = without_references(found.text)
        return replace(
            blank,
            text=text,
            withheld=not found.found or denies(text),
            model=found.mode,
            calls=found.spent.calls,
            tokens_in=found.spent.tokens_in,
            tokens_out=found.spent.tokens_out,
            seconds=time.perf_counter() - began,
            cut=found.cut,
        )

    def _by_rules(self, question: Question, blank: Answered) -> Answered:
        began = time.perf_counter()
        found = self._memory.ask(
            question.text, user=self._conversation.id, reference_time=self._when(question), mode="extractive"
        )
        seconds = time.perf_counter() - began
        return replace(blank, text=found.text, withheld=not found.found, model=found.mode, seconds=seconds)

    def _when(self, question: Question) -> datetime:
        return question.at or self._conversation.ends
