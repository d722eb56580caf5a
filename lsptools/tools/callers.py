"""`callers`: who calls a function, method or class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE, symbol_json
from lsptools.tools.references import CLASSES

if TYPE_CHECKING:
    from lsptools.languages.python.uses import Use
    from lsptools.search.calls import Caller, Callers

FOUND = CLASSES[:3]


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")
    classes: tuple[str, ...] = arg(
        "list only uses of this class; repeat it for several",
        default=(),
        name="class",
        choices=FOUND,
        group="Selection",
    )


@dataclass(frozen=True, slots=True)
class CallersAnswer:
    """Definitions with the calls that stand in them."""

    callers: Callers
    classes: tuple[str, ...]
    positions: Positions

    @property
    def found(self) -> bool:
        return any(True for caller in self.callers.callers if self.uses(caller))

    def uses(self, caller: Caller) -> tuple[Use, ...]:
        """Those that were asked for."""
        wanted = self.classes or FOUND
        return tuple(use for use in caller.uses if use.evidence.value in wanted)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": self.callers.complete,
            "incomplete_because": list(self.callers.incomplete_because),
            "symbol": symbol_json(self.positions, self.callers.callee),
            "callers": [
                {
                    **symbol_json(self.positions, caller.symbol),
                    "uses": [use_json(self.positions, use) for use in self.uses(caller)],
                }
                for caller in self.callers.callers
                if self.uses(caller)
            ],
        }


def use_json(positions: Positions, use: Use) -> dict[str, object]:
    """One use: a place with its class of evidence, its role, and the reason."""
    return {
        **positions.located(use.path, use.span),
        "class": use.evidence.value,
        "role": use.kind,
        "reason": use.reason,
        "via": use.via or None,
    }


def run(context: Context, params: Params) -> CallersAnswer:
    """Find the callers."""
    from lsptools.search.calls import callers
    from lsptools.search.places import locate

    found = callers(context.snapshot, locate(context.snapshot, params.place))
    return CallersAnswer(found, params.classes, context.positions)


TOOL = Tool(
    name="callers",
    summary="List who calls a function, method or class, each call with its evidence.",
    guide=(
        "Groups the calls by the function, method, class or module they stand in. Counts calls under another name "
        "(`from m import f as g`), `partial(f, …)`, decorators and, for a class or its `__init__`, everything that reaches the "
        "constructor: subclasses without one of their own, `cls(…)`, `super().__init__(…)`. A use of the role `value` hands the "
        "function on (`submit(f)`), `text` is a string that is looked up at run time: who calls it then is not known. "
        "`refs --calls` shows the arguments, `callees` the other direction."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("callers app.models.Order.total", "who calls the method or an override of it"),
        Example("callers app/models.py::Order --class certain --class likely", "who makes orders"),
    ),
    found="at least one use is listed",
    not_found="none is",
)
