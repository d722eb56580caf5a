"""What a tool says of the new text and did not say of the old.

Compared are multisets, so that a problem that was there twice and is there three times is new once. A problem is the same if
its file (by its new name), code and message are; numbers of lines in messages do not count, and its own line does not either, since
text above it may have come or gone. What then seems new, but stands where the same kind of problem stood before (carried through
the edits), is the same with other words: a rename changes the names in old messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lsptools.text.lines import Offset
from lsptools.verify.verdict import Problem
from lsptools.verify.versions import Versions

_LINE_NUMBER = re.compile(r"\b(line|lines) \d+(?:-\d+)?|(?<=[\w.]):\d+(?::\d+)?\b")


def new_problems(
    before: Iterable[Problem], after: Iterable[Problem], versions: Versions
) -> tuple[Problem, ...]:
    """Those of `after` that are new."""
    old = [moved for each in before if (moved := _moved(each, versions)) is not None]
    known = Counter(_key(each) for each in old)
    fresh = []
    for each in after:
        if known[_key(each)] > 0:
            known[_key(each)] -= 1
        else:
            fresh.append(each)
    if not fresh:
        return ()
    places = Counter(_place(each) for each in old if known[_key(each)] > 0)
    kept = []
    for each in fresh:
        if places[_place(each)] > 0:
            places[_place(each)] -= 1
        else:
            kept.append(each)
    return tuple(sorted(kept, key=lambda each: (each.path, each.line, each.column, each.code)))


def _key(problem: Problem) -> tuple[str, str, str]:
    return problem.path, problem.code, _LINE_NUMBER.sub("line", problem.message)


def _place(problem: Problem) -> tuple[str, int, str]:
    return problem.path, problem.line, problem.code


def _moved(problem: Problem, versions: Versions) -> Problem | None:
    """A problem of the old text, by the new name of its file and where its line is now."""
    pair = versions.by_old_name.get(problem.path)
    if pair is None:
        return problem
    if pair.new is None:
        return None
    line = problem.line
    if pair.before is not None and pair.after is not None and 0 < line <= pair.before.lines.n_lines:
        start = pair.before.lines.starts[line - 1]
        carried = pair.edits.carry(Offset(start))
        if carried is not None:
            line = pair.after.lines.line_of(carried) + 1
    return Problem(pair.new, line, problem.column, problem.code, problem.message)
