"""All occurrences of the symbol at a place, with evidence."""

from __future__ import annotations

from contextlib import closing

from lsptools.languages.names import FilePosition, References
from lsptools.languages.python.candidates import searching
from lsptools.search.positions import position
from lsptools.workspace.snapshot import Snapshot


def references(snapshot: Snapshot, place: FilePosition | str) -> References:
    """Every occurrence of the symbol's name in its reach, each in one class of evidence.

    `place` is as a caller writes it (see `places`), or a position. Raises `BadRequest`: what `places.locate` raises,
    `not_a_symbol` (no name there), `not_found` (its binding cannot be derived).
    """
    at = position(snapshot, place) if isinstance(place, str) else place
    if at is None:
        from lsptools.search.places import locate

        at = locate(snapshot, str(place))
    with closing(searching(snapshot, at)) as candidates:
        # The rest of the program is loaded while ripgrep works.
        from lsptools.languages.python.references import account

        return account(snapshot, at, candidates).references
