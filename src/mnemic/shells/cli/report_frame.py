"""The frame of every report: one page that stands alone, asks for nothing from outside, and runs no script.

The page's policy forbids both, whatever is shown in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Final

from mnemic import __version__
from mnemic.shells.cli.report_plots import safe, tag

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
STYLE: Final = "report.css"


def page(title: str, body: Sequence[str], *styles: str) -> str:
    """Return one HTML document of sections; `styles` are further style sheets beside the common one."""
    style = "\n".join(
        resources.files("mnemic").joinpath(f"shells/cli/{name}").read_text("utf-8") for name in (STYLE, *styles)
    )
    parts = "\n".join([*body, tag("footer", f"Mnemic {__version__}")])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{safe(title)} · Mnemic</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{parts}\n</main>\n</body>\n</html>\n"
    )


def section(title: str, told: str, inner: str) -> str:
    """Return a section: its heading, a sentence of what it shows, and that."""
    return tag("section", tag("h2", safe(title)) + tag("p", safe(told), class_="told") + inner)
