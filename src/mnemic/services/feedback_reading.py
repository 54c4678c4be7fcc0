"""A language model reads feedback: one call, whose reply is checked against what it was shown."""

from __future__ import annotations

from typing import Final

from mnemic.core.feedback_plan import Plan, Shown
from mnemic.core.feedback_replies import plan_reply, prompt_of
from mnemic.services.language import Language

PURPOSE: Final = "feedback"
"""What such calls are accounted as."""


class FeedbackReading:
    """Reads feedback with a language model."""

    def __init__(self, language: Language) -> None:
        self._language = language

    @property
    def name(self) -> str:
        """The model's name."""
        return self._language.name

    def read(self, shown: Shown, cube_key: int) -> Plan:
        """Return the plan for feedback beside the memories that are shown. Raises `ModelError`."""
        reply = self._language.complete(prompt_of(shown), purpose=PURPOSE, cube_key=cube_key)
        return plan_reply(reply, shown, model=reply.model or self.name)
