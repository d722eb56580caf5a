"""The symbols that are renamed: what the tests execute, of every kind, drawn with a fixed seed.

A candidate is a definition in the package (not in its tests) whose lines a run under `coverage` executed and whose name
occurs at least twice, so that there is something to get wrong. Names with two leading and trailing underscores belong to
Python, and names that look like tests to pytest. What `ast` says is enough to find definitions; who uses them is not asked.
"""

from __future__ import annotations

import ast
import io
import json
import os
import random
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_renames.answers import Answer, Tree, difference
from benchmarks.real_renames.projects import Project, Unfit, run_python
from lsptools.text.lines import Lines, Offset, UserPos

KINDS = (
    "method",
    "function",
    "class",
    "attribute",
    "class attribute",
    "property",
    "parameter",
    "variable",
    "module",
)

_TWICE = "method"
"""Drawn twice as often as the others: overrides and receivers of unknown type are where renames go wrong."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """A definition: where its name stands, line and column from 1, the column in code points.

    A module has the place of an import that names it (a server is asked there), and its own path in `module`.
    """

    path: str
    line: int
    column: int
    name: str
    kind: str
    module: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if not self.module else f"{self.module}::"


def executed_lines(project: Project, root: Path, home: Path, limit: float) -> dict[str, frozenset[int]]:
    """Path → lines that the tests executed; none where the run failed."""
    data, report = home / "coverage", home / "coverage.json"
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *project.tests]
    for arguments in (
        [
            "run",
            "--rcfile",
            os.devnull,
            f"--data-file={data}",
            "--include",
            f"{root / project.package}/*",
            *pytest,
        ],
        ["json", "--rcfile", os.devnull, f"--data-file={data}", "-q", "-i", "-o", str(report)],
    ):
        run = run_python(project, root, home, ["-m", "coverage", *arguments], limit)
        if not run.is_green:
            raise Unfit(f"its tests fail under coverage\n{run.output[-2000:]}")
    files = json.loads(report.read_text("utf-8"))["files"]
    return {path: frozenset(file["executed_lines"]) for path, file in files.items()}


def candidates(tree: Tree, package: str, executed: Mapping[str, Collection[int]]) -> list[Symbol]:
    """Every symbol that could be drawn, in the order of the text."""
    words = _words(tree)
    found = []
    for path in sorted(tree):
        if (
            not path.startswith(f"{package}/")
            or not path.endswith(".py")
            or not executed.get(path)
            or _is_test(path)
        ):
            continue
        source = _Source(path, tree[path].decode("utf-8").removeprefix("\ufeff"), executed[path])
        found += [each for each in source.symbols() if words[each.name] > 1 and _is_ours(each.name)]
        if module := _module(tree, package, path):
            found.append(module)
    return found


def draw(found: Collection[Symbol], n_each: int, seed: str) -> list[Symbol]:
    """Up to `n_each` of each kind (of methods twice as many), names never twice; every prefix is a mix of kinds."""
    chance = random.Random(seed)
    used: set[str] = set()
    columns: list[list[Symbol]] = []
    for kind in KINDS:
        pool = sorted(symbol for symbol in found if symbol.kind == kind)
        chance.shuffle(pool)
        column: list[Symbol] = []
        for symbol in pool:
            if len(column) < n_each * (1 + (kind == _TWICE)) and symbol.name not in used:
                used.add(symbol.name)
                column.append(symbol)
        columns.append(column)
    return [column[row] for row in range(2 * n_each) for column in columns if row < len(column)]


def fresh_name(tree: Tree, symbol: Symbol) -> str:
    """A name in the same style that occurs nowhere in the tree."""
    core = symbol.name.rstrip("_")
    if core.isupper():
        new = f"{core}_RENAMED"
    else:
        new = f"{core}Renamed" if symbol.kind == "class" else f"{core}_renamed"
    while any(new.encode() in content for content in tree.values()):
        new += "2"
    return new


def definition_alone(tree: Tree, symbol: Symbol, new: str) -> Answer:
    """The rename that forgets every use; a suite that stays green after it can judge nothing."""
    after = dict(tree)
    if symbol.module:
        after[str(Path(symbol.module).with_name(f"{new}.py"))] = after.pop(symbol.module)
        return difference(tree, after)
    after[symbol.path] = replaced(tree[symbol.path], [UserPos(symbol.line, symbol.column)], symbol.name, new)
    return difference(tree, after)


def replaced(content: bytes, places: Collection[UserPos], old: str, new: str) -> bytes:
    """`content` with `new` at those of the places where `old` stands."""
    text = content.decode("utf-8", "surrogateescape")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    lines = Lines(text)
    for at in sorted({lines.offset_from_user(place) for place in places}, reverse=True):
        if text.startswith(old, at):
            text = text[:at] + new + text[at + len(old) :]
    return (mark + text).encode("utf-8", "surrogateescape")


class _Source:
    """The definitions of one file that were executed."""

    def __init__(self, path: str, text: str, executed: Collection[int]) -> None:
        self._path, self._executed = path, executed
        self._lines = Lines(text)
        self._tree = ast.parse(text)

    def symbols(self) -> Iterator[Symbol]:
        yield from self._block(self._tree.body)
        seen: set[str] = set()
        for node in self._tree.body:
            for name in _assigned(node):
                if name.id not in seen and name.lineno in self._executed:
                    seen.add(name.id)
                    yield self._at(name.lineno, name.col_offset, name.id, "variable")

    def _block(self, body: list[ast.stmt]) -> Iterator[Symbol]:
        for node in body:
            if isinstance(node, _FUNCTIONS) and self._ran(node):
                yield self._after(node, "def", "function")
                yield from self._parameters(node, is_method=False)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node)

    def _class(self, node: ast.ClassDef) -> Iterator[Symbol]:
        methods = [each for each in node.body if isinstance(each, _FUNCTIONS)]
        ran = [each for each in methods if self._ran(each)]
        if ran:
            yield self._after(node, "class", "class")
        members: set[str] = {each.name for each in methods}
        seen: set[str] = set()
        for each in ran:
            if each.name in seen or _is_overload(each):
                continue
            seen.add(each.name)
            yield self._after(each, "def", "property" if _is_property(each) else "method")
            yield from self._parameters(each, is_method=True)
        for statement in node.body:
            for name in _assigned(statement):
                if name.id not in members and name.lineno in self._executed:
                    members.add(name.id)
                    yield self._at(name.lineno, name.col_offset, name.id, "class attribute")
        for each in ran:
            for attribute in self._stored(each):
                if attribute.attr not in members and attribute.end_lineno in self._executed:
                    members.add(attribute.attr)
                    assert attribute.end_lineno is not None and attribute.end_col_offset is not None
                    column = attribute.end_col_offset - len(attribute.attr.encode())
                    yield self._at(attribute.end_lineno, column, attribute.attr, "attribute")

    @staticmethod
    def _stored(method: _Function) -> Iterator[ast.Attribute]:
        """`self.NAME = …`, in the order of the text."""
        if not method.args.args:
            return
        me = method.args.args[0].arg
        found = [
            node
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and _is_name(node.value, me)
        ]
        yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def _parameters(self, node: _Function, *, is_method: bool) -> Iterator[Symbol]:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if is_method and "staticmethod" not in map(_last_name, node.decorator_list):
            arguments = arguments[1:]
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        for argument in arguments:
            if argument.arg in used:
                yield self._at(argument.lineno, argument.col_offset, argument.arg, "parameter")

    def _ran(self, node: _Function) -> bool:
        return any(
            each.lineno in self._executed and each.lineno > node.lineno and not _is_docstring(each)
            for each in node.body
        )

    def _after(self, node: _Function | ast.ClassDef, keyword: str, kind: str) -> Symbol:
        start = self._lines.starts[node.lineno - 1]
        found = re.compile(rf"{keyword}\s+{node.name}\b").search(self._lines.text, start)
        assert found is not None, f"{self._path}:{node.lineno} has no {keyword} {node.name}"
        place = self._lines.user_from_offset(Offset(found.end() - len(node.name)))
        return Symbol(self._path, place.line, place.column, node.name, kind)

    def _at(self, line: int, column_in_bytes: int, name: str, kind: str) -> Symbol:
        text = self._lines.line_text(line - 1)
        column = len(text.encode()[:column_in_bytes].decode()) + 1
        return Symbol(self._path, line, column, name, kind)


def _assigned(node: ast.stmt) -> Iterator[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        yield from (part for part in parts if isinstance(part, ast.Name))


def _module(tree: Tree, package: str, path: str) -> Symbol | None:
    """The module at `path`, at the first `from .name import` or `from package.name import` in the package or its tests."""
    name = Path(path).stem
    if name.startswith("__"):
        return None
    inner = path.removeprefix(f"{package}/").removesuffix(".py").split("/")
    dotted = ".".join([Path(package).name, *inner])
    pattern = re.compile(
        rf"^from (?:\.+|{re.escape(dotted[: -len(name)])}){re.escape(name)} import ", re.MULTILINE
    )
    siblings = str(Path(path).parent)
    for other in sorted(tree):
        if not other.endswith(".py") or other == path:
            continue
        text = tree[other].decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        found = pattern.search(text)
        if found and (not found[0].startswith("from .") or str(Path(other).parent) == siblings):
            at = Lines(text).user_from_offset(Offset(found.end() - len(" import ") - len(name)))
            return Symbol(other, at.line, at.column, name, "module", path)
    return None


def _words(tree: Tree) -> Counter[str]:
    words: Counter[str] = Counter()
    for path, content in tree.items():
        if path.endswith(".py"):
            with_text = io.StringIO(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
            try:
                tokens = tokenize.generate_tokens(with_text.readline)
                words.update(token.string for token in tokens if token.type == tokenize.NAME)
            except (tokenize.TokenError, SyntaxError):
                continue
    return words


def _is_ours(name: str) -> bool:
    return (
        not (name.startswith("__") and name.endswith("__"))
        and not name.lower().startswith("test")
        and name != "_"
    )


def _is_test(path: str) -> bool:
    parts = path.split("/")
    return bool({"tests", "test", "testing"} & set(parts[:-1])) or parts[-1].startswith(("test_", "conftest"))


def _is_property(node: _Function) -> bool:
    return bool({"property", "cached_property"} & set(map(_last_name, node.decorator_list)))


def _is_overload(node: _Function) -> bool:
    return "overload" in map(_last_name, node.decorator_list)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).split("(")[0].rpartition(".")[2]
