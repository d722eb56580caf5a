"""Can a Python file that is edited still be parsed? Answered from the statements around the edits, where that is enough.

A file that parses is a sequence of statements at the top. Cut at the beginning of two of them, it is three sequences, and putting
another one that parses between the outer two gives a file that parses: what is before ends with a whole statement, and what
follows begins one at the start of a line. So for a file known to parse only the statements that the edits touch, and the one
before them (an indented line would become part of it), have to be parsed again. If they do not parse by themselves, or
anything is odd, the whole file is the judge.

Known files are kept by digest, with the lines at which their statements begin; that is what makes a small edit of a large file cheap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from threading import Lock

from lsptools.edit.python_syntax import Problem, Version, parse_problem, statement_lines
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.text.lines import Lines

N_KNOWN = 64
_SMALL = 4_000
"""Below so many characters the whole file is parsed; it is as quick."""
_N_DECLARING = 2
"""The lines in which an encoding may be declared."""

_Known = tuple[int, ...]
"""The lines, from 0, at which statements of a file that parses begin."""
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
        new = statement_lines(after.encode(), version)
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
    return _keep(document.digest, version, statement_lines(document.encode(), version))


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
    old, new = before.lines, after.lines
    shift = sum(edit.shift for edit in edits)
    first, last = edits.edits[0].span.start, edits.edits[-1].span.end
    n_before = max(bisect_right(starts, old.line_of(first)) - 2, 0)
    n_after = bisect_right(starts, old.line_of(last))
    top = starts[n_before] if n_before < len(starts) and n_before else 0
    if top < _N_DECLARING and not before.text.isascii():
        return None
    start = old.starts[top]
    end = old.starts[starts[n_after]] if n_after < len(starts) else len(before.text)
    part = after.text[start : end + shift]
    if end < len(before.text) and not part.endswith(("\n", "\r")):
        return None
    inner = _lines_of(part, version)
    if inner is None:
        return None
    n_more = new.n_lines - old.n_lines
    rest = starts[n_after:]
    if n_more:
        rest = tuple(line + n_more for line in rest)
    return starts[: n_before if top else 0] + tuple(top + line for line in inner) + rest


def _lines_of(part: str, version: Version | None) -> _Known | None:
    try:
        source = part.encode("utf-8")
    except UnicodeEncodeError:
        return None  # stray bytes; Python has its own opinion on them
    # A declaration in the middle of a file is none, and must not become one in the first line of a part.
    return statement_lines(b"\n\n" + source, version, n_before=2) if Lines(part).n_lines else None
