"""Places that are written as positions: `path:line:col` and `path:line`.

Apart from the other places (`places.py`), because nothing of a file has to be understood for it: who is given a position can
begin to search for the word there before the rest of the program is loaded.
"""

from __future__ import annotations

import re

from lsptools.languages.names import FilePosition
from lsptools.text.lines import UserPos
from lsptools.workspace.snapshot import Snapshot

_POSITION = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


def position(snapshot: Snapshot, place: str) -> FilePosition | None:
    """The position, if the place is written as one: `path:line:col` (1-based, code points), or the first name of `path:line`.

    Raises `BadRequest`: `invalid` (no such line or column), `not_found`, `is_directory`, `binary`, `outside_workspace`.
    """
    found = _POSITION.fullmatch(place)
    if found is None or "::" in place:
        return None
    return _positioned(snapshot, found["path"], int(found["line"]), found["column"])


def _positioned(snapshot: Snapshot, path: str, line: int, column: str | None) -> FilePosition:
    path = snapshot.root.relative(path)
    document = snapshot.document(path)
    if column is not None:
        return FilePosition(path, document.lines.offset_from_user(UserPos(line, int(column))))
    start = document.lines.offset_from_user(UserPos(line, 1))
    text = document.lines.line_text(line - 1)
    names = [found.span() for found in re.finditer(r"[^\W\d]\w*", text)]
    first = re.match(r"\s*(?:async\s+)?(?:def|class)\s+", text)
    chosen = first.end() if first is not None else names[0][0] if names else 0
    return FilePosition(path, type(start)(start + chosen))
