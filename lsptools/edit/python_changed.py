"""Can a Python file that is edited still be parsed? Answered from the statements around the edits, where that is enough.

A file that parses is a sequence of statements at the top. Cut at the beginning of two of them, it is three sequences, and putting
another one that parses between the outer two gives a file that parses: what is before ends with a whole statement, and what
follows begins one at the start of a line. So for a file known to parse only the statements that the edits touch, and the one
before them (an indented line would become part of it), have to be parsed again. If they do not parse by themselves, or
anything is odd, the whole file is the judge.

Known files are kept by digest, with the places at which their statements begin; that is what makes a small edit of a large file cheap.
Places are offsets and not lines, so that an edit needs no table of all lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from threading import Lock

from lsptools.edit.python_syntax import Problem, Version, parse_problem, statement_lines
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.text.lines import Lines

N_KNOWN = 64
_SMALL = 4_000
"""Below so many characters the whole file is parsed; it is as quick."""
_DECLARING = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)[^\r\n]*(?:\r\n|\n|\r)")
"""The lines in which an encoding may be declared."""

_Known = tuple[int, ...]
"""The offsets at which statements of a file that parses begin."""
_known: OrderedDict[tuple[str, Version | None], _Known | None] = OrderedDict()
"""By digest and version; `None`: it does not parse. The longest unused first."""
_lock = Lock()


def problem_after(before: Document, edits: Edits, after: Document, version: Version | None) -> Problem | None:
    """Why the file does not parse after the edits, if it did before; `None` otherwise."""
    if len(after.text) < _SMALL or not edits:
        found = parse_problem(after.encode(), version)
        return found if found is None or _parses(before, version) else None
    starts = _starts(before, version)
    if starts is None:
        return None
    new = _from_parts(before, edits, after, starts, version)
    if new is None:
        found = parse_problem(after.encode(), version)
        if found is not None:
            return found
        new = _offsets(after, statement_lines(after.encode(), version))
    _keep(after.digest, version, new)
    return None


def _parses(document: Document, version: Version | None) -> bool:
    return parse_problem(document.encode(), version) is None


def _starts(document: Document, version: Version | None) -> _Known | None:
    key = (document.digest, version)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    starts = _offsets(document, statement_lines(document.encode(), version))
    return _keep(document.digest, version, starts)


def _offsets(document: Document, lines: tuple[int, ...] | None) -> _Known | None:
    """Where these lines begin."""
    if lines is None:
        return None
    starts = document.lines.starts
    return tuple(starts[line] for line in lines)


def _keep(digest: str, version: Version | None, starts: _Known | None) -> _Known | None:
    with _lock:
        _known[digest, version] = starts
        if len(_known) > N_KNOWN:
            _known.popitem(last=False)
    return starts


def _from_parts(
    before: Document, edits: Edits, after: Document, starts: _Known, version: Version | None
) -> _Known | None:
    """Where the statements begin after the edits, if what they touch parses by itself; `None` if that says nothing."""
    shift = sum(edit.shift for edit in edits)
    first, last = edits.edits[0].span.start, edits.edits[-1].span.end
    # The last statement that begins on the line of the first edit or before it, and the one before that.
    n_before = max(bisect_right(starts, first) - 2, 0)
    n_after = bisect_left(starts, _line_after(before.text, last))
    start = starts[n_before] if n_before < len(starts) and n_before else 0
    if not before.text.isascii() and not _is_below_declarations(before.text, start):
        return None
    end = starts[n_after] if n_after < len(starts) else len(before.text)
    part = after.text[start : end + shift]
    if end < len(before.text) and not part.endswith(("\n", "\r")):
        return None
    inner = _starts_in(part, version)
    if inner is None:
        return None
    rest = starts[n_after:]
    if shift:
        rest = tuple(at + shift for at in rest)
    return starts[: n_before if start else 0] + tuple(start + at for at in inner) + rest


def _line_after(text: str, at: int) -> int:
    """Where the line after the one that holds `at` begins, or would begin."""
    ends = [found + 1 for end in "\n\r" if (found := text.find(end, at)) >= 0]
    return min(ends, default=len(text) + 1)


def _is_below_declarations(text: str, at: int) -> bool:
    found = _DECLARING.match(text)
    return found is not None and found.end() <= at


def _starts_in(part: str, version: Version | None) -> _Known | None:
    try:
        source = part.encode("utf-8")
    except UnicodeEncodeError:
        return None  # stray bytes; Python has its own opinion on them
    # A declaration in the middle of a file is none, and must not become one in the first line of a part.
    lines = statement_lines(b"\n\n" + source, version, n_before=2)
    if lines is None:
        return None
    starts = Lines(part).starts
    return tuple(starts[line] for line in lines)
