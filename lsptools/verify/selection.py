"""Which tests are to be run for a change, of all that reach what it touches (`mention_graph.py`).

Where coverage.py has recorded which test ran which line, that answers (`by_record.py`), and the graph only for tests that the record
does not know, or knows from before they changed. Without a record, where everything goes through one door, nearly every test reaches
everything. So at most a fifth of the tests is chosen (but `ENOUGH` in any case): half of them the nearest, counted in mentions from
the touched definition to the test, with some of each class and file at the same distance; the other half those that speak most of it,
counted in rare words they share with its name and file.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lsptools.verify.by_record import known_by_record
from lsptools.verify.mention_graph import Index, indexed, is_test, reached_from, tests_among, touched_in
from lsptools.verify.versions import Versions

ENOUGH = 20
"""So few tests are never cut."""
SHARE = 5
"""One test in so many is chosen at most."""
_ASSERTS = re.compile(
    r"assert|raises|warns|fail|expect|verif|check|match|should|ensure|compare|approx|deprecated_call",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests that reach a change."""

    ids: tuple[str, ...]
    """`path::Class::test`, as pytest has them, without parameters; `path` alone for a whole file."""
    silent: tuple[str, ...]
    """Those of `ids` that assert nothing."""
    n_reaching: int
    """How many reach the change; `ids` are the nearest of them."""
    n_tests: int
    """How many test functions there are in the workspace."""
    touched: tuple[str, ...]
    """What is reached, `path::Qualified.name`."""
    is_recorded: bool = False
    """Whether a record of coverage.py has answered."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(sorted({each.partition("::")[0] for each in self.ids}))


def select(versions: Versions) -> Selection:
    """The tests that reach what the change touches."""
    index = indexed(versions.after)
    touched = set(touched_in(versions, index))
    distances: dict[str, int] = {}
    for id, distance in tests_among(index, reached_from(index, touched)):
        distances[id] = min(distance, distances.get(id, distance))
    n_tests = sum(1 for node in index.nodes if is_test(node))
    most = max(ENOUGH, n_tests // SHARE)
    known = known_by_record(versions, index, touched)
    n_reaching = len(distances)
    if known is None:
        ids = _chosen(index, distances, touched, most)
    else:
        changed = [id for id, distance in distances.items() if not distance]
        told = with_those_above(known.tests) - with_those_above(known.doubted)
        rest = {id: distance for id, distance in distances.items() if id not in told}
        n_reaching = len({*known.ran, *changed, *rest})
        ids = list(dict.fromkeys([*changed, *known.ran[:most], *_chosen(index, rest, touched, most)]))
    silent = _silent(index, ids)
    return Selection(
        tuple(sorted(ids)),
        tuple(sorted(silent)),
        n_reaching,
        n_tests,
        tuple(sorted(f"{path}::{qualified}" for path, qualified in touched)),
        known is not None,
    )


def with_those_above(ids: Iterable[str]) -> set[str]:
    """Tests, and the classes and files that they are in."""
    found = set()
    for id in ids:
        while id and id not in found:
            found.add(id)
            id = id.rpartition("::")[0]
    return found


def _chosen(
    index: Index, distances: Mapping[str, int], touched: set[tuple[str, str]], most: int
) -> list[str]:
    """At most so many tests: in turns the nearest and the one that speaks most of what is touched."""
    if len(distances) <= most:
        return list(distances)
    found: dict[str, None] = {}
    for near, speaking in zip(_nearest(distances), _speaking(index, distances, touched), strict=True):
        found.update({near: None, speaking: None})
    return list(found)[:most]


def _speaking(index: Index, distances: Mapping[str, int], touched: set[tuple[str, str]]) -> list[str]:
    """The tests by how much they share with the names of what is touched, in rare words; then by distance."""
    asked = {
        part for path, qualified in touched for part in _parts(f"{path.removesuffix('.py')}.{qualified}")
    }
    spoken: dict[str, set[str]] = {id: _parts(id) for id in distances}
    for node in index.nodes:
        if node.id in spoken:
            spoken[node.id] |= {part for word in node.mentions for part in _parts(word)}
    counts = Counter(part for parts in spoken.values() for part in parts & asked)
    score = {id: sum(1 / counts[part] for part in parts & asked) for id, parts in spoken.items()}
    return sorted(distances, key=lambda id: (-score[id], distances[id], id))


def _parts(text: str) -> set[str]:
    """The words of names: `get_firstName` is `get`, `first`, `name`."""
    return {part.lower() for part in _PART.findall(text) if len(part) > 2}


_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _nearest(distances: Mapping[str, int]) -> list[str]:
    """The tests by distance, and at the same distance in turns from each class or file."""
    turns: dict[tuple[int, str], int] = {}
    ranked = []
    for id, distance in sorted(distances.items()):
        around = (distance, id.rpartition("::")[0])
        turns[around] = turns.get(around, 0) + 1
        ranked.append((distance, turns[around], id))
    return [id for _, _, id in sorted(ranked)]


def _silent(index: Index, ids: Iterable[str]) -> list[str]:
    """The tests that assert nothing, themselves or by a function of their file."""
    functions: dict[str, Mapping[str, ast.AST]] = {}
    found = []
    for id in ids:
        path, *parts = id.split("::")
        if not parts or path not in index.trees:
            continue
        if path not in functions:
            functions[path] = {
                node.name: node
                for node in ast.walk(index.trees[path])
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        test = functions[path].get(parts[-1])
        if test is not None and not _asserts(test, functions[path], set()):
            found.append(id)
    return found


def _asserts(function: ast.AST, functions: Mapping[str, ast.AST], seen: set[str]) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if _ASSERTS.search(name):
                return True
            if name in functions and name not in seen and _asserts(functions[name], functions, seen | {name}):
                return True
    return False
