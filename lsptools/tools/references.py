"""`refs`: every occurrence of a symbol's name, each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lsptools.errors import BadRequest, Refused, ToolError
from lsptools.languages.names import Evidence, Occurrence, References, Step
from lsptools.tools.base import Context, Example, Positions, Tool, arg, lsp_range
from lsptools.tools.definition import PLACE, symbol_json

CLASSES = tuple(evidence.value for evidence in Evidence)


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")
    classes: tuple[str, ...] = arg(
        "list only occurrences of this class; repeat it for several (text lists all but `unrelated`)",
        default=(),
        name="class",
        choices=CLASSES,
        group="Selection",
    )
    only: str | None = arg(
        "list only occurrences in this FILE, on this FILE:LINE, or at this FILE:LINE:COL",
        default=None,
        kind="path",
        metavar="WHERE",
        group="Selection",
    )
    why: bool = arg(
        "with the whole derivation of each occurrence listed (add --only for a single one)",
        default=False,
        group="Output",
    )


@dataclass(frozen=True, slots=True)
class ReferencesAnswer:
    """What was found, and which of it to list."""

    references: References
    listed: tuple[Occurrence, ...]
    selected: bool
    """Whether the caller chose what is listed; otherwise text leaves out what is unrelated."""
    why: bool
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.listed)

    def to_json(self) -> dict[str, object]:
        return {
            **references_json(self.references, self.positions),
            "occurrences": occurrences_json(self.listed, self.positions, steps=self.why),
        }


def references_json(references: References, positions: Positions) -> dict[str, object]:
    """Everything but the occurrences: the symbol, its declarations, the counts, and whether that is all."""
    return {
        "complete": references.complete,
        "incomplete_because": list(references.incomplete_because),
        "symbol": symbol_json(positions, references.symbol),
        "declarations": [symbol_json(positions, symbol) for symbol in references.declarations],
        "counts": dict(references.counts()),
        "files": references.n_files,
    }


def occurrences_json(
    occurrences: Collection[Occurrence], positions: Positions, *, steps: bool = False
) -> list[dict[str, object]]:
    """The array `occurrences` of docs/json.md. One loop with its own variables: there may be ten thousand."""
    found: list[dict[str, object]] = []
    path = None
    for occurrence in occurrences:
        if occurrence.path != path:
            path = occurrence.path
            lines = positions.lines(path)
        at = lines.user_from_offset(occurrence.span.start)
        item: dict[str, object] = {
            "path": path,
            "line": at.line,
            "column": at.column,
            "class": occurrence.evidence.value,
            "role": occurrence.role,
            "reason": occurrence.reason,
            "range": lsp_range(lines, occurrence.span),
        }
        if steps:
            item["steps"] = [_step_json(step, positions) for step in occurrence.steps]
        found.append(item)
    return found


def _step_json(step: Step, positions: Positions) -> dict[str, object]:
    if step.path is None or step.span is None:
        return {"says": step.says}
    return {"says": step.says, **positions.located(step.path, step.span)}


def run(context: Context, params: Params) -> ReferencesAnswer:
    """Find the occurrences."""
    from lsptools.search.references import references

    found = references(context.snapshot, params.place)
    return select(found, params, context.positions)


def select(found: References, params: Params, positions: Positions) -> ReferencesAnswer:
    """The answer that lists what `params` asks for."""
    listed = found.occurrences
    if params.classes:
        wanted = {Evidence(name) for name in params.classes}
        listed = tuple(each for each in listed if each.evidence in wanted)
    if params.only is not None:
        path, line, column = _only(params.only)
        path = positions.relative(path)
        listed = tuple(each for each in listed if each.path == path)
        if line is not None:
            listed = tuple(each for each in listed if _is_at(positions, each, line, column))
    selected = bool(params.classes) or params.only is not None
    return ReferencesAnswer(found, listed, selected, params.why, positions)


_ONLY = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?")


def _only(place: str) -> tuple[str, int | None, int | None]:
    found = _ONLY.fullmatch(place)
    if found is None:
        raise BadRequest(
            "invalid", "--only needs a FILE", hint="copy FILE, FILE:LINE or FILE:LINE:COL from an answer"
        )
    line, column = found["line"], found["column"]
    return found["path"], int(line) if line else None, int(column) if column else None


def _is_at(positions: Positions, occurrence: Occurrence, line: int, column: int | None) -> bool:
    at = positions.user(occurrence.path, occurrence.span.start)
    return at.line == line and (column is None or 0 <= column - at.column < max(occurrence.span.length, 1))


def known(context: Context, error: ToolError) -> Mapping[str, object]:
    """What an answer without references still says, and what was found before a refusal."""
    found = error.details if isinstance(error, Refused) else None
    if not isinstance(found, References):
        return {"complete": False, "incomplete_because": [error.message], "occurrences": []}
    return {
        **references_json(found, context.positions),
        "occurrences": occurrences_json(found.occurrences, context.positions),
    }


TOOL = Tool(
    name="refs",
    summary="List every occurrence of a symbol's name, each with its class of evidence and the reason.",
    guide=(
        "Accounts for every textual occurrence of the name in reach: `certain` (derived step by step), `likely` (unknown "
        "receiver, but nothing else has an attribute of this name), `possible` (cannot be known), `mention` (comments, "
        "strings, documentation), `unrelated` (bound to something else). Overrides, overloads, property triples and "
        "stubs count as one symbol. The summary says whether the answer is complete, or why not. `rename` changes "
        "exactly what is `certain` and `likely` here, but leaves files alone that do not parse."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("refs app/models.py:14:9", "everything called like the name at line 14, column 9"),
        Example("refs app.models.Order.total --class possible", "only what has to be decided by a person"),
        Example(
            "refs app/models.py::Order.total --why --only app/main.py:7:12", "why is this one an occurrence?"
        ),
    ),
    found="at least one occurrence is listed",
    not_found="none is",
    known=known,
)
