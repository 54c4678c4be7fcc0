"""What is known of each passage that may answer a question: plain numbers that exist in any conversation.

Some say how near a passage is, by itself, beside the best, and by rank; some what stands around it, in its session
and just before and after; some who says it and what it is like, beside what the question asks for. They are worked out
for the passages that the plain sum of channels puts first, and weighed by `core.fusion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.asked import Asks
from mnemic.model.index import CubeView
from mnemic.text import Trait

Scores = NDArray[np.float32]
"""Shape (passages,)."""

K1: Final = 1.2
B: Final = 0.6
_RANKS: Final = 5.0  # softens the reciprocal of a rank


KINDS_OF: Final[Mapping[str, str]] = {
    **{
        f"{channel}{suffix}": channel
        for channel in ("dense", "lexical", "dense_pair", "lexical_pair")
        for suffix in ("_share", "_rank")
    },
    **dict.fromkeys(("cover", "lexical_many"), "lexical"),
    "cover_pair": "lexical_pair",
    **dict.fromkeys(("sum_share", "sum_rank"), "standing"),
    **dict.fromkeys(
        ("dense_before", "dense_after", "lexical_before", "lexical_after", "lexical_three", "cover_three"), "neighbour"
    ),
    **dict.fromkeys(("session_best", "session_dense", "session_lexical", "session_cover"), "session"),
    **dict.fromkeys(("subject", "subject_of_two", "speaker_asks", "speaker_asked"), "speaker"),
    **dict.fromkeys(("length", "asks", "asked_before", "number", "says_time", "picture", "names", "reply"), "manner"),
    **dict.fromkeys(("when_time", "when_number", "how_many_number", "how_long_time", "asked_reply"), "asked for"),
}
"""What a feature is told as in an explanation, where it is not told by its own name."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A question before a view: `focus` are the places of the passages that are looked at closely.

    `channels` and `base`, their sum, have a number for every entry of the view; `boosts` one for each in focus.
    `counts` tells how often each term stands in each entry, with a last column of zeros for place -1, and `worth` what
    each term weighs. `named` and `subject` tell of each speaker of the view whether the question names them, and names
    them first.
    """

    view: CubeView
    asks: Asks
    focus: NDArray[np.int64]
    channels: Mapping[str, Scores]
    base: Scores
    boosts: Mapping[str, Scores]
    counts: NDArray[np.float32]
    worth: Scores
    named: NDArray[np.bool_]
    subject: NDArray[np.bool_]
    told: NDArray[np.bool_]


def features_of(scene: Scene) -> dict[str, Scores]:
    """Return the features of the passages in focus, by name; each has shape (focus,)."""
    return {**_nearness(scene), **_words(scene), **_around(scene), **_manner(scene)}


def _nearness(scene: Scene) -> dict[str, Scores]:
    """By itself, as a share of the best, and by rank."""
    found: dict[str, Scores] = {}
    for name, values in (*scene.channels.items(), ("sum", scene.base)):
        here = values[scene.focus]
        if name != "sum":
            found[name] = here
        found[f"{name}_share"] = here / np.float32(max(float(here.max(initial=0)), 1e-6))
        found[f"{name}_rank"] = _by_rank(here)
    return found


def _by_rank(values: Scores) -> Scores:
    """Return a reciprocal of each value's rank, 1 for the best; values that are equal but for rounding share a rank."""
    values = values.round(4)
    above = len(values) - np.searchsorted(np.sort(values), values, side="right")
    return np.float32(_RANKS) / (above.astype(np.float32) + np.float32(_RANKS))


def _words(scene: Scene) -> dict[str, Scores]:
    """Which of the question's words stand in the passage, in it or the one before, or around it."""
    view, focus = scene.view, scene.focus
    total = np.float32(max(float(scene.worth.sum()), 1e-6))
    here = scene.counts[:, focus]
    before = scene.counts[:, view.previous[focus]]
    after = scene.counts[:, view.following[focus]]
    three = here + before + after
    lengths = np.append(view.lengths, 0)
    long = lengths[focus] + lengths[view.previous[focus]] + lengths[view.following[focus]]
    norms = np.float32(K1) * (
        1 - B + B * long.astype(np.float32) / np.float32(max(3 * float(view.lengths.mean()), 1.0))
    )
    worth = scene.worth
    return {
        "lexical_three": worth @ (three / (three + norms)) / total,
        "cover": worth @ (here > 0) / total,
        "cover_pair": worth @ (here + before > 0) / total,
        "cover_three": worth @ (three > 0) / total,
        "lexical_many": scene.channels["lexical"][focus] * np.float32(min(len(worth), 8) / 8),
    }


def _around(scene: Scene) -> dict[str, Scores]:
    """Take what the passage's session and its neighbours bring."""
    view, focus = scene.view, scene.focus
    sessions = view.sessions[focus]
    base = scene.base[focus]
    dense, lexical = (np.append(scene.channels[name], np.float32(0)) for name in ("dense", "lexical"))
    return {
        "dense_before": dense[view.previous[focus]],
        "dense_after": dense[view.following[focus]],
        "lexical_before": lexical[view.previous[focus]],
        "lexical_after": lexical[view.following[focus]],
        "neighbour": scene.boosts["neighbour"],
        "session": scene.boosts["session"],
        "session_best": of_sessions(sessions, base, 1),
        "session_dense": of_sessions(sessions, scene.channels["dense"][scene.focus], 3),
        "session_lexical": of_sessions(sessions, scene.channels["lexical"][scene.focus], 3),
        "session_cover": _session_cover(scene, sessions),
    }


def of_sessions(sessions: NDArray[np.int32], scores: Scores, best: int) -> Scores:
    """Return for each passage the mean of the `best` highest scores of its session, 0 for one in no session."""
    order = np.argsort(sessions - scores.astype(np.float64) / 2)  # scores are 1 at most, and part no session
    ordered = sessions[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    rank_in_session = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    kept = np.where(rank_in_session < best, scores[order], 0)
    means = np.add.reduceat(kept, starts) / best
    values = means[np.searchsorted(ordered[starts], sessions)]
    return np.where(sessions >= 0, values, 0).astype(np.float32)


def _session_cover(scene: Scene, sessions: NDArray[np.int32]) -> Scores:
    """Return the share of the question's words that the passages in focus of each one's session hold together."""
    names, numbers = np.unique(sessions, return_inverse=True)
    members = np.zeros((len(sessions), len(names)), dtype=np.float32)
    members[np.arange(len(sessions)), numbers] = 1
    held = ((scene.counts[:, scene.focus] > 0).astype(np.float32) @ members) > 0
    cover = scene.worth @ held / np.float32(max(float(scene.worth.sum()), 1e-6))
    return np.where(sessions >= 0, cover[numbers], 0).astype(np.float32)


def _manner(scene: Scene) -> dict[str, Scores]:
    """Who says it and how, beside what the question asks for."""
    view, focus = scene.view, scene.focus
    traits, before = view.traits[focus], np.append(view.traits, 0)[view.previous[focus]]
    reply = _bit(traits, Trait.REPLY)
    own = (1 - reply) * np.float32(Asks.OWN in scene.asks and not scene.named.any())
    speaker = np.maximum(_of_speakers(view, scene.named, focus), own)
    subject = np.maximum(_of_speakers(view, scene.subject, focus), own)
    asks, number, time = (_bit(traits, trait) for trait in (Trait.ASKS, Trait.NUMBER, Trait.TIME))
    names = sum(_bit(traits, trait) for trait in (Trait.NAME, Trait.TWO_NAMES, Trait.THREE_NAMES)) / np.float32(3)
    asked_before = _bit(before, Trait.ASKS)
    when = _flag(scene, Asks.WHEN)
    picture = _bit(traits, Trait.PICTURE)
    return {
        "speaker": speaker,
        "subject": subject,
        "subject_of_two": subject * np.float32(bool((scene.named & ~scene.subject).any())),
        "entity": scene.boosts["entity"],
        "time": scene.boosts["time"],
        "length": np.log1p(view.lengths[focus].astype(np.float32)) / np.float32(4),
        "asks": asks,
        "asked_before": asked_before,
        "speaker_asks": speaker * asks,
        "speaker_asked": speaker * asked_before,
        "number": number,
        "says_time": time,
        "picture": picture,
        "names": names,
        "when_time": when * time,
        "when_number": when * number,
        "how_many_number": _flag(scene, Asks.HOW_MANY) * number,
        "how_long_time": _flag(scene, Asks.HOW_LONG) * np.maximum(time, number),
        "reply": reply,
        "asked_reply": _flag(scene, Asks.REPLY) * reply,
    }


def _bit(traits: NDArray[np.int16], trait: Trait) -> Scores:
    held: Scores = ((traits & np.int16(trait)) != 0).astype(np.float32)
    return held


def _flag(scene: Scene, kind: Asks) -> np.float32:
    return np.float32(kind in scene.asks)


def _padded(of_speakers: NDArray[np.bool_]) -> Scores:
    return np.append(of_speakers, False).astype(np.float32)


def _of_speakers(view: CubeView, chosen: NDArray[np.bool_], places: NDArray[np.int64]) -> Scores:
    found: Scores = _padded(chosen)[view.speakers[places]]
    return found
