"""From a passage that was found and the text that shall stand there to edits of the original.

The unit is the line. A line whose text is the same in old and new is not touched: its blanks, its quotes and its line end
stay as they are in the file. A line that differs is written as given; of one that was found exactly, only the part that
differs. A line that is new takes the file's line end. Whether the last line has an end is decided by the texts alone.

The invariant: edits lie inside of the match, and outside of them no byte changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsptools.text.diff import changed_runs
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.text.match import Match, Piece, Tier, pieces_of


@dataclass(frozen=True, slots=True)
class Style:
    """How a text ends its lines."""

    newline: str | None
    """What new lines take; `None` in a text without line ends, where they are as given."""

    def end(self, given: str) -> str:
        return given if self.newline is None else self.newline


class Styles:
    """How a text ends its lines, place by place; it is counted once."""

    def __init__(self, text: str) -> None:
        n_crlf = text.count("\r\n") if "\r" in text else 0
        n_lf = text.count("\n") - n_crlf
        self._text = text
        self._is_draw = n_crlf == n_lf != 0
        if n_crlf or n_lf:
            self._style = Style("\r\n" if n_crlf > n_lf else "\n")
        else:
            self._style = Style("\r" if "\r" in text else None)

    def near(self, at: int) -> Style:
        """The majority counts; in a draw, the line end after `at`. A lone `\\r` counts only where nothing else is."""
        if not self._is_draw:
            return self._style
        end = self._text.find("\n", at)
        end = end if end >= 0 else self._text.rfind("\n")
        return Style("\r\n" if self._text[end - 1 : end] == "\r" else "\n")


def style_of(text: str, near: int = 0) -> Style:
    """`Styles.near` for one place of a text."""
    return Styles(text).near(near)


def edits_for(text: str, match: Match, tier: Tier, old: str, new: str, style: Style) -> list[TextEdit]:
    """The edits that put `new` where `old` was found; none for a line that stays as it is."""
    edits = _edits(match.pieces, [line for line, _ in _lines(old)], new, style)
    return [_trimmed(text, edit) for edit in edits] if tier == "exact" else list(edits)


def edits_for_lines(text: str, pieces: Sequence[Piece], new: str, style: Style) -> list[TextEdit]:
    """The edits that put `new` in the place of these lines of the text."""
    edits = _edits(pieces, [text[piece.start : piece.end] for piece in pieces], new, style)
    return [_trimmed(text, edit) for edit in edits]


def edits_of_whole(text: str, new: str) -> Edits:
    """The edits that make the whole text `new`, where lines that stay keep their line ends."""
    return joined(edits_for_lines(text, tuple(pieces_of(text, 0, len(text))), new, style_of(text)))


def _edits(pieces: Sequence[Piece], old_lines: Sequence[str], new: str, style: Style) -> Iterator[TextEdit]:
    new_lines = _lines(new)
    for a, b, c, d in changed_runs(old_lines, [line for line, _ in new_lines]):
        yield from _Run(pieces, a, b, new_lines[c:d], new_lines[c - 1][1] if c else "\n", style).edits()


def joined(edits: Iterable[TextEdit]) -> Edits:
    """One set of edits that are disjoint and in order; those that touch become one, so that two may insert at one place."""
    result: list[TextEdit] = []
    for edit in edits:
        if result and result[-1].span.end == edit.span.start:
            before = result.pop()
            span = Span(before.span.start, edit.span.end)
            edit = TextEdit(span, before.new_text + edit.new_text)
        result.append(edit)
    return Edits(tuple(edit for edit in result if edit.new_text or edit.span.length))


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines `start` to `end` of the match that become other lines."""

    pieces: Sequence[Piece]
    start: int
    end: int
    lines: Sequence[tuple[str, str]]
    """The new lines, each with the line end that was given."""
    end_before: str
    """The line end given before the first of them."""
    style: Style

    def edits(self) -> Iterator[TextEdit]:
        n_paired = min(self.end - self.start, len(self.lines))
        for piece, (line, _) in zip(self.pieces[self.start :], self.lines[:n_paired], strict=False):
            yield _edit(piece.start, piece.line_end, line)
        after = self.start + n_paired
        if self.lines[n_paired:]:
            yield self._added(after, n_paired)
        elif after < self.end:
            yield self._removed(after)

    def _added(self, before: int, n_paired: int) -> TextEdit:
        added = self.lines[n_paired:]
        if n_paired == 0 and before < len(self.pieces):
            at = self.pieces[before].start
            return _edit(at, at, "".join(line + self.style.end(end) for line, end in added))
        at = self.pieces[before - 1].line_end
        ends = [self.lines[n_paired - 1][1] if n_paired else self.end_before, *(end for _, end in added)]
        text = "".join(self.style.end(end) + line for end, (line, _) in zip(ends, added, strict=False))
        return _edit(at, at, text)

    def _removed(self, start: int) -> TextEdit:
        if self.end < len(self.pieces):
            return _edit(self.pieces[start].start, self.pieces[self.end].start, "")
        first = self.pieces[start - 1].line_end if start else self.pieces[0].start
        return _edit(first, self.pieces[-1].next, "")


def _edit(start: int, end: int, new_text: str) -> TextEdit:
    return TextEdit(Span(Offset(start), Offset(end)), new_text)


def _lines(text: str) -> list[tuple[str, str]]:
    """The lines of a given text with the line end that follows; a lone `\\r` is a character. The last has none."""
    if "\r" not in text:
        return [(line, "\n") for line in text.split("\n")]
    lines = text.split("\n")
    return [(line[:-1], "\r\n") if line.endswith("\r") else (line, "\n") for line in lines[:-1]] + [
        (lines[-1], "\n")
    ]


def _trimmed(text: str, edit: TextEdit) -> TextEdit:
    """The edit without what both sides begin and end with."""
    start, end, new = edit.span.start, edit.span.end, edit.new_text
    n_head = n_common(text[start:end], new)
    n_tail = n_common(text[start + n_head : end][::-1], new[n_head:][::-1])
    # A `\r\n` stays whole, so that no edit begins or ends inside of one.
    if n_head and text.startswith("\r\n", start + n_head - 1):
        n_head -= 1
    if n_tail and text.startswith("\r\n", end - n_tail - 1):
        n_tail -= 1
    return _edit(start + n_head, end - n_tail, new[n_head : len(new) - n_tail])


def n_common(one: str, other: str) -> int:
    """How many characters both begin with."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most - 1
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
