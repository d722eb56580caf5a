"""Classes and functions as their definitions state them, and the linearisation of a class's bases.

Facts here are read off one definition; what a base expression *means* is asked from an evaluator (`receivers`), so
that a class can be built from imports, attributes and subscripts alike.

Invariant: `ancestors` never repeats a class and ends for every input, cyclic ones too. Source of the order: C3
(Barrett et al. 1996, as in the Python 2.3 MRO note); where no C3 order exists, depth first, left to right.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lsptools.languages.python.decorators import PROPERTIES
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Site, Source, mangled
from lsptools.syntax.tree import Node
from lsptools.text.lines import Span


class Definition:
    """A `def` or `class` statement. One object per statement; compared by identity."""

    __slots__ = ("__dict__", "end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        """The byte at which the statement starts, decorators not counted."""
        self.end = end

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {self.source.path}:{self.start}>"

    @property
    def node(self) -> Node:
        """The statement, in the tree as it is now: not to be kept, the file may give its tree up."""
        return self.source.node_at(self.start, self.end)

    @cached_property
    def name(self) -> str:
        node = self.node.child_by_field_name("name")
        return self.source.text(node) if node is not None else ""

    @property
    def name_start(self) -> int:
        """The byte at which the name stands."""
        node = self.node.child_by_field_name("name")
        return node.start_byte if node is not None else self.node.start_byte

    @property
    def name_span(self) -> Span:
        """Where the name stands, in code points."""
        node = self.node.child_by_field_name("name")
        return self.source.span(self.name_start, node.end_byte if node is not None else self.name_start)

    @property
    def key(self) -> tuple[str, int]:
        return (self.source.path, self.start)

    @cached_property
    def scope(self) -> Scope:
        """The scope of the body."""
        return self.source.scope_inside(self.node)

    @cached_property
    def outer(self) -> Scope:
        """The scope in which the statement stands; annotation scopes are skipped."""
        scope = self.scope.parent
        while scope is not None and scope.kind == "types":
            scope = scope.parent
        return scope if scope is not None else self.source.module_scope

    @cached_property
    def decorators(self) -> tuple[Node, ...]:
        """The expressions after `@`, outermost first."""
        parent = self.node.parent
        if parent is None or parent.type != "decorated_definition":
            return ()
        found = (child for child in parent.children if child.type == "decorator")
        return tuple(child.named_children[0] for child in found if child.named_children)

    @cached_property
    def decorator_names(self) -> tuple[str, ...]:
        """The last part of each decorator's dotted name: `property`, `setter`, `overload`, …"""
        return tuple(last_name(self.source, decorator) for decorator in self.decorators)

    @property
    def statement(self) -> Node:
        """The whole statement, decorators included."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == "decorated_definition" else self.node


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `kind` is `positional`, `either`, `keyword`, `args` or `kwargs`."""

    name: str
    kind: str
    node: Node
    """The name itself."""
    annotation: Node | None
    default: Node | None

    @property
    def takes_keyword(self) -> bool:
        return self.kind in ("either", "keyword")


class Function(Definition):
    """A `def` statement or a lambda."""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        node = self.node.child_by_field_name("parameters")
        return tuple(_parameters(self.source, node)) if node is not None else ()

    @cached_property
    def is_async(self) -> bool:
        return bool(self.node.children) and self.node.children[0].type == "async"

    @property
    def in_class(self) -> bool:
        """Does the statement stand directly in a class body?"""
        return self.outer.kind == "class"

    @cached_property
    def is_static(self) -> bool:
        return "staticmethod" in self.decorator_names

    @cached_property
    def is_class_method(self) -> bool:
        return "classmethod" in self.decorator_names or (
            self.in_class and self.name in ("__new__", "__init_subclass__", "__class_getitem__")
        )

    @cached_property
    def is_property(self) -> bool:
        return any(name in PROPERTIES or name.endswith("property") for name in self.decorator_names)

    @cached_property
    def is_accessor(self) -> bool:
        """A getter, setter or deleter that hangs on a property."""
        return any(name in ("setter", "getter", "deleter") for name in self.decorator_names)

    @cached_property
    def is_overload(self) -> bool:
        return "overload" in self.decorator_names

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @cached_property
    def is_generator(self) -> bool:
        return bool(self.yields)

    @cached_property
    def returns(self) -> tuple[Node, ...]:
        """Its own `return` statements."""
        return tuple(own_nodes(self.node, "return_statement"))

    @cached_property
    def yields(self) -> tuple[Node, ...]:
        """Its own `yield` and `yield from` expressions."""
        return tuple(own_nodes(self.node, "yield"))


class Class(Definition):
    """A `class` statement."""

    @cached_property
    def base_nodes(self) -> tuple[Node, ...]:
        """The positional arguments after the class's name."""
        node = self.node.child_by_field_name("superclasses")
        if node is None:
            return ()
        return tuple(
            child for child in node.named_children if child.type not in ("keyword_argument", "comment")
        )

    @cached_property
    def keywords(self) -> dict[str, Node]:
        """The keyword arguments after the class's name: `metaclass=`, `total=`, …"""
        node = self.node.child_by_field_name("superclasses")
        found: dict[str, Node] = {}
        for child in node.named_children if node is not None else ():
            if child.type == "keyword_argument":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None and value is not None:
                    found[self.source.text(name)] = value
        return found

    def spelled(self, name: str) -> str:
        """The name as it is bound in this class's body."""
        return mangled(name, self.scope) if name.startswith("__") else name

    def body_sites(self, name: str) -> list[Site]:
        """Where the class body binds the name."""
        if not self.source.has(name):
            return []
        return self.source.names(name).bindings(self.scope, self.spelled(name))

    @cached_property
    def slots(self) -> frozenset[str]:
        """The names that `__slots__` lists in the body, as they are written there."""
        if self.source.bytes.find(b"__slots__", self.start, self.end) < 0:
            return frozenset()
        found: set[str] = set()
        for site in self.body_sites("__slots__"):
            statement = site.ancestor("assignment", "augmented_assignment")
            value = statement.child_by_field_name("right") if statement is not None else None
            found.update(_listed(self.source, value) if value is not None else ())
        return frozenset(found)

    def own_function(self, name: str) -> Function | None:
        """The last `def name` in the body that is not an overload stub."""
        found = None
        for site in self.body_sites(name):
            if site.role is Role.FUNCTION:
                function = function_of(self.source, site.path[-2][0])
                if not function.is_overload or found is None:
                    found = function
        return found


def _listed(source: Source, node: Node) -> Iterator[str]:
    """The strings of a list, a tuple or a sum of such, and the keys of a dictionary."""
    if node.type == "string_content":
        yield source.text(node)
    for child in node.named_children if node.type != "pair" else node.named_children[:1]:
        yield from _listed(source, child)


def class_of(source: Source, node: Node) -> Class:
    """The `Class` of a `class_definition` node; always the same object for the same statement."""
    return _class_at(source, node.start_byte, node.end_byte)


def class_in(source: Source, scope: Scope) -> Class:
    """The `Class` whose body a scope is."""
    return _class_at(source, scope.start, scope.end)


def function_of(source: Source, node: Node) -> Function:
    """The `Function` of a `function_definition` or `lambda` node; always the same object."""
    return _function_at(source, node.start_byte, node.end_byte)


def function_in(source: Source, scope: Scope) -> Function:
    """The `Function` whose body a scope is."""
    return _function_at(source, scope.start, scope.end)


def _class_at(source: Source, start: int, end: int) -> Class:
    found = source.definitions.get(("class", start))
    if not isinstance(found, Class):
        found = source.definitions["class", start] = Class(source, start, end)
    return found


def _function_at(source: Source, start: int, end: int) -> Function:
    found = source.definitions.get(("function", start))
    if not isinstance(found, Function):
        found = source.definitions["function", start] = Function(source, start, end)
    return found


def definition_of_scope(source: Source, scope: Scope) -> Class | Function | None:
    """The statement whose body a scope is."""
    if scope.kind == "class":
        return class_in(source, scope)
    return function_in(source, scope) if scope.kind in ("function", "lambda") else None


def last_name(source: Source, node: Node) -> str:
    """`c` for the expressions `c`, `a.b.c` and `a.b.c(…)`; a library's own name for what is imported under another."""
    while node.type == "call":
        function = node.child_by_field_name("function")
        if function is None:
            return ""
        node = function
    if node.type == "attribute":
        attribute = node.child_by_field_name("attribute")
        return source.text(attribute) if attribute is not None else ""
    return library_name(source, source.text(node)) if node.type == "identifier" else ""


def library_name(source: Source, name: str) -> str:
    """`NamedTuple` for the `NT` of `from typing import NamedTuple as NT`; any other name as it is.

    Only for libraries whose names are known by their spelling: what others import under such a name is meant to be taken for it.
    """
    memo, key = source.memo, "names of libraries"
    known = memo.get(key)
    if not isinstance(known, dict):
        known = memo[key] = _library_names(source.bytes) if b" as " in source.bytes else {}
    return known.get(name, name)


def _library_names(code: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for module, names in _IMPORTING.findall(code):
        if module.decode() in _LIBRARIES:
            pairs = _RENAMED.findall(_COMMENT.sub(b"", names))
            found.update((alias.decode(), name.decode()) for name, alias in pairs)
    return found


_IMPORTING = re.compile(
    rb"^[ \t]*from[ \t]+(\w+)[\w.]*[ \t]+import\b[ \t]*(\([^)]*\)|(?:[^\r\n\\]|\\\r?\n)*)", re.MULTILINE
)
_RENAMED = re.compile(rb"(\w+)[ \t]+as[ \t]+(\w+)")
_COMMENT = re.compile(rb"#[^\r\n]*")
_LIBRARIES = sys.stdlib_module_names | {"typing_extensions", "pytest", "_pytest", "attr", "attrs", "pydantic"}


def positional_arguments(call: Node) -> list[Node]:
    """The arguments of a call that are neither keywords nor unpacked."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    skipped = ("keyword_argument", "comment", "list_splat", "dictionary_splat")
    return [child for child in arguments.named_children if child.type not in skipped]


def own_nodes(function: Node, *kinds: str) -> Iterator[Node]:
    """Nodes of these types in a function's own body, not in definitions nested in it."""
    body = function.child_by_field_name("body")
    stack = [body] if body is not None else []
    while stack:
        node = stack.pop()
        if node.type in kinds:
            yield node
        if node.type not in ("function_definition", "class_definition", "lambda") or node is body:
            stack.extend(reversed(node.named_children))


def linearise(first: Class, orders: Sequence[Sequence[Class]], bases: Sequence[Class]) -> tuple[Class, ...]:
    """The class, then its ancestors in method resolution order, from the orders of its bases.

    Where no C3 order exists (Python would refuse the class): depth first, each class once.
    """
    merged = _c3(first, [list(order) for order in orders], list(bases))
    if merged is not None:
        return merged
    return tuple(dict.fromkeys([first, *(ancestor for order in orders for ancestor in order)]))


def _c3(first: Class, sequences: list[list[Class]], bases: list[Class]) -> tuple[Class, ...] | None:
    merged = [first]
    sequences = [*sequences, bases]
    while True:
        sequences = [sequence for sequence in sequences if sequence]
        if not sequences:
            return tuple(merged)
        tails = {id(entry) for sequence in sequences for entry in sequence[1:]}
        head = next((sequence[0] for sequence in sequences if id(sequence[0]) not in tails), None)
        if head is None:
            return None
        merged.append(head)
        for sequence in sequences:
            if sequence[0] is head:
                del sequence[0]


def _parameters(source: Source, node: Node) -> Iterator[Parameter]:
    children = [child for child in node.children if child.type not in ("(", ")", ",", "comment")]
    slash = any(child.type == "positional_separator" for child in children)
    kind = "positional" if slash else "either"
    for child in children:
        if child.type == "positional_separator":
            kind = "either"
            continue
        if child.type == "keyword_separator":
            kind = "keyword"
            continue
        parameter = _parameter(source, child, kind)
        if parameter is not None:
            yield parameter
            if parameter.kind == "args":
                kind = "keyword"


def _parameter(source: Source, node: Node, kind: str) -> Parameter | None:
    annotation = node.child_by_field_name("type")
    default = node.child_by_field_name("value")
    name: Node | None = node
    if node.type in ("default_parameter", "typed_default_parameter"):
        name = node.child_by_field_name("name")
    elif node.type == "typed_parameter":
        name = node.named_children[0] if node.named_children else None
    if name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
        kind = "args" if name.type == "list_splat_pattern" else "kwargs"
        name = name.named_children[0] if name.named_children else None
    if name is None or name.type != "identifier":
        return None
    return Parameter(source.text(name), kind, name, annotation, default)
