"""Runs a dataset: stores each conversation through the public face, counts its turns, and asks its questions.

One conversation is at hand at a time, in a memory and a folder of its own. What is done is journalled question by
question. Figures are not made here (`mnemic.evaluation.summing`), nor printed.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mnemic import wiring
from mnemic.api import Memory
from mnemic.config import Settings
from mnemic.evaluation import asking, datasets
from mnemic.evaluation.choosing import conversations_of
from mnemic.evaluation.datasets import Conversation, Dataset
from mnemic.evaluation.filling import Filling
from mnemic.evaluation.journal import Journal, code_version
from mnemic.evaluation.peers import DEFAULT, PEERS, Peer, named
from mnemic.evaluation.records import Asked, Stored
from mnemic.evaluation.vectors import Embeds, KeptEmbedder
from mnemic.version import __version__

_APART: Final = (
    "home", "worker", "embed_api_key", "llm_api_key", "judge_api_key", "rerank_api_key", "llm_timeout", "llm_tries",
    "llm_daily_calls", "llm_daily_tokens", "judge_base_url", "judge_model",
)  # fmt: skip
"""Settings that no figure depends on, and keys, which are written nowhere; an answer's judge is noted with it."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is told: where its state lies, Mnemic's settings, and what to compare with.

    `only` names conversations (empty: all), `first` takes no more than so many. `drop` deletes a conversation's memory
    when its questions are asked, `fresh` forgets what an earlier run did. Without `refine` no background
    work runs: there are messages to find, and neither topics nor memories.
    """

    folder: Path
    settings: Settings
    baselines: tuple[str, ...] = DEFAULT
    only: tuple[str, ...] = ()
    first: int | None = None
    drop: bool = False
    fresh: bool = False
    refine: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """Where a run is: `stage` is start, read, store, ask or done; `asked` counts questions so far, of `questions`."""

    stage: str
    conversation: str
    asked: int
    questions: int
    stored: Stored | None = None
    changed: tuple[str, ...] = ()
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """All that was found, in the order of the file, and what it was found with."""

    dataset: Dataset
    stored: tuple[Stored, ...]
    asked: tuple[Asked, ...]
    about: Mapping[str, Any]


Told = Callable[[Step], None]


def run(dataset: Dataset, options: Options, *, told: Told | None = None, embedder: Embeds | None = None) -> Run:
    """Run a dataset, going on from what the folder holds; return all that was found.

    `told` hears of each step. A given embedder takes the place of the settings'. Raises `EvaluationError` when not all
    turns are stored, `EmbedderError` when a text could not be embedded, `InputError` for a fault in the file.
    """
    named(options.baselines)
    options.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if embedder is None:
            embedder = wiring.build_embedder(options.settings)
            stack.callback(getattr(embedder, "close", lambda: None))
        kept = stack.enter_context(KeptEmbedder(embedder, options.folder))
        journal = stack.enter_context(Journal(options.folder, depends(dataset, options, kept), fresh=options.fresh))
        work = _Work(dataset, options, kept, journal, told or (lambda _: None))
        return work.run()


def depends(dataset: Dataset, options: Options, embedder: Embeds) -> Mapping[str, Any]:
    """Return what figures depend on, by the words in which a person is told that it changed."""
    settings = {name: value for name, value in asdict(options.settings).items() if name not in _APART}
    return {
        "what is measured": "search",
        "the file": [dataset.kind, dataset.sha256],
        "the settings": settings,
        "the embedder": [embedder.name, embedder.width],
        "the code": [__version__, code_version()],
        "the baselines": list(options.baselines),
        "refining": options.refine,
    }


class _Work:
    """One run under way."""

    def __init__(self, dataset: Dataset, options: Options, kept: KeptEmbedder, journal: Journal, told: Told) -> None:
        self._dataset = dataset
        self._options = options
        self._kept = kept
        self._journal = journal
        self._filling = Filling(options.settings, kept, journal, refine=options.refine)
        self._told = told
        self._asked: list[Asked] = []
        self._stored: list[Stored] = []
        few = bool(options.only) or options.first is not None
        self._questions = 0 if few else dataset.questions

    def run(self) -> Run:
        """Go through the conversations."""
        journal, began = self._journal, datetime.now(UTC)
        self._tell("start", "", changed=journal.changed, resumed=journal.resumed)
        for number, conversation in conversations_of(self._dataset, self._options.only, self._options.first):
            self._conversation(number, conversation)
        self._tell("done", "")
        told = about(began, depends(self._dataset, self._options, self._kept), journal)
        return Run(self._dataset, tuple(self._stored), tuple(self._asked), told)

    def _conversation(self, number: int, conversation: Conversation) -> None:
        if not self._dataset.questions or self._questions < len(self._asked) + len(conversation.questions):
            self._questions = len(self._asked) + len(conversation.questions)  # a part of the file: known as it comes
        place = self._journal.place(number, conversation.id)
        done = all(question.id in self._journal.asked for question in conversation.questions)
        if conversation.id not in self._journal.stored or not done:
            with self._filling.memory(place, conversation, lambda: self._tell("read", conversation.id)) as memory:
                self._tell("store", conversation.id, stored=self._journal.stored[conversation.id])
                self._ask(memory, place, conversation)
        else:
            self._asked += [self._journal.asked[question.id] for question in conversation.questions]
        self._stored.append(self._journal.stored[conversation.id])
        self._tell("ask", conversation.id)
        if self._options.drop:
            shutil.rmtree(place, ignore_errors=True)

    def _ask(self, memory: Memory, place: Path, conversation: Conversation) -> None:
        turns = {turn.id: turn for turn in datasets.turns_of(conversation)}
        missing = any(question.id not in self._journal.asked for question in conversation.questions)
        with ExitStack() as stack:
            peers: dict[str, Peer] = {}
            for name in self._options.baselines if missing else ():
                folder = place / name
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                peers[name] = PEERS[name](self._kept, self._kept.for_queries(), folder)
                stack.callback(peers[name].close)
                peers[name].add(list(turns.values()))
            for question in conversation.questions:
                if question.id not in self._journal.asked:
                    record = asking.ask(memory, peers, conversation, question, turns)
                    self._filling.check_vectors()
                    self._journal.keep_asked(record)
                self._asked.append(self._journal.asked[question.id])
                self._tell("ask", conversation.id)

    def _tell(self, stage: str, conversation: str, **more: Any) -> None:
        self._told(Step(stage, conversation, len(self._asked), self._questions, **more))


def about(began: datetime, depended: Mapping[str, Any], journal: Journal) -> dict[str, Any]:
    """Return when and on what a run ran, and what it depended on."""
    return {
        "began": began.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "mnemic": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "depends": depended,
        "resumed": journal.resumed,
    }
