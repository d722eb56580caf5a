"""Edits of a list between brackets whose elements are separated by commas: parameters, arguments.

Elements that stay keep their places, their line breaks and the comments beside them; the texts in those places change. An
element that goes takes its comma, and a comment behind that comma on its line, with it. A new one stands behind the one
before it, on a line of its own where that does.

Units: code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    kept = [(element.origin, element.text) for element in new if element.origin is not None]
    if not kept:
        yield from _replaced_whole(text, brackets, new, bool(old))
        return
    slots = sorted(origin for origin, _ in kept)
    insertions: dict[Offset, str] = {}
    for slot, (origin, prefix) in zip(slots, kept, strict=True):
        if slot != origin:
            yield TextEdit(old[slot], prefix + text[old[origin].start : old[origin].end])
        elif prefix:
            insertions[old[slot].start] = prefix
    yield from _removed(text, old, slots)
    _insert(text, old, slots, new, insertions)
    yield from (TextEdit(Span(at, at), inserted) for at, inserted in insertions.items())


def _replaced_whole(text: str, brackets: Span, new: Sequence[Element], had: bool) -> Iterator[TextEdit]:
    inside = Span(Offset(brackets.start + 1), Offset(brackets.end - 1))
    replacement = ", ".join(element.text for element in new)
    has_comment = "#" in text[inside.start : inside.end]
    if not had and has_comment:
        yield TextEdit(Span(inside.start, inside.start), replacement)
    elif text[inside.start : inside.end] != replacement:
        yield TextEdit(inside, replacement)


_COMMA = re.compile(r"\s*,(?:[ \t]*#[^\r\n]*)?\s*")


def _removed(text: str, old: Sequence[Span], slots: Sequence[int]) -> Iterator[TextEdit]:
    last = slots[-1]
    for index in range(last):
        if index not in slots:
            comma = _COMMA.match(text, old[index].end)
            end = comma.end() if comma is not None else old[index + 1].start
            yield TextEdit(Span(old[index].start, Offset(end)), "")
    if last < len(old) - 1:
        yield TextEdit(Span(old[last].end, old[-1].end), "")


def _insert(
    text: str,
    old: Sequence[Span],
    slots: Sequence[int],
    new: Sequence[Element],
    insertions: dict[Offset, str],
) -> None:
    n_kept = 0
    for element in new:
        if element.origin is not None:
            n_kept += 1
        elif n_kept:
            at = old[slots[n_kept - 1]].end
            separator = "," + _break_before(text, old, slots[n_kept - 1])
            insertions[at] = insertions.get(at, "") + separator + element.text
        else:
            at = old[slots[0]].start
            separator = "," + _break_before(text, old, slots[0])
            before = insertions.pop(at, "")
            already, prefix = (before, "") if before.endswith(separator) else ("", before)
            insertions[at] = already + element.text + separator + prefix


def _break_before(text: str, old: Sequence[Span], index: int) -> str:
    """What separates an element from the one before: a blank, or a line break where each has its line."""
    start = old[index].start
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    before = text[line_start:start]
    if line_start == 0 or before.strip():
        return " "
    line_break = "\r\n" if text[:line_start].endswith("\r\n") else text[line_start - 1]
    is_alone = index == 0 or max(text.rfind("\n", 0, old[index].start), 0) > old[index - 1].end - 1
    return line_break + before if is_alone else " "
