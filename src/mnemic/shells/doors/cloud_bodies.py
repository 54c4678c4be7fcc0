"""The bodies of MemOS cloud's calls, field by field: what is taken, and what asks for something that we do not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from mnemic.shells.doors.asking import Asked, Only, refused, unset

NO_PUBLIC: Final = unset("there is no memory that all users of a project share; share a cube instead")
NO_LEARNING: Final = refused("knowledge bases do not learn from conversations through this door; leave it out")
NO_VIEWS: Final = refused("all that can be read out of messages is read; leave it out")
NO_TOOLS: Final = unset("there are no memories of tools; leave it out or send false")
NO_SKILLS: Final = unset("there are no skills; leave it out or send false")
NO_INTERNET: Final = unset("the internet is not searched; leave it out or send false")
NO_STOP: Final = unset("a chat that runs is stopped by closing its connection; leave it out or send false")
NO_MOS_CUBE: Final = unset("there is no MemOS cube; leave it out or send false")
NO_CHAT_FILTER: Final = refused("a chat reads all of the user's memory; search with the filter instead")
NO_CHAT_LABELS: Final = refused("what is said in a chat is stored without labels; add it by add/message to have them")
ALL_FORMS: Final = Only("memory", why="memories are given in the format `memory`; others are not known")
CHAT_COUNT: Final = Only(6, why="a chat takes as many memories as fit its budget of tokens; leave it out")
WITH_PREFERENCES: Final = Only(
    True,  # noqa: FBT003 - the value that is allowed
    why="a chat always has the user's preferences in mind; leave it out or send true",
)
NO_TOP_P: Final = Only(0.95, why="is not passed on to the model; use temperature")
NO_RELATIVITY: Final = refused("a chat takes the best memories that fit; search with a threshold instead")
NO_APP: Final = refused("feedback is stored without labels; leave it out")
NO_FEEDBACK_TIME: Final = refused("feedback counts from when it comes; leave it out")
NO_TITLE: Final = refused("memories have no titles of their own; change the content")
NO_MEMORY_TYPE: Final = refused("what is deleted is chosen by one condition; leave the type out")
NO_FILE_TYPE: Final = refused("what a file is, its bytes say; leave it out")
NO_MODEL: Final = refused("the language model is the server's; leave it out")

Text = Annotated[str, Field(min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Most = Annotated[int, Field(ge=1, le=25)]
View = Literal["profile", "event", "detail_factual", "preference"]
Texts = Annotated[list[str], Field(min_length=1)]


class AddMessage(Asked):
    """`add/message`."""

    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    user_id: str | list[str] | None = None
    agent_id: str | list[str] | None = None
    conversation_id: str | None = None
    info: dict[str, Any] | None = None
    source: str | None = None
    app_id: str | None = None
    tags: list[str] | None = None
    async_mode: bool | None = True
    allow_public: Annotated[Any, NO_PUBLIC] = False
    allow_knowledgebase_ids: Annotated[Any, NO_LEARNING] = None
    allow_memory_view: Annotated[Any, NO_VIEWS] = None


class SearchMemory(Asked):
    """`search/memory`."""

    query: Text
    user_id: str | None = None
    agent_id: str | None = None
    conversation_id: str | None = None
    memory_limit_number: Most | None = 6
    include_preference: bool | None = True
    preference_limit_number: Most | None = 6
    knowledgebase_ids: list[str] | None = None
    filter: dict[str, Any] | None = None
    relativity: Share | None = None
    include_memory_view: list[View] | None = None
    source: str | None = None
    include_tool_memory: Annotated[Any, NO_TOOLS] = False
    tool_memory_limit_number: int | None = 6
    include_skill: Annotated[Any, NO_SKILLS] = False
    skill_limit_number: int | None = 6
    context_format: Annotated[Any, ALL_FORMS] = "memory"


class GetMessage(Asked):
    """`get/message`."""

    user_id: Text
    conversation_id: str | None = None
    conversation_limit_number: Annotated[int, Field(ge=1, le=50)] | None = 6
    message_limit_number: Annotated[int, Field(ge=1, le=50)] | None = 6
    source: str | None = None


class GetMemory(Asked):
    """`get/memory`. Memories of tools may be asked for: there are none."""

    user_id: str | None = None
    agent_id: str | None = None
    page: Annotated[int, Field(ge=1)] | None = 1
    size: Annotated[int, Field(ge=1, le=50)] | None = 10
    include_preference: bool | None = True
    include_tool_memory: bool | None = True
    include_memory_view: list[View] | None = None
    filter: dict[str, Any] | None = None


class UpdateMemory(Asked):
    """`update/memory`."""

    memory_id: Text
    content: str | None = None
    status: Literal["activated", "archived"] | None = None
    title: Annotated[Any, NO_TITLE] = None


class DeleteMemory(Asked):
    """`delete/memory`: exactly one condition."""

    memory_ids: Texts | None = None
    user_id: str | None = None
    agent_id: str | None = None
    filter: dict[str, Any] | None = None
    memory_type: Annotated[Any, NO_MEMORY_TYPE] = None


class AddFeedback(Asked):
    """`add/feedback`."""

    feedback_content: Text
    user_id: Text
    conversation_id: str | None = None
    agent_id: Annotated[Any, NO_APP] = None
    app_id: Annotated[Any, NO_APP] = None
    feedback_time: Annotated[Any, NO_FEEDBACK_TIME] = None
    allow_public: Annotated[Any, NO_PUBLIC] = False
    allow_knowledgebase_ids: Annotated[Any, NO_LEARNING] = None


class GetStatus(Asked):
    """`get/status`."""

    task_id: Text


class CloudChat(Asked):
    """`chat`."""

    user_id: Text
    conversation_id: Text
    query: Text
    knowledgebase_ids: list[str] | None = None
    system_prompt: str | None = None
    model_name: str | None = None
    add_message_on_answer: bool | None = True
    agent_id: str | None = None
    async_mode: bool | None = True
    max_tokens: Annotated[int, Field(ge=1)] | None = 8192
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.7
    stream: bool | None = False
    source: str | None = None
    top_p: Annotated[Any, NO_TOP_P] = 0.95
    internet_search: Annotated[Any, NO_INTERNET] = False
    force_stop: Annotated[Any, NO_STOP] = False
    use_mem_os_cube: Annotated[Any, NO_MOS_CUBE] = False
    filter: Annotated[Any, NO_CHAT_FILTER] = None
    app_id: Annotated[Any, NO_CHAT_LABELS] = None
    tags: Annotated[Any, NO_CHAT_LABELS] = None
    info: Annotated[Any, NO_CHAT_LABELS] = None
    allow_public: Annotated[Any, NO_PUBLIC] = False
    allow_knowledgebase_ids: Annotated[Any, NO_LEARNING] = None
    include_preference: Annotated[Any, WITH_PREFERENCES] = True
    preference_limit_number: Annotated[Any, CHAT_COUNT] = 6
    memory_limit_number: Annotated[Any, CHAT_COUNT] = 6
    include_tool_memory: Annotated[Any, NO_TOOLS] = False
    tool_memory_limit_number: int | None = 6
    relativity: Annotated[Any, NO_RELATIVITY] = None


class CreateKnowledgebase(Asked):
    """`create/knowledgebase`."""

    knowledgebase_name: Text
    knowledgebase_description: str | None = None


class DeleteKnowledgebase(Asked):
    """`delete/knowledgebase`."""

    knowledgebase_id: Text


class FileToAdd(Asked):
    """A file: its name, and an address (http, https), a data URI or base64."""

    content: Text
    name: str | None = None


class AddKnowledgebaseFile(Asked):
    """`add/knowledgebase-file` as JSON; the same path takes a form."""

    knowledgebase_id: Text
    file: Annotated[list[FileToAdd], Field(min_length=1)]
    type: Annotated[Any, NO_FILE_TYPE] = None


class GetKnowledgebaseFile(Asked):
    """`get/knowledgebase-file`: by their ids, or of a knowledge base."""

    file_ids: list[Text] | None = None
    knowledgebase_id: str | None = None
    page: Annotated[int, Field(ge=1)] | None = 1
    page_size: Annotated[int, Field(ge=1, le=100)] | None = 20
    type: Annotated[Any, NO_FILE_TYPE] = None


class DeleteKnowledgebaseFile(Asked):
    """`delete/knowledgebase-file`."""

    file_ids: Texts


class ExtractMemory(Asked):
    """`extract/memory`."""

    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    extraction_types: list[View] | None = None
    model: Annotated[Any, NO_MODEL] = None


class Rerank(Asked):
    """`rerank`."""

    query: Text
    documents: Texts
    model: Annotated[Any, NO_MODEL] = None
    top_n: Annotated[int, Field(ge=1)] | None = None


class EditProfile(Asked):
    """`edit/profile`."""

    profile_template_id: Text
    user_id: str | None = None
    agent_id: str | None = None
    metadata: dict[str, Any] | None = None
    remove_fields: list[str] | None = None


class DeleteProfile(Asked):
    """`delete/profile`."""

    profile_template_id: Text
    user_id: str | None = None
    agent_id: str | None = None


FILES: Final[Mapping[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["knowledgebase_id", "file"],
                    "properties": {
                        "knowledgebase_id": {"type": "string", "minLength": 1},
                        "file": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["content"],
                                "properties": {
                                    "name": {"type": ["string", "null"]},
                                    "content": {"type": "string", "minLength": 1},
                                },
                                "additionalProperties": False,
                            },
                        },
                    },
                    "additionalProperties": False,
                }
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "knowledgebase_id": {"type": "string"},
                        "file": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                    },
                    "additionalProperties": False,
                }
            },
        },
    }
}
"""The two bodies of `add/knowledgebase-file`, for its description."""
