"""Where something stands: its line in the source, and its line and column in a message.

Units: bytes of the UTF-8 source and offsets in code points come in; lines and columns of a message count from 1, in code points.
"""

from __future__ import annotations

from lsptools.errors import Site as Place
from lsptools.languages.python.scopes import Source
from lsptools.syntax.tree import Node
from lsptools.text.lines import Lines, Offset


def place(source: Source, at: int, says: str) -> Place:
    """The place of a byte."""
    return place_at(source.path, source.document.lines, source.span(at, at).start, says)


def place_of(source: Source, node: Node, says: str) -> Place:
    """The place of a node."""
    return place(source, node.start_byte, says)


def place_at(path: str, lines: Lines | None, at: Offset, says: str) -> Place:
    """The place of an offset; the start of the file where its lines are not known."""
    if lines is None:
        return Place(path, 1, 1, says)
    here = lines.user_from_offset(at)
    return Place(path, here.line, here.column, says)


def place_in(source: Source | None, path: str, at: Offset, says: str) -> Place:
    """The same of a file that may not be read."""
    return place_at(path, source.document.lines if source is not None else None, at, says)


def line_start(source: Source, at: int) -> int:
    """The first byte of the line. Lines end at `\\r\\n`, `\\n`, `\\r`."""
    return max(source.bytes.rfind(b"\n", 0, at), source.bytes.rfind(b"\r", 0, at)) + 1


def line_end(source: Source, at: int) -> int:
    """The byte behind the last one of the line, before what ends it."""
    ends = [found for mark in (b"\n", b"\r") if (found := source.bytes.find(mark, at)) >= 0]
    return min(ends, default=len(source.bytes))


def next_line(source: Source, at: int) -> int:
    """The first byte of the line below, or the end of the file."""
    end = line_end(source, at)
    return end + len(newline_at(source, at)) if end < len(source.bytes) else end


def newline_at(source: Source, at: int) -> str:
    """What ends the line; on the last line, what ends most lines."""
    end = line_end(source, at)
    for mark in ("\r\n", "\n", "\r"):
        if source.bytes.startswith(mark.encode(), end):
            return mark
    return source.document.newline
