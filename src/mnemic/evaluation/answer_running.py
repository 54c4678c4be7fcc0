"""Runs the questions of a dataset through the conditions, one answer at a time, and goes on after a stop or an outage.

A model that fails marks its question as failed: it is not an answer, is not scored, and is asked again by the next run.
After some failures in a row the run ends, since nothing would come of the rest.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from mnemic import wiring
from mnemic.errors import EvaluationError, InputError, LanguageError
from mnemic.evaluation.answered import CONDITIONS, EXTRACTIVE, FULL, MNEMIC, NONE, Answered, Failed, Judged, Key
from mnemic.evaluation.answering import Answering
from mnemic.evaluation.choosing import Chosen, choose, conversations_of
from mnemic.evaluation.datasets import Conversation, Dataset, Question
from mnemic.evaluation.filling import Filling
from mnemic.evaluation.journal import Journal
from mnemic.evaluation.judging import judge
from mnemic.evaluation.language import Completes
from mnemic.evaluation.records import Stored
from mnemic.evaluation.running import Options, Step, Told, about, depends
from mnemic.evaluation.vectors import Embeds, KeptEmbedder

_Done = TypeVar("_Done")

IN_A_ROW: Final = 5
"""Failures of models, one after the other, after which a run ends."""

BUDGET: Final = 2_000
"""Tokens of a context where nothing else is said: the default of `Memory.context`."""

SEED: Final = 2026

WITH_MODEL: Final = (NONE, FULL, MNEMIC, EXTRACTIVE)
WITHOUT: Final = (EXTRACTIVE,)
"""The conditions where none are named, with a language model and without one."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What is asked, of whom, and at what price.

    `conditions` empty means all that there is a model for. `limit` is the number of questions drawn from each category
    of each conversation, None all. Prices are for a million tokens in and out, in any currency; None: unknown.
    """

    conditions: tuple[str, ...] = ()
    budget: int = BUDGET
    limit: int | None = None
    seed: int = SEED
    price_in: float | None = None
    price_out: float | None = None


@dataclass(frozen=True, slots=True)
class Posed:
    """A question that was put, with the moment from which it looks back."""

    conversation: str
    question: Question
    at: datetime


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """All that was answered and judged, by question and condition, and what failed; questions in the file's order."""

    dataset: Dataset
    chosen: Chosen
    answers: Answers
    stored: tuple[Stored, ...]
    posed: tuple[Posed, ...]
    answered: Mapping[Key, Answered]
    judged: Mapping[Key, Judged]
    failed: tuple[Failed, ...]
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Models:
    """Who answers and who judges; None for nobody."""

    llm: Completes | None = None
    judge: Completes | None = None


def run_answers(
    dataset: Dataset,
    options: Options,
    answers: Answers,
    *,
    told: Told | None = None,
    embedder: Embeds | None = None,
    models: Models | None = None,
) -> AnswerRun:
    """Answer the chosen questions, going on from what the folder holds; return all that was answered.

    Given models take the place of the settings'. Raises `EvaluationError` when a model fails several times in a row,
    and what `run` raises. `BudgetError` ends the run too: it goes on tomorrow.
    """
    with ExitStack() as stack:
        if models is None:
            models = Models(wiring.build_llm(options.settings), wiring.build_judge(options.settings))
            for model in (models.llm, models.judge):
                if model is not None:
                    stack.callback(model.close)
        conditions = conditions_of(answers.conditions, models.llm)
        chosen = choose(dataset, options.only, options.first, limit=answers.limit, seed=answers.seed)
        options.folder.mkdir(parents=True, exist_ok=True)
        if embedder is None:
            embedder = wiring.build_embedder(options.settings)
            stack.callback(getattr(embedder, "close", lambda: None))
        kept = stack.enter_context(KeptEmbedder(embedder, options.folder))
        depended = answers_depend(dataset, options, answers, kept, models.llm)
        journal = stack.enter_context(Journal(options.folder, depended, fresh=options.fresh))
        filling = Filling(options.settings, kept, journal, refine=options.refine, llm=models.llm)
        work = _Work(dataset, options, journal, filling, models, told or (lambda _: None))
        began = datetime.now(UTC)
        work.run(chosen, conditions, answers.budget)
        return AnswerRun(
            dataset=dataset,
            chosen=chosen,
            answers=answers,
            stored=tuple(work.stored),
            posed=tuple(work.posed),
            answered={key: each for key, each in journal.answered.items() if key in work.keys},
            judged=work.judged(),
            failed=tuple(work.failed),
            about=about(began, depended, journal)
            | {"conditions": list(conditions), "judge": None if models.judge is None else models.judge.name},
        )


def conditions_of(named: Sequence[str], llm: Completes | None) -> tuple[str, ...]:
    """Return the conditions to run. Raises `InputError` for one that is unknown or that needs a model."""
    unknown = next((each for each in named if each not in CONDITIONS), None)
    if unknown is not None:
        raise InputError("conditions", f"{unknown!r} is not known; known: {', '.join(CONDITIONS)}")
    if not named:
        return WITHOUT if llm is None else WITH_MODEL
    needing = next((each for each in named if each != EXTRACTIVE), None)
    if llm is None and needing is not None:
        raise InputError(
            "conditions", f"{needing!r} needs a language model; set MNEMIC_LLM_MODEL, or take `extractive` alone"
        )
    return tuple(dict.fromkeys(named))


def answers_depend(
    dataset: Dataset, options: Options, answers: Answers, embedder: Embeds, llm: Completes | None
) -> dict[str, Any]:
    """Return what answers depend on. Which questions and conditions are taken is not of it: more can be added."""
    searched = {key: value for key, value in depends(dataset, options, embedder).items() if key != "the baselines"}
    return {
        **searched,
        "what is measured": "answers",
        "the model": None if llm is None else llm.name,
        "the budget": answers.budget,
    }


class _Work:
    """One run under way."""

    def __init__(
        self, dataset: Dataset, options: Options, journal: Journal, filling: Filling, models: Models, told: Told
    ) -> None:
        self._dataset = dataset
        self._options = options
        self._journal = journal
        self._filling = filling
        self._models = models
        self._told = told
        self.stored: list[Stored] = []
        self.posed: list[Posed] = []
        self.failed: list[Failed] = []
        self.keys: set[Key] = set()
        self._settled = 0
        self._in_a_row = 0
        self._all = 0

    def run(self, chosen: Chosen, conditions: Sequence[str], budget: int) -> None:
        """Go through the conversations."""
        self._all = len(chosen.ids) * len(conditions)
        self._tell("start", "", changed=self._journal.changed, resumed=self._journal.resumed)
        for number, conversation in conversations_of(self._dataset, self._options.only, self._options.first):
            questions = [each for each in conversation.questions if each.id in chosen.ids]
            if questions:
                self._conversation(number, conversation, questions, conditions, budget)
        self._tell("done", "")

    def judged(self) -> dict[Key, Judged]:
        """Return what this run's judge said of its answers."""
        judge_ = self._models.judge
        if judge_ is None:
            return {}
        found = self._journal.judged
        return {key: each for key, each in found.items() if key in self.keys and each.judge == judge_.name}

    def _conversation(
        self,
        number: int,
        conversation: Conversation,
        questions: Sequence[Question],
        conditions: Sequence[str],
        budget: int,
    ) -> None:
        place = self._journal.place(number, conversation.id)
        self.posed += [Posed(conversation.id, each, each.at or conversation.ends) for each in questions]
        keys = [(question.id, condition) for question in questions for condition in conditions]
        self.keys.update(keys)
        if all(self._is_settled(key) for key in keys) and conversation.id in self._journal.stored:
            self._settled += len(keys)
        else:
            with self._filling.memory(place, conversation, lambda: self._tell("read", conversation.id)) as memory:
                self._tell("store", conversation.id, stored=self._journal.stored[conversation.id])
                answering = Answering(memory, conversation, self._dataset.kind, self._options.settings, budget)
                self._questions(answering, conversation.id, questions, conditions)
        self.stored.append(self._journal.stored[conversation.id])
        self._tell("ask", conversation.id)
        if self._options.drop:
            shutil.rmtree(place, ignore_errors=True)

    def _questions(
        self, answering: Answering, conversation: str, questions: Sequence[Question], conditions: Sequence[str]
    ) -> None:
        for question in questions:
            for condition in conditions:
                if not self._is_settled((question.id, condition)):
                    self._settle(answering, question, condition)
                    self._filling.check_vectors()
                self._settled += 1
                self._tell("ask", conversation)

    def _settle(self, answering: Answering, question: Question, condition: str) -> None:
        """Answer and judge, as far as that is not done; note what fails."""
        key = (question.id, condition)
        if key not in self._journal.answered:
            given = self._try("answer", key, lambda: answering.answer(question, condition))
            if given is None:
                return
            self._journal.keep_answered(given)
        judge_, answered = self._models.judge, self._journal.answered[key]
        if judge_ is not None and not self._is_judged(key):
            verdict = self._try("judgement", key, lambda: judge(judge_, question, answered))
            if verdict is not None:
                self._journal.keep_judged(verdict)

    def _try(self, stage: str, key: Key, work: Callable[[], _Done]) -> _Done | None:
        try:
            done = work()
        except LanguageError as error:
            failure = Failed(*key, stage=stage, error=str(error))
            self.failed.append(failure)
            self._journal.keep_failed(failure)
            self._in_a_row += 1
            if self._in_a_row == IN_A_ROW:
                raise EvaluationError(
                    f"a model has failed {IN_A_ROW} times in a row, the last time with: {error}. "
                    f"{len(self._journal.answered):,} answers are kept; run the same command again when it is back."
                ) from error
            return None
        self._in_a_row = 0
        return done

    def _is_settled(self, key: Key) -> bool:
        return key in self._journal.answered and (self._models.judge is None or self._is_judged(key))

    def _is_judged(self, key: Key) -> bool:
        """Tell whether this run's judge has judged an answer, or there is nothing to judge."""
        judge_, found = self._models.judge, self._journal.judged.get(key)
        if not self._journal.answered[key].fits:
            return True
        return judge_ is not None and found is not None and found.judge == judge_.name

    def _tell(self, stage: str, conversation: str, **more: Any) -> None:
        self._told(Step(stage, conversation, self._settled, self._all, **more))
