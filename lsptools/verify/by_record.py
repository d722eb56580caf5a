"""The tests that ran what a change touches, by what coverage.py has recorded of an earlier run.

Asked for are the bodies of the touched functions, in whichever text, the old or the new, the data can be of. The tests that
ran a line which differs come first, then those that ran the function; among these, those that run least besides, for they say most
of it. The record knows nothing of tests that are new, or were not run then: which tests it knows is told, and the others are found
without it. Where something other than functions is touched, or the data is of another text, there is no answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lsptools.text.document import Document
from lsptools.verify.definitions import tree_of
from lsptools.verify.mention_graph import TEST_FILE, Index, is_test
from lsptools.verify.recorded import Recorded, recorded, test_of
from lsptools.verify.versions import Pair, Versions


@dataclass(frozen=True, slots=True)
class Known:
    """What the record says."""

    ran: tuple[str, ...]
    """The ids of the tests that ran what is touched, those that say most of it first."""
    tests: frozenset[str]
    """The ids of all tests it knows."""


def known_by_record(versions: Versions, index: Index, touched: set[tuple[str, str]]) -> Known | None:
    """The tests by the record; `None` without one, or where it does not answer."""
    data = recorded(versions.after)
    if data is None:
        return None
    ids = _Ids(index)
    ranks: dict[str, tuple[int, int]] = {}
    sizes = _sizes(data)
    for path, names in _by_file(touched).items():
        if TEST_FILE.search(path):
            continue  # tests that are touched themselves are chosen anyway
        lines = _lines(versions.by_new_name.get(path), names, data)
        if lines is None:
            return None
        name, differing, bodies = lines
        for rank, wanted in ((0, differing & bodies), (1, bodies)):
            for context in data.running(name, wanted):
                if (id := ids.of(context)) is not None:
                    ranks[id] = min(ranks.get(id, (rank, sizes[context])), (rank, sizes[context]))
    if not ranks:
        return None
    tests = frozenset(id for context in data.contexts if (id := ids.of(context)) is not None)
    return Known(tuple(sorted(ranks, key=lambda id: (*ranks[id], id))), tests)


def _sizes(data: Recorded) -> Mapping[str, int]:
    """How many lines ran in each context."""
    found: dict[str, int] = {}
    for by_context in data.lines.values():
        for context, ran in by_context.items():
            found[context] = found.get(context, 0) + len(ran)
    return found


def _by_file(touched: set[tuple[str, str]]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, qualified in touched:
        found.setdefault(path, set()).add(qualified)
    return found


def _lines(
    pair: Pair | None, names: set[str], data: Recorded
) -> tuple[str, frozenset[int], frozenset[int]] | None:
    """By which name the record knows a file, its lines that differ, and those of the bodies of the touched functions."""
    if pair is None or pair.before is None or pair.after is None:
        return None
    back = pair.edits.inverse(pair.before.text)
    for name, document, edits in ((pair.old, pair.before, pair.edits), (pair.new, pair.after, back)):
        if name is not None and data.is_of(name, document):
            bodies = _bodies(document, names)
            if bodies is None:
                return None
            lines = document.lines
            differing = frozenset(
                line + 1
                for edit in edits
                for line in range(lines.line_of(edit.span.start), lines.line_of(edit.span.end) + 1)
            )
            return name, differing, bodies
    return None


def _bodies(document: Document, names: set[str]) -> frozenset[int] | None:
    """The lines inside of these functions; `None` if one of the names is there and no function, or none is there."""
    tree = tree_of(document)
    functions = dict(_functions(tree, "")) if tree is not None else {}
    found: set[int] = set()
    for name in names:
        node = functions.get(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
        elif node is not None or "<" in name:
            return None
    return frozenset(found) or None


def _functions(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            qualified = f"{inside}.{child.name}" if inside else child.name
            yield qualified, child
            yield from _functions(child, qualified)
        else:
            yield from _functions(child, inside)


class _Ids:
    """The ids of tests by the contexts that name them."""

    def __init__(self, index: Index) -> None:
        self._paths = {path for path in index.trees if TEST_FILE.search(path)}
        self._dotted: dict[str, str | None] = {}
        for node in index.nodes:
            if is_test(node):
                id = f"{node.path}::{node.qualified.replace('.', '::')}"
                parts = [*node.path.removesuffix(".py").split("/"), node.qualified]
                for at in range(len(parts) - 1):
                    name = ".".join(parts[at:])
                    # Two tests of one dotted name are none.
                    self._dotted[name] = id if self._dotted.get(name, id) == id else None

    def of(self, context: str) -> str | None:
        """The id of a test that is there."""
        named = test_of(context)
        path, colons, rest = named.partition("::")
        if not colons:
            return self._dotted.get(named)
        if path in self._paths:
            return named
        # Recorded in a folder below the root.
        inside = [known for known in self._paths if known.endswith(f"/{path}")]
        return f"{inside[0]}::{rest}" if len(inside) == 1 else None
