"""`def`: where a symbol is defined."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.languages.names import Symbol
from lsptools.tools.base import Context, Example, Positions, Tool, arg

PLACE = "where the name stands: FILE:LINE:COL, FILE::Qualified.name, package.module.Class.method, or a name that is unique; FILE:: is the module itself"


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")


@dataclass(frozen=True, slots=True)
class DefinitionAnswer:
    """All declarations that the name at the place may mean."""

    symbols: tuple[Symbol, ...]
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.symbols)

    def to_json(self) -> dict[str, object]:
        return {"definitions": [symbol_json(self.positions, symbol) for symbol in self.symbols]}


def symbol_json(positions: Positions, symbol: Symbol) -> dict[str, object]:
    """A symbol with its place; the place of a library's symbol has an absolute path."""
    return {
        **positions.located(symbol.path, symbol.span),
        "name": symbol.name,
        "kind": symbol.kind,
        "qualified": symbol.qualified,
    }


def run(context: Context, params: Params) -> DefinitionAnswer:
    """Find the definitions."""
    from lsptools.search.definition import definition
    from lsptools.search.places import locate

    place = locate(context.snapshot, params.place)
    return DefinitionAnswer(definition(context.snapshot, place), context.positions)


TOOL = Tool(
    name="def",
    summary="Show where the symbol at a place is defined.",
    guide=(
        "Follows imports, aliases and re-exports to the definition, also into the standard library and installed "
        "packages (their paths are absolute). Each answer is a place that `refs` and `rename` take."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("def app/main.py:12:8", "what does the name at line 12, column 8 mean?"),
        Example("def app/models.py::Order.total", "by its name inside the file"),
    ),
    found="a definition was found",
    not_found="the name has no definition that could be found",
)
