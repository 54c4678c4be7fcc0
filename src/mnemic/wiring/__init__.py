"""The only package that names concrete backends: what the settings choose is opened and put together here."""

from mnemic.wiring.clocks import SystemClock
from mnemic.wiring.exposing import expose, exposition_of, readiness_of
from mnemic.wiring.models import (
    MODELS,
    build_embedder,
    build_judge,
    build_llm,
    build_reranker,
    missing_package,
    models_of,
    pull_model,
    recommended_models,
)
from mnemic.wiring.moving import backup_of, move, reopen
from mnemic.wiring.parts import Parts, build

__all__ = [
    "MODELS",
    "Parts",
    "SystemClock",
    "backup_of",
    "build",
    "build_embedder",
    "build_judge",
    "build_llm",
    "build_reranker",
    "expose",
    "exposition_of",
    "missing_package",
    "models_of",
    "move",
    "pull_model",
    "readiness_of",
    "recommended_models",
    "reopen",
]
