"""Tests that hold on the way to an expression: `isinstance(…)` in conditions, assertions, and early exits before it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsptools.languages.python.classes import (
    positional_arguments,
)
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.values import (
    InstanceValue,
    Types,
    instances,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


def narrowed(evaluator: Evaluator, where: Where, node: Node) -> Types | None:
    """What `isinstance` tests and class patterns around the expression leave of it."""
    if where.at is not None or node.type not in ("identifier", "attribute"):
        return None
    if b"isinstance" not in where.source.bytes and b"match" not in where.source.bytes:
        return None
    text = where.read(node)
    path, _ = where.source.descend(node.start_byte)
    for index in range(len(path) - 1, 0, -1):
        above, field = path[index - 1][0], path[index][1]
        if above.type in ("function_definition", "class_definition"):
            return None
        if above.type == "case_clause" and path[index][0].type != "case_pattern":
            patterns = _matched_classes(where, path[: index - 1], above, text)
            if patterns:
                return union(
                    instances(evaluator.dotted(where.source, where.scope, each.named_children[0]))
                    for each in patterns
                )
        tests = (
            _before_in_block(where.source, above, path[index][0], text.encode())
            if above.type == "block"
            else _instance_tests(above, field, path[index][0])
        )
        for call in tests:
            arguments = positional_arguments(call)
            tested = len(arguments) == 2 and where.read(arguments[0]) == text
            if tested and not _bound_between(evaluator, where, node, call.end_byte):
                return instances(evaluator.evaluate(where, arguments[1]))
    return None


def is_narrower(evaluator: Evaluator, types: Types, narrowed: Types) -> bool:
    """Is what is known without a test a subclass of all that the test allows?"""
    allowed = [value.cls for value in narrowed.values if isinstance(value, InstanceValue)]
    known = [value.cls for value in types.values if isinstance(value, InstanceValue)]
    if not (types.complete and known and len(known) == len(types.values)):
        return False
    return all(any(cls in evaluator.order(each) for cls in allowed) for each in known)


def _bound_between(evaluator: Evaluator, where: Where, node: Node, tested: int) -> bool:
    """Is a name bound again after it was tested?"""
    name = where.read(node)
    names = where.source.names(name)
    owner = names.scope_of(where.scope, name)
    sites = names.bindings(owner, name) if owner is not None else []
    return any(tested <= site.start and site.takes_effect() <= node.start_byte for site in sites)


def is_tested(where: Where, node: Node) -> bool:
    """Does the file ask `isinstance` about this name or attribute anywhere? Most are never asked about."""
    if where.at is not None or node.type not in ("identifier", "attribute"):
        return False
    memo, key = where.source.memo, "tested by isinstance"
    tested = memo.get(key)
    if not isinstance(tested, frozenset):
        tested = memo[key] = frozenset(_TESTED.findall(where.source.bytes))
    return where.text[node.start_byte : node.end_byte] in tested


def _matched_classes(
    where: Where, outside: Sequence[tuple[Node, str | None]], clause: Node, text: str
) -> list[Node]:
    """The class patterns of a case, if all it admits are such and `text` is what is matched; else none."""
    statement = next((node for node, _ in reversed(outside) if node.type == "match_statement"), None)
    subjects = statement.children_by_field_name("subject") if statement is not None else []
    patterns = [child for child in clause.named_children if child.type == "case_pattern"]
    if len(subjects) != 1 or where.read(subjects[0]) != text or len(patterns) != 1:
        return []
    return _class_patterns(patterns[0])


def _class_patterns(pattern: Node) -> list[Node]:
    inner = pattern.named_children
    if pattern.type == "class_pattern":
        return [pattern]
    if pattern.type in ("case_pattern", "as_pattern") and inner:
        return _class_patterns(inner[0])
    if pattern.type == "union_pattern":
        found = [_class_patterns(each) for each in inner]
        return [each for part in found for each in part] if all(found) else []
    return []


_EXITS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_COMPREHENSIONS = frozenset({"list_comprehension", "generator_expression", "set_comprehension"})


def _instance_tests(above: Node, field: str | None, child: Node) -> Iterator[Node]:
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
    elif kind in _COMPREHENSIONS and field == "body":
        for part in above.named_children:
            if part.type == "if_clause":
                yield from _true_in(part)


def _before_in_block(source: Source, block: Node, child: Node, text: bytes) -> Iterator[Node]:
    """Tests of an expression that stand before a statement in its block, the nearest first."""
    memo, key = source.memo, ("tests in block", block.start_byte, block.end_byte)
    known = memo.get(key)
    tests: dict[bytes, list[tuple[int, int]]] = known if isinstance(known, dict) else {}
    if known is None:
        memo[key] = tests
        for statement in block.named_children:
            for call in _tests_of(statement):
                arguments = positional_arguments(call)
                if len(arguments) == 2 and arguments[0].text is not None:
                    tests.setdefault(arguments[0].text, []).append((call.start_byte, call.end_byte))
    found = tests.get(text, [])
    n_before = bisect_left(found, (child.start_byte, 0))
    for start, end in reversed(found[max(0, n_before - _NEAREST) : n_before]):
        yield source.node_at(start, end)


_NEAREST = 8
"""So many tests of the same expression in the same block are looked at."""


def _tests_of(statement: Node) -> Iterator[Node]:
    """The tests that hold after a statement: an assertion, `if not isinstance(…): return`."""
    if statement.type == "assert_statement":
        yield from _true_in(statement)
    elif statement.type == "if_statement" and statement.child_by_field_name("alternative") is None:
        body = statement.child_by_field_name("consequence")
        last = body.named_children[-1] if body is not None and body.named_children else None
        if last is not None and last.type in _EXITS:
            yield from _false_in(statement.child_by_field_name("condition"))


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


_TESTED = re.compile(rb"\bisinstance\(\s*([\w.]+)")
