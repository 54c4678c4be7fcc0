"""The demo in a terminal, 100 columns wide: sessions coming in, tiers filling, people, topics, questions and times.

At a terminal the tiers are redrawn in place while sessions come in; elsewhere each session is one plain line.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.text import Text

from mnemic.importing.locomo import CATEGORIES
from mnemic.model.profile import Profile
from mnemic.shells.cli import people, showing, tiers
from mnemic.shells.cli.demo_run import AnswerStep, Drawing, Outcome, SessionStep
from mnemic.shells.cli.demo_script import Script
from mnemic.shells.cli.showing import inset
from mnemic.shells.cli.wording import day, one_line, plural, span, took

TOPICS: Final = 6
SAID: Final = 70
"""Characters of a cited turn, which fit beside its date and speaker."""
ENTRIES: Final = 3
"""Entries of a profile group before the rest is counted."""


class Screen:
    """Shows a demo step by step; `pace` seconds pass after each session at a terminal, outside all clocks."""

    def __init__(self, console: Console, *, pace: float) -> None:
        self._console = console
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._pace = pace if self._live else 0.0

    def open(self, script: Script, folder: str, opening: float, model: str | None = None) -> None:
        """Say what will be read, and where it goes."""
        talk = script.conversation
        names = " and ".join(one_line(name, 30) for name in talk.speakers)
        self._console.print(
            Text.assemble(
                ("Mnemic", "bold"), f" reads a conversation: {names}, {plural(script.turns, 'turn')} in ",
                f"{plural(len(talk.sessions), 'session')}, {span(script.starts, script.ends)}",
            )
        )  # fmt: skip
        with_what = "no API key, no service, no download" if model is None else f"with the language model {model}"
        self._console.print(Text(f"{with_what} · opened {folder} in {took(opening)}", "dim"))
        self.title("Reading", "stored when added; topics and memories form after it")

    def title(self, name: str, more: str = "") -> None:
        """Print a heading."""
        self._console.print()
        self._console.print(
            Rule(Text.assemble((name, "bold"), (f"  {more}" if more else "", "dim")), align="left", style="dim")
        )

    def sessions(self, steps: Iterable[SessionStep]) -> list[SessionStep]:
        """Show sessions as they come in; return them."""
        self._console.print(_heading())
        seen: list[SessionStep] = []
        if not self._live:
            for step in steps:
                seen.append(step)
                self._console.print(_line(step))
                self._tell_late(step)
            return seen
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            for step in steps:
                seen.append(step)
                live.console.print(_line(step))
                self._tell_late(step)
                live.update(Group(Text(""), tiers.panel(step.stats)), refresh=True)
                time.sleep(self._pace)
        return seen

    def _tell_late(self, step: SessionStep) -> None:
        if step.late:
            self._console.print(inset(Text(f"not refined yet: {one_line(step.late, 300)}", "yellow"), 5))

    def holdings(self, outcome: Outcome) -> None:
        """Show the tiers, the warmest topics and the people."""
        self.title("What it holds now", "three tiers; nothing is ever moved out of reach")
        self._console.print(tiers.panel(outcome.stats, segments=0))
        self.title("Warmest topics", "heat = visits + pages + recency")
        self._console.print(tiers.topics(outcome.stats.segments, TOPICS))
        self.title("Whom it knows", "each entry keeps its sources and what held before")
        known = outcome.profile.groups()
        speakers = Profile(tuple(entry for entry in outcome.profile if entry.subject in outcome.speakers))
        self._console.print(people.profile(speakers, limit=ENTRIES))
        others = [
            f"{one_line(name)} ({sum(map(len, known[name].values()))})"
            for name in known
            if name not in outcome.speakers
        ]
        if others:
            self._console.print()
            self._console.print(Text(f"and of whom they spoke: {', '.join(others)}", "dim"))

    def drawing(self, model: str, draw: Callable[[], Drawing]) -> Drawing:
        """Show what the language model draws from the last session; return it."""
        self.title(f"What {model} draws", "from the last session, in one call")
        drawn = draw()
        self._console.print(Text(f"{plural(drawn.messages, 'turn')} in {took(drawn.seconds)}", "dim"))
        self._console.print(showing.extraction(drawn.extraction))
        for note in drawn.extraction.notes:
            self._console.print(Text(one_line(note), "yellow"))
        return drawn

    def answers(self, steps: Iterable[AnswerStep], *, golden: bool, model: str | None = None) -> list[AnswerStep]:
        """Show questions as they are answered; return them."""
        without = "" if model else "without a language model, "
        self.title("Questions", f"answered from memory alone, {without}with sources")
        seen: list[AnswerStep] = []
        for number, step in enumerate(steps, start=1):
            seen.append(step)
            self._console.print(_answer(number, step, golden=golden))
        return seen

    def close(self, outcome: Outcome, html: str | None) -> None:
        """Print the times, what to type next, and the counts."""
        self.title("Times", "on this machine, one run")
        self._console.print(_times(outcome))
        if outcome.model is not None:
            self._console.print(_spent(outcome))
        self.title("Now you", "the folder stays until you delete it")
        for command, meaning in commands(outcome):
            self._console.print(Text.assemble(("  $ ", "dim"), (command, "bold cyan")), soft_wrap=True)
            self._console.print(Text(f"    {meaning}", "dim"))
        if html is not None:
            self._console.print(
                Text.assemble("  report: ", (html, "bold cyan"), " (open it in a browser)"), soft_wrap=True
            )
        self._console.print()
        self._console.print(Text(summary(outcome), "bold"))


def commands(outcome: Outcome) -> list[tuple[str, str]]:
    """Return what can be typed next, exactly as it works on this folder, and what it does."""
    mnemic = f"{program()} --home {shlex.quote(outcome.folder)} --user {shlex.quote(outcome.user)}"
    person = outcome.speakers[0] if outcome.speakers else "me"
    quoted = '"' + "".join(f"\\{char}" if char in '\\"$`' else char for char in outcome.suggested) + '"'
    return [
        (f"{mnemic} ask {quoted}", "ask anything that was talked about"),
        (f"{mnemic} profile {shlex.quote(person)} --evidence", "who somebody is, with the words it stands on"),
        (f"{mnemic} chat", "tell it something new, and ask for it again"),
    ]


def program() -> str:
    """Return how to call this command line from here: by name when the shell finds it, else by its place."""
    beside = Path(sys.executable).with_name("mnemic")
    if shutil.which("mnemic"):
        return "mnemic"
    if not beside.exists():
        return f"{shlex.quote(sys.executable)} -m mnemic"
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


def summary(outcome: Outcome) -> str:
    """Return the counts of a demo in one line."""
    stats = outcome.stats
    found = sum(step.answer.found for step in outcome.answers)
    return (
        f"{plural(outcome.turns, 'turn')} in, {plural(stats.pages, 'page')}, {plural(len(stats.segments), 'topic')}, "
        f"{plural(sum(stats.memories.values()), 'memory')} ({stats.superseded} superseded), "
        f"{found} of {plural(len(outcome.answers), 'question')} answered"
    )


def _heading() -> Text:
    return Text(f"{'':>4} {'said':<12} {'turns':>5} {'photos':>6}   {'short':>5} {'topics':>6} {'memories':>8}   "
                f"{'added':>8} {'refined':>8}", "dim")  # fmt: skip


def _line(step: SessionStep) -> Text:
    stats = step.stats
    return Text.assemble(
        (f"{step.number:>4} ", "dim"), f"{day(step.said_at):<12} {step.turns:>5} {step.pictures or '':>6}   ",
        (f"{stats.short_term:>5} ", "cyan"), (f"{len(stats.segments):>6} ", "yellow"),
        (f"{sum(stats.memories.values()):>8}   ", "green"),
        (f"{took(step.adding):>8} {took(step.refining):>8}", "dim"),
    )  # fmt: skip


def _answer(number: int, step: AnswerStep, *, golden: bool) -> RenderableType:
    question, said = step.question, step.answer
    kind = f"  {CATEGORIES[question.category]}" if golden and question.category in CATEGORIES else ""
    parts: list[RenderableType] = [
        Text.assemble((f"{number}  ", "dim"), (one_line(question.text), "bold cyan"), (kind, "dim"),
                      (f"  {took(step.seconds)}", "dim")),
        inset(Text(one_line(said.text, 400), "bold" if said.found else "yellow"), 3),
    ]  # fmt: skip
    if golden:
        gold = question.answer if question.answer is not None else "not in the conversation"
        parts.append(inset(Text.assemble(("gold: ", "dim"), (one_line(gold, 300), "green")), 3))
    if said.found:
        parts.append(inset(showing.sources(showing.cited(said.citations)[:2], limit=SAID, near=said.text), 3))
    return Group(*parts)


def _spent(outcome: Outcome) -> RenderableType:
    """Return what the language model was asked for, by purpose, and who answered the questions."""
    lines = []
    for each in outcome.stats.usage.by_purpose:
        spent = each.spent
        failed = f", {spent.failed} of them failed" if spent.failed else ""
        lines.append(
            Text.assemble(
                (f"{each.purpose:<11}", ""), (f"{plural(spent.calls, 'call')} of {each.model}", "bold"),
                f"  ({spent.tokens_in:,} tokens in, {spent.tokens_out:,} out, {took(spent.seconds)}{failed})",
            )
        )  # fmt: skip
    by_model = sum(step.answer.mode == outcome.model for step in outcome.answers)
    lines.append(Text(f"{by_model} of {plural(len(outcome.answers), 'answer')} written by {outcome.model}", "dim"))
    return Group(*lines)


def _times(outcome: Outcome) -> RenderableType:
    seconds = sorted(step.seconds for step in outcome.answers)
    lines = [
        Text.assemble("adding     ", (f"{outcome.turns / max(outcome.adding, 1e-9):,.0f} turns a second", "bold"),
                      f"  ({took(outcome.adding)} until all was durable and findable; loads the embedder)"),
        Text.assemble("refining   ", (f"{took(outcome.refining / max(outcome.turns, 1))} a turn", "bold"),
                      f"  ({took(outcome.refining)} for topics, memories and profile; it runs in the background)"),
    ]  # fmt: skip
    if seconds:
        middle = seconds[len(seconds) // 2]
        lines.append(
            Text.assemble(
                "answering  ", (f"{took(middle)} median", "bold"), f"  ({took(seconds[0])} to {took(seconds[-1])})"
            )
        )
    return Group(*lines)
