"""The bench works: its parts run at tiny sizes. What they measure is no matter of tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import tables
from bench.__main__ import main
from bench.tables import BEGIN, END, Table, write_results
from bench.timing import quantile, take_turns


@pytest.mark.parametrize("part,count", [("search", 2), ("reopen", 1), ("million", 3), ("simulation", 6)])
def test_a_quick_part_prints_its_tables_and_keeps_them_as_json(
    part: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    assert main([part, "--quick", "--json", str(file), "--data", str(tmp_path / "absent.json")]) == 0
    found = json.loads(file.read_text("utf-8"))
    assert "commit" in found["run"]
    assert len(found["tables"]) == count
    for table in found["tables"]:
        assert table["rows"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert f"### {found['tables'][0]['title']}" in capsys.readouterr().out


def test_results_are_written_between_the_markers_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "RESULTS.md"
    monkeypatch.setattr(tables, "RESULTS", file)
    file.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n", "utf-8")
    write_results([Table("New", ["a", "b"], [["x", 1.234], ["y", None]])], "one machine")
    text = file.read_text("utf-8")
    assert text.startswith("above\n") and text.endswith("below\n")
    assert "old" not in text and "| x | 1.23 |" in text and "one machine" in text


def test_rivals_take_turns_and_each_goes_first_as_often() -> None:
    order: list[str] = []
    timings = take_turns(
        4, {"a": lambda number: order.append(f"a{number}"), "b": lambda number: order.append(f"b{number}")}
    )
    assert order == ["a0", "b0", "b1", "a1", "a2", "b2", "b3", "a3"]
    assert len(timings["a"].wall) == len(timings["b"].cpu) == 4
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
