"""The bodies of the MemOS open server's calls, field by field: what is taken, and what we do not have."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from mnemic.shells.doors.asking import Asked, Only, refused, unset
from mnemic.shells.doors.cloud_bodies import NO_INTERNET, Text, Texts

ONE_MODE: Final = Only("fast", why="memory is searched in one way, without a language model; leave it out")
NO_PROJECT: Final = refused("projects are those of keys; leave it out")
NO_MANAGER: Final = refused("who calls is said by the key; leave it out")
NO_LEGACY: Final = unset("there is no MemOSCube; leave it out or send false")
NO_OPERATION: Final = refused("what a cube allows is said by its members; leave it out")
NO_DEDUP: Final = Only("no", "sim", "mmr", why="repetitions are always left out; leave it out")
NO_NEIGHBORS: Final = unset("search gives hits only; context has the turns around them")
NO_SKILL_FILES: Final = unset("there are no skills; leave it out or send false")
NO_PATHS: Final = refused("files of the server are not read; give messages")
NO_FILES: Final = refused("there are no files yet; choose by memory_ids, filter or session_id")
NO_HISTORY: Final = refused("what was said before is in memory, by session_id; leave it out")
NO_TOP_P: Final = refused("is not passed on to the model; use temperature")
NO_CHAT_FILTER: Final = refused("a chat reads all of the cubes that it may; search with the filter instead")
CHAT_COUNT: Final = Only(10, 6, why="a chat takes as many memories as fit its budget of tokens; leave it out")
CHAT_SHARE: Final = Only(0.45, 0.5, 0, 0.0, why="a chat takes the best memories that fit; leave it out")
CHAT_PREFERENCES: Final = Only(
    True,  # noqa: FBT003 - the value that is allowed
    why="a chat always has the user's preferences in mind; leave it out or send true",
)
NO_GUIDE: Final = refused("there is no guide for beginners; leave it out")
NO_BUSINESS: Final = refused("who calls is said by the key; use chat/stream")
NO_PLACE: Final = refused("where cubes are kept is the server's business; leave it out")
NO_CUBE_ID: Final = refused("ids of cubes are made by the server; the reply has it")
ALL_TYPES: Final = Only("All", why="is not known here; leave it out, or search for preferences by include_preference")

Count = Annotated[int, Field(ge=0, le=100)]
Share = Annotated[float, Field(ge=0)]


class Add(Asked):
    """`add`. The cube defaults to the user's own, which the user's id means, too."""

    user_id: Text
    session_id: str | None = None
    task_id: str | None = None
    writable_cube_ids: list[str] | None = None
    mem_cube_id: str | None = None
    async_mode: Literal["async", "sync"] | None = "async"
    mode: Literal["fast", "fine"] | None = None
    custom_tags: list[str] | None = None
    info: dict[str, Any] | None = None
    messages: str | list[Any] | None = None
    memory_content: str | None = None
    source: str | None = None
    is_feedback: bool | None = False
    manager_user_id: Annotated[Any, NO_MANAGER] = None
    project_id: Annotated[Any, NO_PROJECT] = None
    chat_history: Annotated[Any, NO_HISTORY] = None
    is_upload_skill: Annotated[Any, NO_SKILL_FILES] = False
    doc_path: Annotated[Any, NO_PATHS] = None
    operation: Annotated[Any, NO_OPERATION] = None


class Search(Asked):
    """`search`. Tools and skills may be asked for: there are none."""

    query: Text
    user_id: Text
    readable_cube_ids: list[str] | None = None
    mem_cube_id: str | None = None
    session_id: str | None = None
    top_k: Annotated[int, Field(ge=1, le=100)] | None = 10
    relativity: Share | None = 0.45
    threshold: Share | None = None
    include_preference: bool | None = True
    pref_top_k: Count | None = 6
    filter: dict[str, Any] | None = None
    reference_time: str | None = None
    source: str | None = None
    search_tool_memory: bool | None = True
    tool_mem_top_k: Count | None = 6
    include_skill_memory: bool | None = True
    skill_mem_top_k: Count | None = 3
    rerank: bool | None = True
    mode: Annotated[Any, ONE_MODE] = "fast"
    dedup: Annotated[Any, NO_DEDUP] = "mmr"
    context_format: Annotated[Any, Only("memory", why="only the format `memory` is given")] = "memory"
    internet_search: Annotated[Any, NO_INTERNET] = False
    search_memory_type: Annotated[Any, ALL_TYPES] = "All"
    chat_history: Annotated[Any, NO_HISTORY] = None
    moscube: Annotated[Any, NO_LEGACY] = False
    operation: Annotated[Any, NO_OPERATION] = None
    neighbor_discovery: Annotated[Any, NO_NEIGHBORS] = False


class Chat(Asked):
    """`chat/complete` and `chat/stream`."""

    user_id: Text
    query: Text
    readable_cube_ids: list[str] | None = None
    writable_cube_ids: list[str] | None = None
    mem_cube_id: str | None = None
    session_id: str | None = None
    system_prompt: str | None = None
    model_name_or_path: str | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    add_message_on_answer: bool | None = True
    history: Annotated[Any, NO_HISTORY] = None
    mode: Annotated[Any, ONE_MODE] = "fast"
    top_k: Annotated[Any, CHAT_COUNT] = 10
    include_preference: Annotated[Any, CHAT_PREFERENCES] = True
    pref_top_k: Annotated[Any, CHAT_COUNT] = 6
    top_p: Annotated[Any, NO_TOP_P] = None
    manager_user_id: Annotated[Any, NO_MANAGER] = None
    project_id: Annotated[Any, NO_PROJECT] = None
    relativity: Annotated[Any, CHAT_SHARE] = 0.45
    filter: Annotated[Any, NO_CHAT_FILTER] = None
    internet_search: Annotated[Any, NO_INTERNET] = False
    threshold: Annotated[Any, CHAT_SHARE] = 0.5
    moscube: Annotated[Any, NO_LEGACY] = False


class PlaygroundChat(Chat):
    """`chat/stream/playground`."""

    beginner_guide_step: Annotated[Any, NO_GUIDE] = None


class Suggestions(Asked):
    """`suggestions`."""

    user_id: Text
    mem_cube_id: Text
    language: Literal["zh", "en"] | None = "zh"
    message: str | list[Any] | None = None


class GetAll(Asked):
    """`get_all`."""

    user_id: Text
    memory_type: Literal["text_mem", "act_mem", "param_mem", "para_mem"]
    mem_cube_ids: list[str] | None = None
    search_query: str | None = None
    search_type: Literal["embedding", "fulltext"] | None = "fulltext"


class GetMemory(Asked):
    """`get_memory`. Without a page, all are given."""

    mem_cube_id: Text
    user_id: str | None = None
    include_preference: bool | None = True
    include_tool_memory: bool | None = True
    include_skill_memory: bool | None = True
    filter: dict[str, Any] | None = None
    page: Annotated[int, Field(ge=1)] | None = None
    page_size: Annotated[int, Field(ge=1, le=1_000)] | None = None


class DeleteMemory(Asked):
    """`delete_memory`: exactly one condition; `conversation_id` is another name of `session_id`."""

    writable_cube_ids: list[str] | None = None
    memory_ids: Texts | None = None
    filter: dict[str, Any] | None = None
    user_id: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    auto_cleanup_working: bool | None = False
    file_ids: Annotated[Any, NO_FILES] = None


class Feedback(Asked):
    """`feedback`."""

    user_id: Text
    feedback_content: Text
    history: list[Any] | None = None
    session_id: str | None = "default_session"
    task_id: str | None = None
    retrieved_memory_ids: list[str] | None = None
    writable_cube_ids: list[str] | None = None
    mem_cube_id: str | None = None
    async_mode: Literal["sync", "async"] | None = "async"
    corrected_answer: Annotated[Any, unset("no answer is written to feedback; ask again")] = False
    feedback_time: Annotated[Any, refused("feedback counts from when it comes; leave it out")] = None
    info: Annotated[Any, refused("feedback is stored without labels; leave it out")] = None


class CreateCube(Asked):
    """`create_cube`."""

    cube_name: Text
    owner_id: Text
    cube_path: Annotated[Any, NO_PLACE] = None
    cube_id: Annotated[Any, NO_CUBE_ID] = None


class RegisterCube(Asked):
    """`register_cube`."""

    mem_cube_name_or_path: Text
    mem_cube_id: str | None = None
    user_id: str | None = None


class NamesByIds(Asked):
    """`get_user_names_by_memory_ids`."""

    memory_ids: list[str]


class ExistsCube(Asked):
    """`exist_mem_cube_id`."""

    mem_cube_id: Text
