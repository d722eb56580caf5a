"""What decorators hand to a parameter without an annotation: the values of `parametrize`, the types a decorator declares.

    @pytest.mark.parametrize(("kind", "text"), [(IntRange(0, 5), "3"), (FloatRange(), "1.5")])
    def test_convert(kind, text): ...           # `kind` is one of two instances

    def pass_context(f: Callable[Concatenate[Context, P], R]) -> Callable[P, R]: ...

    @pass_context
    def run(ctx): ...                           # `ctx` is declared by the decorator

Where it stops: names and values of `parametrize` that are not written out, and decorators that are not the innermost
(what is between may hand on something else).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsptools.languages.python import containers, fixtures
from lsptools.languages.python.classes import (
    Definition,
    Function,
    Parameter,
    class_in,
    last_name,
    positional_arguments,
)
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.values import UNKNOWN, FunctionValue, Types, union
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator
    from lsptools.languages.python.where import Where

_SHOWN = 64
"""So many rows of values are looked at; with more of them the answer is incomplete."""
_DISPLAYS = frozenset({"list", "tuple", "set", "expression_list"})


def handed_by_decorators(evaluator: Evaluator, function: Function, parameter: Parameter) -> Types:
    """What the decorators of a function hand to a parameter; unknown if they say nothing of it."""
    if not function.decorators:
        return _parametrized_in_class(evaluator, function, parameter)
    if fixtures.is_test(function):
        found = [*_rows(evaluator, function, parameter.name)]
        return union(found) if found else _parametrized_in_class(evaluator, function, parameter)
    return _declared(evaluator, function, parameter)


def _parametrized_in_class(evaluator: Evaluator, function: Function, parameter: Parameter) -> Types:
    if not function.in_class or not fixtures.is_test(function):
        return UNKNOWN
    found = [*_rows(evaluator, class_in(function.source, function.outer), parameter.name)]
    return union(found) if found else UNKNOWN


# ---------------------------------------------------------------------------------------------------- parametrize


def _rows(evaluator: Evaluator, definition: Definition, name: str) -> Iterator[Types]:
    source = definition.source
    for decorator, names in fixtures.parametrizing(definition):
        if name not in names:
            continue
        values = fixtures.keyword_of(source, decorator, "argvalues")
        if values is None:
            arguments = positional_arguments(decorator)
            values = arguments[1] if len(arguments) > 1 else None
        if values is not None:
            yield _column(evaluator, source, values, names.index(name), len(names))


def _column(evaluator: Evaluator, source: Source, values: Node, index: int, n: int) -> Types:
    """The values at an index of all rows."""
    if values.type not in _DISPLAYS:
        row = evaluator.iterated(evaluator.at(source, values))
        return row if n == 1 else containers.element_at(row, index, n)
    rows = [row for row in values.named_children if row.type != "comment"]
    found = [_cell(evaluator, source, row, index, n) for row in rows[:_SHOWN]]
    return union(found) if len(rows) <= _SHOWN else union([*found, UNKNOWN])


def _cell(evaluator: Evaluator, source: Source, row: Node, index: int, n: int) -> Types:
    if row.type == "call" and last_name(source, row) == "param":
        given = positional_arguments(row)
        return evaluator.at(source, given[index]) if len(given) == n else UNKNOWN
    if n == 1:
        return UNKNOWN if row.type == "list_splat" else evaluator.at(source, row)
    cells = [cell for cell in row.named_children if cell.type != "comment"]
    if row.type in _DISPLAYS and len(cells) == n:
        return evaluator.at(source, cells[index])
    return containers.element_at(evaluator.at(source, row), index, n)


# ---------------------------------------------------------------------------------------------------- declarations


def _declared(evaluator: Evaluator, function: Function, parameter: Parameter) -> Types:
    """The type that the innermost decorator declares for what it is given."""
    decorator = function.decorators[-1]
    if decorator.type == "call":
        return UNKNOWN
    index = function.parameters.index(parameter)
    if parameter.kind not in ("positional", "either"):
        return UNKNOWN
    found = [
        _of_callable(evaluator, value.function, index)
        for value in evaluator.at(function.source, decorator).values
        if isinstance(value, FunctionValue)
    ]
    return union(found) if found else UNKNOWN


def _of_callable(evaluator: Evaluator, decorator: Function, index: int) -> Types:
    """The type at an index of `f: Callable[[A, B], R]` or `f: Callable[Concatenate[A, P], R]`."""
    taken = decorator.parameters[0] if decorator.parameters else None
    if taken is None or taken.annotation is None or decorator.in_class:
        return UNKNOWN
    where = evaluator.where(decorator.source, decorator.scope.parent or decorator.source.module_scope)
    types = _parameter_types(where, taken.annotation)
    return evaluator.annotation(where, types[index]) if index < len(types) else UNKNOWN


def _parameter_types(where: Where, annotation: Node) -> list[Node]:
    node = annotation
    while node.type == "type" and node.named_children:
        node = node.named_children[0]
    inner = _arguments_of(where, node, "Callable")
    if not inner:
        return []
    first = inner[0]
    while first.type == "type" and first.named_children:
        first = first.named_children[0]
    if first.type == "list":
        return [child for child in first.named_children if child.type != "comment"]
    return _arguments_of(where, first, "Concatenate")[:-1]


def _arguments_of(where: Where, node: Node, name: str) -> list[Node]:
    """What stands in the brackets of `name[…]`; nothing for another name."""
    if node.type not in ("subscript", "generic_type") or not node.named_children:
        return []
    if where.read(node.named_children[0]).rpartition(".")[2] != name:
        return []
    found: list[Node] = []
    for child in node.named_children[1:]:
        found.extend(child.named_children if child.type == "type_parameter" else [child])
    return [child for child in found if child.type != "comment"]
