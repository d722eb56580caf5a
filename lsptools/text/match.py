"""Where the passage a caller quotes stands in a text. Answers are spans of the original.

Two tiers, in order; the second is asked only when the first finds nothing:

- *exact*: character by character; only `\\r\\n` and `\\n` are the same.
- *folded*: both sides are compared after NFKC, with typographic quotes, dashes and spaces as their plain forms, without
  the blanks at line ends, and, in a text that has no `\\n` at all, with `\\r` as the line end. Nothing else is folded: not
  indentation, not spaces inside a line, not empty lines, not case. A match must begin and end at whole characters of the
  original: half a ligature, or a letter without its accent, is no match.

Occurrences that overlap count, so that "exactly one" means that no other reading exists. Where it stops: a passage of
nothing but blanks and line ends has no folded matches.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

from lsptools.text.lines import Offset, Span

Tier = Literal["exact", "folded"]


class Piece(NamedTuple):
    """A line of the passage as it stands in the original."""

    start: int
    end: int
    """Where its text ends; in the folded tier blanks may follow."""
    line_end: int
    """Where its line end begins; `end` without such blanks."""
    next: int
    """Where the next line begins; for the last line of the passage, `line_end`."""


@dataclass(frozen=True, slots=True)
class Match:
    """One occurrence."""

    span: Span
    pieces: tuple[Piece, ...]
    """As many as the passage has lines."""


@dataclass(frozen=True, slots=True)
class Found:
    """The occurrences that the first tier with any has, in order."""

    tier: Tier
    matches: tuple[Match, ...]
    more: bool = False
    """Whether the search stopped at its limit."""


def find(text: str, passage: str, *, overlapping: bool = True, limit: int = 1000) -> Found:
    """The occurrences of `passage`; without `overlapping`, those that a replacement from the left would replace."""
    wanted = passage.replace("\r\n", "\n")
    if not wanted:
        return Found("exact", ())
    for tier, occurrences in (("exact", _exact), ("folded", _folded)):
        found = list(islice(_apart(occurrences(text, wanted), overlapping), limit + 1))
        if found:
            return Found("exact" if tier == "exact" else "folded", tuple(found[:limit]), len(found) > limit)
    return Found("exact", ())


def find_all(text: str, passage: str) -> Found:
    """What a replacement from the left would replace, without limit."""
    return find(text, passage, overlapping=False, limit=len(text))


def first_exact(text: str, passage: str) -> Offset | None:
    """Where the passage occurs first, character by character; `\\r\\n` and `\\n` are the same."""
    match = next(_exact(text, passage.replace("\r\n", "\n")), None) if passage else None
    return None if match is None else match.span.start


def _apart(matches: Iterator[Match], overlapping: bool) -> Iterator[Match]:
    end = 0
    for match in matches:
        if overlapping or match.span.start >= end:
            end = match.span.end
            yield match


# The exact tier

_LINE_END = r"(?:\r\n|(?<!\r)\n)"


def _exact(text: str, wanted: str) -> Iterator[Match]:
    if "\r" not in wanted and ("\r" not in text or "\n" not in wanted):
        at = text.find(wanted)
        while at >= 0:
            yield _match_from(text, at, at + len(wanted), "\n" in wanted)
            at = text.find(wanted, at + 1)
        return
    # A `\r` that is no part of a line end is a character like any other, but it must not be half of a line end.
    lines = (re.escape(line).replace("\\\r", r"\r(?!\n)") for line in wanted.split("\n"))
    pattern = re.compile(_LINE_END.join(lines))
    found = pattern.search(text)
    while found:
        yield _match_from(text, found.start(), found.end(), "\n" in wanted)
        found = pattern.search(text, found.start() + 1)


def _match_from(text: str, start: int, end: int, has_lines: bool) -> Match:
    """The match that is exactly `text[start:end]`."""
    span = Span(Offset(start), Offset(end))
    if not has_lines:
        return Match(span, (Piece(start, end, end, end),))
    return Match(span, tuple(pieces_of(text, start, end)))


def pieces_of(text: str, start: int, end: int) -> Iterator[Piece]:
    """The lines of `text[start:end]`, as the exact tier sees them: a lone `\\r` ends none."""
    at = start
    while (newline := text.find("\n", at, end)) >= 0:
        line_end = newline - 1 if newline > at and text[newline - 1] == "\r" else newline
        yield Piece(at, line_end, line_end, newline + 1)
        at = newline + 1
    yield Piece(at, end, end, end)


# The folded tier

_BLANKS = " \t"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a", " "),
        **dict.fromkeys("\u202f\u205f\u3000", " "),
    }
)


def folded(text: str) -> str:
    """The text in plain forms; its lines keep their number, ends and blanks."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_PLAIN)


def _folded(text: str, wanted: str) -> Iterator[Match]:
    *inner, last = folded(wanted).split("\n")
    inner = [line.rstrip(_BLANKS) for line in inner]
    if not (last.strip(_BLANKS) or any(line.strip(_BLANKS) for line in inner)):
        return
    body = _Folded(text)
    bare = last.rstrip(_BLANKS)
    hits = body.hits("\n".join([*inner, last]), lambda _: True)
    if bare != last:
        # Blanks at the end of the passage: those at a line end, however many, or some inside of a line.
        hits = _merged(hits, body.hits("\n".join([*inner, bare]), body.is_at_line_end))
    for start, end in hits:
        if match := body.match(start, end, with_blanks=bare != last):
            yield match


def _merged(one: Iterator[tuple[int, int]], other: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    from heapq import merge

    return merge(one, other)


class _Folded:
    """A text in folded form, and the way back. Lines of the two correspond one to one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends_at_cr = "\r" in text and "\n" not in text
        plain = text.replace("\r\n", "\n") if "\r" in text else text
        if self._ends_at_cr:
            plain = plain.replace("\r", "\n")
        # Blanks go line by line: an expression would take quadratic time for a long run of them.
        self.folded = "\n".join([line.rstrip(_BLANKS) for line in folded(plain).split("\n")])
        self._line = 0
        self._folded_start = 0
        self._start = 0

    def hits(self, wanted: str, is_wanted: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
        at = self.folded.find(wanted)
        while at >= 0:
            if is_wanted(at + len(wanted)):
                yield at, at + len(wanted)
            at = self.folded.find(wanted, at + 1)

    def is_at_line_end(self, at: int) -> bool:
        return self.folded.startswith("\n", at) or at == len(self.folded)

    def match(self, start: int, end: int, *, with_blanks: bool) -> Match | None:
        """The original of `folded[start:end]`, if it is one; the starts asked for come in order."""
        self._advance(start)
        passage = self.folded[start:end].split("\n")
        at = self._start
        column = start - self._folded_start
        pieces: list[Piece] = []
        for number, line in enumerate(passage):
            line_end, following = self._end_of_line(at)
            original = self.text[at:line_end]
            is_last = number == len(passage) - 1
            columns = _columns(original, column, column + len(line))
            if columns is None:
                return None
            first, last = at + columns[0], at + columns[1]
            if is_last:
                rest = self.text[last:line_end]
                if with_blanks and not folded(rest).strip(_BLANKS):
                    last = line_end
                pieces.append(Piece(first, last, last, last))
            else:
                pieces.append(Piece(first, last, line_end, following))
            at, column = following, 0
        first_piece = pieces[0]
        if first_piece.start == first_piece.end and not passage[0] and len(pieces) > 1:
            # The passage begins with a line end; blanks before that were not quoted.
            pieces[0] = first_piece._replace(start=first_piece.line_end, end=first_piece.line_end)
        return Match(Span(Offset(pieces[0].start), Offset(pieces[-1].end)), tuple(pieces))

    def _advance(self, at: int) -> None:
        """Go on to the line that holds `folded[at]`."""
        n_lines = self.folded.count("\n", self._folded_start, at)
        if n_lines:
            self._folded_start = self.folded.rfind("\n", self._folded_start, at) + 1
        for _ in range(n_lines):
            _, self._start = self._end_of_line(self._start)

    def _end_of_line(self, at: int) -> tuple[int, int]:
        """Where the line that begins at `at` ends, and where the next one begins."""
        end = self.text.find("\r" if self._ends_at_cr else "\n", at)
        if end < 0:
            return len(self.text), len(self.text)
        is_pair = not self._ends_at_cr and end > at and self.text[end - 1] == "\r"
        return (end - 1 if is_pair else end), end + 1


def _columns(line: str, start: int, end: int) -> tuple[int, int] | None:
    """The columns in `line` of `folded(line)[start:end]`; `None` if they would cut a character."""
    if line.isascii():
        return start, end
    first: int | None = 0 if start == 0 else None
    last: int | None = 0 if end == 0 else None
    at = column = 0
    for cluster in _clusters(line):
        at += len(cluster)
        column += len(folded(cluster))
        if column == start and first is None:
            first = at
        if column == end:
            # Of clusters that fold to nothing the first is enough.
            last = at if last is None else last
    return None if first is None or last is None else (first, last)


def _clusters(line: str) -> Iterator[str]:
    """The line in parts that NFKC treats apart: a character with what composes with it. Nothing does with a lone `\\r`."""
    start = 0
    for at in range(1, len(line)):
        if not _joins_left(line[at]) or line[at - 1] == "\r":
            yield line[start:at]
            start = at
    if line:
        yield line[start:]


@cache
def _joins_left(character: str) -> bool:
    """May NFKC make one of this character and the one before it?"""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKC", character)[0]
    return (
        unicodedata.combining(character) != 0 or unicodedata.combining(first) != 0 or first in _second_parts()
    )


@cache
def _second_parts() -> frozenset[str]:
    """The characters that are the second part of a canonical composition and no accents (Hangul, some vowel signs)."""
    hangul = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    pairs = (unicodedata.decomposition(chr(code)).split() for code in range(0xA0, 0x20000))
    seconds = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and not pair[0].startswith("<")}
    return frozenset(hangul | {second for second in seconds if not unicodedata.combining(second)})
