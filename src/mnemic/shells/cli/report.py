"""The demo as one page for the browser: what went in, what formed, what was answered, and how long it took."""

from __future__ import annotations

from mnemic.shells.cli import report_frame
from mnemic.shells.cli import report_sections as sections
from mnemic.shells.cli.demo_run import Outcome
from mnemic.shells.cli.demo_screen import commands
from mnemic.shells.cli.report_plots import safe, tag
from mnemic.shells.cli.wording import one_line


def page(outcome: Outcome) -> str:
    """Return the report as one HTML document."""
    names = " and ".join(one_line(name, 40) for name in outcome.speakers)
    typed = "".join(tag("li", tag("code", safe(line)) + tag("span", safe(told))) for line, told in commands(outcome))
    body = [
        sections.head(outcome),
        sections.questions(outcome.answers, golden=outcome.golden),
        sections.over_time(outcome),
        sections.tiers(outcome),
        sections.topics(outcome.stats),
        sections.persons(outcome.profile, outcome.speakers),
        sections.times(outcome),
        tag("section", tag("h2", "Now you") + tag("ul", typed, class_="typed")),
    ]
    return report_frame.page(names, body)
