"""The class of MemoryOS (BAI-LAB, memoryos-pypi) over a memory of Mnemic: its arguments, methods and return shapes.

A program written for it runs with the import changed: `from mnemic.compat.memoryos import Memoryos`. What is kept, and
what is answered otherwise, is told in docs/memoryos.md. Nothing is printed; what means something else here is a
warning, and stands in `notes`.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from mnemic.api import Memory
from mnemic.compat.memoryos_settings import BUNDLED, MULTILINGUAL, embedder_of, model_of
from mnemic.compat.views import ASSISTANT, NONE, SESSION, Knowledge, Page, Views, moment
from mnemic.core.generation import without_references
from mnemic.errors import InputError, JobError, StoreModelError, WaitTimeoutError

__all__ = ["Memoryos"]

_log = logging.getLogger(__name__)

_THEIRS: Final = ("users", "assistants")  # folders of MemoryOS in its data path
_PAGE_THRESHOLD: Final = 0.1
_KNOWLEDGE_THRESHOLD: Final = 0.01
_ANALYSIS: Final = 600.0  # seconds that a forced analysis may take


class Memoryos:
    """A user's memory with the methods of MemoryOS. A context manager; `close` ends it.

    `notes` tells what of the arguments means something else here. Errors are those of `mnemic.errors`. A `memory` that
    is open already takes the place of the folder, the models and the capacities; it is left open.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - MemoryOS's own arguments, in its order
        self,
        user_id: str,
        openai_api_key: str,
        data_storage_path: str,
        openai_base_url: str | None = None,
        assistant_id: str = ASSISTANT,
        short_term_capacity: int = 10,
        mid_term_capacity: int = 2000,
        long_term_knowledge_capacity: int = 100,
        retrieval_queue_capacity: int = 7,
        mid_term_heat_threshold: float = 5.0,
        mid_term_similarity_threshold: float = 0.6,
        llm_model: str = "gpt-4o-mini",
        embedding_model_name: str = "all-MiniLM-L6-v2",
        embedding_model_kwargs: Mapping[str, Any] | None = None,
        *,
        memory: Memory | None = None,
    ) -> None:
        self.user_id = user_id
        self.assistant_id = assistant_id
        self.data_storage_path = str(Path(data_storage_path).expanduser().absolute())
        self.llm_model = llm_model
        self.embedding_model_name = embedding_model_name
        self.mid_term_heat_threshold = mid_term_heat_threshold
        self.mid_term_similarity_threshold = mid_term_similarity_threshold
        self.long_term_knowledge_capacity = _count(long_term_knowledge_capacity, "long_term_knowledge_capacity")
        self.retrieval_queue_capacity = _count(retrieval_queue_capacity, "retrieval_queue_capacity")
        self._owned = memory is None
        self.notes: tuple[str, ...] = ()
        if memory is None:
            model = model_of(openai_api_key, openai_base_url, llm_model)
            embedder = embedder_of(embedding_model_name, embedding_model_kwargs)
            capacities = {
                "stm_pages": short_term_capacity,
                "mtm_segments": mid_term_capacity,
                "heat_threshold": mid_term_heat_threshold,
                "segment_threshold": mid_term_similarity_threshold,
            }
            settings = {**capacities, **model.settings, **embedder.settings}
            memory, more = _opened(self.data_storage_path, settings)
            self.notes = (*model.notes, *embedder.notes, *_theirs(Path(self.data_storage_path)), *more)
        self.memory = memory
        for note in self.notes:
            warnings.warn(note, stacklevel=2)
        self._views = Views(self.memory, user_id, assistant_id)
        self.short_term_memory = ShortTerm(self._views, short_term_capacity)
        self.user_long_term_memory = LongTerm(self._views, self.long_term_knowledge_capacity)
        self.assistant_long_term_memory = self.user_long_term_memory
        self.retriever = Retriever(self._views, self.retrieval_queue_capacity)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"<Memoryos user_id={self.user_id!r} assistant_id={self.assistant_id!r} "
            f"data_path={self.data_storage_path!r}>"
        )

    def close(self) -> None:
        """Close the memory, unless it was given; what is queued goes on at the next opening."""
        if self._owned:
            self.memory.close()

    def add_memory(
        self,
        user_input: str,
        agent_response: str,
        timestamp: str | None = None,
        meta_data: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a turn and its reply; when it returns they are on disk and found. `meta_data` is kept with both."""
        for note in self._views.add(user_input, agent_response, timestamp, meta_data):
            _log.info("memoryos_note", extra={"note": note})

    def get_response(
        self,
        query: str,
        relationship_with_user: str = "friend",
        style_hint: str = "",
        user_conversation_meta_data: Mapping[str, Any] | None = None,
    ) -> str:
        """Reply with what is in memory in mind, and store the turn.

        Without a model, and when it fails, the reply is composed from memory; then only the query is stored, for what
        was composed from memory says nothing new.
        """
        told = user_conversation_meta_data
        about = f"About this conversation: {json.dumps(told, ensure_ascii=False, default=str)}" if told else None
        answer = self.memory.chat(
            query, user=self.user_id, session=SESSION, agent=self.assistant_id,
            relationship=relationship_with_user, style=style_hint or None, system=about,
        )  # fmt: skip
        for note in answer.notes:
            _log.info("memoryos_note", extra={"note": note})
        return without_references(answer.text)

    def get_user_profile_summary(self) -> str:
        """Return what is known about the user, as text; "None" when nothing is."""
        return self._views.profile()

    def get_assistant_knowledge_summary(self) -> list[Knowledge]:
        """Return what a language model has drawn about the assistant (what it promised, what it learned)."""
        return self.user_long_term_memory.get_assistant_knowledge()

    def force_mid_term_analysis(self) -> None:
        """Finish now what background work would do later: reading, topics, promotion of what is warm enough."""
        try:
            self.memory.jobs.wait(user=self.user_id, timeout=_ANALYSIS)
        except (JobError, WaitTimeoutError) as error:
            _log.warning("memoryos_note", extra={"note": str(error)})

    def get_memory_stats(self) -> dict[str, Any]:
        """Return counts of the tiers, and whether anything is known about the user."""
        stats = self.memory.stats(user=self.user_id)
        return {
            "user_id": self.user_id,
            "short_term_count": stats.short_term,
            "mid_term_sessions_count": len(stats.segments),
            "has_user_profile": self.get_user_profile_summary() != NONE,
            "assistant_knowledge_count": len(self.get_assistant_knowledge_summary()),
        }


class ShortTerm:
    """`short_term_memory` of MemoryOS: the last turns."""

    def __init__(self, views: Views, capacity: int) -> None:
        self._views = views
        self.max_capacity = capacity

    def get_all(self) -> list[Page]:
        """Return the last turns, oldest first: user_input, agent_response, timestamp."""
        return [
            {name: page[name] for name in ("user_input", "agent_response", "timestamp")}
            for page in self._views.short_term(self.max_capacity)
        ]

    def is_full(self) -> bool:
        """Tell whether there are as many turns as short-term memory holds."""
        return len(self._views.short_term(self.max_capacity)) >= self.max_capacity


class LongTerm:
    """`user_long_term_memory` and `assistant_long_term_memory` of MemoryOS: profile and lines of knowledge."""

    def __init__(self, views: Views, capacity: int) -> None:
        self._views = views
        self._capacity = capacity

    def get_raw_user_profile(self, user_id: str) -> str:
        """Return what is known about the user, as text; "None" when nothing is."""
        _check_user(user_id, self._views.user)
        return self._views.profile()

    def get_user_knowledge(self) -> list[Knowledge]:
        """Return the newest statements about the user and others: knowledge and timestamp of each, oldest first."""
        return self._views.knowledge(self._capacity, of_assistant=False)

    def get_assistant_knowledge(self) -> list[Knowledge]:
        """Return the newest statements about the assistant, likewise."""
        return self._views.knowledge(self._capacity, of_assistant=True)


class Retriever:
    """`retriever` of MemoryOS: what a query finds, without an answer."""

    def __init__(self, views: Views, capacity: int) -> None:
        self._views = views
        self.retrieval_queue_capacity = capacity

    def retrieve_context(
        self,
        user_query: str,
        user_id: str,
        segment_similarity_threshold: float = 0.1,
        page_similarity_threshold: float = _PAGE_THRESHOLD,
        knowledge_threshold: float = _KNOWLEDGE_THRESHOLD,
        top_k_sessions: int = 5,
        top_k_knowledge: int = 20,
    ) -> dict[str, Any]:
        """Return pages and knowledge that answer a query, best first, and when they were looked for.

        Pages of all tiers are searched, so what only concerns topics (`segment_similarity_threshold`,
        `top_k_sessions`) has nothing to narrow. A threshold other than MemoryOS's default is held against our score.
        """
        del segment_similarity_threshold, top_k_sessions
        _check_user(user_id, self._views.user)
        pages = _threshold(page_similarity_threshold, _PAGE_THRESHOLD)
        knowledge = _threshold(knowledge_threshold, _KNOWLEDGE_THRESHOLD)
        most = _count(top_k_knowledge, "top_k_knowledge")
        find = self._views.found_knowledge
        return {
            "retrieved_pages": self._views.pages(user_query, self.retrieval_queue_capacity, threshold=pages),
            "retrieved_user_knowledge": find(user_query, most, of_assistant=False, threshold=knowledge),
            "retrieved_assistant_knowledge": find(user_query, most, of_assistant=True, threshold=knowledge),
            "retrieved_at": moment(datetime.now(self._views.memory.settings.zone)),
        }


def _opened(path: str, settings: dict[str, Any]) -> tuple[Memory, Sequence[str]]:
    """Open the memory; with the bundled embedder when its vectors come from that one."""
    try:
        return Memory(path, settings=settings), ()
    except StoreModelError:
        if settings["embedder"] != MULTILINGUAL:
            raise
    note = "what is stored was embedded by the bundled model, which is used again; `mnemic reindex` brings it over"
    return Memory(path, settings={**settings, "embedder": BUNDLED}), (note,)


def _theirs(path: Path) -> list[str]:
    """Return a note when MemoryOS has kept files in this folder: they are not read by themselves."""
    found = [name for name in _THEIRS if (path / name).is_dir()]
    return [f"{path} holds files of MemoryOS: `mnemic import` brings their pages over"] if found else []


def _threshold(given: float, default: float) -> float | None:
    return None if given == default else given


def _count(given: object, name: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError(name, f"needs a whole number from 1, got {given!r}")
    return given


def _check_user(given: object, own: object) -> None:
    if str(given) != str(own):
        raise InputError("user_id", f"{given!r} is not whose memory this is; that is {own!r}")
