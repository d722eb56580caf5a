"""What an occurrence in a Jupyter notebook stands in, read off the JSON: the kind of its cell, and the part of it.

The text is gone through once, string by string, so neither the order of a cell's members nor JSON inside of code matters.
Where it stops: a name that is spelled with `\\u…` escapes is not found by a search for its letters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: where it is in the text (code points), what kind it is, and where its members begin."""

    start: int
    end: int
    kind: str
    members: tuple[tuple[int, str], ...]

    def member_at(self, at: int) -> str:
        """The member (`source`, `outputs`, …) in which a place lies."""
        return next((name for start, name in reversed(self.members) if start <= at), "")


def is_code(text: str, at: int) -> bool:
    """Does a place lie in the source of a code cell?"""
    cell = next((cell for cell in cells(text) if cell.start <= at < cell.end), None)
    return cell is not None and cell.kind == "code" and cell.member_at(at) == "source"


@lru_cache(maxsize=16)
def cells(text: str) -> tuple[Cell, ...]:
    """The cells of a notebook; none if it is not one."""
    found: list[Cell] = []
    members: list[tuple[int, str]] = []
    depth, start, kind, key = 0, 0, "", ""
    for token in _TOKEN.finditer(text):
        written = token.group()
        if written in "{[":
            depth += 1
            if written == "{" and depth == _OF_A_CELL:
                start, kind, members = token.start(), "", []
        elif written in "}]":
            if written == "}" and depth == _OF_A_CELL:
                found.append(Cell(start, token.end(), kind, tuple(members)))
            depth -= 1
        elif depth == _OF_A_CELL:
            if _COLON.match(text, token.end()):
                key = written[1:-1]
                members.append((token.start(), key))
            elif key == "cell_type":
                kind, key = written[1:-1], ""
    return tuple(found)


_OF_A_CELL = 3
"""The notebook, its list of cells, the cell."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_COLON = re.compile(r"\s*:")
