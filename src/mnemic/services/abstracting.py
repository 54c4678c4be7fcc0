"""What a document and its sections are about: sentences of theirs, or a language model's, when there is one.

One call for a document. What the model does not say, or cannot be asked for, is said by the document's own sentences,
and a note tells so: an outage costs style, never the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.core.abstracting import abstract_prompt, read_abstract
from mnemic.core.chunking import Abstract, Passage, Section, summary_of, summary_of_summaries
from mnemic.errors import ModelError
from mnemic.services.language import Language

PURPOSE: Final = "summarise"
"""What the books call it."""

_WHOLE: Final = 64  # passages up to which a document without sections is summed up by all of them


class Abstracting:
    """Sums documents up."""

    def __init__(self, language: Language | None) -> None:
        self._language = language

    @property
    def asks(self) -> bool:
        """Whether a language model is asked."""
        return self._language is not None

    def run(
        self,
        cube_key: int,
        title: str,
        passages: Sequence[Passage],
        sections: Sequence[Section],
        known: Mapping[int, str],
    ) -> tuple[Abstract, Sequence[str]]:
        """Return the summaries of a document, and notes. `known` has those of sections that did not change."""
        own = [
            known.get(number) or summary_of(passages[each.first : each.last + 1], title=title)
            for number, each in enumerate(sections)
        ]
        whole = summary_of_summaries(own, title=title) if own else summary_of(passages[:_WHOLE], title=title)
        plain = Abstract(whole or summary_of(passages[:1], title=title), own)
        if self._language is None or not passages:
            return plain, ()
        prompt = abstract_prompt(title, passages, sections, known)
        try:
            reply = self._language.complete(prompt, purpose=PURPOSE, cube_key=cube_key)
            return read_abstract(reply, plain, known), ()
        except ModelError as error:
            return plain, (f"summaries are sentences of the document: {error}",)
