"""What one occurrence of a name *is*, read off the path of syntax nodes that leads to it.

The answer needs no other occurrence and no meaning: whether the name is bound here and by which construct, or read,
or written after a dot, or a keyword of a call, or text. Where the grammar and Python disagree (type parameter
defaults of 3.13 arrive as an error node) the text around it decides.

Invariant: every leaf gets exactly one role, and a role in `BINDING` is given to exactly those occurrences that make
the name local to a scope by the language reference (4.2.1, "Binding of names").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsptools.syntax.tree import Node

Path = Sequence[tuple["Node", "str | None"]]
"""The nodes from a child of the module down to the leaf, each with its field name in its parent."""


class Role(Enum):
    """What an occurrence is."""

    # binding
    FUNCTION = "function definition"
    CLASS = "class definition"
    PARAMETER = "parameter"
    ASSIGN = "assignment"
    ANNOTATE = "annotation without a value"
    AUGMENT = "augmented assignment"
    WALRUS = "assignment expression"
    FOR = "loop variable"
    WITH = "with target"
    EXCEPT = "except target"
    CAPTURE = "capture pattern"
    DELETE = "deletion"
    TYPE_PARAMETER = "type parameter"
    TYPE_ALIAS = "type alias"
    IMPORT_NAME = "imported name"
    IMPORT_ALIAS = "import alias"
    IMPORT_MODULE = "imported module"
    # declarations
    GLOBAL = "global declaration"
    NONLOCAL = "nonlocal declaration"
    # uses
    READ = "read"
    ATTRIBUTE = "attribute"
    KEYWORD = "keyword argument"
    PATTERN_KEYWORD = "keyword pattern"
    IMPORT_ORIGINAL = "imported name behind an alias"
    MODULE_PART = "part of a module's name"
    # text
    STRING = "string"
    COMMENT = "comment"
    TOKEN = "token"
    """A keyword, a string prefix, a conversion: spelled like a name, and none."""


BINDING = frozenset(
    {
        Role.FUNCTION,
        Role.CLASS,
        Role.PARAMETER,
        Role.ASSIGN,
        Role.ANNOTATE,
        Role.AUGMENT,
        Role.WALRUS,
        Role.FOR,
        Role.WITH,
        Role.EXCEPT,
        Role.CAPTURE,
        Role.DELETE,
        Role.TYPE_PARAMETER,
        Role.TYPE_ALIAS,
        Role.IMPORT_NAME,
        Role.IMPORT_ALIAS,
        Role.IMPORT_MODULE,
    }
)
DECLARING = frozenset({Role.GLOBAL, Role.NONLOCAL})
TEXT = frozenset({Role.STRING, Role.COMMENT, Role.TOKEN})

_CONTAINERS = frozenset(
    {
        "pattern_list",
        "tuple_pattern",
        "list_pattern",
        "list_splat_pattern",
        "tuple",
        "list",
        "list_splat",
        "expression_list",
        "parenthesized_expression",
    }
)
_PARAMETER_LISTS = frozenset({"parameters", "lambda_parameters"})
_PATTERNS = frozenset(
    {
        "case_pattern",
        "union_pattern",
        "list_pattern",
        "tuple_pattern",
        "dict_pattern",
        "keyword_pattern",
        "as_pattern",
        "class_pattern",
    }
)


def role_of(path: Path) -> Role:
    """The role of the leaf at the end of `path`."""
    leaf = path[-1][0]
    if leaf.type != "identifier":
        return _role_of_other_leaf(path)
    if len(path) < 2:
        return Role.READ
    parent = path[-2][0]
    handler = _BY_PARENT.get(parent.type)
    return handler(path) if handler is not None else _target_role(path)


def access_of(path: Path) -> Role:
    """How an attribute is accessed: `READ`, or the role of the target it is (`ASSIGN`, `AUGMENT`, `DELETE`, …)."""
    return _target_role(path[:-1]) if len(path) > 1 and path[-2][0].type == "attribute" else Role.READ


def receiver_before(path: Path) -> Node | None:
    """The expression before the dot, for an occurrence with the role `ATTRIBUTE`.

    In a dotted pattern (`case a.b:`) that is the part before it.
    """
    if len(path) < 2:
        return None
    parent, leaf = path[-2][0], path[-1][0]
    if parent.type == "attribute":
        return parent.child_by_field_name("object")
    return leaf.prev_named_sibling


def _role_of_other_leaf(path: Path) -> Role:
    """Strings, comments, and whatever else holds the letters of a name.

    The `print` of Python 2's statement form is a keyword token to the grammar and a name to Python 3.
    """
    leaf = path[-1][0]
    if leaf.type == "comment":
        return Role.COMMENT
    if leaf.type in ("string_content", "string"):
        return Role.STRING
    if leaf.type == "print" and len(path) > 1 and path[-2][0].type == "print_statement":
        return Role.READ
    return Role.TOKEN


def _walrus(path: Path) -> Role:
    """`f"{name:=10}"` is a name and a format, which the grammar takes for an assignment expression."""
    is_format = len(path) > 2 and path[-3][0].type == "interpolation"
    if path[-1][1] == "name":
        return Role.READ if is_format else Role.WALRUS
    return Role.STRING if is_format else Role.READ


def _attribute(path: Path) -> Role:
    return Role.ATTRIBUTE if path[-1][1] == "attribute" else Role.READ


def _named(role: Role) -> Callable[[Path], Role]:
    def handler(path: Path) -> Role:
        return role if path[-1][1] == "name" else Role.READ

    return handler


def _dotted_name(path: Path) -> Role:
    leaf, dotted = path[-1][0], path[-2][0]
    above, field = (path[-3][0], path[-2][1]) if len(path) > 2 else (None, None)
    kind = above.type if above is not None else ""
    first = dotted.start_byte == leaf.start_byte
    if kind in ("import_from_statement", "future_import_statement"):
        return Role.IMPORT_NAME if field == "name" else Role.MODULE_PART
    if kind == "import_statement":
        return Role.IMPORT_MODULE if first else Role.MODULE_PART
    if kind == "aliased_import":
        statement = path[-4][0].type if len(path) > 3 else ""
        return Role.IMPORT_ORIGINAL if statement == "import_from_statement" else Role.MODULE_PART
    if kind == "relative_import":
        return Role.MODULE_PART
    if not first:
        return Role.ATTRIBUTE
    alone = dotted.end_byte == leaf.end_byte
    if alone and kind in _PATTERNS and kind != "class_pattern" and field != "key":
        return Role.CAPTURE
    return Role.READ


def _keyword_pattern(path: Path) -> Role:
    return Role.PATTERN_KEYWORD if path[-1][0].start_byte == path[-2][0].start_byte else Role.CAPTURE


def _as_pattern(path: Path) -> Role:
    """`case … as name` holds the name directly; `with` and `except` hold it in a target node."""
    before = path[-1][0].prev_sibling
    return Role.CAPTURE if before is not None and before.type == "as" else Role.READ


def _splat(path: Path) -> Role:
    above = path[-3][0].type if len(path) > 2 else ""
    if above in _PARAMETER_LISTS or above == "typed_parameter":
        return Role.PARAMETER
    return _target_role(path)


def _typed_parameter(path: Path) -> Role:
    return Role.READ if path[-1][1] == "type" else Role.PARAMETER


def _type(path: Path) -> Role:
    """A name alone in a `type` node: an annotation, a type parameter, or the name of a type alias."""
    above = path[-3][0] if len(path) > 2 else None
    if above is not None and above.type == "type_alias_statement" and path[-2][1] == "left":
        return Role.TYPE_ALIAS
    return _type_parameter(path)


def _type_parameter(path: Path) -> Role:
    """A name that begins an entry of a list of type parameters, or else a target or a use."""
    leaf = path[-1][0]
    for index in range(-2, -len(path) - 1, -1):
        node = path[index][0]
        if node.type == "type_parameter":
            if _declares_type_parameters(path, index) and _begins_entry(node, leaf):
                return Role.TYPE_PARAMETER
            break
        if node.type not in _IN_TYPE_PARAMETER:
            break
    return _target_role(path)


_IN_TYPE_PARAMETER = frozenset({"type", "constrained_type", "splat_type", "list_splat", "ERROR"})


def _begins_entry(parameters: Node, leaf: Node) -> bool:
    """Does nothing stand between a name and the bracket or comma before it, but stars?

    The text decides, since a default is an error to the grammar, and where that begins and ends is left to chance.
    """
    before = (parameters.text or b"")[: leaf.start_byte - parameters.start_byte]
    before = _ASIDE.sub(b"", before)
    n_open = sum(before.count(each) for each in (b"[", b"(", b"{"))
    n_closed = sum(before.count(each) for each in (b"]", b")", b"}"))
    return n_open - n_closed == 1 and before.rstrip(b" \t\f\r\n\\*")[-1:] in (b"[", b",")


_ASIDE = re.compile(rb"#[^\r\n]*|\"[^\"]*\"|'[^']*'")


def _generic_type(path: Path) -> Role:
    """`type Alias[T] = …`: the grammar takes the left side for a generic type."""
    if len(path) > 3 and path[-4][0].type == "type_alias_statement" and path[-3][1] == "left":
        return Role.TYPE_ALIAS
    return Role.READ


def _declares_type_parameters(path: Path, at: int) -> bool:
    """A `type_parameter` node declares at a function, a class or an alias; elsewhere it is a subscript."""
    if path[at][1] == "type_parameters":
        return True
    if len(path) < 3 - at:
        return False
    generic, left, statement = path[at - 1][0], path[at - 2], path[at - 3][0]
    return generic.type == "generic_type" and left[1] == "left" and statement.type == "type_alias_statement"


def _target_role(path: Path) -> Role:
    """The role of a name in an expression or a target: climb out of the brackets and look where they stand."""
    index = len(path) - 1
    while index > 0 and path[index - 1][0].type in _CONTAINERS:
        index -= 1
    if index == 0:
        return Role.READ
    parent, field = path[index - 1][0], path[index][1]
    kind = parent.type
    if kind == "assignment":
        if field != "left":
            return Role.READ
        if parent.child_by_field_name("right") is not None:
            return Role.ASSIGN
        # In brackets it is annotated and not made local: `(name): int`.
        return Role.ANNOTATE if index == len(path) - 1 else Role.READ
    if kind == "augmented_assignment":
        return Role.AUGMENT if field == "left" else Role.READ
    if kind in ("for_statement", "for_in_clause"):
        return Role.FOR if field == "left" else Role.READ
    if kind == "as_pattern_target":
        return _as_target(path, index - 1)
    if kind == "delete_statement":
        return Role.DELETE
    if kind in ("dict_pattern", "case_pattern", "class_pattern", "splat_pattern", "union_pattern"):
        return Role.CAPTURE if kind == "splat_pattern" else Role.READ
    return Role.READ


def _as_target(path: Path, at: int) -> Role:
    """`as` of a `with` item or of an `except` clause (in a call or elsewhere the grammar is lenient)."""
    for index in range(at - 1, -1, -1):
        kind = path[index][0].type
        if kind == "except_clause" or kind == "except_group_clause":
            return Role.EXCEPT
        if kind in ("with_item", "with_clause", "with_statement"):
            return Role.WITH
        if kind == "case_clause":
            return Role.CAPTURE
    return Role.WITH


def _always(role: Role) -> Callable[[Path], Role]:
    def handler(path: Path) -> Role:
        return role

    return handler


_BY_PARENT: dict[str, Callable[[Path], Role]] = {
    "attribute": _attribute,
    "keyword_argument": _named(Role.KEYWORD),
    "function_definition": _named(Role.FUNCTION),
    "class_definition": _named(Role.CLASS),
    "dotted_name": _dotted_name,
    "aliased_import": _always(Role.IMPORT_ALIAS),
    "keyword_pattern": _keyword_pattern,
    "as_pattern": _as_pattern,
    "splat_pattern": _always(Role.CAPTURE),
    "global_statement": _always(Role.GLOBAL),
    "nonlocal_statement": _always(Role.NONLOCAL),
    "parameters": _always(Role.PARAMETER),
    "lambda_parameters": _always(Role.PARAMETER),
    "default_parameter": _named(Role.PARAMETER),
    "typed_default_parameter": _named(Role.PARAMETER),
    "typed_parameter": _typed_parameter,
    "list_splat_pattern": _splat,
    "dictionary_splat_pattern": _splat,
    "named_expression": _walrus,
    "type": _type,
    "splat_type": _type_parameter,
    "list_splat": _type_parameter,
    "generic_type": _generic_type,
    "ERROR": _type_parameter,
}
