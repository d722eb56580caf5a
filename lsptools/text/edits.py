"""Edits of one text: a sorted, disjoint set that is applied at once.

All spans speak of the text before any of the edits. Two edits may touch; two insertions at one place may not be in
one set, for nothing says which comes first. The invariants: `edits.inverse(text)` takes back what `edits.apply(text)`
did, `edits.compose(later, text)` is one step that does what the two do, and what `carry` answers has the same characters
around it as before, as far as they are still there.

Where it stops: an edit knows nothing of what it replaces. That the text is the one the edits were made for is for the
owner of the text to check (by digest).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from operator import attrgetter
from typing import Literal

from lsptools.errors import BadRequest, bug
from lsptools.text.lines import Offset, Span

Bias = Literal["left", "right"]
"""On which side of text inserted exactly there an offset stays."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What is in `span` becomes `new_text`; an empty span is an insertion, an empty text a deletion."""

    span: Span
    new_text: str

    @property
    def shift(self) -> int:
        """By how much the text grows, in code points."""
        return len(self.new_text) - self.span.length


@dataclass(frozen=True, slots=True)
class Edits:
    """Edits of one text, sorted by span and disjoint."""

    edits: tuple[TextEdit, ...] = ()

    _shifts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """By how much the text has grown before each edit, and in the end after all."""

    def __post_init__(self) -> None:
        for edit, following in zip(self.edits, self.edits[1:], strict=False):
            _check_order(edit.span, following.span)
        object.__setattr__(self, "_shifts", tuple(accumulate((edit.shift for edit in self.edits), initial=0)))

    @classmethod
    def of(cls, edits: Iterable[TextEdit]) -> Edits:
        """The set of these edits, in any order; those that put nothing in place of nothing are left out."""
        telling = (edit for edit in edits if edit.new_text or edit.span.length)
        return cls(tuple(sorted(telling, key=attrgetter("span"))))

    def __len__(self) -> int:
        return len(self.edits)

    def __iter__(self) -> Iterator[TextEdit]:
        return iter(self.edits)

    def apply(self, text: str) -> str:
        """The text after the edits."""
        self._check_reach(len(text))
        pieces: list[str] = []
        at = 0
        for edit in self.edits:
            pieces += text[at : edit.span.start], edit.new_text
            at = edit.span.end
        return "".join([*pieces, text[at:]])

    def apply_to_ascii(self, data: bytes) -> bytes:
        """The same for a text that is plain ASCII, as bytes, and so are the new texts."""
        self._check_reach(len(data))
        view = memoryview(data)
        pieces: list[bytes | memoryview] = []
        at = 0
        for edit in self.edits:
            pieces += view[at : edit.span.start], edit.new_text.encode("ascii")
            at = edit.span.end
        return b"".join([*pieces, view[at:]])

    def inverse(self, text: str) -> Edits:
        """The edits that lead from `self.apply(text)` back to `text`."""
        self._check_reach(len(text))
        back: list[TextEdit] = []
        for edit, after in zip(self.edits, self._spans_after(), strict=True):
            replaced = text[edit.span.start : edit.span.end]
            # Deletions that touch come back at one place, and so as one insertion.
            if back and not after.length and back[-1].span == after:
                back[-1] = TextEdit(after, back[-1].new_text + replaced)
            else:
                back.append(TextEdit(after, replaced))
        return Edits(tuple(back))

    def carry(self, offset: Offset, *, bias: Bias = "left") -> Offset | None:
        """Where a place is after the edits; None if it was strictly inside of text that is replaced.

        The start of replaced text stays before the replacement, its end after it. Only text inserted exactly at
        `offset` leaves a choice: with `left` the place stays before the insertion, with `right` it moves behind.
        """
        # Edits that end before `offset` count whole. At most three touch it: one that ends there, an insertion, one that
        # starts there.
        n_before = bisect_left(self.edits, offset, key=attrgetter("span.end"))
        for edit in self.edits[n_before : n_before + 3]:
            span = edit.span
            if span.start < offset < span.end:
                return None
            ends_before = span.start < offset or (span.end == offset and bias == "right")
            if span.end > offset or not ends_before:
                break
            n_before += 1
        return Offset(offset + self._shifts[n_before])

    def carry_span(self, span: Span) -> Span | None:
        """Where a passage is after the edits; it grows and shrinks with edits inside of it, not with insertions at its ends.

        A passage that is replaced exactly becomes the replacement. None if an edit reaches over one of its ends, and if
        nothing is left of it.
        """
        if not span.length:
            at = self.carry(span.start)
            return None if at is None else Span(at, at)
        start, end = self.carry(span.start, bias="right"), self.carry(span.end, bias="left")
        return Span(start, end) if start is not None and end is not None and start < end else None

    def compose(self, later: Edits, text: str) -> Edits:
        """The edits that do to `text` at once what `self` and then `later` do.

        Edits of the two that touch become one, and what changes nothing in the end is left out.
        """
        between = self.apply(text)
        later._check_reach(len(between))
        earlier_spans, later_spans = self._spans_after(), [edit.span for edit in later]
        composed: list[TextEdit] = []
        n_earlier = n_later = 0
        for group in _touching(sorted([*earlier_spans, *later_spans])):
            # A group of touching edits covers the earlier and the later ones inside of it whole.
            start = group.start - self._shifts[n_earlier]
            n_earlier = _advance(earlier_spans, n_earlier, group.end)
            end = group.end - self._shifts[n_earlier]
            first_later, n_later = n_later, _advance(later_spans, n_later, group.end)
            inside = Edits(
                tuple(_moved(edit, -group.start) for edit in later.edits[first_later:n_later])
            ).apply(between[group.start : group.end])
            if inside != text[start:end]:
                composed.append(TextEdit(Span(Offset(start), Offset(end)), inside))
        return Edits(tuple(composed))

    def _spans_after(self) -> list[Span]:
        """Where each edit's new text is after the edits."""
        starts = [edit.span.start + shift for edit, shift in zip(self.edits, self._shifts, strict=False)]
        return [
            Span(Offset(start), Offset(start + len(edit.new_text)))
            for edit, start in zip(self.edits, starts, strict=True)
        ]

    def _check_reach(self, length: int) -> None:
        if self.edits and self.edits[-1].span.end > length:
            raise BadRequest(
                "invalid",
                f"an edit reaches to {self.edits[-1].span.end}, past the end of a text of {length} code points",
                hint="read the text again and make the edits for it",
            )


def _check_order(span: Span, following: Span) -> None:
    if span > following:
        bug(f"edits out of order, {span} before {following}; Edits.of sorts them")
    if span == following and not span.length:
        raise BadRequest(
            "overlap",
            f"two insertions at offset {span.start}, and nothing says which comes first",
            hint="send them as one insertion",
        )
    if following.start < span.end:
        raise BadRequest(
            "overlap",
            f"two edits change the text from offset {following.start} to {min(span.end, following.end)}",
            hint="send one edit for the whole passage",
        )


def _touching(spans: Iterable[Span]) -> Iterator[Span]:
    """The unions of spans that overlap or touch; the spans come sorted."""
    union: Span | None = None
    for span in spans:
        if union is not None and span.start <= union.end:
            union = Span(union.start, max(union.end, span.end))
            continue
        if union is not None:
            yield union
        union = span
    if union is not None:
        yield union


def _advance(spans: list[Span], index: int, end: int) -> int:
    """The first index from `index` on of a span that reaches past `end`."""
    while index < len(spans) and spans[index].end <= end:
        index += 1
    return index


def _moved(edit: TextEdit, by: int) -> TextEdit:
    span = Span(Offset(edit.span.start + by), Offset(edit.span.end + by))
    return TextEdit(span, edit.new_text)
