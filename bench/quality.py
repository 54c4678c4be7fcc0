"""How well search finds: the share of a question's evidence turns among what comes back, in a LoCoMo file.

Turns go in and questions are asked through the public face; hits are mapped to turns by the ids that these came with.
Evidence ids that name no turn are counted, not dropped in silence. Adversarial questions have no evidence to find: for
them the share of answers that `ask` rightly withholds is told instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from bench.corpus import LOCOMO
from mnemic.api import Memory
from mnemic.importing.locomo import Conversation, Question, conversations
from mnemic.model.query import Hit

CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
ADVERSARIAL = 5
BUDGET = 2_000


@dataclass(frozen=True, slots=True)
class Score:
    """What one question found: evidence among 10 and 20 hits, any of it among 10, and inside a 2,000-token context."""

    category: int
    at_10: float
    hit_10: float
    at_20: float
    packed: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a file and print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO, help="a file in LoCoMo's layout")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if not options.data.exists():
        print(f"{options.data} is not here: give a file in LoCoMo's layout with --data", file=sys.stderr)
        return 2
    found = conversations(json.loads(options.data.read_text("utf-8")))
    with TemporaryDirectory() as folder, Memory(folder, settings={"worker": False}) as memory:
        for each in found:
            _add(memory, each)
        scores, lost = _search(memory, found)
        withheld, answered = _ask(memory, found)
    print(_table(scores))
    print(f"\n{len(scores)} questions; {lost} evidence ids name no turn of their conversation.")
    print(f"`ask` gives no answer to {withheld:.3f} of adversarial questions, and one to {answered:.3f} of the others.")
    return 0


def _add(memory: Memory, conversation: Conversation) -> None:
    for name, _, messages in conversation.sessions:
        memory.add(messages, user=conversation.id, session=name)
    memory.jobs.wait(user=conversation.id, timeout=600)


def _search(memory: Memory, found: Iterable[Conversation]) -> tuple[list[Score], int]:
    scores: list[Score] = []
    lost = 0
    for conversation in found:
        turns = {message.id for _, _, messages in conversation.sessions for message in messages}
        for question in conversation.questions:
            wanted = {each for each in question.evidence if each in turns}
            if question.category in CATEGORIES:
                lost += len(set(question.evidence) - wanted)
                if wanted:
                    scores.append(_score(memory, conversation, question, wanted))
    return scores, lost


def _score(memory: Memory, conversation: Conversation, question: Question, wanted: set[str]) -> Score:
    user, end = conversation.id, conversation.sessions[-1][1]
    hits = memory.search(question.text, user=user, limit=20, reference_time=end).hits
    packed = memory.context(question.text, user=user, budget=BUDGET, reference_time=end).hits
    at_10, at_20 = _turns(hits[:10]), _turns(hits)
    return Score(
        question.category,
        len(wanted & at_10) / len(wanted),
        float(bool(wanted & at_10)),
        len(wanted & at_20) / len(wanted),
        len(wanted & _turns(packed)) / len(wanted),
    )


def _turns(hits: Iterable[Hit]) -> set[str]:
    return {source.external_id for hit in hits for source in hit.sources if source.external_id is not None}


def _ask(memory: Memory, found: Iterable[Conversation]) -> tuple[float, float]:
    """Return the share of adversarial questions without an answer, and of the others with one."""
    withheld: list[bool] = []
    answered: list[bool] = []
    for conversation in found:
        for question in conversation.questions:
            answer = memory.ask(question.text, user=conversation.id, reference_time=conversation.sessions[-1][1])
            if question.category == ADVERSARIAL:
                withheld.append(not answer.found)
            else:
                answered.append(answer.found)
    return fmean(withheld or [False]), fmean(answered or [False])


def _table(scores: Sequence[Score]) -> str:
    lines = [
        "| questions | n | recall@10 | any hit@10 | recall@20 | in a 2,000-token context |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    groups = [
        (f"{name} ({number})", [s for s in scores if s.category == number]) for number, name in CATEGORIES.items()
    ]
    for name, group in [*groups, ("all", list(scores))]:
        if group:
            means = (fmean(getattr(s, field) for s in group) for field in ("at_10", "hit_10", "at_20", "packed"))
            lines.append(f"| {name} | {len(group)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
