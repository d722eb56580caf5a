"""What a value declared with an annotation may be.

Follows the typing rules from the source: unions, `Optional`, containers, `type[…]`, `Self`, strings, aliases, `NewType`
and the bounds of type variables. Names of special forms are known by their spelling unless the workspace itself
defines a class of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsptools.languages.python.classes import Class, class_in, last_name, library_name
from lsptools.languages.python.containers import MAPPINGS, SEQUENCES
from lsptools.languages.python.modules import Variable, literal_string
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import (
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    InstanceValue,
    Types,
    just,
    union,
)
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator
    from lsptools.languages.python.where import Where

_WRAPPERS = frozenset(
    {"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack"}
)
_LOWER = {"List": "list", "Dict": "dict", "Set": "set", "FrozenSet": "frozenset", "Deque": "deque"}
_LOWER |= {"DefaultDict": "defaultdict", "Tuple": "tuple", "Type": "type"}
_AWAITABLES = frozenset({"Awaitable", "Coroutine"})
_MANAGERS = frozenset(
    {"ContextManager", "AbstractContextManager", "AsyncContextManager", "AbstractAsyncContextManager"}
)


def annotated(evaluator: Evaluator, where: Where, node: Node, owner: Class | None) -> Types:
    """The values an annotation admits."""
    kind = node.type
    if kind in ("type", "parenthesized_expression", "expression_statement"):
        return annotated(evaluator, where, node.named_children[0], owner) if node.named_children else UNKNOWN
    if kind == "none":
        return just(Foreign("None"))
    if kind in ("string", "concatenated_string"):
        text = _string(where, node)
        if text is None or where.at is not None:
            return UNKNOWN
        return evaluator.written_annotation(where.inside(node.start_byte), text, owner)
    if kind in ("binary_operator", "union_type"):
        return union(annotated(evaluator, where, child, owner) for child in node.named_children)
    if kind in ("subscript", "generic_type"):
        return _subscripted(evaluator, where, node, owner)
    if kind in ("identifier", "attribute"):
        return _named(evaluator, where, node, owner)
    return UNKNOWN


def is_unpacked(source: Source, node: Node) -> bool:
    """Is the annotation `Unpack[…]`?"""
    while node.type == "type" and node.named_children:
        node = node.named_children[0]
    base = node.named_children[0] if node.type in ("generic_type", "subscript") else None
    return base is not None and last_name(source, base) == "Unpack"


def _string(where: Where, node: Node) -> str | None:
    if where.at is None:
        return literal_string(where.source, node)
    return None


def _named(evaluator: Evaluator, where: Where, node: Node, owner: Class | None) -> Types:
    text = where.read(node)
    last = library_name(where.source, text.rpartition(".")[2])
    if last == "Self":
        scope = where.scope.enclosing_class()
        cls = owner or (class_in(where.source, scope) if scope is not None else None)
        return just(InstanceValue(cls)) if cls is not None else UNKNOWN
    if last in ("Any", "object"):
        return UNKNOWN
    if node.type == "identifier":
        aliases = list(_assigned(evaluator, where, text))
        if aliases:
            return union(_alias(evaluator, source, site) for source, site in aliases)
    types = evaluator.evaluate(where, node)
    found = []
    for value in types.values:
        if isinstance(value, ClassValue):
            found.append(just(InstanceValue(value.cls)))
        elif isinstance(value, ForeignClass):
            found.append(just(Foreign(value.name)))
        else:
            found.append(UNKNOWN)
    if not found and (last in _LOWER or last in SEQUENCES or last in MAPPINGS):
        return just(Foreign(_LOWER.get(last, last)))
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def _assigned(evaluator: Evaluator, where: Where, name: str) -> Iterator[tuple[Source, Site]]:
    """Where a name is bound by assignment or `type`, through imports: an alias, a type variable, a new type."""
    source = where.source
    owner = source.names(name).scope_of(where.scope, name)
    start = (
        [Variable(source, owner, name)]
        if owner is not None
        else evaluator.project.global_variable(source, name)
    )
    seen: set[Variable] = set()
    stack = [found for found in start if isinstance(found, Variable)]
    while stack:
        variable = stack.pop()
        if variable in seen:
            continue
        seen.add(variable)
        for site in variable.sites:
            if site.role in (Role.ASSIGN, Role.TYPE_ALIAS):
                yield variable.source, site
            elif site.role in (Role.IMPORT_NAME, Role.IMPORT_ALIAS):
                found = evaluator.project.imported(variable.source, site)
                stack.extend(each for each in found if isinstance(each, Variable))


def _alias(evaluator: Evaluator, source: Source, site: Site) -> Types:
    """What an alias, a `TypeVar` or a `NewType` stands for."""
    statement = site.ancestor("assignment", "type_alias_statement")
    value = statement.child_by_field_name("right") if statement is not None else None
    key = ("alias", source.path, site.start)
    if value is None or key in evaluator.busy:
        return UNKNOWN
    evaluator.busy.add(key)
    try:
        where = evaluator.where(source, site.scope)
        if value.type != "call":
            return annotated(evaluator, where, value, None)
        function = value.child_by_field_name("function")
        name = last_name(source, function) if function is not None else ""
        arguments = _call_arguments(value)
        if name == "NewType" and len(arguments) == 2:
            return annotated(evaluator, where, arguments[1], None)
        if name == "TypeVar":
            bound = _keyword(source, value, "bound")
            if bound is not None:
                return annotated(evaluator, where, bound, None)
        record = evaluator.record(source, value)
        return just(InstanceValue(record)) if record is not None else UNKNOWN
    finally:
        evaluator.busy.discard(key)


def _call_arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    children = arguments.named_children if arguments is not None else []
    return [child for child in children if child.type not in ("keyword_argument", "comment")]


def _keyword(source: Source, call: Node, name: str) -> Node | None:
    arguments = call.child_by_field_name("arguments")
    for child in arguments.named_children if arguments is not None else ():
        if child.type == "keyword_argument":
            key = child.child_by_field_name("name")
            if key is not None and source.text(key) == name:
                return child.child_by_field_name("value")
    return None


def _subscripted(evaluator: Evaluator, where: Where, node: Node, owner: Class | None) -> Types:
    base = node.child_by_field_name("value") or (node.named_children[0] if node.named_children else None)
    if base is None:
        return UNKNOWN
    arguments = _arguments(node)
    name = library_name(where.source, where.read(base).rpartition(".")[2])
    plain = _LOWER.get(name, name)
    inner = [
        annotated(evaluator, where, argument, owner) for argument in arguments if argument.type != "ellipsis"
    ]
    if name == "Optional":
        return union([*inner, just(Foreign("None"))])
    if name == "Union":
        return union(inner)
    if name in _WRAPPERS:
        return inner[0] if inner else UNKNOWN
    if plain == "type":
        return _class_side(inner[0]) if inner else UNKNOWN
    if name == "Literal":
        return just(Foreign("builtin"))
    if plain == "tuple":
        several = any(argument.type == "ellipsis" or where.read(argument) == "..." for argument in arguments)
        return just(Foreign("tuple*", tuple(inner[:1])) if several else Foreign("tuple", tuple(inner)))
    if name in _AWAITABLES:
        return just(Foreign("Awaitable", tuple(inner[-1:])))
    if name in _MANAGERS:
        return just(Foreign("contextmanager", tuple(inner[:1])))
    if name == "Callable" or plain in SEQUENCES or plain in MAPPINGS:
        return just(Foreign(plain, tuple(inner)))
    return _named(evaluator, where, base, owner) if base.type in ("identifier", "attribute") else UNKNOWN


def _arguments(node: Node) -> list[Node]:
    """The nodes between the brackets, for both forms in which the grammar writes a subscript."""
    found: list[Node] = []
    for child in node.named_children[1:]:
        if child.type == "type_parameter" or child.type in ("tuple", "expression_list"):
            found.extend(child.named_children)
        elif child.type != "comment":
            found.append(child)
    return found


def _class_side(types: Types) -> Types:
    classes = tuple(ClassValue(value.cls) for value in types.values if isinstance(value, InstanceValue))
    return Types(classes, types.complete and len(classes) == len(types.values))
