"""All occurrences of the symbol at a place, with evidence."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lsptools.languages.names import FilePosition, References
from lsptools.languages.python.candidates import searching
from lsptools.search.positions import position
from lsptools.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsptools.languages.python.inference import Asking


def references(snapshot: Snapshot, place: FilePosition | str, asking: Asking | None = None) -> References:
    """Every occurrence of the symbol's name in its reach, each in one class of evidence.

    `place` is as a caller writes it (see `places`), or a position. With `asking`, jedi is asked about what is possible.
    Raises `BadRequest`: what `places.locate` raises, `not_a_symbol` (no name there), `not_found` (its binding cannot be
    derived); `Unavailable` if jedi is to be asked and is not installed.
    """
    at = position(snapshot, place) if isinstance(place, str) else place
    if at is None:
        from lsptools.search.places import locate

        at = locate(snapshot, str(place))
    with closing(searching(snapshot, at)) as candidates:
        # The rest of the program is loaded while ripgrep works.
        from lsptools.languages.python.references import account

        found = account(snapshot, at, candidates)
    if asking is not None:
        from lsptools.languages.python.inferred import settled

        found = settled(found, asking)
    return found.references
