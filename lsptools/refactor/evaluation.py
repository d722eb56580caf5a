"""When an expression is evaluated within its statement, and what is evaluated before it.

An expression may be evaluated earlier, right before its statement, if it is evaluated exactly once by the statement, and if
nothing that comes before it makes a difference to it or the other way round. Three cases are known to make none:

- both are *calm*: no call, no `await`, no assignment, only names, literals, operators, attributes and items;
- what comes before is *fixed*: literals, names of locals that nobody else can rebind, and the names of what is called;
- the expression itself is fixed.

Where it stops: attributes, items and operators are taken to have no effects (properties and operators can), and what a call
calls is taken not to be replaced by the arguments of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from lsptools.errors import Refused
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Source
from lsptools.refactor.places import place_of
from lsptools.refactor.selection import BLOCKS, nodes_in
from lsptools.syntax.tree import Node

LITERALS = frozenset(
    {
        *("integer", "float", "true", "false", "none", "ellipsis"),
        *("string_start", "string_content", "string_end", "type_conversion"),
    }
)
_DISPLAYS = frozenset({"list", "tuple", "expression_list", "parenthesized_expression", "argument_list"})
_LIVELY = frozenset(
    {
        *("call", "await", "yield", "named_expression", "print_statement", "exec_statement"),
        *("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"),
    }
)


def check_evaluated_first(source: Source, expression: Node) -> None:
    """Refuse an expression that cannot be evaluated right before its statement."""
    before = list(evaluated_before(source, expression))
    if is_calm(expression) and all(is_calm(node) for node, _ in before):
        return
    assigns = any(
        each.type == "named_expression"
        for node in (expression, *(node for node, _ in before))
        for each in nodes_in(node)
    )
    if not (assigns and before):
        if all(called or is_fixed(source, node) for node, called in before):
            return
        if is_fixed(source, expression):
            return
    first = next((node for node, called in before if not (called or is_fixed(source, node))), before[0][0])
    raise Refused(
        "undecided",
        "something is evaluated before it in its statement, and the order may matter",
        hint="extract what comes first, first",
        sites=(place_of(source, first, "is evaluated before"),),
    )


def evaluated_before(source: Source, expression: Node) -> Iterator[tuple[Node, bool]]:
    """What its statement evaluates before an expression, and whether that is the name of what is called.

    Refuses an expression that is evaluated later, only sometimes, or more than once.
    """
    node = expression
    while node.parent is not None and node.parent.type not in BLOCKS:
        above = node.parent
        step = _STEPS.get(above.type)
        before = step(above, node) if step is not None else None
        if before is None:
            raise Refused(
                "undecided",
                "it is evaluated later, only sometimes, or more than once there",
                hint="select an expression that the statement evaluates once, always",
                sites=(place_of(source, expression, "is selected"),),
            )
        for each in before:
            yield each, _is_called(above, each)
        node = above


def is_calm(node: Node) -> bool:
    """Does evaluating it do nothing but look?"""
    return not any(each.type in _LIVELY for each in _evaluated(node))


def _evaluated(node: Node) -> Iterator[Node]:
    """As `nodes_in`, but what is inside a lambda is evaluated later."""
    yield node
    if node.type != "lambda":
        for child in node.children:
            yield from _evaluated(child)


def is_fixed(source: Source, node: Node) -> bool:
    """Is it the same whenever it is evaluated in this run of its function?"""
    if node.type in _DISPLAYS:
        return all(is_fixed(source, child) for child in node.named_children if child.type != "comment")
    if node.type == "keyword_argument":
        value = node.child_by_field_name("value")
        return value is not None and is_fixed(source, value)
    if node.type in LITERALS:
        return True
    if node.type in ("string", "concatenated_string"):
        return not any(each.type == "interpolation" for each in nodes_in(node))
    if node.type == "unary_operator":
        return all(child.type in LITERALS for child in node.named_children)
    return node.type == "identifier" and own_local(source, node) is not None


def own_local(source: Source, name: Node) -> Scope | None:
    """The function whose local a name is, if only that function's own statements bind it."""
    word = source.text(name)
    site = source.site_at(name.start_byte, name.end_byte, word)
    if site.role is not Role.READ:
        return None
    names = source.names(word)
    owner = names.scope_of(site.scope, site.spelling)
    here: Scope | None = site.scope
    while here is not None and here is not owner and here.kind in ("lambda", "comprehension"):
        here = here.parent
    if owner is None or here is not owner or owner.kind not in ("function", "lambda", "comprehension"):
        return None
    if any(spelling == site.spelling for _, spelling in names.declared):
        return None
    return owner


def _is_called(above: Node, node: Node) -> bool:
    """The callee, written as a name with or without dots."""
    if above.type != "call" or above.child_by_field_name("function") != node:
        return False
    while node.type == "attribute":
        inner = node.child_by_field_name("object")
        if inner is None:
            return False
        node = inner
    return node.type in ("identifier", "string")


Step = Callable[[Node, Node], "list[Node] | None"]
"""From a node and one of its children: what the node evaluates before the child; None: it may not evaluate it, or not once."""


def _in_order(above: Node, node: Node) -> list[Node] | None:
    return [
        child
        for child in above.named_children
        if child.end_byte <= node.start_byte and child.type != "comment"
    ]


def _arguments(above: Node, node: Node) -> list[Node] | None:
    """`f(k=a, *b)` evaluates `*b` first."""
    later = [child for child in above.named_children if child.start_byte >= node.end_byte]
    if node.type == "keyword_argument" and any(child.type == "list_splat" for child in later):
        return None
    return _in_order(above, node)


def _only(*fields: str) -> Step:
    """Only in these fields, each of which is the first to be evaluated."""

    def step(above: Node, node: Node) -> list[Node] | None:
        return [] if any(above.child_by_field_name(field) == node for field in fields) else None

    return step


def _first(above: Node, node: Node) -> list[Node] | None:
    return [] if above.named_children[0] == node else None


def _comparison(above: Node, node: Node) -> list[Node] | None:
    """The third of `a < b < c` is looked at only if the first two allow."""
    index = above.named_children.index(node)
    return above.named_children[:index] if index < 2 else None


def _condition(above: Node, node: Node) -> list[Node] | None:
    """`b if a else c`: `a` is first, and always."""
    return [] if above.named_children[1:2] == [node] else None


def _augmented(above: Node, node: Node) -> list[Node] | None:
    left = above.child_by_field_name("left")
    return [left] if left is not None and left != node else None


def _interpolation(above: Node, node: Node) -> list[Node] | None:
    """`{value=}` shows the text of the expression, which would be another."""
    shows_text = any(child.type == "=" for child in above.children)
    return None if shows_text else _in_order(above, node)


def _comprehension(above: Node, node: Node) -> list[Node] | None:
    """What the first `for` goes through is evaluated at once; everything else again and again."""
    clauses = [child for child in above.named_children if child.type == "for_in_clause"]
    return [] if clauses[:1] == [node] else None


_STEPS: Mapping[str, Step] = {
    **dict.fromkeys(
        [
            *(
                "binary_operator",
                "unary_operator",
                "not_operator",
                "parenthesized_expression",
                "await",
                "yield",
            ),
            *("list", "tuple", "set", "dictionary", "pair", "expression_list", "slice", "subscript"),
            *("list_splat", "dictionary_splat", "string", "format_specifier", "format_expression"),
            *("concatenated_string", "expression_statement", "return_statement", "raise_statement", "call"),
        ],
        _in_order,
    ),
    "argument_list": _arguments,
    "attribute": _only("object"),
    "keyword_argument": _only("value"),
    "named_expression": _only("value"),
    "assignment": _only("right"),
    "if_statement": _only("condition"),
    "for_statement": _only("right"),
    "match_statement": _only("subject"),
    "for_in_clause": _only("right"),
    "augmented_assignment": _augmented,
    "boolean_operator": _only("left"),
    "comparison_operator": _comparison,
    "conditional_expression": _condition,
    "with_statement": _first,
    "with_clause": _first,
    "with_item": _first,
    "as_pattern": _first,
    "interpolation": _interpolation,
    **dict.fromkeys(
        ["list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"],
        _comprehension,
    ),
}
