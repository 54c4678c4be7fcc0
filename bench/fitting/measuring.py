"""How well a ranking does on sheets: recall over questions, by file and by what is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.fitting.gathering import Floats, Sheet
from bench.fitting.learning import features_of, learn
from mnemic.core.fusion import Fusion

Scores = Callable[[Sheet], Floats]


@dataclass(frozen=True, slots=True)
class Measured:
    """Means over the questions of some sheets that memory can answer, and how recall@10 spreads over conversations."""

    questions: int
    at_10: float
    any_10: float
    at_20: float
    lowest: float
    highest: float

    @property
    def cells(self) -> list[str]:
        """The row of a table."""
        parts = (self.at_10, self.any_10, self.at_20, self.lowest, self.highest)
        return [str(self.questions), *(f"{part:.3f}" for part in parts)]


def measure(sheets: Sequence[Sheet], scores: Scores) -> Measured:
    """Measure a ranking, given by the score of each passage of a sheet."""
    asked = [sheet for sheet in sheets if not sheet.absent]
    given = [scores(sheet) for sheet in asked]
    at_10 = np.array([found_at(sheet, each, 10) for sheet, each in zip(asked, given, strict=True)])
    at_20 = np.array([found_at(sheet, each, 20) for sheet, each in zip(asked, given, strict=True)])
    groups = np.array([sheet.group for sheet in asked])
    means = [float(at_10[groups == group].mean()) for group in dict.fromkeys(groups.tolist())]
    return Measured(
        len(asked), float(at_10.mean()), float((at_10 > 0).mean()), float(at_20.mean()), min(means), max(means)
    )


def found_at(sheet: Sheet, scores: Floats, k: int) -> float:
    """Return the share of a question's evidence among the first k hits: each message or memory counts once."""
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(sheet.owners[order], return_index=True)
    best = order[np.sort(first)[:k]]
    return len(frozenset[int]().union(*(sheet.turns[at] for at in best))) / max(sheet.wanted, 1)


def by_fusion(fusion: Fusion, names: Sequence[str]) -> Scores:
    """Return what scores a sheet by a fusion."""
    return lambda sheet: fusion.sums(features_of(names, sheet))


def crossed(
    names: Sequence[str], sheets: Sequence[Sheet], others: Sequence[Sheet], chosen: Sequence[str], *, leave: str
) -> Measured:
    """Learn without each conversation of the file `leave` in turn, and measure what was learned on it."""
    held = [sheet for sheet in sheets if sheet.data == leave]
    scores: dict[int, Floats] = {}
    for group in dict.fromkeys(sheet.group for sheet in held):
        rest = [sheet for sheet in held if sheet.group != group]
        fusion = learn(names, [*rest, *others], chosen)
        scores |= {id(sheet): by_fusion(fusion, names)(sheet) for sheet in held if sheet.group == group}
    return measure(held, lambda sheet: scores[id(sheet)])


def area(sheets: Sequence[Sheet], sure: Callable[[Sheet], float]) -> float:
    """Return the area under the curve of what tells questions that memory answers from those it cannot."""
    absent = np.array([sure(sheet) for sheet in sheets if sheet.absent])
    present = np.array([sure(sheet) for sheet in sheets if not sheet.absent])
    if not len(absent) or not len(present):
        return float("nan")
    above = (present[:, None] > absent[None]).mean() + (present[:, None] == absent[None]).mean() / 2
    return float(above)


GROUPS: Mapping[str, Sequence[str]] = {
    "shares of the best": ("dense_share", "lexical_share", "dense_pair_share", "lexical_pair_share", "sum_share"),
    "ranks": ("dense_rank", "lexical_rank", "dense_pair_rank", "lexical_pair_rank", "sum_rank"),
    "pairs and threes": ("dense_pair", "lexical_pair", "lexical_three", "cover_pair", "cover_three"),
    "words covered": ("cover", "cover_pair", "cover_three", "session_cover", "rarest"),
    "neighbours": ("neighbour", "dense_before", "dense_after", "lexical_before", "lexical_after"),
    "session": ("session", "session_best", "session_dense", "session_lexical", "session_cover"),
    "speaker": ("speaker", "speaker_before", "subject", "subject_before", "subject_of_two", "speaker_asks"),
    "asking": ("asks", "ends_asking", "asked_before", "left_asking", "speaker_asks", "speaker_asked"),
    "numbers, times, names": ("number", "says_time", "names", "first_person", "picture"),
    "kind of question": (
        "when_time", "when_number", "when_speaker", "how_many_number", "how_long_time", "where_names", "who_names",
        "asked_picture", "asked_reply",
    ),
    "time named": ("time",),
}  # fmt: skip
"""Features that are left out together, to see what each kind brings."""
