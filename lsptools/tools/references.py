"""`refs`: every occurrence of a symbol's name, each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsptools.errors import BadRequest, Refused, ToolError
from lsptools.languages.names import Evidence, Occurrence, References, Step
from lsptools.text.lines import Span
from lsptools.tools.base import INFER, Context, Example, Positions, Tool, arg, lsp_range
from lsptools.tools.definition import PLACE, symbol_json

if TYPE_CHECKING:
    from lsptools.search.call_arguments import BoundCall, BoundCalls, Given

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
    infer: int = arg(INFER, default=0, metavar="N", group="Selection")
    why: bool = arg(
        "with the whole derivation of each occurrence listed (add --only for a single one)",
        default=False,
        group="Output",
    )
    calls: bool = arg(
        "show the calls of the function, each argument with the parameter it reaches; for a parameter, what reaches it",
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
    calls: BoundCalls | None = None
    """With their arguments, when that was asked for."""

    @property
    def found(self) -> bool:
        return bool(self.listed if self.calls is None else self.calls.calls)

    def to_json(self) -> dict[str, object]:
        found: dict[str, object] = {
            **references_json(self.references, self.positions),
            "occurrences": occurrences_json(self.listed, self.positions, steps=self.why),
        }
        if self.calls is not None:
            found |= calls_json(self.calls, self.positions)
        return found


def calls_json(found: BoundCalls, positions: Positions) -> dict[str, object]:
    """The members that `--calls` adds."""
    return {
        "callee": symbol_json(positions, found.callee),
        "signature": found.signature,
        "parameter": found.parameter or None,
        "calls": [_call_json(call, positions) for call in found.calls],
    }


def _call_json(call: BoundCall, positions: Positions) -> dict[str, object]:
    return {
        **positions.located(call.use.path, call.use.span),
        "class": call.use.evidence.value,
        "role": call.use.kind,
        "reason": call.use.reason,
        "arguments": [_given_json(given, call.use.path, positions) for given in call.given],
        "reaches": None if call.selected is None else _given_json(call.selected, call.use.path, positions),
    }


def _given_json(given: Given, path: str, positions: Positions) -> dict[str, object]:
    place = {"range": None} if given.span is None else positions.located(path, given.span)
    return {"parameter": given.parameter or None, "how": given.how, "text": given.text, **place}


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
    if params.calls:
        return _run_with_calls(context, params)
    from lsptools.search.references import references

    found = references(context.snapshot, params.place, context.asking(params.infer))
    return select(found, params, context.positions)


def _run_with_calls(context: Context, params: Params) -> ReferencesAnswer:
    """The occurrences, and the calls of what stands at the place: two questions about the same files, which are read once."""
    from lsptools.languages.python.references import Finder
    from lsptools.search.call_arguments import bound_calls_of
    from lsptools.search.places import locate

    place = locate(context.snapshot, params.place)
    finder = Finder(context.snapshot)
    found, asking = finder.account(finder.target(place)), context.asking(params.infer)
    if asking is not None:
        from lsptools.languages.python.inferred import settled

        found = settled(found, asking)
    answer = select(found.references, params, context.positions)
    return replace(answer, calls=_selected(bound_calls_of(finder, place), context, params))


def _selected(found: BoundCalls, context: Context, params: Params) -> BoundCalls:
    """The calls that `params` select."""
    wanted = {Evidence(name) for name in params.classes}
    listed = [each for each in found.calls if not wanted or each.use.evidence in wanted]
    if params.only is not None:
        path, line, column = _only(params.only)
        path = context.positions.relative(path)
        listed = [
            each
            for each in listed
            if each.use.path == path
            and (line is None or _is_at(context.positions, path, each.use.span, line, column))
        ]
    return replace(found, calls=tuple(listed))


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
            listed = tuple(each for each in listed if _is_at(positions, each.path, each.span, line, column))
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


def _is_at(positions: Positions, path: str, span: Span, line: int, column: int | None) -> bool:
    at = positions.user(path, span.start)
    return at.line == line and (column is None or 0 <= column - at.column < max(span.length, 1))


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
        "exactly what is `certain` and `likely` here, but leaves files alone that do not parse. `--calls` shows instead how a function is called: each call with its "
        "arguments bound to the parameters, which is what to look at before `signature`."
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
        Example("refs app/models.py::Order.total --calls", "which argument reaches which parameter?"),
    ),
    found="at least one occurrence is listed",
    not_found="none is",
    known=known,
)
