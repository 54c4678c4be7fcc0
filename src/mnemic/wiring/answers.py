"""Puts together what answers: contexts, profiles, the extractive answers, and those that a model writes."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.config import Settings, read_templates
from mnemic.core.generation import Defaults, Manner
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.answer import AnswerService
from mnemic.services.context import Contexts
from mnemic.services.gathering import Gathering
from mnemic.services.generate import Generate
from mnemic.services.language import Language
from mnemic.services.profiles import Profiles
from mnemic.services.recall import Recall
from mnemic.services.scoping import Scoping


@dataclass(frozen=True, slots=True)
class Answers:
    """The parts that answer."""

    contexts: Contexts
    profiles: Profiles
    extractive: AnswerService
    generate: Generate


def answers_of(
    settings: Settings, store: Store, clock: Clock, scoping: Scoping, recall: Recall, language: Language | None
) -> Answers:
    """Return the parts that answer."""
    contexts = Contexts(store, recall, scoping)
    profiles = Profiles(store, clock, scoping, zone=settings.zone, templates=read_templates(settings))
    extractive = AnswerService(store, clock, scoping, recall, zone=settings.zone, threshold=settings.answer_threshold)
    gathering = Gathering(store, scoping, contexts, profiles, context=settings.llm_context)
    defaults = Defaults(
        Manner(settings.persona, settings.answer_style, settings.relationship),
        settings.llm_temperature,
        settings.llm_max_tokens,
        settings.llm_context,
    )
    generate = Generate(gathering, extractive, language, clock, defaults=defaults, zone=settings.zone)
    return Answers(contexts, profiles, extractive, generate)
