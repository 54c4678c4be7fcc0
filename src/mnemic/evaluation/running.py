"""Runs a dataset: stores each conversation through the public face, counts its turns, and asks its questions.

One conversation is at hand at a time, in a memory and a folder of its own. What is done is journalled question by
question. Figures are not made here (`mnemic.evaluation.summing`), nor printed.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mnemic import wiring
from mnemic.api import Memory
from mnemic.config import Settings
from mnemic.errors import EvaluationError, InputError
from mnemic.evaluation import asking, datasets
from mnemic.evaluation.datasets import Conversation, Dataset
from mnemic.evaluation.journal import Journal, code_version
from mnemic.evaluation.peers import DEFAULT, PEERS, Peer, named
from mnemic.evaluation.records import Asked, Stored
from mnemic.evaluation.vectors import Embeds, KeptEmbedder
from mnemic.model.receipt import Added
from mnemic.version import __version__

_REFINING: Final = 6 * 3_600.0
"""Seconds that the background work of one conversation may take."""

_APART: Final = ("home", "embed_api_key", "worker")
"""Settings that no figure depends on."""


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
        self._told = told
        self._asked: list[Asked] = []
        self._stored: list[Stored] = []
        few = bool(options.only) or options.first is not None
        self._questions = 0 if few else dataset.questions

    def run(self) -> Run:
        """Go through the conversations."""
        journal, began = self._journal, datetime.now(UTC)
        self._tell("start", "", changed=journal.changed, resumed=journal.resumed)
        seen: set[str] = set()
        for number, conversation in self._conversations():
            if conversation.id in seen:
                raise InputError("file", f"two conversations are called {conversation.id!r}")
            seen.add(conversation.id)
            self._conversation(number, conversation)
        lost = [name for name in self._options.only if name not in seen]
        if lost:
            raise InputError("only", f"no conversation {lost[0]!r} in the file")
        self._tell("done", "")
        return Run(self._dataset, tuple(self._stored), tuple(self._asked), self._about(began))

    def _conversations(self) -> Iterator[tuple[int, Conversation]]:
        taken = 0
        for number, conversation in enumerate(self._dataset.read()):
            if self._options.only and conversation.id not in self._options.only:
                continue
            if taken == self._options.first:
                return
            taken += 1
            yield number, conversation

    def _conversation(self, number: int, conversation: Conversation) -> None:
        if not conversation.messages:
            raise InputError("file", f"conversation {conversation.id!r} has no turn with words")
        if not self._dataset.questions or self._questions < len(self._asked) + len(conversation.questions):
            self._questions = len(self._asked) + len(conversation.questions)  # a part of the file: known as it comes
        place = self._journal.place(number, conversation.id)
        record = self._journal.stored.get(conversation.id)
        done = all(question.id in self._journal.asked for question in conversation.questions)
        if record is None or not done:
            with self._memory(place, conversation, record) as memory:
                record = self._journal.stored[conversation.id]
                self._tell("store", conversation.id, stored=record)
                self._ask(memory, place, conversation)
        else:
            self._asked += [self._journal.asked[question.id] for question in conversation.questions]
        self._stored.append(record)
        self._tell("ask", conversation.id)
        if self._options.drop:
            shutil.rmtree(place, ignore_errors=True)

    @contextmanager
    def _memory(self, place: Path, conversation: Conversation, record: Stored | None) -> Iterator[Memory]:
        """Open the memory of a conversation, filling it when it was not filled whole before."""
        folder = place / "memory"
        if record is None or not folder.is_dir():
            shutil.rmtree(place, ignore_errors=True)
            folder.mkdir(parents=True)
            record = None
        settings = replace(self._options.settings, worker=False)
        with Memory(folder, settings=settings, embedder=self._kept) as memory:
            if record is None:
                self._tell("read", conversation.id)
                before = self._kept.embedded
                taken = store(memory, conversation, refine=self._options.refine, check=self._check_vectors)
                self._journal.keep_stored(replace(taken, embedded=self._kept.embedded - before))
            check_count(memory, conversation)
            self._check_vectors()
            yield memory

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
                    self._check_vectors()
                    self._journal.keep_asked(record)
                self._asked.append(self._journal.asked[question.id])
                self._tell("ask", conversation.id)

    def _check_vectors(self) -> None:
        if self._kept.failed is not None:
            raise self._kept.failed

    def _tell(self, stage: str, conversation: str, **more: Any) -> None:
        self._told(Step(stage, conversation, len(self._asked), self._questions, **more))

    def _about(self, began: datetime) -> Mapping[str, Any]:
        return {
            "began": began.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "mnemic": __version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "depends": depends(self._dataset, self._options, self._kept),
            "resumed": self._journal.resumed,
        }


def store(
    memory: Memory, conversation: Conversation, *, refine: bool = True, check: Callable[[], None] | None = None
) -> Stored:
    """Store a conversation session by session and refine it. Raises `EvaluationError` when a turn is not stored.

    `check` is called before refining, which would try for long to embed what could not be embedded.
    """
    lost: list[str] = []
    start = time.perf_counter()
    for session, messages in conversation.sessions:
        receipt = memory.add(messages, user=conversation.id, session=session)
        lost += _lost(receipt, [str(message.id) for message in messages])
    added = time.perf_counter()
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise EvaluationError(
            f"{len(lost)} of {conversation.messages} turns of {conversation.id!r} are not stored: "
            f"{'; '.join(lost[:5])}{more}. Give each turn an id and a time of its own.",
            conversation=conversation.id,
        )
    if check is not None:
        check()
    if refine:
        memory.jobs.wait(user=conversation.id, timeout=_REFINING)
    return Stored(
        conversation=conversation.id,
        turns=conversation.turns,
        messages=conversation.messages,
        sessions=len(conversation.sessions),
        questions=len(conversation.questions),
        adding=added - start,
        refining=time.perf_counter() - added if refine else 0.0,
        problems=tuple(asdict(problem) for problem in conversation.problems),
    )


def _lost(receipt: Added, ids: list[str]) -> list[str]:
    return [f"{ids[skipped.index]} ({skipped.reason})" for skipped in receipt.skipped]


def check_count(memory: Memory, conversation: Conversation) -> None:
    """Count what the memory holds. Raises `EvaluationError` when it is not what the conversation has."""
    held = memory.stats(user=conversation.id).messages
    if held != conversation.messages:
        raise EvaluationError(
            f"the memory of {conversation.id!r} holds {held} messages where the file has {conversation.messages} with "
            "words: no figure from it would be true. Run again with --fresh.",
            conversation=conversation.id,
        )
