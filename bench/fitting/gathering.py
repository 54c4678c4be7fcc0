"""What the weights are learned from: for each question the features of what a closer look shows, and what is evidence.

Features come from the ranking itself (`Recall.look`), so that what is learned is what is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemic.api import Memory
from mnemic.evaluation import Conversation, Dataset, KeptEmbedder, Question, open_dataset, store
from mnemic.model.index import CubeView
from mnemic.model.scope import Cube

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One question: `features` has shape (passages, names), `evidence` tells which passages are, `wanted` how many are.

    `turns` names for each passage the numbers of the evidence turns that it stands for, `plain` is its plain sum, and
    `owners` tells which passages are of one message. `group` is the conversation, `data` the file, `weight` how
    much the question counts in learning.
    """

    data: str
    group: str
    category: str
    absent: bool
    features: Floats
    plain: Floats
    owners: NDArray[np.int64]
    turns: Sequence[frozenset[int]]
    wanted: int
    weight: float = 1.0

    @property
    def evidence(self) -> NDArray[np.bool_]:
        """Which passages stand for evidence."""
        return np.array([bool(each) for each in self.turns], dtype=np.bool_)


def gather(layout: str, path: Path, folder: Path) -> tuple[list[str], list[Sheet]]:
    """Return the names of the features and a sheet for each question of a file; vectors are kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with Memory(folder / "memory", settings={"worker": False}) as plain:
        embedder = KeptEmbedder(plain._parts.embedder, folder)  # noqa: SLF001 - the default embedder, kept
        with embedder, Memory(folder / "memory", settings={"worker": False}, embedder=embedder) as memory:
            found = list(_sheets(memory, open_dataset(layout, path), path.stem))
    names = found[0][0]
    return names, [sheet for _, sheet in found]


def _sheets(memory: Memory, dataset: Dataset, data: str) -> Iterator[tuple[list[str], Sheet]]:
    for conversation in dataset.read():
        if not memory.cubes.list(user=conversation.id):
            store(memory, conversation)
        for question in conversation.questions:
            if question.evidence or question.absent:
                yield _sheet(memory, conversation, question, data)


def _sheet(memory: Memory, conversation: Conversation, question: Question, data: str) -> tuple[list[str], Sheet]:
    when = question.at or conversation.ends
    recall = memory._parts.recall  # noqa: SLF001 - features are not part of the public face
    cube, view, looked = next(iter(recall.look(question.text, user=conversation.id, reference_time=when)))
    names = list(looked.features)
    stands_for = _sources(memory, cube, view, looked.places)
    numbers = {turn: number for number, turn in enumerate(question.evidence)}
    owners = {owner: number for number, owner in enumerate(dict.fromkeys(view.owners[int(at)] for at in looked.places))}
    sheet = Sheet(
        data=data,
        group=conversation.id,
        category=question.category,
        absent=question.absent,
        features=np.stack([looked.features[name] for name in names], axis=1).astype(np.float32),
        plain=looked.plain.astype(np.float32),
        owners=np.array([owners[view.owners[int(at)]] for at in looked.places]),
        turns=[frozenset(numbers[turn] for turn in turns if turn in numbers) for turns in stands_for],
        wanted=len(numbers),
    )
    return names, sheet


def _sources(memory: Memory, cube: Cube, view: CubeView, places: NDArray[np.int64]) -> list[set[str]]:
    """Return the turns that each entry stands for, by the ids that they came with."""
    owners = [view.owners[int(at)] for at in places]
    kinds = [view.kind_names[view.kinds[int(at)]] for at in places]
    with memory._parts.store.read() as tx:  # noqa: SLF001 - see above
        messages = tx.messages.get(
            cube.key, [owner for owner, kind in zip(owners, kinds, strict=True) if kind == "message"]
        )
        memories = tx.memories.get(
            cube.key, [owner for owner, kind in zip(owners, kinds, strict=True) if kind != "message"]
        )
    turns: Mapping[str, set[str]] = {
        **{key: {str(message.external_id)} for key, message in messages.items()},
        **{
            key: {str(source.external_id) for version in memory.versions for source in version.sources}
            for key, memory in memories.items()
        },
    }
    return [turns.get(owner, set()) for owner in owners]
