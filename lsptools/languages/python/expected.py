"""What an expression is declared to be by the place where it stands.

`movie: Movie = {"title": …}`, `return {…}`, an argument, a default, an element of a list that is declared, a value under
a key of a `TypedDict`: the typing rules read a display by the type that is expected of it. The way is outwards, from the
expression to the construct that declares something, and back through the containers between.

Where it stops: what only inference over the whole body would tell.
"""

from __future__ import annotations

from collections.abc import Callable

from lsptools.languages.python.bindings import parameter_type
from lsptools.languages.python.classes import Class, function_in, last_name, positional_arguments
from lsptools.languages.python.containers import item_of, iteration_of
from lsptools.languages.python.meaning import Meanings
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import ClassValue, Foreign, InstanceValue, Types, just, union
from lsptools.syntax.tree import Node


def expected_type(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    """The type declared for the expression at `site.path[at]`; None: nothing declares one."""
    handler = _BY_PARENT.get(site.path[at - 1][0].type) if at else None
    return handler(meanings, source, site, at) if handler is not None else None


def key_type(meanings: Meanings, cls: Class, key: str) -> Types | None:
    """The type that a `TypedDict` declares for a key."""
    types = meanings.evaluator.attribute(just(InstanceValue(cls)), key, cls.source.module_scope)
    return types if types.values else None


def _assignment(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    statement = site.path[at - 1][0]
    annotation = statement.child_by_field_name("type")
    if annotation is not None:
        return _annotated(meanings, source, site, annotation)
    left = statement.child_by_field_name("left")
    return meanings.evaluator.declared(source, left) if left is not None else None


def _augmented(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    left = site.path[at - 1][0].child_by_field_name("left")
    return meanings.evaluator.at(source, left) if left is not None else None


def _annotated(meanings: Meanings, source: Source, site: Site, annotation: Node | None) -> Types | None:
    where = meanings.evaluator.where(source, site.scope)
    return meanings.evaluator.annotation(where, annotation) if annotation is not None else None


def _returned(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    scope = site.scope.enclosing_function()
    if scope is None:
        return None
    return _annotated(
        meanings, source, site, function_in(source, scope).node.child_by_field_name("return_type")
    )


def _yielded(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    types = _returned(meanings, source, site, at)
    return iteration_of(types) if types is not None else None


def _default(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    return _annotated(meanings, source, site, site.path[at - 1][0].child_by_field_name("type"))


def _passed_through(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    return expected_type(meanings, source, site, at - 1)


def _element(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    if site.path[at][1] not in (None, "body"):
        return None
    whole = expected_type(meanings, source, site, at - 1)
    return iteration_of(whole) if whole is not None else None


def _value(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    """A value in a display of a dictionary, or of a comprehension of one."""
    pair = site.path[at - 1][0]
    whole = expected_type(meanings, source, site, at - 2) if at > 1 and site.path[at][1] == "value" else None
    key = pair.child_by_field_name("key")
    if whole is None or key is None:
        return None
    name = literal_string(source, key)
    found = []
    for value in whole.values:
        if isinstance(value, Foreign):
            found.append(item_of(value))
        elif isinstance(value, InstanceValue) and meanings.evaluator.is_typed_dict(value.cls) and name:
            types = key_type(meanings, value.cls, name)
            if types is not None:
                found.append(types)
    return union(found) if found else None


def _operand(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    """`movie | {…}`, `given or {…}`: like the other operand, or like the whole."""
    whole = expected_type(meanings, source, site, at - 1)
    if whole is not None:
        return whole
    for other in site.path[at - 1][0].named_children:
        if other.id != site.path[at][0].id and other.type != "comment":
            types = meanings.evaluator.at(source, other)
            if types.values:
                return types
    return None


def _argument(meanings: Meanings, source: Source, site: Site, at: int) -> Types | None:
    keyword = site.path[at - 1][0] if site.path[at - 1][0].type == "keyword_argument" else None
    call = site.path[at - (3 if keyword is not None else 2)][0] if at > 2 else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    if call is None or function is None:
        return None
    arguments = positional_arguments(call)
    start = site.path[at][0].start_byte
    position = next((i for i, each in enumerate(arguments) if each.start_byte == start), None)
    last = last_name(source, function)
    if last == "cast" and position == 1:
        return _annotated(meanings, source, site, arguments[0])
    by_method = _method_argument(meanings, source, function, last)
    if by_method is not None:
        return by_method
    name = keyword.child_by_field_name("name") if keyword is not None else None
    for value in meanings.evaluator.at(source, function).values:
        if isinstance(value, ClassValue) and meanings.makes_constructor(value.cls):
            return _field(meanings, value.cls, source.text(name) if name is not None else None)
        for function_value, skip in meanings.callable_functions(value):
            parameters = function_value.parameters[skip:]
            if name is not None:
                chosen = next((p for p in parameters if p.name == source.text(name)), None)
            else:
                chosen = parameters[position] if position is not None and position < len(parameters) else None
            if chosen is not None:
                return parameter_type(meanings.evaluator, function_value, chosen)
    return None


def _field(meanings: Meanings, cls: Class, name: str | None) -> Types | None:
    """A field of a record by keyword; a `TypedDict` takes a dictionary of its own kind by position."""
    if name is not None:
        return key_type(meanings, cls, name)
    return just(InstanceValue(cls)) if meanings.evaluator.is_typed_dict(cls) else None


def _method_argument(meanings: Meanings, source: Source, function: Node, last: str) -> Types | None:
    """`movies.append({…})` takes an element, `movie.update({…})` another of its kind."""
    receiver = function.child_by_field_name("object")
    if receiver is None or last not in ("append", "add", "insert", "appendleft", "update"):
        return None
    types = meanings.evaluator.at(source, receiver)
    if last == "update":
        own = [
            v
            for v in types.values
            if isinstance(v, InstanceValue) and meanings.evaluator.is_typed_dict(v.cls)
        ]
        return Types(tuple(own), True) if own else None
    if not any(isinstance(value, Foreign) for value in types.values):
        return None
    return iteration_of(types)


_Handler = Callable[[Meanings, Source, Site, int], Types | None]
_BY_PARENT: dict[str, _Handler] = {
    "assignment": _assignment,
    "augmented_assignment": _augmented,
    "return_statement": _returned,
    "yield": _yielded,
    "typed_default_parameter": _default,
    "parenthesized_expression": _passed_through,
    "conditional_expression": _passed_through,
    "list": _element,
    "set": _element,
    "tuple": _element,
    "list_comprehension": _element,
    "set_comprehension": _element,
    "generator_expression": _element,
    "pair": _value,
    "boolean_operator": _operand,
    "binary_operator": _operand,
    "argument_list": _argument,
    "keyword_argument": _argument,
}
