"""What one occurrence of a callable's name does with it: calls it, decorates with it, hands it on, or nothing of the kind.

Read off the nodes around the name. Where it stops: a callable that is handed on (`submit(f, 1)`, `g = f`) is called by others;
that is one use with the kind `VALUE`, and who calls it with what is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsptools.languages.names import Evidence
from lsptools.languages.python.classes import last_name, positional_arguments
from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.syntax.tree import Node
from lsptools.text.lines import Span

CALL, PARTIAL, DECORATOR, RAISE, VALUE, TEXT = "call", "partial", "decorator", "raise", "value", "text"
"""Kinds of use: `f(x)`; `partial(f, x)`; `@f`; `raise E`; handed on as a value; a string that is looked up at run time."""
CALLING = frozenset({CALL, PARTIAL, DECORATOR, RAISE})


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a callable."""

    path: str
    span: Span
    """The name; for a call through `cls` or the like that callee."""
    evidence: Evidence
    reason: str
    kind: str
    call: tuple[int, int] | None = None
    """The bytes of the call, for `CALL` and `PARTIAL`."""
    n_filled: int = 0
    """How many parameters are filled before the first argument (`self`)."""
    via: str = ""
    """The name under which it is used, where that is another one: `from m import f as g`."""


def classified(source: Source, site: Site, *, is_class: bool) -> tuple[str, Node | None]:
    """The kind of a use and, for calls, the call; no kind where nothing is done with the callable."""
    if site.role in (Role.STRING, Role.COMMENT):
        return TEXT, None
    if site.role in BINDING or site.role in DECLARING or site.role not in (Role.READ, Role.ATTRIBUTE):
        return "", None
    path = site.path
    at = _whole(path, is_class=is_class)
    if at == 0:
        return "", None  # a statement of its own
    parent, field = path[at - 1][0], path[at][1]
    if parent.type == "call" and field == "function":
        return CALL, parent
    if parent.type == "decorator":
        return DECORATOR, None
    if parent.type == "raise_statement" and is_class:
        return RAISE, None
    if parent.type == "attribute" or (is_class and _is_only_named(source, path, at)):
        return "", None
    if parent.type in _NOT_HANDED_ON:
        return "", None
    call = path[at - 2][0] if at > 1 and parent.type == "argument_list" else None
    if call is not None and call.type == "call" and _is_partial(source, call, path[at][0]):
        return PARTIAL, call
    return VALUE, None


def _whole(path: Sequence[tuple[Node, str | None]], *, is_class: bool) -> int:
    """The index of the whole expression that is the callable: with its receiver, brackets and type arguments."""
    at = len(path) - 1
    while at > 0:
        parent, field = path[at - 1][0], path[at][1]
        is_attribute = parent.type == "attribute" and field == "attribute"
        is_generic = is_class and parent.type == "subscript" and field == "value"
        if not (is_attribute or is_generic or parent.type == "parenthesized_expression"):
            break
        at -= 1
    return at


def _is_partial(source: Source, call: Node, first: Node) -> bool:
    function = call.child_by_field_name("function")
    named = function is not None and last_name(source, function) in ("partial", "partialmethod")
    return named and positional_arguments(call)[:1] == [first]


def is_partial_method(source: Source, call: Node | None) -> bool:
    """`partialmethod(f, x)`, whose result gets the object first?"""
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and last_name(source, function) == "partialmethod"


def _is_only_named(source: Source, path: Sequence[tuple[Node, str | None]], at: int) -> bool:
    """Is a class only named here: as a type, a base, in a test, in a handler?"""
    for index in range(at, -1, -1):
        node, field = path[index]
        if node.type in _NAMING or field in ("type", "return_type", "superclasses"):
            return True
        if node.type == "call":
            function = node.child_by_field_name("function")
            return function is not None and last_name(source, function) in _ASKING
        if node.type.endswith("_statement") or node.type in ("block", "lambda", "module"):
            return False
    return False


_NOT_HANDED_ON = frozenset({"comparison_operator", "delete_statement", "expression_statement"})
"""What an expression may stand in without anybody getting hold of its value."""
_NAMING = frozenset(
    {"except_clause", "except_group_clause", "class_pattern", "case_pattern", "type", "type_parameter"}
)
_ASKING = frozenset(
    {
        "isinstance",
        "issubclass",
        "cast",
        "TypeVar",
        "NewType",
        "get_type_hints",
        "raises",
        "suppress",
        "super",
    }
    | {"assertRaises", "assertRaisesRegex", "assertIsInstance", "assert_type", "assertNotIsInstance"}
)
"""Calls that take classes without making instances of them."""
