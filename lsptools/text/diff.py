"""Differences of two texts: a unified diff for people and for `git apply`, and a small set of edits.

The invariants: `edits_between(old, new).apply(old) == new`, and the unified diff applied to `old` gives `new`.

Small, not smallest: lines that occur once in both texts are taken for the same line (patience), what is between them is
compared by Myers' algorithm, and what two changed passages have in common is looked for again by words. All of it has
a budget of steps, good for about half a second; what it does not suffice for is replaced whole. So the time grows with
the size of the texts, whatever is in them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span, split_lines


def unified_diff(old: str, new: str, *, old_path: str, new_path: str, context: int = 3) -> str:
    """What changed, as `git diff` says it and `git apply` and `patch` take it; empty when nothing did.

    `/dev/null` is the path of a file that is not there: before its creation, after its deletion. The lines of a diff end
    at `\\n` only, for the programs that read diffs know no other end: a line that a lone `\\r` ends is shown together with
    the one that follows it.
    """
    old_lines, new_lines = _DIFF_LINE.findall(old), _DIFF_LINE.findall(new)
    parts: list[str] = []
    for hunk in _hunks(_changes(old_lines, new_lines, _Budget()), context):
        parts += _hunk_text(hunk, old_lines, new_lines, context)
    if not parts:
        return ""
    return "".join([f"--- {_header_path(old_path, 'a')}\n", f"+++ {_header_path(new_path, 'b')}\n", *parts])


def edits_between(old: str, new: str) -> Edits:
    """A small set of edits of whole words that lead from `old` to `new`; none starts or ends inside of a `\\r\\n`."""
    budget = _Budget()
    changes: Iterable[_Change] = [_Change(0, len(old), 0, len(new))]
    for split in (split_lines, _words):
        trimmed = (_trimmed(old, new, change) for change in changes)
        changes = [finer for change in trimmed for finer in _refined(old, new, change, split, budget)]
    return Edits.of(
        TextEdit(
            Span(Offset(change.old_start), Offset(change.old_end)), new[change.new_start : change.new_end]
        )
        for change in changes
    )


def changed_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """What differs between two sequences of lines: `old[a:b]` became `new[c:d]`, in order, as `(a, b, c, d)`."""
    return [(a, b, c, d) for a, b, c, d in _changes(old, new, _Budget())]


class _Change(NamedTuple):
    """A passage of the old and what stands for it in the new; in lines, words or code points."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(slots=True)
class _Budget:
    """Steps that the comparisons of one call may still take together."""

    left: int = 1_000_000


# From texts to changes of code points

_DIFF_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\w+|\r\n|\W")
_WORD_ACROSS = re.compile(r"\w\w|\r\n")
_MOST_FOR_WORDS = 500_000
_MOST_BACK = 256


def _words(text: str) -> list[str]:
    """Words, line ends, and every other character alone. A very long text is one word."""
    return _WORD.findall(text) if len(text) <= _MOST_FOR_WORDS else [text]


def _refined(
    old: str, new: str, change: _Change, split: Callable[[str], list[str]], budget: _Budget
) -> Iterator[_Change]:
    """The changes inside of `change` when its two sides are compared piece by piece."""
    old_pieces = split(old[change.old_start : change.old_end])
    new_pieces = split(new[change.new_start : change.new_end])
    old_at = list(accumulate(map(len, old_pieces), initial=change.old_start))
    new_at = list(accumulate(map(len, new_pieces), initial=change.new_start))
    for finer in _changes(old_pieces, new_pieces, budget):
        yield _Change(
            old_at[finer.old_start],
            old_at[finer.old_end],
            new_at[finer.new_start],
            new_at[finer.new_end],
        )


def _trimmed(old: str, new: str, change: _Change) -> _Change:
    """The change without what both sides start and end with; a word (if not too long) or a `\\r\\n` is not cut."""
    old_start, old_end, new_start, new_end = change
    most = min(old_end - old_start, new_end - new_start)
    n_same = _n_same(
        most, lambda a, b: old[old_start + a : old_start + b] == new[new_start + a : new_start + b]
    )
    n_head = n_same
    while 0 < n_head > n_same - _MOST_BACK and (
        _is_cut(old, old_start + n_head) or _is_cut(new, new_start + n_head)
    ):
        n_head -= 1
    most -= n_head
    n_same = _n_same(most, lambda a, b: old[old_end - b : old_end - a] == new[new_end - b : new_end - a])
    n_tail = n_same
    while 0 < n_tail > n_same - _MOST_BACK and (
        _is_cut(old, old_end - n_tail) or _is_cut(new, new_end - n_tail)
    ):
        n_tail -= 1
    return _Change(old_start + n_head, old_end - n_tail, new_start + n_head, new_end - n_tail)


def _n_same(most: int, is_same: Callable[[int, int], bool]) -> int:
    """The length of the common part, up to `most`, by halving: `is_same(a, b)` compares a slice of both at C speed."""
    if is_same(0, most):
        return most
    low, high = 0, most - 1
    while low < high:
        middle = (low + high + 1) // 2
        if is_same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _is_cut(text: str, at: int) -> bool:
    """Would a border at `at` be inside of a word or a `\\r\\n`?"""
    return at > 0 and _WORD_ACROSS.match(text, at - 1) is not None


# From sequences to changes


def _changes(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[_Change]:
    """What differs, in order; no two of them touch on both sides."""
    old_at = new_at = 0
    for i, j in chain(_pairs(old, new, budget), [(len(old), len(new))]):
        if i > old_at or j > new_at:
            yield _Change(old_at, i, new_at, j)
        old_at, new_at = i + 1, j + 1


def _pairs(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[tuple[int, int]]:
    """The places of elements taken for the same, in order: common head, patience and Myers between, common tail."""
    most = min(len(old), len(new))
    n_head = next((n for n in range(most) if old[n] != new[n]), most)
    n_tail = next((n for n in range(most - n_head) if old[-1 - n] != new[-1 - n]), most - n_head)
    old_end, new_end = len(old) - n_tail, len(new) - n_tail
    yield from ((n, n) for n in range(n_head))
    i = j = n_head
    anchors = _anchors(old[n_head:old_end], new[n_head:new_end]) if n_head < min(old_end, new_end) else []
    for anchor_i, anchor_j in chain(((n_head + a, n_head + b) for a, b in anchors), [(old_end, new_end)]):
        if i < anchor_i and j < anchor_j:
            between = _shortest(old[i:anchor_i], new[j:anchor_j], budget)
            yield from ((i + a, j + b) for a, b in between)
        if anchor_i < old_end:
            yield anchor_i, anchor_j
        i, j = anchor_i + 1, anchor_j + 1
    yield from ((old_end + n, new_end + n) for n in range(n_tail))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of elements that occur once on both sides: the most of them that are in the same order."""
    n_old, n_new = Counter(old), Counter(new)
    place_in_new = {element: j for j, element in enumerate(new) if n_new[element] == 1}
    once = [(i, place_in_new[e]) for i, e in enumerate(old) if n_old[e] == 1 and e in place_in_new]
    # The longest increasing subsequence: for each length the smallest last place in `new`, and each pair's predecessor.
    last_places: list[int] = []
    last_pairs: list[_Chain] = []
    for i, j in once:
        length = bisect_left(last_places, j)
        link = _Chain(i, j, 1, last_pairs[length - 1] if length else None)
        last_places[length : length + 1] = [j]
        last_pairs[length : length + 1] = [link]
    return _unrolled(last_pairs[-1] if last_pairs else None)


def _shortest(old: Sequence[str], new: Sequence[str], budget: _Budget) -> list[tuple[int, int]]:
    """A longest common subsequence, or nothing when that would take more than half of the budget."""
    common = set(old).intersection(new)
    if not common:
        return []
    kept_old = [i for i, element in enumerate(old) if element in common]
    kept_new = [j for j, element in enumerate(new) if element in common]
    pairs = _myers([old[i] for i in kept_old], [new[j] for j in kept_new], budget)
    return [(kept_old[a], kept_new[b]) for a, b in pairs]


def _myers(old: Sequence[str], new: Sequence[str], budget: _Budget) -> list[tuple[int, int]]:
    """Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy one.

    On each diagonal `k = i - j` it keeps how far a path of `n_edits` reaches, and, in place of all earlier states for
    the way back, the chain of common runs on that path.
    """
    allowance = budget.left // 2
    reach: dict[int, int] = {1: 0}
    runs: dict[int, _Chain | None] = {1: None}
    for n_edits in range(len(old) + len(new) + 1):
        lowest = 2 * max(0, n_edits - len(new)) - n_edits
        highest = n_edits - 2 * max(0, n_edits - len(old))
        for k in range(lowest, highest + 1, 2):
            is_down = reach.get(k - 1, -1) < reach.get(k + 1, -1)
            start = reach[k + 1] if is_down else reach[k - 1] + 1
            run = runs[k + 1] if is_down else runs[k - 1]
            i = start
            while i < len(old) and i - k < len(new) and old[i] == new[i - k]:
                i += 1
            reach[k] = i
            runs[k] = run = _Chain(start, start - k, i - start, run) if i > start else run
            if i >= len(old) and i - k >= len(new):
                return _unrolled(run)
            budget.left -= 1 + i - start
            allowance -= 1 + i - start
        if allowance < 0:
            return []
    return []


class _Chain(NamedTuple):
    """A run of common elements and the chain of those before it."""

    old_start: int
    new_start: int
    length: int
    before: _Chain | None


def _unrolled(chain: _Chain | None) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    while chain is not None:
        pairs += ((chain.old_start + n, chain.new_start + n) for n in reversed(range(chain.length)))
        chain = chain.before
    pairs.reverse()
    return pairs


# From changes of lines to a diff


def _hunks(changes: Iterable[_Change], context: int) -> Iterator[list[_Change]]:
    """Changes whose context would overlap or touch go together."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.old_start - hunk[-1].old_end > 2 * context:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk_text(hunk: list[_Change], old: Sequence[str], new: Sequence[str], context: int) -> Iterator[str]:
    n_before = min(context, hunk[0].old_start)
    n_after = min(context, len(old) - hunk[-1].old_end)
    old_start, old_end = hunk[0].old_start - n_before, hunk[-1].old_end + n_after
    new_start, new_end = hunk[0].new_start - n_before, hunk[-1].new_end + n_after
    yield f"@@ -{_line_range(old_start, old_end)} +{_line_range(new_start, new_end)} @@\n"
    at = old_start
    for change in hunk:
        yield from _marked(" ", old[at : change.old_start])
        yield from _marked("-", old[change.old_start : change.old_end])
        yield from _marked("+", new[change.new_start : change.new_end])
        at = change.old_end
    yield from _marked(" ", old[at:old_end])


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _line_range(start: int, end: int) -> str:
    """First line and how many; no lines at all stand after the line named."""
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


def _header_path(path: str, side: str) -> str:
    """The path as git writes it: quoted if it has to be, and with a tab behind it if there are blanks in it."""
    if path == "/dev/null":
        return path
    name = f"{side}/{path}"
    if _TO_QUOTE.search(name):
        return (
            '"' + _TO_QUOTE.sub(lambda found: _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}", name) + '"'
        )
    return f"{name}\t" if " " in name else name


_TO_QUOTE = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\v": r"\v",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "\\": r"\\",
}
