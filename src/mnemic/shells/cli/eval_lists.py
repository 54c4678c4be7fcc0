"""The sections of an evaluation's report that are lists and facts: conversations, problems, what is missed, the run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mnemic.shells.cli.report_frame import section
from mnemic.shells.cli.report_plots import safe, tag
from mnemic.shells.cli.wording import one_line, plural

MOST: Final = 60
"""Conversations that get a line each; of more, only the spread is told."""

MISSED: Final = 40
"""Missed questions that are listed."""


def conversations(found: Mapping[str, Any]) -> str:
    """Return the spread over conversations, and the figures of each when they are not many.

    There is none to tell where each has but one question, as in LongMemEval.
    """
    system = found["systems"]["mnemic"]
    if len(system["conversations"]) < 2 or all(row["n"] < 2 for row in system["conversations"].values()):
        return ""
    measures = list(system["spread"])
    spread = _table(
        ["measure", "mean", "lowest", "highest", "sd", "95%, resampling conversations"],
        [
            [
                name,
                *(f"{system['spread'][name][key]:.3f}" for key in ("mean", "min", "max", "sd")),
                _cluster(found, name),
            ]
            for name in measures
        ],
    )
    each = [
        [name, f"{row['n']:,}", *(f"{row[measure]:.3f}" if measure in row else "" for measure in measures)]
        for name, row in system["conversations"].items()
    ]
    table = _table(["conversation", "n", *measures], each) if len(each) <= MOST else ""
    return section("Over conversations", "How far the means of single conversations lie apart.", spread + table)


def problems(found: Mapping[str, Any]) -> str:
    """Return what is wrong in the file, all of it."""
    if not found["problems"]:
        return ""
    items = "".join(
        tag("li", tag("code", safe(each["question"] or each["conversation"])) + " " + safe(each["what"])
            + tag("p", safe(one_line(each["text"], 300)), class_="dim"))
        for each in found["problems"]
    )  # fmt: skip
    told = "Evidence that is malformed or names no turn, and turns without words. Nothing is dropped in silence."
    return section(f"Wrong in the file ({len(found['problems']):,})", told, tag("ul", items, class_="listed"))


def missed(found: Mapping[str, Any]) -> str:
    """Return the questions of whose evidence nothing is among the first 50 hits."""
    lost = [
        each for each in found["questions"]
        if each["evidence"] and not each["absent"] and not each["systems"]["mnemic"]["turns"]
    ]  # fmt: skip
    if not lost:
        return ""
    items = "".join(
        tag("li", tag("code", safe(each["id"])) + " " + safe(one_line(each["text"], 300))
            + tag("p", safe(f"{each['category']}; evidence {', '.join(each['evidence'])}"), class_="dim"))
        for each in lost[:MISSED]
    )  # fmt: skip
    summary = tag("summary", safe(f"{plural(len(lost), 'question')}, the first {min(MISSED, len(lost))} shown"))
    return section("Missed", "Nothing of their evidence is among the first 50 hits.",
                   tag("details", summary + tag("ul", items, class_="listed")))  # fmt: skip


def about(found: Mapping[str, Any]) -> str:
    """Return what the figures were measured with, and what each of them means."""
    run, dataset = found["about"], found["dataset"]
    depends = run["depends"]
    facts = {
        "file": f"{dataset['file']}, SHA-256 {dataset['sha256'][:16]}\u2026",
        "embedder": f"{depends['the embedder'][0]}, {depends['the embedder'][1]} wide",
        "Mnemic": f"{run['mnemic']}, code {depends['the code'][1]}",
        "settings": json.dumps(depends["the settings"]).strip("{}").replace('"', ""),
        "machine": f"{run['machine']}, Python {run['python']}",
        "refined": "yes, with topics and memories" if depends["refining"] else "no: messages alone",
        "run": f"{run['began']} to {run['ended']}{', resumed' if run['resumed'] else ''}",
        "found": "A turn is found at rank r when the r-th hit is that message, or a memory among whose sources it is; "
        "a session when a hit stands on any of its messages.",
        "tokens": "Counted by Mnemic's estimate, which stays at or above common tokenizers for prose.",
        "intervals": "95% percentile bootstrap, 2,000 resamples with a fixed seed, over questions; over whole "
        "conversations where it says so.",
    }
    if found["agreement"] is not None:
        facts["depth"] = (
            f"Ranks come from searches for 50 hits; their first 10 are those of a search for 10 in "
            f"{found['agreement']:.1%} of questions."
        )
    listed = "".join(tag("dt", safe(name)) + tag("dd", safe(value)) for name, value in facts.items())
    return section("What this is", "What the figures depend on, and what they mean.", tag("dl", listed, class_="facts"))


def _cluster(found: Mapping[str, Any], measure: str) -> str:
    estimate = found["systems"]["mnemic"]["groups"]["all answerable"]["measures"][measure]
    return f"{estimate['cluster low']:.3f}\u2013{estimate['cluster high']:.3f}"


def _table(headings: list[str], lines: list[list[str]]) -> str:
    top = tag("tr", "".join(tag("th", safe(name), scope="col") for name in headings))
    body = "".join(
        tag("tr", tag("th", safe(line[0]), scope="row") + "".join(tag("td", safe(cell)) for cell in line[1:]))
        for line in lines
    )
    return tag("div", tag("table", tag("thead", top) + tag("tbody", body), class_="figures"), class_="scroll")
