"""Edits of a notebook that quote a cell as `read` shows it, not as it stands in the JSON.

The new text is put into the JSON as its strings are written, with escapes. The passage has to be in one cell, and, like everywhere, exactly once
in all of them. Each cell whose source changes is one edit of the file; every other byte stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from lsptools.edit.notebook import Source, edit_of, sources
from lsptools.edit.splice import Style, edits_for, joined
from lsptools.errors import BadRequest
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.match import Found, Match, Tier, find, find_all

if TYPE_CHECKING:
    from lsptools.edit.replace import Replacement

_LF = Style("\n")


@dataclass(frozen=True, slots=True)
class CellEdits:
    """What the edits come to in the JSON."""

    edits: Edits
    tier: Tier
    n_replaced: int


@dataclass(frozen=True, slots=True)
class Hit:
    """Where the text of an edit is in a cell."""

    source: Source
    match: Match
    tier: Tier
    replacement: Replacement


def hits_in_cells(text: str, replacements: Sequence[Replacement]) -> list[list[Hit]]:
    """Of each edit, where its text is in the cells; nowhere, if this is no notebook."""
    cells = sources(text)
    return [_hits(cells, each) for each in replacements]


def cell_edits(found: Sequence[Sequence[Hit]], name: str) -> CellEdits:
    """The edits of the cells, in which the text of each edit was found."""
    for number, of_one in enumerate(found, 1):
        _check_count(of_one, of_one[0].replacement, name, number)
    by_cell: dict[int, list[Hit]] = {}
    for hit in sorted(chain(*found), key=lambda hit: (hit.source.number, hit.match.span)):
        by_cell.setdefault(hit.source.number, []).append(hit)
    edits = [edit_of(inside[0].source, _edited(inside, name)) for inside in by_cell.values()]
    tier: Tier = "folded" if any(hit.tier == "folded" for hit in chain(*found)) else "exact"
    return CellEdits(Edits.of(edits), tier, sum(map(len, found)))


def _hits(cells: Sequence[Source], each: Replacement) -> list[Hit]:
    """By the first tier that finds it in any cell."""
    search = find_all if each.is_for_all else find
    found: list[tuple[Source, Found]] = [(cell, search(cell.text, each.old_str)) for cell in cells]
    for tier in ("exact", "folded"):
        hits = [
            Hit(cell, match, in_cell.tier, each)
            for cell, in_cell in found
            if in_cell.tier == tier
            for match in in_cell.matches
        ]
        if hits:
            return hits
    return []


def _check_count(hits: Sequence[Hit], each: Replacement, name: str, number: int) -> None:
    expected = each.expected_count if each.expected_count is not None else None if each.replace_all else 1
    if expected is not None and len(hits) != expected:
        cells = ", ".join(dict.fromkeys(str(hit.source.number) for hit in hits))
        raise BadRequest(
            "ambiguous",
            f"edit {number}: the text occurs {len(hits)} times in {name!r}, in cells {cells}",
            hint="quote more of the text around it, or pass `replace_all` if all of them are meant",
        )


def _edited(inside: Sequence[Hit], name: str) -> str:
    """What a cell says after the edits in it, which come in the order of its text."""
    source = inside[0].source
    if any(following.match.span.start < hit.match.span.end for hit, following in pairwise(inside)):
        raise BadRequest(
            "overlap",
            f"two edits are about the same text in cell {source.number} of {name!r}",
            hint="send one edit for the whole passage",
        )
    edits: list[TextEdit] = []
    for hit in inside:
        old, new = hit.replacement.old_str, hit.replacement.new_str
        edits += edits_for(source.text, hit.match, hit.tier, old, new, _LF)
    return joined(edits).apply(source.text)
