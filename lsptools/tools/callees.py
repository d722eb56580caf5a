"""`callees`: what a function, method or class calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE, symbol_json

if TYPE_CHECKING:
    from lsptools.languages.names import Symbol
    from lsptools.search.calls import Callees


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")


@dataclass(frozen=True, slots=True)
class CalleesAnswer:
    """The calls in a body."""

    callees: Callees
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.callees.calls)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": self.callees.complete,
            "incomplete_because": list(self.callees.incomplete_because),
            "symbol": symbol_json(self.positions, self.callees.caller),
            "calls": [
                {
                    **self.positions.located(call.path, call.span),
                    "text": call.text,
                    "class": call.evidence.value,
                    "reason": call.reason,
                    "callees": [_callee_json(self.positions, symbol) for symbol in call.symbols],
                }
                for call in self.callees.calls
            ],
        }


def _callee_json(positions: Positions, symbol: Symbol) -> dict[str, object]:
    if symbol.kind == "builtin":  # it has no place
        return {"name": symbol.name, "kind": symbol.kind, "qualified": symbol.qualified}
    return symbol_json(positions, symbol)


def run(context: Context, params: Params) -> CalleesAnswer:
    """Find the callees."""
    from lsptools.search.calls import callees
    from lsptools.search.places import locate

    return CalleesAnswer(callees(context.snapshot, locate(context.snapshot, params.place)), context.positions)


TOOL = Tool(
    name="callees",
    summary="List what a function, method or class calls, as far as it can be known.",
    guide=(
        "Lists every call in the body, that of nested functions included, in the order of the text, with the definitions it "
        "reaches: `certain` (these and nothing else), `likely` (these, and perhaps others), `possible` (nothing is known of "
        "the callee, and why). Definitions in libraries have absolute paths. Of a class these are the calls in its whole body."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(Example("callees app.models.Order.total", "what does it call?"),),
    found="it calls something",
    not_found="it calls nothing",
)
