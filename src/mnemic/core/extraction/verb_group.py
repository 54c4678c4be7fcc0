"""The verb group of a clause: tense, negation, adverbs, and the main verb in its dictionary form.

It walks over words whose contractions have been taken apart. What is hedged ("probably") or hypothetical ("would",
"might") has no group, so that no rule can take it for a statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mnemic.core.extraction.verbs import Verb, read_verb

Tense = Literal["present", "past", "perfect", "progressive", "was_progressive", "future", "going_to", "used_to", "can"]
ADVERBS: Final = frozenset(
    """just really also actually recently finally still always usually often sometimes currently absolutely totally so
    kinda definitely even already now once both all mostly only truly simply genuinely honestly especially particularly
    officially normally typically generally rarely ever quite very both sort personally lately proudly happily
    eventually originally then too occasionally regularly first have-been mainly seriously strongly secretly""".split()
)
_HEDGES: Final = frozenset("probably maybe possibly perhaps almost nearly supposedly apparently hardly barely".split())
_MODALS: Final = frozenset("would could should might may must shall ought".split())
BE: Final = frozenset("am is are was were".split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case, contractions taken apart, with its place in the text."""

    low: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """What the verb group says; the main verb stands at `start:end` of the text."""

    tense: Tense
    negated: bool
    stopped: bool
    verb: str
    start: int
    end: int
    adverbs: frozenset[str]


def read_group(words: list[Word], start: int) -> VerbGroup | None:
    """Read the verb group that starts at a word; None for what is hedged, hypothetical, or no verb."""
    return _Reader(words, start).read()


class _Reader:
    """Walks over the verb group; keeps what it saw of negation and adverbs."""

    def __init__(self, words: list[Word], index: int) -> None:
        self.words = words
        self.index = index
        self.negated = False
        self.stopped = False
        self.adverbs: set[str] = set()

    def _low(self, step: int = 0) -> str:
        position = self.index + step
        return self.words[position].low if position < len(self.words) else ""

    def _skip(self) -> bool:
        """Skip adverbs and negation; False when a hedge stands there."""
        while word := self._low():
            if word in _HEDGES:
                return False
            if word == "no" and self._low(1) == "longer":
                self.negated = self.stopped = True
                self.index += 2
            elif word in {"not", "never"}:
                self.negated = True
                self.index += 1
            elif word in ADVERBS:
                self.adverbs.add(word)
                self.index += 1
            else:
                return True
        return True

    def read(self) -> VerbGroup | None:
        """Read the group; None for what is hedged, hypothetical, or no verb."""
        if not self._skip() or self._low() in _MODALS:
            return None
        word = self._low()
        if word in BE:
            return self._be("present" if word in {"am", "is", "are"} else "past")
        if word in {"have", "has", "had"}:
            return self._have(word)
        if word in {"do", "does", "did"}:
            return self._do(word)
        if word in {"will", "can"}:
            self.index += 1
            return self._base("future" if word == "will" else "can")
        if word == "used" and self._low(1) == "to":
            self.index += 2
            self.stopped = True
            return self._base("used_to")
        return self._main()

    def _done(self, tense: Tense, lemma: str) -> VerbGroup | None:
        if self.index >= len(self.words):
            return None
        word = self.words[self.index]
        return VerbGroup(tense, self.negated, self.stopped, lemma, word.start, word.end, frozenset(self.adverbs))

    def _base(self, tense: Tense) -> VerbGroup | None:
        if not self._skip() or not self._low():
            return None
        return self._done(tense, self._low())

    def _main(self) -> VerbGroup | None:
        word = self._low()
        verb = read_verb(word)
        if verb is not None and verb.form in {"past", "third", "base"}:
            return self._done("past" if verb.form == "past" else "present", verb.lemma)
        return self._done("present", word) if word and verb is None and word.isalpha() else None

    def _be(self, tense: Tense) -> VerbGroup | None:
        be = self.index
        self.index += 1
        if not self._skip():
            return None
        if (
            self._low() == "going"
            and self._low(1) == "to"
            and read_verb(self._low(2))
            and not self._low(2).endswith("ing")
        ):
            self.index += 2
            return self._base("going_to") if tense == "present" else None
        verb = read_verb(self._low())
        if verb is not None and verb.form == "ing":
            return self._done("progressive" if tense == "present" else "was_progressive", verb.lemma)
        return self._copula(tense, be)

    def _copula(self, tense: Tense, be: int) -> VerbGroup:
        word = self.words[max(be, self.index - 1)]
        return VerbGroup(
            tense, self.negated, self.stopped, "be", self.words[be].start, word.end, frozenset(self.adverbs)
        )

    def _have(self, word: str) -> VerbGroup | None:
        have = self.index
        self.index += 1
        if not self._skip() or self._low() in {"to", "had"}:
            return None
        tense: Tense = "past" if word == "had" else "perfect"
        following = self._low()
        if following == "been":
            been = self.index
            self.index += 1
            if not self._skip():
                return None
            verb = read_verb(self._low())
            if verb is not None and verb.form == "ing":
                return self._done("perfect" if word != "had" else "was_progressive", verb.lemma)
            return self._copula(tense, been)
        verb = read_verb(following)
        if following == "got":
            return self._got() if word != "had" else None
        if verb is not None and (verb.form in {"participle", "past"} or is_same(verb)):
            return self._done(tense, verb.lemma) if word != "had" else None
        self.index = have
        return self._done("past" if word == "had" else "present", "have")

    def _got(self) -> VerbGroup | None:
        if (
            self._low(1) in {"to", "a", "an", "two", "three", "four", "one", "my", "some", "no"}
            or self._low(1).isdigit()
        ):
            return None if self._low(1) == "to" else self._done("present", "have")
        return self._done("perfect", "get")

    def _do(self, word: str) -> VerbGroup | None:
        do = self.index
        self.index += 1
        was_negated = self.negated
        if not self._skip():
            return None
        verb = read_verb(self._low())
        negated_here = self.negated and not was_negated
        if negated_here or (verb is not None and verb.form in {"base", "past"} and verb.lemma == self._low()):
            if self._low() == "used" and self._low(1) == "to":
                return None
            return self._base("past" if word == "did" else "present")
        self.index = do
        return self._done("past" if word == "did" else "present", "do")


def is_same(verb: Verb) -> bool:
    """Tell whether the participle looks like the dictionary form: "have run", "have become"."""
    return verb.lemma in {
        "run",
        "come",
        "become",
        "quit",
        "read",
        "cut",
        "put",
        "set",
        "hit",
        "hurt",
        "beat",
        "let",
        "split",
    }
