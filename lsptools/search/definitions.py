"""The functions, methods and classes of files, by the places that stand in them."""

from __future__ import annotations

from lsptools.languages.names import Symbol
from lsptools.languages.python.references import Finder
from lsptools.syntax.outline import Item, flat, outline
from lsptools.text.lines import Offset, Span

CALLABLE = frozenset({"function", "method", "class"})


class Definitions:
    """What files define, flat; each file is looked at once."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._known: dict[str, list[tuple[str, Item]]] = {}

    def of(self, path: str) -> list[tuple[str, Item]]:
        """All definitions of a file with their qualified names in it."""
        known = self._known.get(path)
        if known is None:
            source = self._finder.project.source(path)
            known = self._known[path] = list(flat(outline(source.document))) if source is not None else []
        return known

    def named_at(self, path: str, name: Span) -> Item | None:
        """The definition whose name stands there."""
        return next((item for _, item in self.of(path) if item.name_span == name), None)

    def around(self, path: str, at: Offset) -> tuple[Symbol, Span] | None:
        """The innermost function, method or class around a place, and all it covers; None: only the module."""
        holding = [
            (qualified, item)
            for qualified, item in self.of(path)
            if item.kind in CALLABLE and item.span.contains(at)
        ]
        if not holding:
            return None
        qualified, item = min(holding, key=lambda each: each[1].span.length)
        dotted = f"{self._finder.project.dotted_name(path)}.{qualified}"
        return Symbol(item.name, item.kind, path, item.name_span, dotted), item.span

    def module(self, path: str) -> Symbol:
        """The module that a file is."""
        dotted = self._finder.project.dotted_name(path)
        return Symbol(dotted.rpartition(".")[2], "module", path, Span(Offset(0), Offset(0)), dotted)
