"""Learns when to say that memory holds no answer, shows by cross-validation how well, and prints the weights.

    python -m bench.fitting.certainty --locomo FILE --assistants FILE --by-hand FILE

The weights of `core.holding` and `core.answering.certainty` are learned from a file in LoCoMo's layout and the first
ten people of `python -m bench.assistants`, each conversation left out in turn; the others, and the chats written by
hand, are only measured on. Questions with an answer and without weigh the same in sum, so that a probability does not
tell how often a data set asks in vain.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.assistants import split
from mnemic.api import Memory
from mnemic.core.answering import THRESHOLD
from mnemic.core.answering.asking import read_question
from mnemic.core.answering.certainty import read_signs
from mnemic.core.answering.evidence import pool_of, read_sentences
from mnemic.core.fusion import chance
from mnemic.core.holding import are_several, clues_of
from mnemic.evaluation import Conversation, KeptEmbedder, Question, open_dataset, store
from mnemic.evaluation.metrics import area_under_curve
from mnemic.services.answer import speakers_of
from mnemic.services.recall import named_speakers

Floats = NDArray[np.float64]

BESIDES: Final = 0.5
"""How much a question of the generated chats counts in learning."""
RIDGE: Final = 3.0
FREE: Final = frozenset({"rivals", "alone", "offset"})
"""Offsets, that no ridge holds back."""


Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A question: whether memory holds its answer, what search knows of that, and what answering does.

    `answer` is empty where answering relies on search, but for `named`: the share of names that it misses, negative.
    """

    group: str
    held: bool
    weight: float
    search: Values
    answer: Values
    named: float


def gather(layout: str, path: Path, folder: Path, weight: float) -> list[Row]:
    """Return a row for each question of a file; what was read of it is kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with Memory(folder / "memory", settings={"worker": False}) as plain:
        embedder = KeptEmbedder(plain._parts.embedder, folder)  # noqa: SLF001 - the default embedder, kept
        with embedder, Memory(folder / "memory", settings={"worker": False}, embedder=embedder) as memory:
            return list(_rows(memory, open_dataset(layout, path).read(), weight))


def _rows(memory: Memory, conversations: Iterator[Conversation], weight: float) -> Iterator[Row]:
    for conversation in conversations:
        if not memory.cubes.list(user=conversation.id):
            store(memory, conversation)
        for question in conversation.questions:
            if question.evidence or question.absent:
                yield _row(memory, conversation, question, weight)


def _row(memory: Memory, conversation: Conversation, question: Question, weight: float) -> Row:
    when, user = question.at or conversation.ends, conversation.id
    parts = memory._parts  # noqa: SLF001 - signs are not part of the public face
    _, view, looked = next(iter(parts.recall.look(question.text, user=user, reference_time=when)))
    clues = clues_of(view, named_speakers(question.text, view.speaker_names), looked)
    hits = parts.answer.search(question.text, user, reference_time=when)
    speakers = speakers_of(hits.hits)
    asked, pool = read_question(question.text, speakers, when, user), pool_of(hits.hits)
    signs = read_signs(asked, pool, read_sentences(asked, pool), rivals=bool(asked.speakers) and are_several(speakers))
    search = {"rivals" if clues.rivals else "alone": 1.0, **clues.values}
    answer = {"offset": 1.0, "depth": signs.depth, "lead": signs.lead, "named": signs.named} if signs.rivals else {}
    return Row(user, not question.absent, weight, search, answer, signs.named - 1)


def learn(values: Sequence[Values], rows: Sequence[Row]) -> Values:
    """Return the weight of each name: a logistic regression with a ridge on standardised values."""
    names = list(dict.fromkeys(name for each in values for name in each))
    table, held = _table(values, names), np.array([row.held for row in rows], dtype=np.float64)
    sets, weights = np.array([row.weight for row in rows]), np.zeros(len(rows))
    for each in np.unique(sets):
        for side in (0.0, 1.0):
            chosen = (sets == each) & (held == side)
            weights[chosen] = each * (sets == each).sum() / (2 * max(int(chosen.sum()), 1))
    spread = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    ridge = np.where([name in FREE for name in names], 0.01, RIDGE)
    scaled = table / spread

    def loss(found: Floats) -> tuple[float, Floats]:
        odds = scaled @ found
        lost = float(weights @ (np.logaddexp(0, odds) - held * odds) + ridge / 2 @ found**2)
        return lost, scaled.T @ (weights * (1 / (1 + np.exp(-odds)) - held)) + ridge * found

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 2_000}).x / spread
    return {name: round(float(weight), 2) for name, weight in zip(names, found, strict=True)}


def _table(values: Sequence[Values], names: Sequence[str]) -> Floats:
    return np.array([[each.get(name, 0.0) for name in names] for each in values], dtype=np.float64)


def learn_both(rows: Sequence[Row]) -> tuple[Values, Values]:
    """Return the weights of search and of answering."""
    answered = [row for row in rows if row.answer]
    return learn([row.search for row in rows], rows), learn([row.answer for row in answered], answered)


def chances(rows: Sequence[Row], weights: tuple[Values, Values]) -> tuple[Floats, Floats]:
    """Return the chances that search gives to each row, and those that answering does, as they are used."""
    of_search, of_answer = weights
    search = [_sum(row.search, of_search) for row in rows]
    answer = [
        _sum(row.answer, of_answer) if row.answer else found + of_answer["named"] * row.named
        for row, found in zip(rows, search, strict=True)
    ]
    return np.array([chance(odds) for odds in search]), np.array([chance(odds) for odds in answer])


def _sum(values: Values, weights: Values) -> float:
    return sum(weights[name] * value for name, value in values.items())


def crossed(rows: Sequence[Row]) -> tuple[Floats, Floats]:
    """Return the chances of each row by weights that were learned without its conversation."""
    search, answer = np.zeros(len(rows)), np.zeros(len(rows))
    for group in sorted({row.group for row in rows}):
        left = [place for place, row in enumerate(rows) if row.group == group]
        weights = learn_both([row for row in rows if row.group != group])
        search[left], answer[left] = chances([rows[place] for place in left], weights)
    return search, answer


def _show(title: str, rows: Sequence[Row], found: tuple[Floats, Floats]) -> None:
    held = np.array([row.held for row in rows])
    for name, values in zip(("search", "answer"), found, strict=True):
        curve = area_under_curve(values[held].tolist(), values[~held].tolist())
        kept = values >= THRESHOLD
        print(
            f"| {name}: {title} | {len(rows)} | {curve:.3f} | {1 - kept[~held].mean():.2f} | {kept[held].mean():.2f} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, and show what it brings; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.fitting.certainty", description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="a file in LoCoMo's layout")
    parser.add_argument("--assistants", type=Path, required=True, help="what `python -m bench.assistants` wrote")
    parser.add_argument("--by-hand", type=Path, default=Path(__file__).parents[1] / "assistants" / "by_hand.jsonl")
    parser.add_argument("--folder", type=Path, help="where vectors and memories are kept for another run")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        locomo = gather("locomo", options.locomo, folder / "locomo", 1.0)
        chats = gather("jsonl", options.assistants, folder / "assistants", BESIDES)
        by_hand = gather("jsonl", options.by_hand, folder / "by_hand", BESIDES)
    learned = [*locomo, *(row for row in chats if split(row.group) == "dev")]
    test = [row for row in chats if split(row.group) == "test"]
    print(f"| confidence at {THRESHOLD} | questions | AUC | withheld | answered |\n| --- | --- | --- | --- | --- |")
    by_groups = crossed(learned)
    ends = len(locomo)
    _show("LoCoMo, cross-validated", locomo, (by_groups[0][:ends], by_groups[1][:ends]))
    _show("assistants, cross-validated", learned[ends:], (by_groups[0][ends:], by_groups[1][ends:]))
    weights = learn_both(learned)
    _show("assistants, test", test, chances(test, weights))
    _show("by hand", by_hand, chances(by_hand, weights))
    print(f"\ncore.holding: {weights[0]}\ncore.answering.certainty: {weights[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
