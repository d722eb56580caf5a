"""What a call gives: constructors, return annotations, else the `return` statements of the body.

Where it stops: a function whose decorators are not known to hand it on, generators without annotations, and methods that do
nothing but say that they are to be overridden, give nothing that is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsptools.languages.python import containers, replaced
from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    last_name,
    positional_arguments,
)
from lsptools.languages.python.decorators import MANAGES, TRANSPARENT
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.records import MAKERS
from lsptools.languages.python.values import (
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    SuperValue,
    Types,
    Value,
    instances,
    just,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


def call(evaluator: Evaluator, where: Where, node: Node) -> Types:
    function = node.child_by_field_name("function")
    if function is None:
        return UNKNOWN
    if function.type == "identifier" and where.read(function) == "super":
        return _super(evaluator, where, node)
    special = _special_call(evaluator, where, node, function)
    if special is not None:
        return special
    callee = evaluator.evaluate(where, function)
    found = [called(evaluator, value, where, node) for value in callee.values]
    return union(found) if callee.complete else union([*found, UNKNOWN])


def called(evaluator: Evaluator, value: Value, where: Where, node: Node) -> Types:
    """What calling a value gives."""
    if isinstance(value, ClassValue):
        return replaced.constructed(evaluator, value.cls)
    if isinstance(value, FunctionValue):
        return evaluator.returned(value.function, value.owner)
    if isinstance(value, InstanceValue):
        function = evaluator.method(value.cls, "__call__")
        return evaluator.returned(function, value.cls) if function is not None else UNKNOWN
    if isinstance(value, ForeignClass):
        return containers.foreign_call(value, argument_types(evaluator, where, node))
    if isinstance(value, Foreign):
        return containers.foreign_result(value)
    return UNKNOWN


def argument_types(evaluator: Evaluator, where: Where, node: Node) -> list[Types]:
    return [evaluator.evaluate(where, argument) for argument in positional_arguments(node)]


def _super(evaluator: Evaluator, where: Where, node: Node) -> Types:
    cls = _class_around(where)
    return just(SuperValue(cls)) if cls is not None else UNKNOWN


def _class_around(where: Where) -> Class | None:
    scope = where.scope.enclosing_class()
    return class_in(where.source, scope) if scope is not None else None


def _special_call(evaluator: Evaluator, where: Where, node: Node, function: Node) -> Types | None:
    """Calls whose result is one of their arguments: `cast`, `copy`, `replace`, `type`."""
    name = last_name(where.source, function) if where.at is None else ""
    if name in MAKERS:
        record = evaluator.record(where.source, node)
        return just(ClassValue(record)) if record is not None else None
    arguments = positional_arguments(node)
    if name == "__new__" and arguments:
        return instances(evaluator.evaluate(where, arguments[0]))
    if name == "cast" and len(arguments) == 2:
        return evaluator.annotation(where, arguments[0])
    if (
        name in ("replace", "copy", "deepcopy", "evolve")
        and arguments
        and _is_plain(evaluator, where, function)
    ):
        return evaluator.evaluate(where, arguments[0])
    if name in _RECORD_METHODS and function.type == "attribute":
        receiver = function.child_by_field_name("object")
        types = evaluator.at(where.source, receiver) if receiver is not None else UNKNOWN
        return _record_call(
            evaluator, types, name, literal_string(where.source, arguments[0]) if arguments else None
        )
    if name in ("partial", "partialmethod") and arguments:
        return evaluator.evaluate(where, arguments[0])
    if name == "type" and len(arguments) == 1 and function.type == "identifier":
        inner = evaluator.evaluate(where, arguments[0])
        classes = tuple(ClassValue(value.cls) for value in inner.values if isinstance(value, InstanceValue))
        return Types(classes, inner.complete and len(classes) == len(inner.values))
    return None


def _record_call(evaluator: Evaluator, receiver: Types, name: str, key: str | None) -> Types | None:
    """Methods that every record has: a copy of a value, `P._make(…)`, `movie.get("title")`."""
    found: list[Types] = []
    for value in receiver.values:
        if not isinstance(value, (InstanceValue, ClassValue)) or evaluator.method(value.cls, name):
            continue
        if name in ("get", "pop", "setdefault"):
            if key is not None and isinstance(value, InstanceValue) and evaluator.is_typed_dict(value.cls):
                found.append(evaluator.class_attribute(value, key, key) | just(Foreign("None")))
        elif (name == "_make") is isinstance(value, ClassValue):
            found.append(just(InstanceValue(value.cls)))
    if not found:
        return None
    return union(found) if receiver.complete else union([*found, UNKNOWN])


def _is_plain(evaluator: Evaluator, where: Where, function: Node) -> bool:
    """Is this a function by name or of a module, not a method?"""
    if function.type == "identifier":
        return True
    receiver = function.child_by_field_name("object")
    types = evaluator.evaluate(where, receiver) if receiver is not None else UNKNOWN
    return bool(types.values) and all(isinstance(value, ModuleValue) for value in types.values)


def declared_return(evaluator: Evaluator, function: Function, owner: Class | None) -> Types | None:
    node = function.node.child_by_field_name("return_type")
    if node is None:
        return None
    scope = function.scope.parent or function.source.module_scope
    where = Where(function.source, scope, function.source.bytes)
    return evaluator.annotation(where, node, owner)


def body_return(evaluator: Evaluator, function: Function) -> Types:
    if function.node.type == "lambda":
        value = function.node.child_by_field_name("body")
        return evaluator.at(function.source, value) if value is not None else UNKNOWN
    if function.is_overload:
        return UNKNOWN
    names = [name for name in function.decorator_names if name not in TRANSPARENT]
    is_manager = function.is_generator and names and names[0] in MANAGES
    if any(not name.endswith("property") for name in (names[1:] if is_manager else names)):
        return UNKNOWN
    found = []
    for statement in function.returns:
        value = statement.named_children[0] if statement.named_children else None
        found.append(evaluator.at(function.source, value) if value is not None else just(Foreign("None")))
    if function.is_generator:
        given = _yielded(evaluator, function)
        if is_manager:
            return just(Foreign("contextmanager", (given,)))
        return just(Foreign("Generator", (given, UNKNOWN, union(found) if found else just(Foreign("None")))))
    if found:
        return union(found)
    return UNKNOWN if function.in_class and is_left_to_subclasses(function) else just(Foreign("None"))


def _yielded(evaluator: Evaluator, function: Function) -> Types:
    """What a generator hands out."""
    found: list[Types] = []
    for node in function.yields:
        value = node.named_children[0] if node.named_children else None
        types = evaluator.at(function.source, value) if value is not None else just(Foreign("None"))
        found.append(evaluator.iterated(types) if is_yield_from(node) else types)
    return union(found)


def is_yield_from(node: Node) -> bool:
    return any(child.type == "from" for child in node.children)


def yield_result(evaluator: Evaluator, where: Where, node: Node) -> Types:
    """What a `yield` gives back: of `yield from` what the generator returns, else whatever is sent."""
    if not is_yield_from(node) or not node.named_children:
        return UNKNOWN
    types = evaluator.evaluate(where, node.named_children[0])
    found = [
        value.elements[2]
        if isinstance(value, Foreign) and value.name == "Generator" and len(value.elements) > 2
        else UNKNOWN
        for value in types.values
    ]
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def is_left_to_subclasses(function: Function) -> bool:
    """Does a method do nothing but say that it is to be overridden?"""
    if any(name.startswith("abstract") for name in function.decorator_names):
        return True
    body = function.node.child_by_field_name("body")
    statements = (
        [child for child in body.named_children if child.type != "comment"] if body is not None else []
    )
    if statements and statements[0].type == "expression_statement":
        first = statements[0].named_children
        if first and first[0].type == "string":
            statements = statements[1:]
    return all(
        statement.type in ("pass_statement", "raise_statement")
        or (statement.type == "expression_statement" and statement.text == b"...")
        for statement in statements
    )


_RECORD_METHODS = frozenset(
    {"_replace", "__replace__", "__copy__", "model_copy", "_make", "get", "pop", "setdefault"}
)
