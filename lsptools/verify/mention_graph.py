"""Who mentions whom, within who imports whom: the graph over which a change reaches tests.

A definition reaches another if it mentions its name and its file imports that one's file, directly or over others. Starting at
the touched definitions, this is followed backwards to test functions; through fixtures (mentioned by parameters), base classes,
and `setUp` methods, which stand for every test of their class. Mentioned counts by name only, so more is selected than is
reached; what a name is bound to is not asked, since that would lose calls whose receiver cannot be derived.

Where it stops: functions called by names put together at run time (methods so called are reached through their class), plugins and
entry points; files that tests read as data.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lsptools.errors import BadRequest
from lsptools.verify.definitions import MODULE, touched_names, tree_of
from lsptools.verify.versions import Versions
from lsptools.workspace.snapshot import Snapshot

TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_CONFTEST = re.compile(r"(?:^|/)conftest\.py$")
_SETUP = frozenset(
    {"setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "teardown_method", "setup_class"}
    | {"teardown_class", "setup", "teardown", "asyncSetUp", "asyncTearDown"}
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class Node:
    """One definition, or a statement of a module or class that binds names."""

    path: str
    qualified: str
    names: tuple[str, ...]
    """By which it is mentioned."""
    mentions: frozenset[str]
    is_autouse: bool = False

    @property
    def id(self) -> str:
        """As pytest calls it, if it is a test or a class of tests."""
        return id_of(self.path, self.qualified)


def id_of(path: str, qualified: str) -> str:
    """As pytest calls a test, or a class of tests."""
    return f"{path}::{qualified.replace('.', '::')}"


@dataclass(slots=True)
class Index:
    """All Python files of the workspace, read once."""

    nodes: list[Node] = field(default_factory=list)
    imports: dict[str, set[str]] = field(default_factory=dict)
    """For each file the files it imports."""
    trees: dict[str, ast.Module] = field(default_factory=dict)
    bases: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """The names of the base classes, by file and class."""


def touched_in(versions: Versions, index: Index) -> Iterator[tuple[str, str]]:
    for pair in versions.python:
        path = pair.new or pair.old or ""
        for qualified in touched_names(pair):
            if qualified == MODULE and pair.before is not None and pair.after is not None:
                yield from (
                    (path, name) for name in _touched_statements(index, path, pair_lines(versions, path))
                )
            else:
                yield path, qualified


def pair_lines(versions: Versions, path: str) -> list[tuple[int, int]]:
    """The lines that differ in the new text of a file, 1-based, both included."""
    pair = versions.by_new_name.get(path)
    if pair is None or pair.before is None or pair.after is None:
        return []
    lines = pair.after.lines
    spans = [edit.span for edit in pair.edits.inverse(pair.before.text)]
    return [(lines.line_of(span.start) + 1, lines.line_of(span.end) + 1) for span in spans]


def _touched_statements(index: Index, path: str, ranges: list[tuple[int, int]]) -> Iterator[str]:
    """The names that touched statements outside of definitions bind; `MODULE` for those that bind none."""
    tree = index.trees.get(path)
    for statement in tree.body if tree is not None else ():
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if not any(start <= last and first <= end for start, end in ranges):
            continue
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield from _bound(statement) or (MODULE,)


# The index


def indexed(snapshot: Snapshot) -> Index:
    index = Index()
    paths = snapshot.files(globs=("*.py",))
    modules = _module_names(paths)
    for path in paths:
        try:
            tree = tree_of(snapshot.document(path))
        except BadRequest:
            continue
        if tree is None:
            continue
        index.trees[path] = tree
        index.nodes += _nodes(index, path, tree)
        index.imports[path] = set(_imported(tree, path, modules))
    for path in paths:
        # Every test sees the fixtures of the conftest files above it.
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            conftest = f"{folder}/conftest.py" if folder else "conftest.py"
            if conftest in index.imports and conftest != path and path in index.imports:
                index.imports[path].add(conftest)
    return index


def _module_names(paths: Iterable[str]) -> dict[str, str]:
    """Files by the dotted names by which they may be imported: from the root, or from any folder above them."""
    found: dict[str, str] = {}
    for path in paths:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        for at in range(len(parts)):
            found.setdefault(".".join(parts[at:]), path)
    return found


def _imported(tree: ast.Module, path: str, modules: Mapping[str, str]) -> Iterator[str]:
    package = path.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            stem = ".".join([*base, *filter(None, [node.module])])
            names = [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            names = [node.value] if _DOTTED.fullmatch(node.value) else []  # mock.patch("package.module.name")
        for name in names:
            parts = name.split(".")
            for n_parts in range(1, len(parts) + 1):
                file = modules.get(".".join(parts[:n_parts]))
                if file is not None:
                    yield file


def _nodes(index: Index, path: str, tree: ast.Module) -> Iterator[Node]:
    yield from _nodes_in(index, path, tree.body, "")


def _nodes_in(index: Index, path: str, body: Iterable[ast.stmt], inside: str) -> Iterator[Node]:
    for statement in body:
        prefix = f"{inside}." if inside else ""
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            names = (statement.name,)
            if statement.name.startswith("__") and inside:
                names = (inside.rpartition(".")[2],)  # it is called by what is done with the class
            autouse = any("autouse" in _words(each) for each in statement.decorator_list)
            yield Node(path, prefix + statement.name, names, _words(statement), autouse)
        elif isinstance(statement, ast.ClassDef):
            own = [
                each
                for each in statement.body
                if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            ]
            heads = [*statement.bases, *statement.keywords, *statement.decorator_list, *own]
            index.bases[path, prefix + statement.name] = frozenset().union(*map(_words, statement.bases))
            yield Node(
                path, prefix + statement.name, (statement.name,), frozenset().union(*map(_words, heads))
            )
            yield from _nodes_in(index, path, statement.body, prefix + statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names if not inside else ():
                if alias.asname is not None:
                    yield Node(
                        path, alias.asname, (alias.asname,), frozenset({alias.name.rpartition(".")[2]})
                    )
        elif not inside:
            bound = _bound(statement)
            for name in bound or (MODULE,):
                yield Node(path, name, (name,) if bound else (), _words(statement))


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement outside of functions binds, in its blocks, too."""
    found: dict[str, None] = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(dict.fromkeys(alias.asname or alias.name.partition(".")[0] for alias in node.names))
    return tuple(found)


def _words(node: ast.AST) -> frozenset[str]:
    """Every name that is mentioned below a node, also in strings that are names."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.arg | ast.keyword) and each.arg is not None:
            found.add(each.arg)
        elif isinstance(each, ast.alias):
            found.add((each.asname or each.name).rpartition(".")[2])
        elif (
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and _DOTTED.fullmatch(each.value[:200])
        ):
            found.add(each.value.rpartition(".")[2])
    return frozenset(found)


# Going backwards


def reached_from(index: Index, touched: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Every definition that reaches a touched one, those included; and over how many mentions."""
    importers = _importers(index)
    by_mention: dict[str, list[Node]] = {}
    named: dict[tuple[str, str], Node] = {}
    for node in index.nodes:
        named.setdefault((node.path, node.qualified), node)
        for word in node.mentions:
            by_mention.setdefault(word, []).append(node)
    reached = dict.fromkeys(sorted(touched), 0)
    ahead = deque(reached)
    while ahead:
        path, qualified = here = ahead.popleft()
        called = _called(named.get((path, qualified)), qualified)
        if "." in qualified and not any(name in by_mention for name in called):
            called = (
                qualified.split(".")[-2],
            )  # a method that nobody names is called by what is done with its class
        for name in called:
            if name == MODULE:
                continue
            for node in by_mention.get(name, ()):
                key = (node.path, node.qualified)
                if key not in reached and (node.path == path or node.path in importers.get(path, ())):
                    reached[key] = reached[here] + 1
                    ahead.append(key)
    return reached


def _called(node: Node | None, qualified: str) -> tuple[str, ...]:
    if node is not None:
        return node.names
    parts = qualified.split(".")  # a definition inside of a function is reached through that
    return (parts[0],) if len(parts) > 1 else (qualified,)


def _importers(index: Index) -> dict[str, set[str]]:
    """For each file those that import it, directly or over others."""
    direct: dict[str, set[str]] = {}
    for path, imported in index.imports.items():
        for each in imported:
            direct.setdefault(each, set()).add(path)
    found: dict[str, set[str]] = {}
    for path in direct:
        seen: set[str] = set()
        ahead = [path]
        while ahead:
            for each in direct.get(ahead.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    ahead.append(each)
        found[path] = seen
    return found


# Tests


def is_test(node: Node) -> bool:
    return bool(TEST_FILE.search(node.path)) and node.qualified.rpartition(".")[2].startswith("test")


def tests_among(index: Index, reached: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, int]]:
    """The ids of the tests among what is reached, and of those that have something reached around them; how far they are."""
    classes = {key for key in index.bases if TEST_FILE.search(key[0])}
    for node in index.nodes:
        distance = reached.get((node.path, node.qualified))
        if distance is not None:
            yield from ((id, distance) for id in _tests_with(index, node, classes))


def _tests_with(index: Index, node: Node, classes: set[tuple[str, str]]) -> Iterator[str]:
    """The tests that a definition is, or that run it before they begin."""
    owner, _, name = node.qualified.rpartition(".")
    in_tests = bool(TEST_FILE.search(node.path))
    if in_tests and is_test(node):
        yield node.id
    if owner and (name.startswith("test") or name in _SETUP):
        # Also of the classes that inherit it.
        for path, qualified in classes:
            if owner.rpartition(".")[2] in index.bases[path, qualified]:
                yield id_of(path, qualified)
        if in_tests and name in _SETUP:
            yield id_of(node.path, owner)
    if in_tests and (
        node.qualified == MODULE or (node.is_autouse and not owner) or name in ("setup_module", "pytestmark")
    ):
        yield node.path
    if in_tests and node.is_autouse and owner:
        yield id_of(node.path, owner)
    if _CONFTEST.search(node.path) and (node.is_autouse or node.qualified.startswith("pytest_")):
        folder = node.path.rpartition("/")[0]
        yield from (path for path in index.trees if TEST_FILE.search(path) and path.startswith(folder))
