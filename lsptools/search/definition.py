"""Where the symbol at a place is declared."""

from __future__ import annotations

from lsptools.languages.names import FilePosition, Symbol
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.references import Finder
from lsptools.workspace.snapshot import Snapshot


def definition(snapshot: Snapshot, place: FilePosition) -> tuple[Symbol, ...]:
    """The declarations that the occurrence at a place is bound to; places outside the workspace are absolute.

    Raises `BadRequest` as `references` does.
    """
    finder = Finder(snapshot)
    target = finder.target(place)
    roots = sorted(target.roots, key=by_place)
    return tuple(finder.symbol_of(root, target.name) for root in roots)
