"""All occurrences of the symbol at a place, with evidence."""

from __future__ import annotations

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
    candidates = searching(snapshot, at) if at is not None else None
    # The rest of the program is loaded while ripgrep works.
    from lsptools.languages.python.references import account
    from lsptools.search.places import locate

    if at is None:
        at = locate(snapshot, str(place))
    return account(snapshot, at, candidates).references
