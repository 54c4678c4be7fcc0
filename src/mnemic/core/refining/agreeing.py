"""Where rules read a message plainly, a model's statement of the same words must agree with them about whose it is.

Rules read English only and miss much; what they do not read, they have no say in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemic.core.extraction import extract
from mnemic.core.extraction.sentences import blank
from mnemic.core.wording import same_value
from mnemic.model.memory import Candidate
from mnemic.model.message import StoredMessage
from mnemic.text import fold, words

_TOGETHER: Final = frozenset("we us our ours both too also same".split())
_ADDRESS: Final = re.compile(r"://|www\.|@")


def disputed(candidate: Candidate, message: StoredMessage, before: StoredMessage | None, *, dated: bool) -> str | None:
    """Return why rules do not bear out a statement whose quote stands in a message; None when they have nothing to say.

    A speaker's words in the first person are not another's, other people's words in quotation marks not the speaker's,
    and what is plainly denied does not hold now (`dated`: the statement says when it held).
    """
    own = fold(candidate.subject) == fold(message.speaker)
    if own and _is_speech(candidate, message):
        return "these are the words of somebody else"
    read = list(_read(candidate, message, before))
    mine = [each for each in read if fold(each.subject) == fold(message.speaker)]
    if not mine:
        return None
    if own:
        denied = all(each.polarity != candidate.polarity for each in mine)
        return "the message says the opposite" if denied and not dated else None
    if any(fold(each.subject) == fold(candidate.subject) for each in read):
        return None
    heard = words(f"{message.text} {before.text if before else ''}")
    if set(words(candidate.subject)) <= set(heard) or not _TOGETHER.isdisjoint(words(message.text)):
        return None
    return f"{message.speaker} says so of themselves"


def _read(candidate: Candidate, message: StoredMessage, before: StoredMessage | None) -> Iterator[Candidate]:
    """Yield what rules read of the same value where the quote stands."""
    found = extract(
        message.text,
        speaker=message.speaker,
        said_at=message.said_at,
        previous=before.text if before else None,
        previous_speaker=before.speaker if before else None,
        listener=before.speaker if before and before.speaker != message.speaker else None,
    )
    for each in found:
        if each.start < candidate.end and candidate.start < each.end and same_value(each.value, candidate.value):
            yield each


def _is_speech(candidate: Candidate, message: StoredMessage) -> bool:
    """Tell whether a quote lies wholly in what somebody else is quoted to say, or in code."""
    quote = message.text[candidate.start : candidate.end]
    return not _ADDRESS.search(quote) and not blank(message.text)[candidate.start : candidate.end].strip()
