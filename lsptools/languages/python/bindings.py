"""What each kind of binding gives its name: assignments, parameters, loop and `with` targets, imports, patterns.

`reaching` says which of several bindings may hold at a place of the same scope, as far as blocks and loops tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsptools.languages.python import callbacks, containers, expressions, fixtures, replaced
from lsptools.languages.python.annotations import is_unpacked
from lsptools.languages.python.classes import (
    Function,
    Parameter,
    class_in,
    class_of,
    function_of,
)
from lsptools.languages.python.handed import handed_by_decorators
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import (
    NOT_FOUND,
    NOTHING,
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    FunctionValue,
    InstanceValue,
    Types,
    instances,
    just,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


Binding = Callable[["Evaluator", Source, Site], Types]


def _nothing(evaluator: Evaluator, source: Source, site: Site) -> Types:
    return NOTHING


def _bound_class(evaluator: Evaluator, source: Source, site: Site) -> Types:
    cls = class_of(source, site.path[-2][0])
    return replaced.class_value(evaluator, cls) if cls.decorators else just(ClassValue(cls))


def _bound_function(evaluator: Evaluator, source: Source, site: Site) -> Types:
    function = function_of(source, site.path[-2][0])
    return (
        replaced.function_value(evaluator, function) if function.decorators else just(FunctionValue(function))
    )


def _bound_import(evaluator: Evaluator, source: Source, site: Site) -> Types:
    found = evaluator.project.imported(source, site)
    if not found and evaluator.project.leads_outside(source, site, evaluator.suspects):
        return just(Foreign(NOT_FOUND))
    return union(evaluator.found_value(each) for each in found) if found else UNKNOWN


def annotation_of(site: Site) -> Node | None:
    if site.role not in (Role.ASSIGN, Role.ANNOTATE, Role.ATTRIBUTE):
        return None
    statement = site.ancestor("assignment")
    return statement.child_by_field_name("type") if statement is not None else None


def _augmented(evaluator: Evaluator, source: Source, site: Site) -> Types:
    """What `x += y` gives beside what `x` was: what a method of ours makes of it."""
    statement = site.ancestor("augmented_assignment")
    left = statement.child_by_field_name("left") if statement is not None else None
    operator = statement.child_by_field_name("operator") if statement is not None else None
    if left is None or operator is None or (left.start_byte, left.end_byte) != (site.start, site.end):
        return NOTHING
    return expressions.in_place(evaluator, evaluator.at(source, left), operator.type)


def _assignment(evaluator: Evaluator, source: Source, site: Site) -> Types:
    """An assignment to a name or, for an instance's attribute, after a dot."""
    statement = site.ancestor("assignment", "augmented_assignment")
    if statement is None or statement.type != "assignment":
        return NOTHING
    annotation = statement.child_by_field_name("type")
    scope = site.scope
    if annotation is not None:
        declared = evaluator.annotation(Where(source, scope, source.bytes), annotation)
        if declared.values or declared.complete:
            return declared
    value = statement.child_by_field_name("right")
    while value is not None and value.type == "assignment":
        value = value.child_by_field_name("right")
    target = statement.child_by_field_name("left")
    if value is None or target is None:
        return UNKNOWN
    leaf = site.leaf if site.role is not Role.ATTRIBUTE else site.path[-2][0]
    comment = type_comment(source, statement)
    if comment and target.id == leaf.id:
        declared = evaluator.written_annotation(Where(source, scope, source.bytes, site.start), comment)
        if declared.values:
            return declared
    if (target.start_byte, target.end_byte) == (leaf.start_byte, leaf.end_byte):
        return evaluator.at(source, value)
    return _unpacked(evaluator, source, target, value, leaf)


def _unpacked(evaluator: Evaluator, source: Source, target: Node, value: Node, leaf: Node) -> Types:
    """`a, (b, c) = …`: the element that meets the leaf; a display is looked into, not evaluated as a whole."""
    target = _bare(target)
    names, values = _parts(target), _parts(value)
    index = _index_of(names, leaf.start_byte)
    flat = all(child.type != "list_splat_pattern" for child in names)
    display = value.type in ("expression_list", "tuple", "list") and len(values) == len(names)
    if index is None or not flat or not display or target.type not in _PATTERNS:
        return _taken(evaluator, target, evaluator.at(source, value), leaf.start_byte)
    if names[index].type in _PATTERNS:
        return _unpacked(evaluator, source, names[index], values[index], leaf)
    return evaluator.at(source, values[index]) if _bare(names[index]).id == leaf.id else UNKNOWN


def _taken(evaluator: Evaluator, target: Node, types: Types, start: int) -> Types:
    """What the name or attribute that starts at this byte gets when a value is assigned to a target."""
    target = _bare(target)
    if target.type == "list_splat_pattern":
        return just(Foreign("list", (evaluator.iterated(types),)))
    if target.type not in _PATTERNS:
        return types if target.start_byte == start else UNKNOWN
    names = _parts(target)
    index = _index_of(names, start)
    if index is None:
        return UNKNOWN
    splat = next((i for i, child in enumerate(names) if child.type == "list_splat_pattern"), None)
    if splat == index:
        element = types
    elif splat is not None:
        element = _beside_splat(evaluator, types, splat, index)
    else:
        element = containers.element_at(types, index, len(names))
    return _taken(evaluator, names[index], element, start)


def _bare(target: Node) -> Node:
    """`a` for `(a)`, which takes nothing apart."""
    while target.type == "tuple_pattern" and all(child.type != "," for child in target.children):
        if target.named_child_count != 1:
            break
        target = target.named_children[0]
    return target


def _parts(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _index_of(nodes: list[Node], at: int) -> int | None:
    """Which of the nodes covers this byte."""
    return next((i for i, each in enumerate(nodes) if each.start_byte <= at < each.end_byte), None)


def _beside_splat(evaluator: Evaluator, whole: Types, splat: int, index: int) -> Types:
    """`first, *rest = …`: the element that meets a name before or behind the starred one."""
    tuples = [each for each in whole.values if isinstance(each, Foreign) and each.name == "tuple"]
    if index < splat and whole.complete and len(tuples) == len(whole.values):
        return union(each.elements[index] if index < len(each.elements) else UNKNOWN for each in tuples)
    return evaluator.iterated(whole)


_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
"""Targets that take a value apart."""


def _parameter(evaluator: Evaluator, source: Source, site: Site) -> Types:
    function_node = site.ancestor("function_definition", "lambda")
    if function_node is None:
        return UNKNOWN
    function = function_of(source, function_node)
    parameter = next((p for p in function.parameters if p.node.start_byte == site.start), None)
    if parameter is None:
        return UNKNOWN
    owner = evaluator.self_class(source, site.scope, parameter.name)
    if owner is not None and parameter is function.parameters[0]:
        cls, is_class = owner
        return just(ClassValue(cls) if is_class else InstanceValue(cls))
    if parameter.annotation is None and fixtures.requests(function, parameter.name):
        fixture = fixtures.supplier(evaluator, fixtures.place_of(function), parameter.name)
        return fixtures.value_of(evaluator, fixture) if fixture is not None else UNKNOWN
    if function_node.type == "lambda":
        index = function.parameters.index(parameter)
        return callbacks.handed_to(evaluator, source, function_node, index) | _default(
            evaluator, function, parameter
        )
    if parameter.annotation is None:
        return handed_by_decorators(evaluator, function, parameter) | _default(evaluator, function, parameter)
    return parameter_type(evaluator, function, parameter)


def _default(evaluator: Evaluator, function: Function, parameter: Parameter) -> Types:
    """What a parameter without an annotation is when nothing is given, as far as it is of the workspace."""
    if parameter.default is None:
        return NOTHING
    types = evaluator.at(function.source, parameter.default)
    return just(*(value for value in types.values if not isinstance(value, (Foreign, ForeignClass))))


def parameter_type(evaluator: Evaluator, function: Function, parameter: Parameter) -> Types:
    """The declared type of a parameter."""
    if parameter.annotation is None:
        return UNKNOWN
    scope = function.scope.parent or function.source.module_scope
    where = Where(function.source, scope, function.source.bytes)
    owner = class_in(function.source, function.outer) if function.in_class else None
    types = evaluator.annotation(where, parameter.annotation, owner)
    if parameter.kind == "args":
        return just(Foreign("tuple*", (types,)))
    if parameter.kind == "kwargs" and not is_unpacked(function.source, parameter.annotation):
        return just(Foreign("dict", (just(Foreign("str")), types)))
    return types


def _for(evaluator: Evaluator, source: Source, site: Site) -> Types:
    loop = site.ancestor("for_statement", "for_in_clause")
    left = loop.child_by_field_name("left") if loop is not None else None
    right = loop.child_by_field_name("right") if loop is not None else None
    if left is None or right is None:
        return UNKNOWN
    iterable = evaluator.at(source, right)
    element = evaluator.iterated(iterable)
    return _taken(evaluator, left, element, site.start)


def _with(evaluator: Evaluator, source: Source, site: Site) -> Types:
    pattern = site.ancestor("as_pattern")
    if pattern is None or not pattern.named_children:
        return UNKNOWN
    target = pattern.child_by_field_name("alias")
    if target is None or (target.start_byte, target.end_byte) != (site.start, site.end):
        return UNKNOWN
    manager = evaluator.at(source, pattern.named_children[0])
    found = []
    for value in manager.values:
        if isinstance(value, InstanceValue):
            function = evaluator.method(value.cls, "__enter__") or evaluator.method(value.cls, "__aenter__")
            entered = evaluator.returned(function, value.cls) if function is not None else UNKNOWN
            found.append(
                containers.elements_of(entered, ("Awaitable",), 0) if _awaitable(entered) else entered
            )
        elif isinstance(value, Foreign) and value.name in ("contextmanager", "Generator", "Iterator"):
            found.append(value.elements[0] if value.elements else UNKNOWN)
        else:
            found.append(UNKNOWN)
    return union(found) if manager.complete and found else union([*found, UNKNOWN])


def _except(evaluator: Evaluator, source: Source, site: Site) -> Types:
    pattern = site.ancestor("as_pattern")
    if pattern is None or not pattern.named_children:
        return UNKNOWN
    caught = evaluator.at(source, pattern.named_children[0])
    found: list[Types] = []
    for value in caught.values:
        inner = value.elements if isinstance(value, Foreign) and value.name == "tuple" else (just(value),)
        found.extend(instances(each) for each in inner)
    return union(found) if caught.complete else union([*found, UNKNOWN])


def _capture(evaluator: Evaluator, source: Source, site: Site) -> Types:
    """`case C() as name`; a bare capture is the subject, narrowed by nothing."""
    above = site.path[-2][0]
    if above.type == "as_pattern" and above.named_children:
        pattern = above.named_children[0]
        while pattern.type == "case_pattern" and pattern.named_children:
            pattern = pattern.named_children[0]
        if pattern.type == "class_pattern" and pattern.named_children:
            return instances(evaluator.dotted(source, site.scope, pattern.named_children[0]))
    return UNKNOWN


def _walrus(evaluator: Evaluator, source: Source, site: Site) -> Types:
    node = site.ancestor("named_expression")
    value = node.child_by_field_name("value") if node is not None else None
    return evaluator.at(source, value) if value is not None else UNKNOWN


def type_comment(source: Source, statement: Node) -> str | None:
    """The text of a `# type:` comment at the end of a statement's line (PEP 484)."""
    end = source.bytes.find(b"\n", statement.end_byte)
    rest = source.bytes[statement.end_byte : end if end >= 0 else None]
    found = _TYPE_COMMENT.match(rest)
    return found.group(1).decode("utf-8", "replace") if found is not None else None


def reaching(sites: list[Site], position: int) -> list[Site]:
    """The bindings of one scope that may hold at a position of the same scope.

    The last binding before the position whose block contains the position hides the earlier ones, unless it keeps what it
    adds to (`x += y`). Later ones count only if a loop leads back from them.
    """
    start: Site | None = None
    for site in sites:
        if site.role is not Role.AUGMENT and site.takes_effect() <= position and _covers(site, position):
            start = site
    if start is None:
        return sites
    found = [start]
    for site in sites:
        if site is start:
            continue
        if site.scope is not start.scope:  # by `global` or `nonlocal`, whenever that function runs
            found.append(site)
        elif site.start < start.start:
            continue
        elif site.takes_effect() <= position or _loop_around(site, position, start):
            found.append(site)
    return found


def _covers(site: Site, position: int) -> bool:
    """Does control pass the binding on every way to the position, as far as blocks tell?"""
    if site.role is Role.PARAMETER:
        return True
    for node, _ in reversed(site.path[:-1]):
        if node.type in ("block", "module"):
            return node.start_byte <= position <= node.end_byte
        if node.type in ("for_statement", "except_clause") and site.role in (Role.FOR, Role.EXCEPT):
            return node.start_byte <= position <= node.end_byte
        if node.type in ("boolean_operator", "conditional_expression", "case_clause"):
            return node.start_byte <= position <= node.end_byte
    return True


def _loop_around(site: Site, position: int, start: Site) -> bool:
    for node, _ in site.path:
        if node.type in ("for_statement", "while_statement") and node.start_byte <= position < node.end_byte:
            return not node.start_byte <= start.start < node.end_byte
    return False


def _awaitable(types: Types) -> bool:
    return any(isinstance(value, Foreign) and value.name == "Awaitable" for value in types.values)


_TYPE_COMMENT = re.compile(rb"[ \t]*#[ \t]*type:[ \t]*(?![ \t]|ignore\b)([^#\r\n]+)")
HANDLERS: dict[Role, Binding] = {
    Role.CLASS: _bound_class,
    Role.FUNCTION: _bound_function,
    Role.IMPORT_NAME: _bound_import,
    Role.IMPORT_ALIAS: _bound_import,
    Role.IMPORT_MODULE: _bound_import,
    Role.ASSIGN: _assignment,
    Role.ANNOTATE: _assignment,
    Role.ATTRIBUTE: _assignment,
    Role.AUGMENT: _augmented,
    Role.DELETE: _nothing,
    Role.PARAMETER: _parameter,
    Role.FOR: _for,
    Role.WITH: _with,
    Role.EXCEPT: _except,
    Role.CAPTURE: _capture,
    Role.WALRUS: _walrus,
}
"""By the role of the site."""
