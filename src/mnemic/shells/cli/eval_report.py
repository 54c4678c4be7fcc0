"""An evaluation as one page for the browser: its figures as tables and plots, from the document that is also written.

It stands alone (`mnemic.shells.cli.report_frame`); whatever the file held passes through `safe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.shells.cli import eval_sections as sections
from mnemic.shells.cli import report_frame
from mnemic.shells.cli.report_plots import tag

STYLE: Final = "eval_report.css"


def page(found: Mapping[str, Any]) -> str:
    """Return the report of a document (`mnemic.evaluation.summing`) as HTML."""
    pairs: list[Sequence[str]] = [
        (sections.by_depth(found, "turn"), sections.by_depth(found, "session")),
        (sections.by_category(found), sections.by_age(found)),
        (sections.by_tokens(found), sections.by_time(found)),
    ]
    body = [
        sections.head(found),
        sections.categories(found),
        sections.systems(found),
        *(tag("div", "".join(pair), class_="pair") for pair in pairs),
        sections.budgets(found),
        sections.absent(found),
        sections.times(found),
        sections.conversations(found),
        sections.problems(found),
        sections.missed(found),
        sections.about(found),
    ]
    return report_frame.page(f"{found['dataset']['file']}: evaluation", [part for part in body if part], STYLE)
