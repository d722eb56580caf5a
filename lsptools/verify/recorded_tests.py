"""The tests that a record names, as far as they are still there: ids of pytest, or dotted names, each with its file.

A test is there if its file defines it, or binds its name, or if a class of it inherits it from another class of the workspace. Where it
stops: tests that a class has from a package, or by assignment, are taken for gone; the graph of mentions may find their class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from lsptools.verify.mention_graph import TEST_FILE, Index, is_test
from lsptools.verify.recorded import test_of

_STAR = "*"


def still_there(contexts: Iterable[str], index: Index) -> Mapping[str, str]:
    """By context the id of its test, of those that name one that is there."""
    there = _There(index)
    ids: dict[str, str | None] = {}
    found: dict[str, str] = {}
    for context in contexts:
        named = test_of(context)
        if named not in ids:
            ids[named] = there.id_of(named)
        if (id := ids[named]) is not None:
            found[context] = id
    return found


class _There:
    """The tests that are there, by what they may be called."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._paths = {path for path in index.trees if TEST_FILE.search(path)}
        self._defined = {(node.path, node.qualified) for node in index.nodes}
        self._test_names = {node.qualified for node in index.nodes if node.qualified.startswith("test")}
        self._classes: dict[str, list[tuple[str, str]]] = {}
        for path, qualified in index.bases:
            self._classes.setdefault(qualified.rpartition(".")[2], []).append((path, qualified))
        self._dotted = _dotted(index)
        self._below: dict[str, str | None] = {}
        self._imported: dict[str, frozenset[str]] = {}

    def id_of(self, named: str) -> str | None:
        path, colons, rest = named.partition("::")
        if not colons:
            return self._dotted.get(named)
        if path not in self._below:
            self._below[path] = self._known_path(path)
        known = self._below[path]
        if known is None or not self._has(known, rest.split("::")):
            return None
        return f"{known}::{rest}"

    def _known_path(self, path: str) -> str | None:
        """The file that a record knows by this path, perhaps from a folder below the root."""
        if path in self._paths:
            return path
        below = [known for known in self._paths if known.endswith(f"/{path}")]
        return below[0] if len(below) == 1 else None

    def _has(self, path: str, names: list[str]) -> bool:
        if (path, ".".join(names)) in self._defined:
            return True
        *classes, name = names
        imported = self._imports(path)
        if not classes:
            return name in imported or (_STAR in imported and name in self._test_names)
        own = (path, ".".join(classes))
        if own in self._index.bases:
            return self._inherits([own], name)
        is_bound = classes[0] in imported or _STAR in imported
        return is_bound and self._inherits(self._classes.get(classes[-1], []), name)

    def _inherits(self, classes: list[tuple[str, str]], name: str) -> bool:
        """Whether one of these classes has a method of this name, or one of their bases, which are followed by their names."""
        seen, ahead = set(classes), list(classes)
        while ahead:
            path, qualified = here = ahead.pop()
            if (path, f"{qualified}.{name}") in self._defined:
                return True
            for base in self._index.bases[here]:
                further = [each for each in self._classes.get(base, []) if each not in seen]
                seen.update(further)
                ahead += further
        return False

    def _imports(self, path: str) -> frozenset[str]:
        """The names that imports bind in a file, and the star of one."""
        if path not in self._imported:
            self._imported[path] = frozenset(
                alias.asname or alias.name
                for node in ast.walk(self._index.trees[path])
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            )
        return self._imported[path]


def _dotted(index: Index) -> Mapping[str, str | None]:
    """Ids by dotted names, from any folder above the file; nothing for a name that two tests have."""
    found: dict[str, str | None] = {}
    for node in index.nodes:
        if is_test(node):
            parts = [*node.path.removesuffix(".py").split("/"), node.qualified]
            for at in range(len(parts) - 1):
                name = ".".join(parts[at:])
                found[name] = node.id if found.get(name, node.id) == node.id else None
    return found
