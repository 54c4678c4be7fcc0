"""The demo as one page for the browser: it stands alone, asks for nothing from outside, and runs no script.

The page's policy forbids both, whatever the conversation holds.
"""

from __future__ import annotations

from importlib import resources
from typing import Final

from mnemic import __version__
from mnemic.shells.cli import report_sections as sections
from mnemic.shells.cli.demo_run import Outcome
from mnemic.shells.cli.demo_screen import commands
from mnemic.shells.cli.report_plots import safe, tag
from mnemic.shells.cli.wording import one_line

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(outcome: Outcome) -> str:
    """Return the report as one HTML document."""
    style = resources.files("mnemic").joinpath("shells/cli/report.css").read_text("utf-8")
    names = safe(" and ".join(one_line(name, 40) for name in outcome.speakers))
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
        tag("footer", f"Mnemic {__version__}"),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{names} · Mnemic</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n</body>\n</html>\n"
    )
