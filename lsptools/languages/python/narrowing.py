"""Tests that hold on the way to an expression: `isinstance(…)` in conditions, assertions, and early exits before it."""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.syntax.tree import Node

_EXITS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_COMPREHENSIONS = frozenset({"list_comprehension", "generator_expression", "set_comprehension"})


def instance_tests(above: Node, field: str | None, child: Node) -> Iterator[Node]:
    """The `isinstance(…)` calls that were true, given that control came from `above` into its `child`."""
    kind = above.type
    if kind in ("if_statement", "elif_clause", "while_statement") and field in ("consequence", "body"):
        yield from _true_in(above.child_by_field_name("condition"))
    elif kind == "boolean_operator" and field == "right":
        left, operator = above.child_by_field_name("left"), above.child_by_field_name("operator")
        if operator is not None:
            yield from _true_in(left) if operator.type == "and" else _false_in(left)
    elif kind == "conditional_expression" and above.named_child_count == 3:
        first, test, last = above.named_children
        if child.id == first.id:
            yield from _true_in(test)
        elif child.id == last.id:
            yield from _false_in(test)
    elif kind == "block":
        yield from _before_in_block(child)
    elif kind in _COMPREHENSIONS and field == "body":
        for part in above.named_children:
            if part.type == "if_clause":
                yield from _true_in(part)


def _before_in_block(child: Node) -> Iterator[Node]:
    """Assertions, and `if not isinstance(…): return`, that stand before a statement in its block."""
    before = child.prev_named_sibling
    while before is not None:
        if before.type == "assert_statement":
            yield from _true_in(before)
        elif before.type == "if_statement" and before.child_by_field_name("alternative") is None:
            body = before.child_by_field_name("consequence")
            last = body.named_children[-1] if body is not None and body.named_children else None
            if last is not None and last.type in _EXITS:
                yield from _false_in(before.child_by_field_name("condition"))
        before = before.prev_named_sibling


def _true_in(test: Node | None) -> Iterator[Node]:
    """Calls that are true when the test is."""
    if test is None:
        return
    if test.type == "call":
        function = test.child_by_field_name("function")
        if function is not None and function.text == b"isinstance":
            yield test
    elif test.type in ("parenthesized_expression", "assert_statement", "if_clause"):
        for inner in test.named_children[:1]:
            yield from _true_in(inner)
    elif test.type == "not_operator":
        yield from _false_in(test.child_by_field_name("argument"))
    elif _is_operator(test, "and"):
        for inner in test.named_children:
            yield from _true_in(inner)


def _false_in(test: Node | None) -> Iterator[Node]:
    """Calls that are true when the test is false."""
    if test is None:
        return
    if test.type == "not_operator":
        yield from _true_in(test.child_by_field_name("argument"))
    elif test.type == "parenthesized_expression":
        for inner in test.named_children[:1]:
            yield from _false_in(inner)
    elif _is_operator(test, "or"):
        for inner in test.named_children:
            yield from _false_in(inner)


def _is_operator(test: Node, word: str) -> bool:
    if test.type != "boolean_operator":
        return False
    operator = test.child_by_field_name("operator")
    return operator is not None and operator.type == word
