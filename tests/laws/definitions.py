"""Definitions of every kind in real code, found by `ast` and drawn by lot, for the laws to be tried on."""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path

from lsptools.languages.names import FilePosition
from lsptools.text.document import Document
from lsptools.text.lines import Offset

KINDS = (
    "function",
    "class",
    "method",
    "attribute",
    "class attribute",
    "module variable",
    "parameter",
    "local",
    "inner parameter",
    "inner definition",
    "module",
)
REACHES = {"local": "file", "inner parameter": "file", "inner definition": "file", "parameter": "keywords"}
"""How far a kind of name can be used; all others can be in the whole workspace."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition: its name, what it is, and where the name stands."""

    name: str
    kind: str
    """One of `KINDS`. A module is defined by its file; the place is a use, the first import of it."""
    path: str
    offset: Offset
    private: str = ""
    """For a private member (`__name`), the class whose name it is mangled with."""

    @property
    def reach(self) -> str:
        return REACHES.get(self.kind, "workspace")

    @property
    def place(self) -> FilePosition:
        return FilePosition(self.path, self.offset)


def drawn(definitions: Sequence[Definition], n: int, seed: int) -> list[Definition]:
    """So many of them, of each kind alike as far as there are enough; the same ones for the same seed."""
    lots = random.Random(seed)
    by_kind: dict[str, list[Definition]] = {kind: [] for kind in KINDS}
    for definition in definitions:
        by_kind[definition.kind].append(definition)
    shuffled = [lots.sample(each, len(each)) for each in by_kind.values()]
    taken = [each for each in chain.from_iterable(zip_longest(*shuffled)) if each is not None]
    return taken[:n]


def definitions_in(root: Path) -> list[Definition]:
    """Every definition in the Python files below a folder."""
    found = [each for path in sorted(root.rglob("*.py")) for each in in_file(root, path)]
    return [*found, *_modules(root)]


def _modules(root: Path) -> Iterator[Definition]:
    """The modules that a `from .module import …` beside them imports."""
    seen: set[Path] = set()
    for path in sorted(root.rglob("*.py")):
        text = Document.decode(path.read_bytes()).text
        for found in re.finditer(r"^from \.(\w+) import", text, re.MULTILINE):
            module = path.parent / f"{found.group(1)}.py"
            if module.is_file() and module not in seen:
                seen.add(module)
                where = path.relative_to(root).as_posix()
                yield Definition(found.group(1), "module", where, Offset(found.start(1)))


def in_file(root: Path, path: Path) -> list[Definition]:
    document = Document.decode(path.read_bytes())
    tree = parsed(document.text)
    if tree is None:
        return []
    finder = _Finder(path.relative_to(root).as_posix(), document)
    finder.suite(tree.body, _Around("module"))
    return finder.found


def parsed(text: str) -> ast.Module | None:
    """The syntax tree; None for what this Python does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def keywords_in(text: str) -> Mapping[str, int]:
    """How often each name is given as a keyword of a call in a file."""
    tree = parsed(text)
    nodes = ast.walk(tree) if tree is not None else ()
    return Counter(node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg is not None)


@dataclass(frozen=True, slots=True)
class _Around:
    """Where a statement stands."""

    kind: str
    """`module`, `class` or `function`."""
    cls: str = ""
    """The innermost class around."""
    receiver: str = ""
    """In a method: its first parameter."""
    excepted: frozenset[str] = field(default_factory=frozenset)
    """In a function: names that are not plain locals (parameters; global, nonlocal, imported)."""


class _Finder:
    def __init__(self, path: str, document: Document) -> None:
        self.path = path
        self.document = document
        self.found: list[Definition] = []
        self.is_ascii = document.text.isascii()

    def suite(self, statements: Sequence[ast.AST], around: _Around) -> None:
        for statement in statements:
            self.visit(statement, around)

    def visit(self, node: ast.AST, around: _Around) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node, around)
        elif isinstance(node, ast.ClassDef):
            self.named(node, {"function": "inner definition"}.get(around.kind, "class"), around)
            self.suite([*node.decorator_list, *node.bases, *node.keywords], around)
            self.suite(node.body, _Around("class", node.name))
        elif isinstance(node, ast.Lambda):
            self.parameters(node.args, "inner parameter")
            inner = _Around("function", around.cls, "", around.excepted | _names(node.args))
            self.visit(node.body, inner)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            if around.kind == "function":  # elsewhere a name may be of the comprehension or of what is around
                self.suite(list(ast.iter_child_nodes(node)), around)
        elif isinstance(node, ast.JoinedStr):
            pass  # before Python 3.12 nobody knows where in it something stands
        else:
            self.target(node, around)
            self.suite(list(ast.iter_child_nodes(node)), around)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, around: _Around) -> None:
        kinds = {"module": "function", "class": "method", "function": "inner definition"}
        self.named(node, kinds[around.kind], around)
        self.suite([*node.decorator_list, *node.args.defaults], around)
        self.parameters(node.args, "inner parameter" if around.kind == "function" else "parameter")
        positional = [*node.args.posonlyargs, *node.args.args]
        is_method = around.kind == "class" and not any(
            isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
        )
        receiver = positional[0].arg if positional and is_method else ""
        excepted = _names(node.args) | frozenset(_not_local(node)) | around.excepted
        self.suite(node.body, _Around("function", around.cls, receiver, excepted))

    def parameters(self, arguments: ast.arguments, kind: str) -> None:
        for argument in _all_arguments(arguments):
            self.add(argument.arg, kind, self.at(argument), "")

    def target(self, node: ast.AST, around: _Around) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            kinds = {"module": "module variable", "class": "class attribute", "function": "local"}
            if around.kind != "function" or node.id not in around.excepted:
                self.add(node.id, kinds[around.kind], self.at(node), around.cls)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            receiver = node.value
            if isinstance(receiver, ast.Name) and receiver.id == around.receiver != "":
                self.add(node.attr, "attribute", self.after(node.value, node.attr), around.cls)

    def named(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, kind: str, around: _Around
    ) -> None:
        start = self.at(node)
        found = re.compile(rf"(?:async\s+)?(?:def|class)\s+({node.name})").match(self.document.text, start)
        if found is not None and node.name not in around.excepted:
            self.add(node.name, kind, Offset(found.start(1)), around.cls)

    def add(self, name: str, kind: str, at: Offset | None, cls: str) -> None:
        if at is None or self.document.text[at : at + len(name)] != name:
            return  # spelled in another way, and folded by Python
        private = cls if name.startswith("__") and not name.endswith("__") else ""
        self.found.append(Definition(name, kind, self.path, at, private))

    def at(self, node: ast.AST) -> Offset:
        return self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined] # has a place

    def after(self, node: ast.expr, name: str) -> Offset | None:
        """Where an attribute's name stands behind its receiver."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = self._offset(node.end_lineno, node.end_col_offset)
        found = re.compile(rf"\s*\.\s*({name})").match(self.document.text, end)
        return Offset(found.start(1)) if found is not None else None

    def _offset(self, line: int, column: int) -> Offset:
        start = self.document.lines.starts[line - 1]
        if self.is_ascii:
            return Offset(start + column)
        head = self.document.lines.line_text(line - 1).encode()[:column]
        return Offset(start + len(head.decode("utf-8", "replace")))


def _all_arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (each for each in (arguments.vararg, arguments.kwarg) if each is not None)


def _names(arguments: ast.arguments) -> frozenset[str]:
    return frozenset(argument.arg for argument in _all_arguments(arguments))


def _not_local(function: ast.AST) -> Iterator[str]:
    """Names that a function, or one inside of it, declares to be of elsewhere or imports."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
