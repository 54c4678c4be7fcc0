"""The sections of the report as HTML: counts, topics with heat, people with evidence, questions with sources, times.

Every text that was stored passes through `safe`; the rest is the report's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mnemic.importing.locomo import CATEGORIES
from mnemic.model.item import Stats, Warm
from mnemic.model.memory import Source
from mnemic.model.profile import Profile, ProfileEntry
from mnemic.shells.cli import people
from mnemic.shells.cli.demo_run import AnswerStep, Outcome
from mnemic.shells.cli.report_frame import section
from mnemic.shells.cli.report_plots import Dot, Line, Span, curves, safe, stacked, tag, timeline
from mnemic.shells.cli.showing import cited
from mnemic.shells.cli.tiers import KINDS, warmest
from mnemic.shells.cli.wording import day, one_line, plural, size, span, took

TOPICS = 12
"""Topics in the timeline and in the list."""


def head(outcome: Outcome) -> str:
    """Return the title and the counts."""
    stats = outcome.stats
    found = sum(step.answer.found for step in outcome.answers)
    cards = [
        (f"{outcome.turns:,}", f"turns in {plural(len(outcome.sessions), 'session')}"),
        (f"{stats.pages:,}", "pages"),
        (f"{len(stats.segments):,}", "topics"),
        (f"{sum(stats.memories.values()):,}", f"memories, {stats.superseded} superseded"),
        (f"{found} / {len(outcome.answers)}", "questions answered"),
        (f"{outcome.turns / max(outcome.adding, 1e-9):,.0f}", "turns a second added"),
    ]
    names = safe(" and ".join(one_line(name, 40) for name in outcome.speakers))
    shown = "".join(tag("li", tag("b", value) + tag("span", safe(label))) for value, label in cards)
    told = (
        f"{span(outcome.starts, outcome.ends)}. Read, organized and answered on one machine, without a language model."
    )
    return tag("header", tag("h1", names) + tag("p", safe(told)) + tag("ul", shown, class_="cards"))


def over_time(outcome: Outcome) -> str:
    """Return the timeline of sessions and of the warmest topics."""
    most = max((step.turns for step in outcome.sessions), default=1)
    dots = [
        Dot(step.said_at, step.turns / most, f"{day(step.said_at)}: {plural(step.turns, 'turn')}")
        for step in outcome.sessions
    ]
    found = warmest(outcome.stats.segments)[:TOPICS]
    top = found[0].heat if found else 1.0
    spans = [
        Span(warm.segment.started_at, warm.segment.ended_at, warm.heat / top if top else 0.0, _title(warm, 4))
        for warm in sorted(found, key=lambda warm: warm.segment.started_at)
    ]
    return section("Over time", "Sessions as dots, as large as they are long; below them the warmest topics, redder "
                    "when warmer.", tag("div", timeline(dots, spans), class_="wide"))  # fmt: skip


def tiers(outcome: Outcome) -> str:
    """Return how the tiers filled, and what they hold."""
    series = [
        ("Short-term: pages in no topic yet", "short", [step.stats.short_term for step in outcome.sessions]),
        ("Mid-term: topics", "mid", [len(step.stats.segments) for step in outcome.sessions]),
        ("Long-term: memories", "long", [sum(step.stats.memories.values()) for step in outcome.sessions]),
    ]
    legend = "".join(tag("li", tag("i", class_=f"key {style}") + safe(name)) for name, style, _ in series)
    drawn = curves(
        [Line(name, style, [float(value) for value in values]) for name, style, values in series],
        [day(step.said_at) for step in outcome.sessions],
    )
    return section(
        "The tiers, filling",
        "After each session. Pages leave short-term memory for topics; what topics and turns say becomes memories.",
        tag("ul", legend, class_="legend") + tag("div", drawn, class_="wide") + _holdings(outcome.stats),
    )


def _holdings(stats: Stats) -> str:
    most = max(stats.memories.values(), default=1)
    rows = [
        ("Short-term", f"{plural(stats.short_term, 'page')}, room for {stats.capacity} in each session", "short",
         stats.short_term / max(stats.capacity, 1)),
        ("Mid-term", f"{plural(len(stats.segments), 'topic')}, {stats.archived} archived", "mid",
         1.0 if stats.segments else 0.0),
    ]  # fmt: skip
    rows += [
        ("Long-term", plural(stats.memories[kind], kind), "long", stats.memories[kind] / most)
        for kind in KINDS
        if stats.memories.get(kind)
    ]
    shown = [
        tag("tr", tag("th", name if place == 0 or rows[place - 1][0] != name else "", scope="row")
            + tag("td", stacked([(style, share)], 1.0, told)) + tag("td", safe(told)))
        for place, (name, told, style, share) in enumerate(rows)
    ]  # fmt: skip
    return tag("table", "".join(shown), class_="holdings")


def topics(stats: Stats) -> str:
    """Return the warmest topics, each with the parts of its heat."""
    found = warmest(stats.segments)[:TOPICS]
    top = found[0].heat if found else 1.0
    names = (("visits", "visits"), ("pages", "pages"), ("recency", "recency"))
    legend = "".join(tag("li", tag("i", class_=f"key {style}") + name) for style, name in names)
    items = "".join(tag("li", _topic(warm, top)) for warm in found)
    return section(
        "Warmest topics",
        "Heat = visits + pages + recency. It rises when a topic is asked about, and cools with time.",
        tag("ul", legend, class_="legend") + tag("ol", items, class_="topics"),
    )


def _topic(warm: Warm, top: float) -> str:
    segment = warm.segment
    parts = [("visits", warm.visits), ("pages", warm.pages), ("recency", warm.recency)]
    told = ", ".join(f"{name} {value:.2f}" for name, value in parts)
    when = f"{span(segment.started_at, segment.ended_at)} · {plural(segment.pages, 'page')}"
    return (
        tag("div", tag("b", safe(_title(warm, 6))) + tag("span", f"{warm.heat:.1f}", class_="figure"), class_="row")
        + stacked(parts, top, told)
        + tag("p", safe(one_line(segment.summary, 260)))
        + tag("p", safe(when), class_="dim")
    )


def persons(profile: Profile, speakers: Sequence[str]) -> str:
    """Return what is known about people, the speakers first."""
    known = profile.groups()
    order = [*[name for name in speakers if name in known], *[name for name in known if name not in speakers]]
    shown = ""
    for name in order:
        groups = "".join(
            tag("h4", safe(group)) + tag("dl", "".join(map(_entry, entries))) for group, entries in known[name].items()
        )
        shown += tag("article", tag("h3", safe(one_line(name, 60))) + groups, class_="person")
    return section("Whom it knows", "Each entry opens to the words that it stands on.",
                    tag("div", shown, class_="people"))  # fmt: skip


def _entry(entry: ProfileEntry) -> str:
    name = people.label(entry)
    earlier = [
        tag("span", safe(f"before: {people.was(entry, version)}"), class_="before")
        for version in people.before(entry)[:2]
    ]
    line = tag("b", safe(people.value(entry.value, entry.polarity, name))) + " " + " ".join(earlier)
    line += tag("span", safe(f"since {day(entry.since)}"), class_="dim since")
    words = tag("details", tag("summary", line) + tag("ul", _quotes(entry.evidence[:3]), class_="quotes"))
    return tag("dt", safe(name)) + tag("dd", words if entry.evidence else line)


def questions(steps: Sequence[AnswerStep], *, golden: bool) -> str:
    """Return the questions, each with answer, sources and time."""
    items = "".join(tag("li", _question(step, golden=golden)) for step in steps)
    told = "Answered from memory alone, without a language model: the answer is made of what was said."
    return section("Questions", told, tag("ol", items, class_="questions"))


def _question(step: AnswerStep, *, golden: bool) -> str:
    question, said = step.question, step.answer
    gold = question.answer if question.answer is not None else "not in the conversation"
    kind = CATEGORIES.get(question.category, "")
    return (
        tag("div", tag("b", safe(question.text)) + tag("span", took(step.seconds), class_="figure"), class_="row")
        + tag("p", safe(said.text), class_="answer" if said.found else "answer absent")
        + (tag("p", safe(f"gold: {gold} ({kind})"), class_="gold") if golden else "")
        + tag("ul", _quotes(cited(said.citations[:3])), class_="quotes")
    )


def times(outcome: Outcome) -> str:
    """Return what each session took, and the whole."""
    most = max((step.adding + step.refining for step in outcome.sessions), default=0.0)
    rows = [
        tag("tr", tag("th", day(step.said_at), scope="row")
            + tag("td", stacked([("short", step.adding), ("mid", step.refining)], most, took(step.adding)))
            + tag("td", f"{took(step.adding)} + {took(step.refining)}"))
        for step in outcome.sessions
    ]  # fmt: skip
    keys = (("short", "adding: until durable and findable"), ("mid", "refining, in the background"))
    legend = "".join(tag("li", tag("i", class_=f"key {style}") + name) for style, name in keys)
    told = (
        f"Adding took {took(outcome.adding)} in all, with the loading of the embedder, refining "
        f"{took(outcome.refining)}; {size(outcome.stats.bytes_on_disk)} on disk; embedder {outcome.stats.embedder}."
    )
    return section("Times", told, tag("ul", legend, class_="legend") + tag("table", "".join(rows), class_="holdings"))


def _quotes(found: Iterable[Source]) -> str:
    return "".join(
        tag("li", tag("span", f"{day(source.said_at)} {safe(_who(source))}", class_="dim")
            + " " + tag("q", safe(one_line(source.quote, 320))))
        for source in found
    )  # fmt: skip


def _who(source: Source) -> str:
    return one_line(source.speaker, 40) if source.locator is None else one_line(str(source.locator), 160)


def _title(warm: Warm, words: int) -> str:
    return ", ".join(one_line(word, 30) for word in warm.segment.keywords[:words]) or "a topic"
