"""Results outlive a run that was stopped, and only what is the same question counts as answered."""

import dataclasses
from pathlib import Path

import pytest

from benchmarks.real_renames.ledger import Ledger, Row
from benchmarks.real_renames.report import ALONE, comparable, tables

ROW = Row("ty", "1", "h11", "tree", "a.py:1:1", "method", "f", "ok", answer="same")


def test_a_run_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "results.jsonl"
    Ledger(file).add(ROW)
    with file.open("a") as stream:
        stream.write('{"tool": "ty", "vers')
    later = dataclasses.replace(ROW, symbol="a.py:2:1", outcome="broke")
    ledger = Ledger(file)
    assert ledger.has(ROW) and not ledger.has(later)
    ledger.add(later)
    assert list(Ledger(file)) == [ROW, later]


@pytest.mark.parametrize(
    "change", [{"version": "2"}, {"tree": "other"}, {"tool": "zuban"}, {"symbol": "b.py:1:1"}]
)
def test_another_question_is_not_answered(tmp_path: Path, change: dict[str, str]) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    ledger.add(ROW)
    assert not ledger.has(dataclasses.replace(ROW, **change))  # type: ignore[arg-type] - all of them are strings


def test_equal_answers_share_a_judgement(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    ledger.add(ROW)
    assert ledger.judged("tree", "same") == ROW
    assert ledger.judged("other", "same") is None
    assert ledger.judged("tree", "") is None


def test_the_last_answer_counts(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    ledger.add(ROW)
    ledger.add(dataclasses.replace(ROW, outcome="broke"))
    assert [row.outcome for row in Ledger(tmp_path / "results.jsonl")] == ["broke"]


def test_what_is_compared() -> None:
    def row(tool: str, symbol: str, outcome: str, named: str = "") -> Row:
        return dataclasses.replace(ROW, tool=tool, symbol=symbol, outcome=outcome, named=named)

    rows = [
        *(row(ALONE, symbol, "broke") for symbol in ("a", "b", "c")),
        row(ALONE, "d", "untested"),
        row("ty", "a", "ok"),
        row("ty", "b", "broke"),
        row("ty", "c", "ok"),
        dataclasses.replace(row("lsptools", "a", "refused"), n_named=3),
        row("lsptools", "b", "broke", "on a line of the traceback"),
    ]
    common, n_untested, n_left_out = comparable(rows, ["ty", "lsptools"])
    assert ([symbol for _, symbol in common], n_untested, n_left_out) == (["a", "b"], 1, 1)
    text = tables(rows, ["ty", "lsptools"])
    assert "| ty | 2 | 1 | 1 | 1 | 0 | 0 | 0 | 50 | 50 | 0.00 |" in text
    assert "| lsptools | 2 | 0 | 1 | 0 | 1 | 1 | 0 | 0 | 50 | 0.00 |" in text
    assert "| ty | 1 / 0 / 0 / 1 |" in text
