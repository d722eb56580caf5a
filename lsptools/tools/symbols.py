"""`symbols`: definitions in the whole workspace, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg, checked_limit, unsearched

if TYPE_CHECKING:
    from lsptools.search.symbols import Definition, Symbols


@dataclass(frozen=True, slots=True)
class Params:
    query: str = arg("a name, or a part of one; `Class.method` asks for a method", positional=True)
    exact: bool = arg("only names that are exactly QUERY", default=False, group="Selection")
    kinds: tuple[str, ...] = arg(
        "only definitions of this kind; repeat it for several",
        default=(),
        name="kind",
        choices=("class", "function", "method", "attribute", "variable", "type"),
        group="Selection",
    )
    limit: int = arg("how many to list at most", default=200, metavar="N", group="Output")


@dataclass(frozen=True, slots=True)
class SymbolsAnswer:
    """Definitions, those named exactly so first."""

    symbols: Symbols
    limit: int
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.symbols.definitions)

    @property
    def total(self) -> int:
        """How many were found, listed or not."""
        return len(self.symbols.definitions)

    @property
    def listed(self) -> tuple[Definition, ...]:
        """As many as were asked for."""
        return self.symbols.definitions[: self.limit]

    @property
    def incomplete_because(self) -> tuple[str, ...]:
        """Files that could not be looked at."""
        return unsearched(self.symbols.skipped)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": not self.incomplete_because,
            "incomplete_because": list(self.incomplete_because),
            "total": self.total,
            "truncated": self.total > self.limit,
            "symbols": [self._definition_json(each) for each in self.listed],
        }

    def _definition_json(self, definition: Definition) -> dict[str, object]:
        return {
            **self.positions.located(definition.path, definition.item.name_span),
            "name": definition.item.name,
            "kind": definition.item.kind,
            "qualified": definition.qualified,
            "signature": definition.item.signature,
        }


def run(context: Context, params: Params) -> SymbolsAnswer:
    """Find the definitions."""
    from lsptools.search.symbols import symbols

    limit = checked_limit(params.limit)
    found = symbols(context.snapshot, params.query, exact=params.exact, kinds=frozenset(params.kinds))
    return SymbolsAnswer(found, limit, context.positions)


TOOL = Tool(
    name="symbols",
    summary="Find definitions in the whole workspace by name or part of a name.",
    guide=(
        "Lists definitions only, not uses (that is `refs`), and no locals. Case counts. Each line begins with a place that "
        "`refs`, `def` and `rename` take."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("symbols total", "everything whose name contains `total`"),
        Example("symbols Order.total --exact", "the method `total` of a class `Order`"),
    ),
    found="at least one definition was found",
    not_found="none was",
)
