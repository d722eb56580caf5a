"""`implementations`: the overrides of a method, the subclasses of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE, symbol_json

if TYPE_CHECKING:
    from lsptools.search.hierarchy import Implementations


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")


@dataclass(frozen=True, slots=True)
class ImplementationsAnswer:
    """The other declarations of a family, each with how it stands to the one asked for."""

    implementations: Implementations
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.implementations.found)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": self.implementations.complete,
            "incomplete_because": list(self.implementations.incomplete_because),
            "symbol": symbol_json(self.positions, self.implementations.symbol),
            "implementations": [
                {
                    "name": each.symbol.name,
                    "kind": each.symbol.kind,
                    "qualified": each.symbol.qualified,
                    **(symbol_json(self.positions, each.symbol) if each.symbol.kind != "builtin" else {}),
                    "relation": each.relation,
                    "abstract": each.is_abstract,
                }
                for each in self.implementations.found
            ],
        }


def run(context: Context, params: Params) -> ImplementationsAnswer:
    """Find the implementations."""
    from lsptools.search.hierarchy import implementations
    from lsptools.search.places import locate

    found = implementations(context.snapshot, locate(context.snapshot, params.place))
    return ImplementationsAnswer(found, context.positions)


TOOL = Tool(
    name="implementations",
    summary="List the overrides of a method, or the subclasses of a class.",
    guide=(
        "For a method or attribute, the other members of its family: `overrides` (in a class below), `overridden` (in one above, "
        "also of a library), `sibling` (in a class beside, joined through a common one), `twin` (in the stub or module beside); "
        "those that only say that they are to be overridden are marked as abstract. For a class, all classes below it. "
        "Classes that satisfy a protocol without naming it are not found. `hierarchy` shows the bases, too."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("implementations shapes.Shape.area", "which classes implement the method?"),
        Example("implementations shapes.Shape", "which classes are shapes?"),
    ),
    found="there is at least one",
    not_found="there is none",
)
