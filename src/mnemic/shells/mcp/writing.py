"""The tools that change what is in memory: each tells truly what it did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.model.change import Step
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import results as told
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.fitting import fit
from mnemic.text import shorten

SESSION: Final = "mcp"
"""The conversation that something belongs to when none is named."""

_WORDS: Final = 400  # characters of a text in a receipt
_LISTED: Final = 50  # ids in a receipt
_BUDGET: Final = 1_500  # tokens of the steps in a receipt


def remember(act: Act, args: given.Remember) -> told.Remembered:
    """Store what was said."""
    if (args.content is None) == (args.messages is None):
        raise InputError("content", "give either `content` or `messages`")
    if args.content is not None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": args.content, "at": args.at}]
    else:
        messages = [turn.model_dump(exclude_none=True) for turn in args.messages or ()]
        if args.at is not None:
            raise InputError("at", "goes with `content`; give each of the messages its own `at`")
    added = act.memory.add(messages, user=act.user, session=args.session or SESSION, cube=act.cube, wait=args.wait)
    skipped = [told.Skipped(index=each.index, reason=each.reason, id=each.id) for each in added.skipped]
    return told.Remembered(
        stored=added.stored, message_ids=list(added.message_ids[:_LISTED]), session=added.session, cube=added.cube,
        skipped=skipped[:_LISTED], left_out=max(0, len(added.message_ids) - _LISTED), job=added.job,
        notes=list(added.notes),
    )  # fmt: skip


def forget(act: Act, args: given.Forget) -> told.Forgotten:
    """Erase for good."""
    conditions = {"ids": args.ids, "about": args.about, "session": args.session}
    chosen = [name for name, value in conditions.items() if value is not None]
    if len(chosen) != 1:
        raise InputError(chosen[1] if chosen else "ids", "give exactly one of `ids`, `about` and `session`")
    receipt = act.memory.forget(args.ids, user=act.user, about=args.about, session=args.session, cube=act.cube)
    return told.Forgotten(
        removed={kind: count for kind, count in receipt.removed.items() if count},
        ids=list(receipt.ids[:_LISTED]), left_out=max(0, len(receipt.ids) - _LISTED), notes=list(receipt.notes),
    )  # fmt: skip


def feedback(act: Act, args: given.Feedback) -> told.FedBack:
    """Change memories as plain words ask."""
    given_ = act.memory.feedback(args.text, user=act.user, cube=act.cube, dry_run=args.dry_run)
    suggestions = (
        told.SuggestionOf(memory_id=each.memory_id, text=shorten(each.text, _WORDS)) for each in given_.suggestions
    )
    return told.FedBack(
        understood=given_.understood, applied=given_.applied, steps=_steps(given_.steps),
        skipped=_steps(given_.skipped), suggestions=fit(suggestions, _BUDGET)[0], change=given_.change,
        notes=list(given_.notes),
    )  # fmt: skip


def undo(act: Act, args: given.Undo) -> told.Undone:
    """Take a change back."""
    undone = act.memory.undo(args.change, user=act.user, cube=act.cube)
    return told.Undone(change=undone.change.id, undone=_steps(undone.undone), left=_steps(undone.left))


def update(act: Act, args: given.Update) -> told.Updated:
    """Let a memory say something else from now on."""
    changed = act.memory.update(args.id, args.text, user=act.user, cube=act.cube)
    current = changed.current
    return told.Updated(
        id=changed.id, text=shorten(current.text, _WORDS), version=current.number, kind=changed.kind.value,
        subject=changed.subject,
    )  # fmt: skip


def _steps(steps: Iterable[Step]) -> list[told.StepOf]:
    entries = (
        told.StepOf(
            action=step.action.value, memory_id=step.memory_id,
            before=None if step.before is None else shorten(step.before, _WORDS),
            after=None if step.after is None else shorten(step.after, _WORDS),
            reason=shorten(step.reason, _WORDS) or None,
        )
        for step in steps
    )  # fmt: skip
    return fit(entries, _BUDGET)[0]
