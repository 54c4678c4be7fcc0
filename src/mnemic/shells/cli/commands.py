"""All commands by name: where each lives, the panel of the help that it stands in, and its line there.

A command's module is imported when the command runs, so that the help of all costs nothing but this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

import typer


@dataclass(frozen=True, slots=True)
class Entry:
    """One command, or a group of them: `name` is the function or `typer.Typer` in the module."""

    module: str
    name: str
    panel: str
    summary: str


_ROWS: Final = """
demo | demo.demo | Start | Watch Mnemic read a conversation, form memories and answer questions.
chat | talking.chat | Start | Talk to the memory: it keeps what you say and answers from it.
version | keeping.version | Start | Print the version.
add | writing.add | Write | Remember what was said, word for word; the next search finds it.
import | moving.import_file | Write | Read conversations from a file: chats, exports, another Mnemic's memory.
kb | kb_documents.KB | Write | Knowledge bases: add files, folders and addresses, list them, keep them current.
search | reading.search | Read | Find what was said and learned.
context | reading.context | Read | Print what a prompt needs to answer a question, within a budget.
ask | answering.ask | Read | Answer a question from memory, with sources.
profile | reading.profile | Read | Show what is known about people, since when, and what held before.
list | reading.list_items | Read | List messages and memories, oldest first.
show | reading.show | Read | Show one message or memory whole, with what it stands on.
history | reading.history | Read | Show all versions of a memory.
sessions | reading.sessions | Read | List the sessions, oldest first.
stats | reading.stats | Read | Show the three tiers, the warmest topics, counts and sizes.
usage | usage.usage | Read | Show what language models have cost.
update | curating.update | Correct and erase | Correct a memory; what it said before stays in its history.
lock | curating.lock | Correct and erase | Keep a memory as it is, whatever is said later.
restore | curating.restore | Correct and erase | Make an earlier version of a memory hold again.
feedback | changing.feedback | Correct and erase | Correct memories in plain words: forget the peanut thing.
changes | changing.changes | Correct and erase | List what feedback, edits and reorganizing have changed.
undo | changing.undo | Correct and erase | Take a change back.
reorganize | curating.reorganize | Correct and erase | Merge what says the same, close old plans, sum up topics.
forget | curating.forget | Correct and erase | Erase messages or memories with all that was derived from them.
export | moving.export | Keep in order | Write a memory as JSON Lines: everything, ready to import again.
migrate | migrating.migrate | Keep in order | Move the whole store to another folder, or to PostgreSQL and back.
backup | migrating.BACKUP | Keep in order | Copy the whole store, while it is in use, to a folder; list copies.
doctor | keeping.doctor | Keep in order | Check the machine, the settings, the models, the store and the work.
reindex | keeping.reindex | Keep in order | Compute all vectors again with the embedder of the settings.
rebuild | keeping.rebuild | Keep in order | Derive topics and memories again from what was said.
cubes | keeping.CUBES | Keep in order | Namespaces of memories: list, create, share, delete.
models | model_commands.MODELS | Keep in order | Show, test and time the models that are configured; pull others.
serve | serving.serve | Run | Serve the memory over HTTP, to any agent in any language, with its worker.
mcp | mcp_commands.MCP | Run | Serve memory to models over the Model Context Protocol; set clients up.
worker | working.worker | Run | Do background work, in as many processes and threads as you like.
keys | keys.KEYS | Run | Keys of who calls through a server: make, list, change, end them.
audit | keys.audit | Run | Show who wrote what through a server, and what was refused.
jobs | jobs.JOBS | Run | Background work: list it, wait for it, try it again.
eval | eval_commands.EVAL | Measure | Measure how well memory finds and answers: LoCoMo, LongMemEval, your own talks.
"""


def _read(row: str) -> tuple[str, Entry]:
    command, place, panel, summary = (part.strip() for part in row.split("|"))
    module, name = place.split(".")
    return command, Entry(module, name, panel, summary)


CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How help is asked for, and how wide it is."""

COMMANDS: Final[Mapping[str, Entry]] = MappingProxyType(dict(map(_read, _ROWS.strip().splitlines())))
"""Every command, in the order of the help."""


def group(summary: str) -> typer.Typer:
    """Return an empty group of commands, in the manner of this command line."""
    return typer.Typer(
        help=summary,
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        context_settings=CONTEXT,
    )


def load(command: str) -> Any:
    """Return a command, ready to run, as the group that holds it expects."""
    entry = COMMANDS[command]
    found = getattr(import_module(f"mnemic.shells.cli.{entry.module}"), entry.name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        alone.command(command, context_settings=CONTEXT)(found)
        found = alone
    loaded = typer.main.get_command(found)
    loaded.name = command
    return loaded
