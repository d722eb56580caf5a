"""Tests that are decided on the way to an expression: `isinstance(…)` in conditions, assertions, early exits, class patterns.

A test that holds allows its classes; one that does not takes them away. Where it stops: a class told apart by anything
else than `isinstance`, `type(…) is` and patterns; a binding that a call changes in between.
"""

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
    Foreign,
    InstanceValue,
    Types,
    Value,
    instances,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


def narrowed(evaluator: Evaluator, where: Where, node: Node, types: Types) -> Types:
    """What the tests and class patterns around an expression leave of the values that it may have."""
    if where.at is not None or node.type not in ("identifier", "attribute"):
        return types
    if not is_tested(where, node) and not _has_cases(where.source):
        return types
    text = where.read(node)
    path, _ = where.source.descend(node.start_byte)
    denied: list[Types] = []
    for index in range(len(path) - 1, 0, -1):
        above, field = path[index - 1][0], path[index][1]
        if above.type in ("function_definition", "class_definition"):
            break
        if above.type == "case_clause" and path[index][0].type != "case_pattern":
            allowed, others = _matched_classes(path[: index - 1], above, text)
            denied += [_of_patterns(evaluator, where, [pattern]) for pattern in others]
            if allowed:
                return _without(
                    evaluator, _allowed(evaluator, types, _of_patterns(evaluator, where, allowed)), denied
                )
        tests = (
            _before_in_block(where.source, above, path[index][0], text.encode())
            if above.type == "block"
            else _tests_around(above, field, path[index][0])
        )
        for call, holds in tests:
            subject, classes = _parts(call)
            if subject is None or classes is None or where.read(subject) != text:
                continue
            if _bound_between(evaluator, where, node, call.end_byte):
                continue
            named = instances(evaluator.evaluate(where, classes))
            if holds:
                return _without(evaluator, _allowed(evaluator, types, named), denied)
            denied.append(named)
    return _without(evaluator, types, denied)


def _of_patterns(evaluator: Evaluator, where: Where, patterns: Sequence[Node]) -> Types:
    return union(
        instances(evaluator.dotted(where.source, where.scope, each.named_children[0])) for each in patterns
    )


def _allowed(evaluator: Evaluator, types: Types, allowed: Types) -> Types:
    """What is left when a test allows these classes: what is known without it, if that is less."""
    return types if _is_narrower(evaluator, types, allowed) else allowed


def _is_narrower(evaluator: Evaluator, types: Types, allowed: Types) -> bool:
    """Is what is known without a test a subclass of all that the test allows?"""
    classes = [value.cls for value in allowed.values if isinstance(value, InstanceValue)]
    known = [value.cls for value in types.values if isinstance(value, InstanceValue)]
    if not (types.complete and known and len(known) == len(types.values)):
        return False
    return all(any(cls in evaluator.order(each) for cls in classes) for each in known)


def _without(evaluator: Evaluator, types: Types, denied: Sequence[Types]) -> Types:
    """The values that are instances of none of these classes; all of them, where none would be left."""
    if not denied or len(types.values) < 2:
        return types
    gone = {value for each in denied for value in each.values}
    left = tuple(value for value in types.values if not _is_among(evaluator, value, gone))
    return Types(left, types.complete) if left else types


def _is_among(evaluator: Evaluator, value: Value, gone: set[Value]) -> bool:
    if isinstance(value, InstanceValue):
        return any(InstanceValue(cls) in gone for cls in evaluator.order(value.cls))
    return isinstance(value, Foreign) and any(
        isinstance(each, Foreign) and each.name == value.name for each in gone
    )


def _bound_between(evaluator: Evaluator, where: Where, node: Node, tested: int) -> bool:
    """Is a name bound again after it was tested, also further down in a loop?"""
    name = where.read(node)
    names = where.source.names(name)
    owner = names.scope_of(where.scope, name)
    sites = names.bindings(owner, name) if owner is not None else []
    if not sites or sites[-1].start < tested:
        return False
    around = [each for each, _ in where.source.descend(node.start_byte)[0] if each.type in _LOOPS]
    loop = next((each for each in around if each.start_byte >= tested), None)
    end = loop.end_byte if loop is not None else 0
    return any(
        tested <= site.start and (site.takes_effect() <= node.start_byte or site.start < end)
        for site in sites
    )


_LOOPS = frozenset({"for_statement", "while_statement"})


def is_tested(where: Where, node: Node) -> bool:
    """Does the file ask for the class of this name or attribute anywhere? Most are never asked about."""
    if where.at is not None or node.type not in ("identifier", "attribute"):
        return False
    memo, key = where.source.memo, "tested for a class"
    tested = memo.get(key)
    if not isinstance(tested, frozenset):
        tested = memo[key] = frozenset(_TESTED.findall(where.source.bytes))
    return where.text[node.start_byte : node.end_byte] in tested


def _has_cases(source: Source) -> bool:
    """May there be a `match` statement in the file?"""
    memo, key = source.memo, "cases"
    if key not in memo:
        memo[key] = _CASE.search(source.bytes) is not None
    return memo[key] is True


def _matched_classes(
    outside: Sequence[tuple[Node, str | None]], clause: Node, text: str
) -> tuple[list[Node], list[Node]]:
    """For a case of a statement that matches `text`: its class patterns, if it admits nothing else, and those that took all
    instances of a class before.
    """
    statement = next((node for node, _ in reversed(outside) if node.type == "match_statement"), None)
    subjects = statement.children_by_field_name("subject") if statement is not None else []
    patterns = _patterns_of(clause)
    if len(subjects) != 1 or subjects[0].text != text.encode() or len(patterns) != 1:
        return [], []
    block = clause.parent
    before = (
        [] if block is None else [each for each in block.named_children if each.end_byte <= clause.start_byte]
    )
    taken: list[Node] = []
    for each in before[-_NEAREST:]:
        if each.type == "case_clause" and each.child_by_field_name("guard") is None:
            found = [pattern for inner in _patterns_of(each) for pattern in _class_patterns(inner)]
            taken += [pattern for pattern in found if pattern.named_child_count == 1]
    return _class_patterns(patterns[0]), taken


def _patterns_of(clause: Node) -> list[Node]:
    return [child for child in clause.named_children if child.type == "case_pattern"]


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


def _tests_around(above: Node, field: str | None, child: Node) -> Iterator[tuple[Node, bool]]:
    """The tests that were decided, and how, given that control came from `above` into its `child`."""
    kind = above.type
    if kind in ("if_statement", "elif_clause", "while_statement") and field in ("consequence", "body"):
        yield from _decided(above.child_by_field_name("condition"), True)
    elif kind == "if_statement" and field == "alternative":
        before = [
            each for each in above.children_by_field_name("alternative") if each.end_byte <= child.start_byte
        ]
        for branch in reversed([above, *before][-_NEAREST:]):
            yield from _decided(branch.child_by_field_name("condition"), False)
    elif kind == "boolean_operator" and field == "right":
        left, operator = above.child_by_field_name("left"), above.child_by_field_name("operator")
        if operator is not None:
            yield from _decided(left, operator.type == "and")
    elif kind == "conditional_expression" and above.named_child_count == 3:
        first, test, last = above.named_children
        if child.id in (first.id, last.id):
            yield from _decided(test, child.id == first.id)
    elif kind in _COMPREHENSIONS and field == "body":
        for part in above.named_children:
            if part.type == "if_clause":
                yield from _decided(part, True)


def _before_in_block(source: Source, block: Node, child: Node, text: bytes) -> Iterator[tuple[Node, bool]]:
    """Tests of an expression that stand before a statement in its block, the nearest first."""
    memo, key = source.memo, ("tests in block", block.start_byte, block.end_byte)
    known = memo.get(key)
    tests: dict[bytes, list[tuple[int, int, bool]]] = known if isinstance(known, dict) else {}
    if known is None:
        memo[key] = tests
        for statement in block.named_children:
            for call, holds in _tests_of(statement):
                subject, _ = _parts(call)
                if subject is not None and subject.text is not None:
                    tests.setdefault(subject.text, []).append((call.start_byte, call.end_byte, holds))
    found = tests.get(text, [])
    n_before = bisect_left(found, (child.start_byte,))
    for start, end, holds in reversed(found[max(0, n_before - _NEAREST) : n_before]):
        yield source.node_at(start, end), holds


_NEAREST = 16
"""So many tests of the same expression in the same block, and so many branches or cases before one, are looked at."""


def _tests_of(statement: Node) -> Iterator[tuple[Node, bool]]:
    """The tests that are decided after a statement: an assertion, `if not isinstance(…): return`."""
    if statement.type == "assert_statement":
        yield from _decided(statement, True)
    elif statement.type == "if_statement":
        others = statement.children_by_field_name("alternative")
        for branch in (statement, *others):
            if not _exits(branch.child_by_field_name("consequence")):
                break
            yield from _decided(branch.child_by_field_name("condition"), False)
        else:
            return
        if branch is statement and len(others) == 1 and _exits(others[0].child_by_field_name("body")):
            yield from _decided(statement.child_by_field_name("condition"), True)


def _exits(block: Node | None) -> bool:
    """Does control leave a block by its last statement?"""
    last = block.named_children[-1] if block is not None and block.named_children else None
    return last is not None and last.type in _EXITS


def _decided(test: Node | None, holds: bool) -> Iterator[tuple[Node, bool]]:
    """The calls of `isinstance` and `type` that are decided when a test holds or does not, and how."""
    if test is None:
        return
    kind = test.type
    if kind == "call":
        function = test.child_by_field_name("function")
        if function is not None and function.text == b"isinstance":
            yield test, holds
    elif kind == "comparison_operator" and holds:
        first = test.named_children[0]
        if test.named_child_count == 2 and _operator_of(test) in ("is", "==") and _is_type_call(first):
            yield first, True
    elif kind in ("parenthesized_expression", "assert_statement", "if_clause"):
        for inner in test.named_children[:1]:
            yield from _decided(inner, holds)
    elif kind == "not_operator":
        yield from _decided(test.child_by_field_name("argument"), not holds)
    elif kind == "boolean_operator" and _operator_of(test) == ("and" if holds else "or"):
        for inner in test.named_children:
            yield from _decided(inner, holds)


def _parts(call: Node) -> tuple[Node | None, Node | None]:
    """What a test asks about, and the expression of the classes: `isinstance(x, C)`, `type(x) is C`."""
    arguments = positional_arguments(call)
    if len(arguments) == 2:
        return arguments[0], arguments[1]
    test = call.parent
    if len(arguments) != 1 or test is None or test.named_child_count != 2:
        return None, None
    return arguments[0], test.named_children[1]


def _is_type_call(node: Node) -> bool:
    function = node.child_by_field_name("function") if node.type == "call" else None
    return function is not None and function.text == b"type" and len(positional_arguments(node)) == 1


def _operator_of(test: Node) -> str:
    if test.type == "boolean_operator":
        operator = test.child_by_field_name("operator")
    else:
        operator = test.child_by_field_name("operators")
    return operator.type if operator is not None else ""


_CASE = re.compile(rb"(?:\A|[\r\n])[ \t\f]*case\b")
_TESTED = re.compile(rb"\b(?:isinstance|type)\(\s*([\w.]+)")
