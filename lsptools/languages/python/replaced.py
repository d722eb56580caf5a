"""What stands under a name whose definition was replaced: by a decorator, a metaclass's `__call__`, `__new__`, a descriptor.

    @plugin                      # def plugin(cls): return Registered(cls)
    class Loader: ...            # `Loader` is a `Registered`

Only code of the workspace is followed; decorators of libraries are taken to hand on what they get. Where the replacement is not
known, the original is one of the values, and the answer is incomplete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsptools.languages.python.classes import Class, Definition, Function
from lsptools.languages.python.decorators import OF_THE_LIBRARY
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.values import (
    NOTHING,
    UNKNOWN,
    ClassValue,
    Foreign,
    FunctionValue,
    InstanceValue,
    SuperValue,
    Types,
    Value,
    just,
    union,
)
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator

_Bound = ClassValue | InstanceValue | SuperValue


def class_value(evaluator: Evaluator, cls: Class) -> Types:
    """The values of a class's name: the class, or what its decorators put in its place."""
    types = just(ClassValue(cls))
    for decorator in reversed(_followed(cls)):
        types = _decorated(evaluator, cls.source, decorator, types)
    return types


def function_value(evaluator: Evaluator, function: Function) -> Types:
    """The values of a function's name. A class that is the decorator makes an instance, which calls may still reach."""
    types = just(FunctionValue(function))
    for decorator in _followed(function):
        made = _made_by_class(evaluator, function.source, decorator)
        types = union([types, made]) if made.values else types
    return types


def wrappers(evaluator: Evaluator, function: Function) -> list[Function]:
    """The functions that decorators of ours return in place of a function."""
    found: list[Function] = []
    for decorator in _followed(function):
        for value in _returned_by(evaluator, function.source, decorator).values:
            if isinstance(value, FunctionValue) and value.function is not function:
                found.append(value.function)
    return found


def property_value(evaluator: Evaluator, function: Function, value: _Bound) -> Types | None:
    """What `value.name` gives where a decorator of ours makes a descriptor of the method; None: none does."""
    for decorator in _followed(function):
        for made in _made_by_class(evaluator, function.source, decorator).values:
            if isinstance(made, InstanceValue):
                getter = evaluator.method(made.cls, "__get__")
                if getter is not None:
                    return union(
                        [
                            evaluator.returned(getter, made.cls),
                            evaluator.returned(function, value.cls),
                            UNKNOWN,
                        ]
                    )
        for returned in _returned_by(evaluator, function.source, decorator).values:
            if isinstance(returned, Foreign) and returned.name == "property":
                return evaluator.returned(function, value.cls)
    return None


def gotten(evaluator: Evaluator, types: Types) -> Types:
    """What an attribute of a class gives: a descriptor of ours gives what its `__get__` returns."""
    found: list[Types] = []
    for value in types.values:
        getter = evaluator.method(value.cls, "__get__") if isinstance(value, InstanceValue) else None
        if getter is None or getter.source.external or not isinstance(value, InstanceValue):
            found.append(just(value))
        else:
            found.append(evaluator.returned(getter, value.cls))
    return union(found) if types.complete else union([*found, UNKNOWN])


def constructed(evaluator: Evaluator, cls: Class) -> Types:
    """What a call of a class gives: an instance, or what `__new__` or the metaclass's `__call__` return instead."""
    found = just(InstanceValue(cls))
    for maker in evaluator.makers(cls):
        returned = evaluator.returned(maker, cls)
        others = [value for value in returned.values if not _is_own(evaluator, value, cls)]
        if not others:
            continue
        own = len(others) < len(returned.values) or not returned.complete
        found = union([found if own else NOTHING, Types(tuple(others), returned.complete)])
    return found


def _followed(definition: Definition) -> list[Node]:
    """The decorators that are not the language's own, by their names."""
    named = zip(definition.decorators, definition.decorator_names, strict=True)
    return [decorator for decorator, name in named if name not in OF_THE_LIBRARY]


def _is_own(evaluator: Evaluator, value: Value, cls: Class) -> bool:
    return isinstance(value, Foreign) or (
        isinstance(value, InstanceValue)
        and (cls in evaluator.order(value.cls) or value.cls in evaluator.order(cls))
    )


def _decorated(evaluator: Evaluator, source: Source, decorator: Node, before: Types) -> Types:
    """What a decorator of ours makes of a class."""
    made = _made_by_class(evaluator, source, decorator)
    if made.values:
        return made
    found: list[Types] = []
    for value in evaluator.at(source, decorator).values:
        if not isinstance(value, FunctionValue) or value.function.source.external:
            continue
        found.append(_handed_on(evaluator, value.function, before))
    return union(found) if found else before


def _handed_on(evaluator: Evaluator, function: Function, before: Types) -> Types:
    """What a decorator returns: its own parameter stands for what it decorates."""
    parameters = (
        function.parameters[1:] if function.in_class and not function.is_static else function.parameters
    )
    taken = parameters[0].name if parameters else ""
    found: list[Types] = []
    for statement in function.returns:
        value = statement.named_children[0] if statement.named_children else None
        if value is None:
            continue
        if value.type == "identifier" and function.source.text(value) == taken:
            found.append(before)
            continue
        types = evaluator.at(function.source, value)
        if types.values and all(isinstance(each, (ClassValue, InstanceValue)) for each in types.values):
            wraps = any(isinstance(each, ClassValue) for each in types.values)
            found.append(union([types, before]) if wraps else types)
        else:
            found.append(before)
    return union(found) if found else before


def _made_by_class(evaluator: Evaluator, source: Source, decorator: Node) -> Types:
    """The instances that a decorator which is a class of ours makes."""
    classes = [
        value.cls
        for value in evaluator.at(source, decorator).values
        if isinstance(value, ClassValue) and not value.cls.source.external
    ]
    return just(*map(InstanceValue, classes)) if classes else NOTHING


def _returned_by(evaluator: Evaluator, source: Source, decorator: Node) -> Types:
    found = [
        evaluator.returned(value.function, None)
        for value in evaluator.at(source, decorator).values
        if isinstance(value, FunctionValue) and not value.function.source.external
    ]
    return union(found) if found else NOTHING
