"""What feedback in plain language did, or would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemic.model.change import Step

NOT_UNDERSTOOD: Final = "it was not understood; nothing was changed"
"""The note of feedback that says nothing that could be done."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that may be meant, as it stands."""

    memory_id: str
    subject: str
    attribute: str
    text: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was asked for, and what became of it.

    `steps` are what was changed, or would be (`applied` is False after a dry run, and when nothing was changed);
    `skipped` are steps that were not made, each with the reason, such as a lock. When it was not `understood`, or
    several memories could be meant, nothing is changed and `suggestions` has those nearest to it. `mode` is `rules`, or
    the name of the model that read it. `change` is the id that `undo` takes, `message` that of the stored words.
    """

    asked: str
    understood: bool
    applied: bool
    steps: tuple[Step, ...]
    skipped: tuple[Step, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    mode: str = "rules"
    change: str | None = None
    message: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if not self.understood:
            return f"<Feedback not understood: {self.asked[:70]!r}>"
        done = "changed" if self.applied else "would change"
        return f"<Feedback {done} {len(self.steps)} of {self.asked[:70]!r}>"
