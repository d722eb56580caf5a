"""Positions in a text, and every conversion between their units.

Inside, a position is an `Offset`: code points of the decoded text, without its byte order mark. Bytes (tree-sitter,
ripgrep), LSP's line and character, and the 1-based line and column of people each have their own type, and `Lines`
is the only place that turns one into another. Methods are named `<to>_from_<from>`.

Lines end at `\\r\\n`, `\\n`, `\\r` and nowhere else; a text that ends with a line end has an empty last line. The
place between `\\r` and `\\n` is an `Offset` like any other, yet it has no line and column of its own: it is told as
the end of its line. Every other offset comes back from every unit unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate, count
from operator import add
from typing import NewType

from lsptools.errors import BadRequest, bug

Offset = NewType("Offset", int)
"""Code points of the decoded text, which has no byte order mark."""

ByteOffset = NewType("ByteOffset", int)
"""Bytes of the text as `utf8_from_text` says it, without byte order mark."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, `0 <= start <= end`."""

    start: Offset
    end: Offset

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            bug(f"a span cannot reach from {self.start} to {self.end}")

    @property
    def length(self) -> int:
        """In code points."""
        return self.end - self.start

    def contains(self, offset: Offset) -> bool:
        """Is the character at `offset` one of ours? The end is outside."""
        return self.start <= offset < self.end

    def overlaps(self, span: Span) -> bool:
        """Is there a common character? An empty span overlaps what it lies strictly inside of."""
        return self.start < span.end and span.start < self.end


@dataclass(frozen=True, slots=True, order=True)
class UserPos:
    """Line and column as people count: both from 1, the column in code points."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class LspPos:
    """Line and character as LSP counts: both from 0, the character in units of the negotiated `PositionEncoding`."""

    line: int
    character: int


class PositionEncoding(str, Enum):
    """What LSP's `character` counts: UTF-8 bytes, UTF-16 units, code points."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class Lines:
    """Every conversion between position units; built once per document, its tables when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line starts."""
        if "\r" in self.text:
            return [0, *(found.end() for found in _LINE_END.finditer(self.text))]
        # Each line is longer by its end than what `split` leaves; no Python code runs per line.
        ends = accumulate(map(len, self.text.split("\n")), initial=0)
        return list(map(add, ends, count()))[:-1]

    @property
    def n_lines(self) -> int:
        """At least one."""
        return len(self.starts)

    def line_of(self, at: Offset) -> int:
        """The line that holds `at`, from 0. A line end belongs to the line it ends."""
        self._check(at)
        return bisect_right(self.starts, at) - 1

    def line_span(self, line: int) -> Span:
        """Line `line` (from 0) without its line end."""
        if not 0 <= line < self.n_lines:
            bug(f"line {line} of {self.n_lines}")
        return Span(Offset(self.starts[line]), Offset(self._line_end(line)))

    def line_text(self, line: int) -> str:
        """Line `line` (from 0) without its line end."""
        span = self.line_span(line)
        return self.text[span.start : span.end]

    # Line and column, as people count

    def user_from_offset(self, at: Offset) -> UserPos:
        line, start, place = self._line_start_place(at)
        return UserPos(line + 1, place - start + 1)

    def offset_from_user(self, pos: UserPos) -> Offset:
        """The place `pos` means; a column past the end of the line means the end of the line."""
        if pos.line < 1 or pos.column < 1:
            raise BadRequest(
                "invalid",
                f"{pos} is no position: lines and columns count from 1",
                hint="send line and column from 1",
            )
        if pos.line > self.n_lines:
            raise BadRequest(
                "invalid",
                f"line {pos.line} is past the last line, which is line {self.n_lines}",
                hint=f"send a line from 1 to {self.n_lines}",
            )
        line = pos.line - 1
        return Offset(min(self.starts[line] + pos.column - 1, self._line_end(line)))

    # Line and character, as LSP counts

    def lsp_from_offset(self, at: Offset, encoding: PositionEncoding = PositionEncoding.UTF16) -> LspPos:
        line, start, place = self._line_start_place(at)
        table = self._table(encoding)
        if table is None:
            return LspPos(line, place - start)
        return LspPos(line, table.units_from_offset(place) - table.units_from_offset(start))

    def offset_from_lsp(self, pos: LspPos, encoding: PositionEncoding = PositionEncoding.UTF16) -> Offset:
        """The place `pos` means, in the manner of LSP.

        Past the end of the line means its end, past the last line means the end of the text, and inside a character
        (a surrogate pair, a UTF-8 sequence) means its start.
        """
        if pos.line < 0 or pos.character < 0:
            raise BadRequest(
                "invalid",
                f"line {pos.line}, character {pos.character} is no position: both count from 0",
                hint="send line and character from 0",
            )
        if pos.line >= self.n_lines:
            return Offset(len(self.text))
        start, end = self.starts[pos.line], self._line_end(pos.line)
        table = self._table(encoding)
        if table is None:
            return Offset(min(start + pos.character, end))
        return Offset(min(table.offset_from_units(table.units_from_offset(start) + pos.character), end))

    # Bytes

    def byte_from_offset(self, at: Offset) -> ByteOffset:
        self._check(at)
        table = self._utf8_table
        return ByteOffset(at if table is None else table.units_from_offset(at))

    def offset_from_byte(self, at: ByteOffset) -> Offset:
        """The place of byte `at`; a byte inside a character means the start of the character."""
        table = self._utf8_table
        n_bytes = len(self.text) if table is None else table.n_units
        if not 0 <= at <= n_bytes:
            bug(f"byte {at} is outside of a text of {n_bytes} bytes")
        return Offset(at if table is None else table.offset_from_units(at))

    # Inside

    def _check(self, at: int) -> None:
        if not 0 <= at <= len(self.text):
            bug(f"offset {at} is outside of a text of {len(self.text)} code points")

    def _line_end(self, line: int) -> int:
        """The offset of the line's end characters; for the last line, of the end of the text."""
        if line + 1 == len(self.starts):
            return len(self.text)
        next_start = self.starts[line + 1]
        return next_start - (2 if self.text.endswith("\r\n", 0, next_start) else 1)

    def _line_start_place(self, at: int) -> tuple[int, int, int]:
        """The line of `at`, where that line starts, and `at` itself, moved to the line's end from inside a `\\r\\n`."""
        self._check(at)
        line = bisect_right(self.starts, at) - 1
        inside_line_end = at > 0 and self.text.startswith("\r\n", at - 1)
        return line, self.starts[line], at - 1 if inside_line_end else at

    def _table(self, encoding: PositionEncoding) -> _Table | None:
        if encoding is PositionEncoding.UTF16:
            return self._utf16_table
        return self._utf8_table if encoding is PositionEncoding.UTF8 else None

    @cached_property
    def _utf8_table(self) -> _Table | None:
        return None if self.text.isascii() else _Table(self.text, n_utf8_bytes)

    @cached_property
    def _utf16_table(self) -> _Table | None:
        has_pairs = not self.text.isascii() and _ASTRAL.search(self.text)
        return _Table(self.text, n_utf16_units) if has_pairs else None


def utf8_from_text(text: str) -> bytes:
    """The text as UTF-8, for programs that want bytes. Never fails, and each character keeps to its own bytes.

    A lone surrogate that stands for a stray byte (`surrogateescape`) becomes that byte. Any other lone surrogate cannot
    come out of a file; an editor may send one, and it is shown as U+FFFD.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NOT_A_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def n_utf8_bytes(text: str) -> int:
    """How long `utf8_from_text(text)` is."""
    return len(text) if text.isascii() else len(utf8_from_text(text))


def n_utf16_units(text: str) -> int:
    """How many UTF-16 units the text has; a lone surrogate is one."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_lines(text: str) -> list[str]:
    """The lines of the text with their line ends; joined they are the text. No empty last line."""
    return _LINE.findall(text)


_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_BLOCK = 256


class _Table:
    """Units of some encoding against code points, for any place in a text, in logarithmic time.

    Kept is the number of units before each block of `_BLOCK` code points; the rest is counted within the block. So the
    table is small and quickly built, and a file of one very long line costs no more than any other. The encoding
    has to give every character the same units wherever it stands.
    """

    def __init__(self, text: str, n_units_of: Callable[[str], int]) -> None:
        self._text = text
        self._n_units_of = n_units_of
        blocks = (text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK))
        self._before = list(accumulate(map(n_units_of, blocks), initial=0))

    @property
    def n_units(self) -> int:
        return self._before[-1]

    def units_from_offset(self, at: int) -> int:
        block = at // _BLOCK
        return self._before[block] + self._n_units_of(self._text[block * _BLOCK : at])

    def offset_from_units(self, n_units: int) -> int:
        """The last offset with at most `n_units` before it."""
        block = bisect_right(self._before, n_units) - 1
        if block == len(self._before) - 1:
            return len(self._text)
        start, wanted = block * _BLOCK, n_units - self._before[block]
        characters = self._text[start : start + _BLOCK]
        if self._before[block + 1] - self._before[block] == len(characters):
            return start + wanted
        first_too_far = bisect_left(
            range(len(characters) + 1), wanted + 1, key=lambda length: self._n_units_of(characters[:length])
        )
        return start + first_too_far - 1
