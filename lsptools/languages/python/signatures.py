"""Names of parameters in what Python tells of a function: `inspect.signature(f).parameters["x"]`, `f.__annotations__["x"]`.

Looked through are what stands there and variables that are assigned in the same file. Where it stops: a mapping that was
handed over or copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsptools.languages.python.classes import last_name, positional_arguments
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.values import ClassValue, FunctionValue, InstanceValue
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.meaning import Meaning, Meanings, Root

_OF_ANNOTATIONS = frozenset({"get_type_hints", "get_annotations"})
_STEPS = 3
"""So many variables are looked through."""


def described(source: Source, mapping: Node) -> Node | None:
    """The function or class of which a mapping tells by names; None: it is no such mapping."""
    mapping = _assigned(source, mapping)
    if mapping.type == "call":
        taken = positional_arguments(mapping)
        return taken[0] if taken and last_name(source, mapping) in _OF_ANNOTATIONS else None
    owner = mapping.child_by_field_name("object") if mapping.type == "attribute" else None
    if owner is None:
        return None
    name = last_name(source, mapping)
    if name in ("__annotations__", "__kwdefaults__"):
        return owner
    if name == "parameters":
        return signed(source, owner)
    return _bound(source, owner) if name == "arguments" else None


def signed(source: Source, node: Node) -> Node | None:
    """The function in `signature(f)`, whatever variable that is in."""
    node = _assigned(source, node)
    taken = positional_arguments(node) if node.type == "call" else []
    return taken[0] if taken and last_name(source, node) == "signature" else None


def named(meanings: Meanings, source: Source, node: Node, name: str) -> Meaning:
    """What a name is of the function or class that `node` gives: a parameter, or an annotated attribute."""
    from lsptools.languages.python.meaning import Meaning, parameter_root

    types = meanings.evaluator.at(source, node)
    roots: set[Root] = set()
    for value in types.values:
        if isinstance(value, ClassValue):
            roots |= meanings.on_value(value, name, "it").roots
            roots |= meanings.constructor_keyword(value.cls, name, "it", 0).roots
        functions = [each for each, _ in meanings.callable_functions(value)]
        if isinstance(value, (FunctionValue, InstanceValue)):
            roots |= {parameter_root(each, name) for each in functions if each.parameter(name)}
    unknown = "" if types.complete else f"nothing is known of `{source.text(node)}`"
    return Meaning(frozenset(roots), "the name of a parameter in what is told of it", types.complete, unknown)


def _bound(source: Source, node: Node) -> Node | None:
    """The function in `signature(f).bind(…)`."""
    node = _assigned(source, node)
    function = node.child_by_field_name("function") if node.type == "call" else None
    owner = function.child_by_field_name("object") if function is not None else None
    if function is None or owner is None or last_name(source, function) not in ("bind", "bind_partial"):
        return None
    return signed(source, owner)


def _assigned(source: Source, node: Node) -> Node:
    """What a variable is assigned, if that is one thing."""
    for _ in range(_STEPS):
        if node.type != "identifier":
            return node
        sites = source.bindings_of(node)
        statement = (
            sites[0].ancestor("assignment") if len(sites) == 1 and sites[0].role is Role.ASSIGN else None
        )
        value = statement.child_by_field_name("right") if statement is not None else None
        if value is None:
            return node
        node = value
    return node
