"""Edits of a list whose elements are separated by commas: parameters, arguments, names of an import, items of `__all__`.

Elements that stay keep their places and their line breaks; the texts in those places change, and where each element has
its line, the comments behind them go with the texts. An element that goes takes its comma with it; if it had its lines
for itself, it takes these, the comment behind it, and the comment lines directly above that speak of no other. A new one
stands behind the one before it, on a line of its own where that does.

Where it stops: of a comment above several elements nobody knows whether it is about the first or about all of them; it stays.

Units: code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from lsptools.text.edits import TextEdit
from lsptools.text.lines import Offset, Span


@dataclass(frozen=True, slots=True)
class Element:
    """One element of the list as it is to be."""

    text: str
    """Of a new one, all of it; of one that stays, what is put before it (`name=`)."""
    origin: int | None = None
    """Which element of the old list it is; None: a new one."""


def edits_of_list(
    text: str, brackets: Span, old: Sequence[Span], new: Sequence[Element]
) -> Iterator[TextEdit]:
    """The edits that make the list between `brackets` (their span, themselves included) the new one."""
    if any(element.origin is not None for element in new):
        return _List(text, old).edits(new)
    return _replaced_whole(text, brackets, new, bool(old))


def edits_without(text: str, old: Sequence[Span], gone: Iterable[int]) -> Iterator[TextEdit]:
    """The edits that take some elements out of a list, not all of them; it needs no brackets."""
    indexes = set(gone)
    return _List(text, old).edits([Element("", index) for index in range(len(old)) if index not in indexes])


def _replaced_whole(text: str, brackets: Span, new: Sequence[Element], had: bool) -> Iterator[TextEdit]:
    inside = Span(Offset(brackets.start + 1), Offset(brackets.end - 1))
    replacement = ", ".join(element.text for element in new)
    has_comment = "#" in text[inside.start : inside.end]
    if not had and has_comment:
        yield TextEdit(Span(inside.start, inside.start), replacement)
    elif text[inside.start : inside.end] != replacement:
        yield TextEdit(inside, replacement)


class _List:
    """The elements of a list in its text, and the edits of it as they are gathered."""

    def __init__(self, text: str, old: Sequence[Span]) -> None:
        self.text = text
        self.old = old
        self.commas = [_COMMA.match(text, span.end) for span in old]
        """The comma behind each element, with what stands before it; the last one may have none."""
        self.replaced: list[TextEdit] = []
        self.insertions: dict[tuple[int, int], str] = {}
        """By place, and the order at that place: a comma, a comment, new elements."""
        self.gone: list[tuple[int, int]] = []

    def edits(self, new: Sequence[Element]) -> Iterator[TextEdit]:
        kept = [(element.origin, element.text) for element in new if element.origin is not None]
        self.slots = sorted(origin for origin, _ in kept)
        self.origins = {slot: origin for slot, (origin, _) in zip(self.slots, kept, strict=True)}
        last = self.slots[-1]
        self.loses_comma = last < len(self.old) - 1 and self.commas[-1] is None
        """Does the last that stays become the last of a list that ends without a comma?"""
        self._insert(new)
        for slot, (origin, prefix) in zip(self.slots, kept, strict=True):
            self._put(slot, origin, prefix)
        self._remove()
        yield from self.replaced
        for at, group in groupby(sorted(self.insertions), key=itemgetter(0)):
            yield _edit(at, at, "".join(self.insertions[key] for key in group))
        yield from (_edit(start, end, "") for start, end in _joined(self.gone))

    def _put_in(self, at: int, text: str, order: int = 2) -> None:
        self.insertions[at, order] = self.insertions.get((at, order), "") + text

    # ------------------------------------------------------------------ what stays

    def _put(self, slot: int, origin: int, prefix: str) -> None:
        """Put what was the element `origin` into the place of the element `slot`."""
        if slot == origin:
            if prefix:
                self._put_in(self.old[slot].start, prefix)
            return
        self.replaced.append(TextEdit(self.old[slot], prefix + self._text(self.old[origin])))
        here, there = self._comment(slot), self._comment_to_be(slot)
        if here is None or self._text(here) == there:
            return
        if here.length:
            self.replaced.append(TextEdit(here, there))
        else:
            self._put_in(here.start, there, 1)

    def _text(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def _end(self, index: int) -> int:
        """Behind the comma of an element, if it has one."""
        comma = self.commas[index]
        return comma.end() if comma is not None else self.old[index].end

    def _comment(self, index: int) -> Span | None:
        """The comment behind an element that shares its lines with no other, perhaps empty; None if it shares them."""
        start, comma = self.old[index].start, self.commas[index]
        found = _COMMENT.match(self.text, self._end(index))
        is_first = not index or self.old[index - 1].end <= start - len(self._before(start))
        is_usual = comma is None or not comma.group()[:-1].strip()
        if found is None or not is_first or not is_usual:
            return None
        return Span(Offset(found.start()), Offset(found.end()))

    def _comment_to_be(self, slot: int) -> str:
        """The comment that comes with what is put into a place, if it can leave its own; otherwise what is there."""
        here, there = self._comment(slot), self._comment(self.origins[slot])
        return "" if here is None else self._text(here if there is None else there)

    # ------------------------------------------------------------------ what is new

    def _insert(self, new: Sequence[Element]) -> None:
        groups: list[list[str]] = [[]]
        for element in new:
            if element.origin is None:
                groups[-1].append(element.text)
            else:
                groups.append([])
        if groups[0]:
            self._insert_first(groups[0])
        for slot, texts in zip(self.slots, groups[1:], strict=True):
            if texts:
                self._insert_behind(slot, texts)

    def _insert_first(self, texts: list[str]) -> None:
        start = self.old[self.slots[0]].start
        separator = self._break_before(self.slots[0])
        line = start - len(self._before(start))
        above = self._comments_above(line) if separator != " " else line
        if above == line:
            self._put_in(start, "".join(f"{each},{separator}" for each in texts))
            return
        line_end, indent = self._line_end_before(line), self._before(start)
        self._put_in(above, "".join(f"{indent}{each},{line_end}" for each in texts))

    def _insert_behind(self, slot: int, texts: list[str]) -> None:
        separator = self._break_before(slot)
        comment = self._comment(slot) if separator != " " else None
        if comment is None or not (comment.length or self._comment_to_be(slot)):
            self._put_in(self.old[slot].end, "".join(f",{separator}{each}" for each in texts))
            return
        if self.commas[slot] is None:
            self._put_in(self.old[slot].end, ",", 0)
        text = "".join(f"{separator}{each}," for each in texts)
        is_last = slot == self.slots[-1] and self.commas[-1] is None
        self._put_in(comment.end, text[:-1] if is_last else text)
        self.loses_comma = self.loses_comma and slot != self.slots[-1]

    def _break_before(self, index: int) -> str:
        """What separates an element from the one before: a blank, or a line break where each has its line."""
        start = self.old[index].start
        before = self._before(start)
        line = start - len(before)
        if index == 0 and before.strip() and len(self.old) > 1:
            return self._break_before(1)  # it stands beside the bracket, and the others below it
        if line == 0 or before.strip():
            return " "
        is_alone = index == 0 or line >= self.old[index - 1].end
        return self._line_end_before(line) + before if is_alone else " "

    # ------------------------------------------------------------------ what goes

    def _remove(self) -> None:
        gone = [
            (span.start, self._end(index)) for index, span in enumerate(self.old) if index not in self.slots
        ]
        comma = self.commas[self.slots[-1]]
        if self.loses_comma and comma is not None:
            self.gone.append((comma.end() - 1, comma.end()))
        for start, end in _joined(gone, self.text):
            self.gone.append(self._with_blanks(start, end))

    def _with_blanks(self, start: int, end: int) -> tuple[int, int]:
        """What goes with elements and their commas: lines, comments, the blanks that set them apart."""
        before, after = self._before(start), self._after(end)
        following = next((each for each in self.old if each.start >= end), None)
        line = start - len(before)
        is_last_in_line = not after.strip(_BLANKS + "\\") or after.lstrip().startswith("#")
        if not before.strip() and is_last_in_line and line:
            return self._lines(line, end + len(after), following)
        if is_last_in_line:
            if following is None or any(line <= self.old[slot].start < start for slot in self.slots):
                return start - _n_blanks_behind(before), end
            comment = _COMMENT.match(self.text, end)
            behind = comment.end() if comment is not None else end
            is_near = not self.text[behind : following.start].strip(_BLANKS + "\\\r\n")
            return start, following.start if is_near else behind
        n_blanks = len(after) - len(after.lstrip(_BLANKS))
        if following is not None and following.start == end + n_blanks:
            return start, end + n_blanks
        if before.strip():
            return start - _n_blanks_behind(before), end
        behind_last = self._end(self.slots[-1])
        is_far = "#" in self.text[behind_last:start]
        return (start if is_far else behind_last), end

    def _lines(self, line: int, line_end: int, following: Span | None) -> tuple[int, int]:
        """Whole lines, from the start of the first to the end of the last, with what belongs to them."""
        above = self.text[:line].rstrip("\r\n")
        if above.endswith("\\") and not self.text[line:line_end].endswith("\\"):
            return len(above[:-1].rstrip(_BLANKS)), line_end
        match = _LINE_END.match(self.text, line_end)
        end = match.end() if match is not None else line_end
        is_of_others = following is not None and not self.text[end : following.start].strip(_BLANKS)
        return (line if is_of_others else self._comments_above(line)), end

    # ------------------------------------------------------------------ lines

    def _before(self, at: int) -> str:
        """What stands before a place in its line."""
        return self.text[max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1 : at]

    def _after(self, at: int) -> str:
        """What stands behind a place in its line."""
        found = _TO_LINE_END.match(self.text, at)
        return found.group() if found is not None else ""

    def _line_end_before(self, line: int) -> str:
        return "\r\n" if self.text[:line].endswith("\r\n") else self.text[line - 1]

    def _comments_above(self, line: int) -> int:
        """The start of the comment lines directly above a line."""
        while line:
            above = line - len(self._line_end_before(line))
            before = self._before(above)
            if not before.lstrip().startswith("#"):
                break
            line = above - len(before)
        return line


def _edit(start: int, end: int, text: str) -> TextEdit:
    return TextEdit(Span(Offset(start), Offset(end)), text)


def _joined(spans: Iterable[tuple[int, int]], text: str = "") -> Iterator[tuple[int, int]]:
    """Spans that overlap or touch as one; those with only blanks of `text` between them, too."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if (
            found
            and not text[found[-1][1] : start].strip(_BLANKS + "\\\r\n")
            and (text or start <= found[-1][1])
        ):
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    yield from found


def _n_blanks_behind(text: str) -> int:
    return len(text) - len(text.rstrip(_BLANKS))


_BLANKS = " \t\f"
_COMMA = re.compile(r"(?:[\s\\]|#[^\r\n]*[\r\n])*,")
_COMMENT = re.compile(r"(?:[ \t\f]*#[^\r\n]*)?(?=[ \t\f]*(?:[\r\n]|\Z))")
_LINE_END = re.compile(r"\r\n|\n|\r")
_TO_LINE_END = re.compile(r"[^\r\n]*")
