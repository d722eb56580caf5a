"""The definition whose own name stands at a place, and the others of that name in the same scope.

A definition is a statement: a class or a function (with its decorators), a type alias, or an assignment, whose target may also be
an attribute (`self.x = 1`). What binds a name otherwise (a parameter, an import, the target of a loop) is no statement that
could stand alone, and neither is a place where a name is only used. Spans are code points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.syntax.queries import span_from_node
from lsptools.syntax.tree import Node, parse
from lsptools.text.document import Document
from lsptools.text.lines import Lines, Offset, Span


@dataclass(frozen=True, slots=True)
class Definition:
    """One statement that defines a name."""

    name: str
    kind: str
    """`class`, `function`, `type`, or `variable`."""
    span: Span
    """The whole statement, with its decorators."""
    name_span: Span
    others: tuple[str, ...] = ()
    """What else the statement assigns to, as it is written there."""
    is_decorated: bool = False
    follows: Span | None = None
    """The statement right before it in the same block; comments do not count."""


def definition_at(document: Document, at: Offset) -> Definition | None:
    """The definition whose own name is at `at`, or ends there."""
    name = _name_at(document, at)
    return None if name is None else _definition(document.lines, name)


def definitions_like(document: Document, at: Offset) -> tuple[Definition, ...]:
    """All definitions in its scope of the name that is defined at `at`, in the order of the source.

    For an attribute of `self` the scope is the class, and what the class itself defines goes before what its methods assign.
    """
    name = _name_at(document, at)
    if name is None or (own := _definition(document.lines, name)) is None:
        return ()
    target, lines = _target(name), document.lines
    scope = _scope(name)
    if target is not name:  # an attribute
        scope = _enclosing(name, ("class_definition",))
        if scope is None:
            return (own,)
    found = _found(lines, _names_in(_body(scope), name, is_deep=False))
    if target is not name and not found:
        found = _found(lines, _names_in(_body(scope), name, is_deep=True))
    return tuple(found) or (own,)


def _name_at(document: Document, at: Offset) -> Node | None:
    root = parse(document.utf8).root_node
    byte = document.lines.byte_from_offset(at)
    for start in (byte, byte - 1):
        node = root.descendant_for_byte_range(start, start + 1) if start >= 0 else None
        if node is not None and node.type == "identifier":
            return node
    return None


def _definition(lines: Lines, name: Node) -> Definition | None:
    """The definition that this name is the name of."""
    found = _statement(name)
    if found is None:
        return None
    kind, whole = found
    name_span = span_from_node(lines, name)
    return Definition(
        name=_text(lines, name),
        kind=kind,
        span=span_from_node(lines, whole),
        name_span=name_span,
        others=tuple(_others(lines, whole, name)) if kind == "variable" else (),
        is_decorated=whole.type == "decorated_definition",
        follows=_follows(lines, whole),
    )


_KINDS = {"class_definition": "class", "function_definition": "function"}
_PATTERNS = ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern")


def _statement(name: Node) -> tuple[str, Node] | None:
    """The kind and the node of the whole definition."""
    parent = name.parent
    if parent is None:
        return None
    if parent.type in _KINDS and parent.child_by_field_name("name") == name:
        outer = parent.parent
        is_decorated = outer is not None and outer.type == "decorated_definition"
        return _KINDS[parent.type], outer if is_decorated and outer is not None else parent
    if (alias := _alias(name)) is not None:
        return "type", alias
    top = _target(name)
    while top.parent is not None and top.parent.type in _PATTERNS:
        top = top.parent
    statement = top.parent
    if statement is None or statement.type != "assignment" or statement.child_by_field_name("left") != top:
        return None
    while statement.parent is not None and statement.parent.type == "assignment":  # x = y = 1
        statement = statement.parent
    return "variable", statement


def _alias(name: Node) -> Node | None:
    """The statement `type X = …` whose name this is."""
    node, seen = name.parent, 0
    while node is not None and node.type in ("type", "generic_type") and seen < 3:
        above = node.parent
        if above is not None and above.type == "type_alias_statement":
            return above if above.child_by_field_name("left") == node and _is_first(node, name) else None
        node, seen = above, seen + 1
    return None


def _is_first(node: Node, name: Node) -> bool:
    return node.start_byte == name.start_byte


def _target(name: Node) -> Node:
    """What is assigned to if the name is: itself, or the attribute whose last name it is."""
    parent = name.parent
    if parent is not None and parent.type == "attribute" and parent.child_by_field_name("attribute") == name:
        return parent
    return name


def _others(lines: Lines, statement: Node, name: Node) -> Iterator[str]:
    """What the statement assigns to besides, in the order of the source."""
    own = _target(name)
    for target in _targets(statement):
        if target != own:
            yield _text(lines, target)


def _targets(statement: Node) -> Iterator[Node]:
    """Every single target of an assignment, and the names that `:=` binds in it."""
    waiting = [(statement, False)]
    while waiting:
        node, is_target = waiting.pop()
        if node.type in _PATTERNS:
            waiting += [(child, True) for child in reversed(node.named_children)]
        elif is_target:
            if node.type != "comment":
                yield node
        elif node.type == "assignment":
            left = node.child_by_field_name("left")
            waiting += [(child, child == left) for child in reversed(node.named_children)]
        elif node.type == "named_expression":
            bound = node.child_by_field_name("name")
            waiting += [(child, child == bound) for child in reversed(node.named_children)]
        elif node.type != "lambda":
            waiting += [(child, False) for child in reversed(node.named_children)]


def _follows(lines: Lines, statement: Node) -> Span | None:
    node = statement.prev_named_sibling
    while node is not None and node.type == "comment":
        node = node.prev_named_sibling
    return None if node is None else span_from_node(lines, node)


# Scopes

_SCOPES = ("class_definition", "function_definition", "module")


def _scope(name: Node) -> Node | None:
    """The class, function or module in which the name is bound."""
    parent = name.parent
    is_own = parent is not None and parent.type in _KINDS and parent.child_by_field_name("name") == name
    return _enclosing(parent if is_own and parent is not None else name, _SCOPES)


def _enclosing(node: Node, kinds: tuple[str, ...]) -> Node | None:
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above


def _body(scope: Node | None) -> list[Node]:
    if scope is None:
        return []
    body = scope.child_by_field_name("body") or scope
    return body.named_children


def _names_in(body: list[Node], name: Node, *, is_deep: bool) -> Iterator[Node]:
    """The names that stand there as `name` does. `is_deep`: in the functions, too, as the same attribute (`self.x`)."""
    wanted = _target(name).text if is_deep else name.text
    waiting = body[::-1]
    while waiting:
        node = waiting.pop()
        if node.type in _KINDS:
            own = node.child_by_field_name("name")
            if not is_deep and own is not None and own.text == wanted:
                yield own
            inner = node.child_by_field_name("body")
            if is_deep and node.type == "function_definition" and inner is not None:
                waiting.append(inner)
        elif is_deep and node.type == "attribute" and node.text == wanted:
            last = node.child_by_field_name("attribute")
            if last is not None:
                yield last
        elif not is_deep and node.type == "identifier" and _target(node) == node and node.text == wanted:
            yield node
        else:
            waiting += reversed(node.named_children)


def _found(lines: Lines, names: Iterator[Node]) -> list[Definition]:
    """The definitions that these are the names of; one for each statement."""
    found: dict[Span, Definition] = {}
    for name in names:
        definition = _definition(lines, name)
        if definition is not None:
            found.setdefault(definition.span, definition)
    return list(found.values())


def _text(lines: Lines, node: Node) -> str:
    span = span_from_node(lines, node)
    return lines.text[span.start : span.end]
