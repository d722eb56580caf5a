"""The tests that ran what a change touches, by what coverage.py has recorded of an earlier run.

Asked for are the bodies of the touched functions, in whichever text, the old or the new, the data can be of. The tests that
ran a line which differs come first, then those that ran the function; among these, those that run least besides, for they say most
of it. The record knows nothing of tests that are new, or were not run then, and little of those that have changed since, or that
ran in files that have: which tests it knows is told, and the others are found without it. Tests that are gone are no tests. Where
something other than functions is touched, or the data is of another text, there is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsptools.text.document import Document
from lsptools.verify.definitions import definitions, tree_of
from lsptools.verify.mention_graph import TEST_FILE, Index
from lsptools.verify.recorded import Recorded, line_set, recorded
from lsptools.verify.recorded_tests import still_there
from lsptools.verify.versions import Pair, Versions


@dataclass(frozen=True, slots=True)
class Known:
    """What the record says."""

    ran: tuple[str, ...]
    """The ids of the tests that ran what is touched, those that say most of it first."""
    tests: frozenset[str]
    """The ids of all tests it knows."""
    doubted: frozenset[str] = frozenset()
    """Those of them that may run other things now, since they or something that they ran has changed."""


def known_by_record(versions: Versions, index: Index, touched: set[tuple[str, str]]) -> Known | None:
    """The tests by the record; `None` without one, or where it does not answer."""
    # Tests that are touched themselves are chosen anyway.
    by_file = {path: names for path, names in _by_file(touched).items() if not TEST_FILE.search(path)}
    pairs = [pair for path in by_file if (pair := versions.by_new_name.get(path)) is not None]
    if len(pairs) < len(by_file) or not pairs:
        return None
    data = recorded(versions.after, {name for pair in pairs for name in (pair.old, pair.new) if name})
    if data is None:
        return None
    tests = still_there(data.sizes, index)
    ranks: dict[str, tuple[int, int]] = {}
    for path, names in by_file.items():
        lines = _lines(versions.by_new_name.get(path), names, data)
        if lines is None:
            return None
        name, differing, bodies = lines
        for rank, wanted in ((0, differing & bodies), (1, bodies)):
            for context in data.running(name, wanted):
                if (id := tests.get(context)) is not None:
                    this = (rank, data.sizes[context])
                    ranks[id] = min(ranks.get(id, this), this)
    if not ranks:
        return None
    ran = tuple(sorted(ranks, key=lambda id: (*ranks[id], id)))
    return Known(ran, frozenset(tests.values()), _doubted(data, tests))


def _doubted(data: Recorded, tests: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        id for context, id in tests.items() if context in data.doubted or data.is_newer(id.partition("::")[0])
    )


def _by_file(touched: set[tuple[str, str]]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, qualified in touched:
        found.setdefault(path, set()).add(qualified)
    return found


def _lines(pair: Pair | None, names: set[str], data: Recorded) -> tuple[str, int, int] | None:
    """By which name the record knows a file, its lines that differ, and those of the bodies of the touched functions."""
    if pair is None or pair.before is None or pair.after is None:
        return None
    back = pair.edits.inverse(pair.before.text)
    for name, document, edits in ((pair.old, pair.before, pair.edits), (pair.new, pair.after, back)):
        if name is not None and data.is_of(name, document):
            bodies = _bodies(document, names)
            if bodies is None:
                return None
            lines, differing = document.lines, 0
            for edit in edits:
                differing |= line_set(lines.line_of(edit.span.start) + 1, lines.line_of(edit.span.end) + 1)
            return name, differing, bodies
    return None


def _bodies(document: Document, names: set[str]) -> int | None:
    """The lines inside of these functions; `None` if one of the names is there and no function, or none is there."""
    tree = tree_of(document)
    if tree is None or any("<" in name for name in names):
        return None
    found = 0
    for each in definitions(tree):
        if each.qualified in names:
            if each.is_class:
                return None
            found |= line_set(each.first_line_inside, each.last_line)
    return found or None
