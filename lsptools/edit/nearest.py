"""The passage of a text that comes closest to one that is not there: for a message, never for an edit.

Cheap on purpose. Lines that the passage and the text share vote for where it would begin; the best-voted windows are
compared by rapidfuzz. Without a shared line, the line of the text most like the longest line of the passage decides. Very
long lines are cut into pieces that count as lines. The work is bounded, whatever the text is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsptools.text.lines import Offset, Span

MOST_WINDOWS = 12
MOST_VOTES = 2_000
_LONGEST_LINE = 2_000
_LONGEST_COMPARED = 20_000
_LEAST_SCORE = 50.0
_LINE = re.compile(r"[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Nearest:
    """A window of whole lines (or pieces of very long ones)."""

    span: Span
    score: float
    """0 to 100."""


def nearest(text: str, passage: str) -> Nearest | None:
    """The closest window of as many lines as the passage has; `None` if nothing is alike."""
    wanted = passage.replace("\r\n", "\n").split("\n")
    while wanted and not wanted[-1].strip():
        wanted.pop()
    while wanted and not wanted[0].strip():
        wanted.pop(0)
    if not wanted:
        return None
    pieces = list(_pieces(text, max(map(len, wanted))))
    starts = _voted(text, pieces, wanted) or _like_the_longest(text, pieces, wanted)
    return _best(text, pieces, starts, wanted)


def _pieces(text: str, width: int) -> Iterator[tuple[int, int]]:
    """The lines, without their ends; a very long one in pieces twice as wide as the passage."""
    step = max(width, 40)
    at = 0
    for line in _ends(text):
        if line - at <= max(_LONGEST_LINE, 4 * step):
            yield at, line
        else:
            yield from ((start, min(start + 2 * step, line)) for start in range(at, line, step))
        at = line + (2 if text.startswith("\r\n", line) else 1)


def _ends(text: str) -> Iterator[int]:
    if "\r" in text:
        at = 0
        while at <= len(text):
            found = _LINE.match(text, at)
            end = found.end() if found else at
            yield end
            at = end + (2 if text.startswith("\r\n", end) else 1)
        return
    at = -1
    while (at := text.find("\n", at + 1)) >= 0:
        yield at
    yield len(text)


def _voted(text: str, pieces: Sequence[tuple[int, int]], wanted: Sequence[str]) -> list[int]:
    """Where the passage would begin, most votes first, by lines that are the same but for blanks around them."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(wanted):
        if len(line.strip()) > 2:
            places.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    n_votes = 0
    for index, (start, end) in enumerate(pieces):
        for number in places.get(text[start:end].strip(), ()):
            votes[max(index - number, 0)] += 1
            n_votes += 1
        if n_votes > MOST_VOTES:
            break
    return [start for start, _ in votes.most_common(MOST_WINDOWS)]


def _like_the_longest(text: str, pieces: Sequence[tuple[int, int]], wanted: Sequence[str]) -> list[int]:
    from rapidfuzz import fuzz, process

    longest = max(range(len(wanted)), key=lambda number: len(wanted[number].strip()))
    line = wanted[longest].strip()[:_LONGEST_LINE]
    # Only lines of about this length can be much alike, and there are far fewer of them.
    least, most = len(line) // 2, 2 * len(line) + 80
    candidates = {
        index: text[start:end].strip()
        for index, (start, end) in enumerate(pieces)
        if least <= end - start <= most
    }
    scored = process.extract(
        line, candidates, scorer=fuzz.ratio, score_cutoff=_LEAST_SCORE, limit=MOST_WINDOWS
    )
    return [max(index - longest, 0) for _, _, index in scored]


def _best(
    text: str, pieces: Sequence[tuple[int, int]], starts: Sequence[int], wanted: Sequence[str]
) -> Nearest | None:
    from rapidfuzz import fuzz

    passage = "\n".join(wanted)[:_LONGEST_COMPARED]
    best: Nearest | None = None
    for first in starts:
        last = min(first + len(wanted), len(pieces)) - 1
        start, end = pieces[first][0], pieces[last][1]
        window = text[start : min(end, start + _LONGEST_COMPARED)]
        score = fuzz.ratio(passage, window)
        if len(wanted) == 1 and len(window) > len(passage):
            # A piece of a long line is wider than the passage: where in it?
            inner = fuzz.partial_ratio_alignment(passage, window)
            if inner is not None and inner.score > score:
                start, end, score = start + inner.dest_start, start + inner.dest_end, inner.score
        if score >= _LEAST_SCORE and (best is None or score > best.score):
            best = Nearest(Span(Offset(start), Offset(end)), score)
    return best
