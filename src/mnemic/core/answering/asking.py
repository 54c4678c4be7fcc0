"""What a question asks for: the kind of answer, whom it names, and the stems that its answer should share.

It reads English question words by rules and relies on nothing but the question and the names that memory knows. It is
deliberately no parser: a question that fits no rule asks for a thing.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mnemic.core.answering.roots import content_roots, root
from mnemic.core.temporal import question_times
from mnemic.core.temporal_words import lower_same_length
from mnemic.model.moment import TimeSpan
from mnemic.text import fold, words


class Wants(enum.StrEnum):
    """The kind of answer that a question asks for."""

    TIME = "time"
    SPAN = "span"
    AGE = "age"
    COUNT = "count"
    PERSON = "person"
    PLACE = "place"
    REASON = "reason"
    FEELING = "feeling"
    MANNER = "manner"
    YES_NO = "yes or no"
    THING = "thing"


_PLACES: Final = "city|country|town|state|place|location"
_AUXILIARIES: Final = "is|are|was|were|am|do|does|did|has|have|had|will|would|can|could|should"
_KINDS: Final = tuple(
    (re.compile(pattern), wants)
    for pattern, wants in (
        (r"\bhow long\b|\bhow (?:many|much) (?:days|weeks|months|years|hours|minutes|time)\b", Wants.SPAN),
        (r"^(?:and |so |but )?(?:since |until |from |by )?when\b", Wants.TIME),
        (r"\b(?:what|which) (?:exact )?(?:day|date|month|year|weekend|season)\b", Wants.TIME),
        (r"\bhow old\b|\b(?:what|which) age\b", Wants.AGE),
        (r"\bhow (?:many|much)\b|\bwhat number\b|\bthe number of\b", Wants.COUNT),
        (r"^(?:and |so |but )?(?:with |to |for |from |by )?(?:who|whom|whose|who's)\b", Wants.PERSON),
        (
            rf"^(?:and |so |but )?(?:from |to |in )?where\b|\b(?:what|which) (?:{_PLACES})\b",
            Wants.PLACE,
        ),
        (r"^(?:and |so |but )?why\b|\bfor what reason\b|\bwhat (?:was|is) the reason\b|\bwhat made\b", Wants.REASON),
        (r"\bhow (?:do|does|did|is|are|was|were) .*\b(?:feel|feeling|think|like|react)\b", Wants.FEELING),
        (r"^(?:and |so |but )?how\b", Wants.MANNER),
        (rf"^(?:and |so |but )?(?:{_AUXILIARIES})\b(?!.*,? or )", Wants.YES_NO),
    )
)
_YEAR: Final = re.compile(r"\b(?:what|which) year\b")
_MONTH: Final = re.compile(r"\b(?:what|which) month\b")
_LIST: Final = re.compile(r"\b(?:what|which) (?:are|were|have|do|kinds?|types?|\w+s\b)|\bnames of\b|\blist\b")
_MINE: Final = re.compile(r"\b(?:i|my|me|mine|i'm|i've)\b")
_CAPITAL: Final = re.compile(r"(?<![.?!\"\u201c]\s)(?<!\A)\b[A-Z\u00c0-\u00de][\w\u00c0-\u024f-]+")
_PARTS: Final = re.compile(r",?\s+and\s+(?=(?:who|what|where|when|why|how|which)\b)", re.IGNORECASE)
_PRONOUN: Final = re.compile(
    r"\b(?P<owner>his|her|their)(?= \w)|\b(?P<person>he|she|they|him|them|her)\b", re.IGNORECASE
)

ASKING_WORDS: Final = frozenset(
    """name names called kind kinds type types sort many much long old year month day date time did happen happened
    people someone something thing things currently now today these days recently mention mentioned still ever
    anymore yet say said tell told describe described""".split()
)
"""Words that say how a question is put, not what it is about; their stems carry less."""

_ASKING_STEMS: Final = frozenset(root(word) for word in ASKING_WORDS)


_QUESTION_WORDS: Final = frozenset(
    "what when where who whom whose which why how did do does is are was were am can could will would should".split()
)
_QUESTION_END: Final = re.compile(
    r"[?\uff1f\u061f\u037e][\"'\u201d\u300d\u300f)\s]*\Z"  # Latin, full-width, Arabic, Greek
    r"|(?:\u3067\u3059\u304b|\u307e\u3059\u304b|[\u5417\u55ce])[\u3002.]?\s*\Z"  # a last word asks in Japanese, Chinese
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read. `low` is its text in lower case, `stems` what it is about without names, each once.

    `speakers` are those of the speakers that it names, `names` all capitalised names in it, in order. `times` are
    what its time words mean; `year` and
    `month` say that only that much of a date is asked for; `many` that several values are.
    """

    text: str
    low: str
    wants: Wants
    stems: tuple[str, ...]
    speakers: tuple[str, ...]
    names: tuple[str, ...]
    times: tuple[TimeSpan, ...] = ()
    year: bool = False
    month: bool = False
    many: bool = False


def read_question(question: str, speakers: Sequence[str], reference: datetime, asker: str | None = None) -> Asked:
    """Read a question about what these speakers said.

    "I" means the asker when they are one of several people, or the speaker when only one of them is a person. Time
    words count from `reference` and are no stems.
    """
    low = " ".join(lower_same_length(question).replace("\u2019", "'").split())
    wants = next((kind for pattern, kind in _KINDS if pattern.search(low)), Wants.THING)
    named = _named(question, low, speakers, asker)
    times = question_times(question, reference)
    left_out = {root(word) for part in (*named, *(time.words for time in times)) for word in words(part)}
    stems = content_roots(words(question))
    about = [each for each in stems if each not in left_out] or stems
    plain = tuple(each for each in about if each not in _ASKING_STEMS) or tuple(about)
    return Asked(
        text=question,
        low=low,
        times=tuple(times),
        wants=wants,
        stems=plain,
        speakers=named,
        names=tuple(dict.fromkeys(match.group() for match in _CAPITAL.finditer(question))),
        year=bool(_YEAR.search(low)),
        month=bool(_MONTH.search(low)),
        many=bool(_LIST.search(low)),
    )


def is_question(text: str) -> bool:
    """Tell whether a text asks: it ends as questions do, or begins as an English one does."""
    first = text.lower().split()[:1]
    return bool(_QUESTION_END.search(text)) or (bool(first) and first[0].rstrip("'s") in _QUESTION_WORDS)


def parts_of(question: str) -> list[str]:
    """Cut "Who is her mother, and what is her job?" into its questions; most questions are one."""
    parts = [part.strip() for part in _PARTS.split(question) if part.strip()]
    return [part if part.endswith("?") else f"{part}?" for part in parts] if len(parts) == 2 else [question]


def put_name(question: str, name: str) -> str | None:
    """Return the question with its pronouns replaced by a name; None when it has none."""
    changed = _PRONOUN.sub(lambda match: f"{name}'s" if match["owner"] else name, question)
    return None if changed == question else changed


def _named(question: str, low: str, speakers: Sequence[str], asker: str | None) -> tuple[str, ...]:
    present = words(question)
    found = [name for name in dict.fromkeys(speakers) if (parts := words(name)) and parts[0] in present]
    if not found and _MINE.search(low):
        people = [name for name in dict.fromkeys(speakers) if fold(name) not in {"assistant", "system", "tool", ""}]
        own = [name for name in people if asker is not None and fold(name) == fold(asker)]
        found = own or (people if len(people) == 1 else [asker] if asker is not None and people else [])
    return tuple(sorted(found, key=lambda name: present.index(words(name)[0]) if words(name)[0] in present else 0))
