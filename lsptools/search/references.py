"""All occurrences of the symbol at a place, with evidence."""

from __future__ import annotations

from lsptools.languages.names import FilePosition, References
from lsptools.languages.python.references import account
from lsptools.workspace.snapshot import Snapshot


def references(snapshot: Snapshot, place: FilePosition) -> References:
    """Every occurrence of the symbol's name in its reach, each in one class of evidence.

    Raises `BadRequest`: `not_a_symbol` (no name there), `not_found` (its binding cannot be derived).
    """
    return account(snapshot, place).references
