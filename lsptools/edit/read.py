"""What a file says, as a caller is shown it: numbered lines, a notebook's cells, or a picture's description.

The number of a line stands in a column of its own, `    12│text`, and what is right of the bar is the line as it stands in
the file. Shown are at most `MOST_LINES` lines and `MOST_BYTES` bytes, whichever comes first, from the first line asked for
on; there is always something, for a line that is too long is cut, and the cut is said. Line ends are not shown.

Lines end at `\\r\\n`, `\\n` and `\\r`, as everywhere here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.edit.notebook import SUFFIX, cells_text
from lsptools.edit.pictures import Picture, picture_of
from lsptools.edit.session import Session
from lsptools.edit.target import Target, document_of, target
from lsptools.errors import BadRequest
from lsptools.text.document import Document
from lsptools.text.lines import Lines
from lsptools.workspace.snapshot import Snapshot

MOST_LINES = 2_000
MOST_BYTES = 50_000
"""Of the text shown, in UTF-8."""
LONGEST_LINE = 2_000
"""Code points of a line among others; a line asked for alone may take all of `MOST_BYTES`."""
BAR = "│"
_MARGIN = 200
"""What the number in front of a line and the words about a cut take, at most, in bytes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Part of a text file."""

    target: Target
    document: Document
    shown: str
    """The numbered lines."""
    first_line: int
    last_line: int
    """The last line shown; one before `first_line` if the file is empty."""
    n_lines: int
    """Of the whole file; an empty line after the last line end does not count."""
    is_cut: bool
    """Whether a line of the range asked for is missing, or not whole."""
    go_on: str
    """How to get more: a sentence, or nothing."""
    is_notebook: bool = False


def read(
    snapshot: Snapshot,
    session: Session,
    path: str,
    *,
    offset: int = 1,
    limit: int | None = None,
    column: int = 1,
    raw: bool = False,
) -> Reading | Picture:
    """Lines `offset` to `offset + limit` of a file, each from `column` on; a picture if it is one.

    Afterwards the session has seen the file. `raw` shows a notebook as the JSON it is.
    """
    if offset < 1 or column < 1 or (limit is not None and limit < 1):
        raise BadRequest(
            "invalid",
            f"lines and columns count from 1, and a limit is at least 1; this is {offset}, {column}, {limit}",
            hint="send `offset`, `column` and `limit` from 1, or leave them out",
        )
    at = target(snapshot, path)
    try:
        document = document_of(snapshot, at)
    except BadRequest as error:
        if error.kind == "not_found":
            session.forget(at.real)
        picture = picture_of(at, snapshot.bytes(at.real_name)) if error.kind == "binary" else None
        if picture is None:
            raise
        return picture
    cells = None if raw or not at.real_name.endswith(SUFFIX) else cells_text(document.text)
    shown = document.text if cells is None else cells
    reading = _reading(at, document, shown, offset, limit, column, is_notebook=cells is not None)
    is_raw = cells is None if at.real_name.endswith(SUFFIX) else None
    session.see(at.real, document.digest, document.encode(), is_raw=is_raw)
    return reading


def _reading(
    at: Target,
    document: Document,
    text: str,
    offset: int,
    limit: int | None,
    column: int,
    *,
    is_notebook: bool,
) -> Reading:
    lines = document.lines if text is document.text else Lines(text)
    n_lines = lines.n_lines if lines.line_span(lines.n_lines - 1).length else lines.n_lines - 1
    if offset > max(n_lines, 1):
        raise BadRequest(
            "invalid",
            f"line {offset} is past the end: {at.name!r} has {n_lines} line{'' if n_lines == 1 else 's'}",
            hint=f"read from a line up to {max(n_lines, 1)}",
        )
    last_wanted = n_lines if limit is None else min(n_lines, offset + limit - 1)
    most = range(offset, min(last_wanted, offset + MOST_LINES - 1) + 1)
    _check_column(lines, most, column, at.name)
    shown: list[str] = []
    room = MOST_BYTES
    cut_at: tuple[int, int] | None = None
    for line in most:
        piece, next_column = _piece(lines, line, column, MOST_BYTES - _MARGIN if len(most) == 1 else 0)
        row = f"{line:>6}{BAR}{piece}"
        size = len(row.encode("utf-8", "surrogatepass")) + 1
        if size > room and shown:
            break
        if next_column and cut_at is None:
            cut_at = (line, next_column)
        shown.append(row)
        room -= size
    last = offset + len(shown) - 1
    go_on = _go_on(last, last_wanted, n_lines, cut_at)
    return Reading(
        at,
        document,
        "\n".join(shown),
        offset,
        last,
        n_lines,
        last < last_wanted or cut_at is not None,
        go_on,
        is_notebook,
    )


def _check_column(lines: Lines, numbers: range, column: int, name: str) -> None:
    """`invalid` if none of the lines is that long."""
    longest = max((lines.line_span(number - 1).length for number in numbers), default=0)
    if column > max(longest, 1):
        which = f"line {numbers[0]}" if len(numbers) == 1 else "the longest of the lines"
        raise BadRequest(
            "invalid",
            f"column {column} is past the end: {which} of {name!r} has {longest} character{'' if longest == 1 else 's'}",
            hint=f"read from a column up to {max(longest, 1)}",
        )


def _piece(lines: Lines, line: int, column: int, most_bytes: int) -> tuple[str, int]:
    """The part of a line from `column` on that is shown, and the column to go on from, if it is cut.

    Of a line among others (no `most_bytes`) that is `LONGEST_LINE` characters.
    """
    span = lines.line_span(line - 1)
    start = min(span.start + column - 1, span.end)
    piece = lines.text[start : min(span.end, start + (most_bytes or LONGEST_LINE))]
    if most_bytes and not piece.isascii():
        piece = _within(piece, most_bytes)
    end = start + len(piece)
    if end >= span.end:
        return piece, 0
    next_column = end - span.start + 1
    return f"{piece} … [cut: {span.end - end} more characters, from column {next_column}]", next_column


def _within(text: str, most_bytes: int) -> str:
    """As many characters as fit into so many bytes of UTF-8."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most_bytes:
        return text
    # A byte that begins a character says that all before it are whole.
    end = most_bytes
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def _go_on(last: int, last_wanted: int, n_lines: int, cut_at: tuple[int, int] | None) -> str:
    parts = list(_hints(last, last_wanted, n_lines, cut_at))
    return "; ".join(parts)


def _hints(last: int, last_wanted: int, n_lines: int, cut_at: tuple[int, int] | None) -> Iterator[str]:
    if last < n_lines:
        why = " (no more fits)" if last < last_wanted else ""
        yield f"lines up to {last} of {n_lines} are shown{why}; go on with offset {last + 1}"
    if cut_at is not None:
        line, column = cut_at
        yield f"line {line} is cut; its rest is at offset {line}, limit 1, column {column}"
