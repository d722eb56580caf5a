"""`hierarchy`: the classes above and below a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE, symbol_json

if TYPE_CHECKING:
    from lsptools.search.hierarchy import Hierarchy, Related


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")


@dataclass(frozen=True, slots=True)
class HierarchyAnswer:
    """A class between its bases and its subclasses."""

    hierarchy: Hierarchy
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.hierarchy.above or self.hierarchy.below or self.hierarchy.unknown_bases)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": self.hierarchy.complete,
            "incomplete_because": list(self.hierarchy.incomplete_because),
            "symbol": symbol_json(self.positions, self.hierarchy.symbol),
            "order": [symbol_json(self.positions, each) for each in self.hierarchy.order],
            "unknown_bases": list(self.hierarchy.unknown_bases),
            "supertypes": [self._related_json(each) for each in self.hierarchy.above],
            "subtypes": [self._related_json(each) for each in self.hierarchy.below],
        }

    def _related_json(self, related: Related) -> dict[str, object]:
        return {
            **symbol_json(self.positions, related.symbol),
            "depth": related.depth,
            "via": related.via,
            "unknown_bases": list(related.unknown_bases),
        }


def run(context: Context, params: Params) -> HierarchyAnswer:
    """Find the classes."""
    from lsptools.search.hierarchy import hierarchy
    from lsptools.search.places import locate

    found = hierarchy(context.snapshot, locate(context.snapshot, params.place))
    return HierarchyAnswer(found, context.positions)


TOOL = Tool(
    name="hierarchy",
    summary="Show the classes above and below a class.",
    guide=(
        "Lists the bases, their bases and so on, also in libraries, and the classes of the workspace below it, each with its "
        "distance and the class in between. Bases that lead nowhere (a package that is not installed, a computed one) are "
        "named: what they define is not known. In JSON, `order` is the order in which attributes are looked up."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(Example("hierarchy shapes.Square", "what is it, and what is made of it?"),),
    found="there is a class above or below",
    not_found="there is none",
)
