"""The tables: what became of the questions, per tool, and per tool and kind; and what `lsptools` broke, one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median

from benchmarks.real_renames.judging import Outcome
from benchmarks.real_renames.ledger import Row
from benchmarks.real_renames.symbols import KINDS

ALONE = "definition alone"
"""The name under which the trial renames of the definition alone are kept."""

NOT_NAMED = "no"
"""In `Row.named`: the tool broke it and had not named the place."""


def tables(rows: Collection[Row], tools: Sequence[str]) -> str:
    """Markdown. Only symbols count that the tests notice and that every one of the tools was asked about."""
    common, n_untested, n_left_out = comparable(rows, tools)
    lines = [
        f"{len(common)} symbols of {len({row.project for row in common.values()})} packages; {n_untested} more were drawn that "
        f"the tests do not notice (*untested*)" + (f", {n_left_out} not asked of every tool" if n_left_out else "") + ".\n"
    ]  # fmt: skip
    by_tool = {tool: [row for row in rows if row.tool == tool and _symbol(row) in common] for tool in tools}
    lines += _totals(by_tool)
    lines += ["", "broke / refused / no-op / ok:", ""]
    kinds = [kind for kind in KINDS if any(row.kind == kind for row in common.values())]
    lines += _head(["", *(f"{kind} ({sum(row.kind == kind for row in common.values())})" for kind in kinds)])
    for tool, asked in by_tool.items():
        cells = [_four([row for row in asked if row.kind == kind]) for kind in kinds]
        lines.append(_line([tool, *cells]))
    return "\n".join(lines) + "\n"


def comparable(rows: Collection[Row], tools: Sequence[str]) -> tuple[dict[tuple[str, str], Row], int, int]:
    """Symbols that count, how many are untested, and how many lack a tool's answer."""
    alone = {_symbol(row): row for row in rows if row.tool == ALONE}
    tested = {symbol: row for symbol, row in alone.items() if row.outcome == Outcome.BROKE}
    asked = [{_symbol(row) for row in rows if row.tool == tool} for tool in tools]
    common = {symbol: row for symbol, row in tested.items() if all(symbol in each for each in asked)}
    return common, len(alone) - len(tested), len(tested) - len(common)


def breakages(rows: Collection[Row]) -> str:
    """What was broken by a tool that names what it doubts."""
    lines = []
    for row in rows:
        if row.outcome == Outcome.BROKE and row.named:
            told = "SILENT" if row.named == NOT_NAMED else row.named
            lines.append(
                f"{row.tool}: {row.project} {row.symbol} {row.kind} `{row.name}`: {row.why} [{told}]"
            )
    return "\n".join(lines)


def _totals(by_tool: dict[str, list[Row]]) -> list[str]:
    lines = _head(
        [
            "",
            "n",
            "ok",
            "broke",
            "of these silently",
            "refused",
            "naming places",
            "no-op",
            "ok %",
            "broke %",
            "s (median)",
        ]
    )
    for tool, asked in by_tool.items():
        n = {outcome: sum(row.outcome == outcome for row in asked) for outcome in Outcome}
        silent = sum(row.outcome == Outcome.BROKE and row.named in ("", NOT_NAMED) for row in asked)
        naming = sum(row.outcome == Outcome.REFUSED and row.n_named > 0 for row in asked)
        numbers = [
            len(asked),
            n[Outcome.OK],
            n[Outcome.BROKE],
            silent,
            n[Outcome.REFUSED],
            naming,
            n[Outcome.NO_OP],
        ]
        shares = [f"{100 * n[each] / max(1, len(asked)):.0f}" for each in (Outcome.OK, Outcome.BROKE)]
        time = f"{median(row.seconds for row in asked):.2f}" if asked else "–"
        lines.append(_line([tool, *map(str, numbers), *shares, time]))
    return lines


def _four(rows: list[Row]) -> str:
    order = (Outcome.BROKE, Outcome.REFUSED, Outcome.NO_OP, Outcome.OK)
    return " / ".join(str(sum(row.outcome == outcome for row in rows)) for outcome in order)


def _symbol(row: Row) -> tuple[str, str]:
    return row.tree, row.symbol


def _head(cells: list[str]) -> list[str]:
    return [_line(cells), "|---|" + "---:|" * (len(cells) - 1)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
