"""What expressions other than names, attributes and calls give: subscripts, operators, displays, comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lsptools.languages.python import containers
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.values import (
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    InstanceValue,
    Types,
    Value,
    just,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


Expression = Callable[["Evaluator", Where, Node], Types]


def _await(evaluator: Evaluator, where: Where, node: Node) -> Types:
    inner = evaluator.evaluate(where, node.named_children[0]) if node.named_children else UNKNOWN
    return containers.elements_of(inner, ("Awaitable", "Coroutine", "Future", "Task"), -1)


def _subscript(evaluator: Evaluator, where: Where, node: Node) -> Types:
    value = node.child_by_field_name("value")
    if value is None:
        return UNKNOWN
    base = evaluator.evaluate(where, value)
    index = node.child_by_field_name("subscript")
    if index is not None and index.type == "slice":
        found = [_slice(evaluator, each) for each in base.values]
        return union(found) if base.complete else union([*found, UNKNOWN])
    key = literal_string(where.source, index) if index is not None and where.at is None else None
    found = [_item(evaluator, each, key) for each in base.values]
    return union(found) if base.complete else union([*found, UNKNOWN])


def _item(evaluator: Evaluator, value: Value, key: str | None = None) -> Types:
    if key is not None and isinstance(value, InstanceValue) and evaluator.is_typed_dict(value.cls):
        return evaluator.class_attribute(value, key, key)
    if isinstance(value, ClassValue):
        return just(InstanceValue(value.cls)) if evaluator.is_enum(value.cls) else just(value)
    if isinstance(value, ForeignClass):
        return just(value)
    if isinstance(value, Foreign):
        return containers.item_of(value)
    if isinstance(value, InstanceValue):
        function = evaluator.method(value.cls, "__getitem__")
        return evaluator.returned(function, value.cls) if function is not None else UNKNOWN
    return UNKNOWN


def _slice(evaluator: Evaluator, value: Value) -> Types:
    """`value[a:b]`: a builtin gives one of its own kind."""
    if not isinstance(value, Foreign):
        return _item(evaluator, value)
    if value.name == "tuple":
        return just(Foreign("tuple*", (containers.iteration_of(just(value)),)))
    return just(value)


def _either(evaluator: Evaluator, where: Where, node: Node) -> Types:
    """`a if b else c`, `a or b`, `a and b`."""
    operands = node.named_children
    if node.type == "conditional_expression" and len(operands) == 3:
        operands = [operands[0], operands[2]]
    return union(evaluator.evaluate(where, operand) for operand in operands if operand.type != "comment")


def _inner(evaluator: Evaluator, where: Where, node: Node) -> Types:
    inner = [child for child in node.named_children if child.type != "comment"]
    return evaluator.evaluate(where, inner[-1]) if inner else UNKNOWN


def _walrus(evaluator: Evaluator, where: Where, node: Node) -> Types:
    value = node.child_by_field_name("value")
    return evaluator.evaluate(where, value) if value is not None else UNKNOWN


def _binary(evaluator: Evaluator, where: Where, node: Node) -> Types:
    """Arithmetic between builtins gives builtins; a class of ours may say what its operator gives."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return UNKNOWN
    one, other = evaluator.evaluate(where, left), evaluator.evaluate(where, right)
    if _is_foreign(one) and _is_foreign(other):
        return one
    name = _OPERATORS.get(operator.type, "")
    found = [
        _operated(evaluator, value, f"__{name}__")
        or union(_operated(evaluator, each, f"__r{name}__") or UNKNOWN for each in other.values)
        for value in one.values
    ]
    return union(found) if one.complete and other.complete and found else union([*found, UNKNOWN])


def _unary(evaluator: Evaluator, where: Where, node: Node) -> Types:
    operand, operator = node.child_by_field_name("argument"), node.child_by_field_name("operator")
    if operand is None or operator is None:
        return UNKNOWN
    types = evaluator.evaluate(where, operand)
    if _is_foreign(types):
        return types
    found = [_operated(evaluator, value, _UNARY.get(operator.type, "")) or UNKNOWN for value in types.values]
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def in_place(evaluator: Evaluator, types: Types, operator: str) -> Types:
    """What methods of ours make of a value by `+=` and its like; nothing that is new for other values."""
    name = _OPERATORS.get(operator.rstrip("="), "")
    found = [
        _operated(evaluator, value, f"__i{name}__") or _operated(evaluator, value, f"__{name}__")
        for value in types.values
    ]
    return union(each for each in found if each is not None)


def _operated(evaluator: Evaluator, value: Value, method: str) -> Types | None:
    """What an operator gives by this method of an instance of ours; None: it has none."""
    function = evaluator.method(value.cls, method) if isinstance(value, InstanceValue) and method else None
    if function is None or not isinstance(value, InstanceValue):
        return None
    return evaluator.returned(function, value.cls)


def _is_foreign(types: Types) -> bool:
    return types.complete and all(isinstance(value, Foreign) for value in types.values)


_OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "@": "matmul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "^": "xor",
    "|": "or",
}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def _display(evaluator: Evaluator, where: Where, node: Node) -> Types:
    """List, set, tuple and dictionary displays."""
    kind = {"expression_list": "tuple", "dictionary": "dict"}.get(node.type, node.type)
    children = [child for child in node.named_children if child.type != "comment"]
    if kind == "dict":
        pairs = [child for child in children if child.type == "pair"]
        keys = [child.child_by_field_name("key") for child in pairs]
        values = [child.child_by_field_name("value") for child in pairs]
        elements = (_joined(evaluator, where, keys), _joined(evaluator, where, values))
        if len(pairs) != len(children):
            elements = (UNKNOWN, UNKNOWN)
        return just(Foreign("dict", elements))
    if kind == "tuple":
        return just(Foreign("tuple", tuple(evaluator.evaluate(where, child) for child in children[:8])))
    return just(Foreign(kind, (_joined(evaluator, where, children),)))


def _joined(evaluator: Evaluator, where: Where, nodes: Iterable[Node | None]) -> Types:
    chosen = [node for node in nodes if node is not None][:24]
    return union(evaluator.evaluate(where, node) for node in chosen) if chosen else UNKNOWN


def _comprehension(evaluator: Evaluator, where: Where, node: Node) -> Types:
    body = node.child_by_field_name("body")
    kind = {"list_comprehension": "list", "set_comprehension": "set", "dictionary_comprehension": "dict"}
    if body is None or where.at is not None:
        return UNKNOWN
    name = kind.get(node.type, "Generator")
    if body.type == "pair":
        parts = [body.child_by_field_name("key"), body.child_by_field_name("value")]
        types = tuple(evaluator.at(where.source, part) if part is not None else UNKNOWN for part in parts)
        return just(Foreign(name, types))
    return just(Foreign(name, (evaluator.at(where.source, body),)))


HANDLERS: dict[str, Expression] = {
    "await": _await,
    "subscript": _subscript,
    "conditional_expression": _either,
    "boolean_operator": _either,
    "parenthesized_expression": _inner,
    "named_expression": _walrus,
    "binary_operator": _binary,
    "unary_operator": _unary,
    "list": _display,
    "set": _display,
    "tuple": _display,
    "expression_list": _display,
    "dictionary": _display,
    "list_comprehension": _comprehension,
    "set_comprehension": _comprehension,
    "dictionary_comprehension": _comprehension,
    "generator_expression": _comprehension,
}
"""By the type of the node."""
