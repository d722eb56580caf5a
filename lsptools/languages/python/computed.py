"""Names that are put together at run time: `getattr(self, f"visit_{kind}")`, `globals()["_" + name]`, `"do_%s" % command`.

No word of the source is the name there, so what is found is the part that is written: it begins or ends the name. Looked
through are the files of the classes in whose hierarchy the symbol is a member, and the files of its own modules.

Where it stops: names of which no part is written (`getattr(self, name)`), parts that come from further away than an
assignment in the same file, and look-ups in files that are not of the hierarchy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.languages.python.classes import positional_arguments
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Source
from lsptools.syntax.tree import Node

COMPUTED = "computed"
"""The role of such an occurrence: it can be shown and not edited."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A look-up by a name of which a part is written. `start` and `end` are the bytes of that part."""

    source: Source
    start: int
    end: int
    says: str
    receiver: Node | None
    """Where the name is looked up: the first argument of `getattr`; None: in the module's own names."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What is written of a name, and where."""

    prefix: str
    suffix: str
    start: int
    end: int

    def may_be(self, name: str) -> bool:
        n_written = len(self.prefix) + len(self.suffix)
        return 0 < n_written < len(name) and name.startswith(self.prefix) and name.endswith(self.suffix)


def computed_in(source: Source, name: str) -> Iterator[Computed]:
    """The look-ups of a file whose name may come out as `name`."""
    seen: set[int] = set()
    for found in _LOOKUP.finditer(source.bytes):
        path, _ = source.descend(found.start())
        looked_up = next(
            (each for node, _ in reversed(path) if (each := _name_expression(source, node))), None
        )
        if looked_up is None:
            continue
        expression, receiver = looked_up
        for pattern in _patterns(source, expression, 0):
            if pattern.may_be(name) and pattern.start not in seen:
                seen.add(pattern.start)
                yield Computed(source, pattern.start, pattern.end, _says(pattern, receiver), receiver)


def _says(pattern: _Pattern, receiver: Node | None) -> str:
    name = f"{pattern.prefix}…{pattern.suffix}"
    where = (receiver.text or b"").decode("utf-8", "replace") if receiver is not None else "the module"
    return f"`{name}` is put together at run time and looked up in `{where}`"


def _name_expression(source: Source, node: Node) -> tuple[Node, Node | None] | None:
    """The expression of the name that a call or subscript looks up, and where it does."""
    if node.type == "subscript":
        value, index = node.child_by_field_name("value"), node.child_by_field_name("subscript")
        return _in_namespace(source, value, index) if value is not None and index is not None else None
    if node.type != "call":
        return None
    function, arguments = node.child_by_field_name("function"), positional_arguments(node)
    if function is None or not arguments:
        return None
    if function.type == "attribute":
        attribute, value = function.child_by_field_name("attribute"), function.child_by_field_name("object")
        if attribute is None or value is None:
            return None
        name = source.text(attribute)
        if name == "get":
            return _in_namespace(source, value, arguments[0])
        if name in ("__getattribute__", "__getattr__"):
            return arguments[0], value
    name = source.text(function).rpartition(".")[2]
    if name in _ON_FIRST and len(arguments) > 1:
        return arguments[1], arguments[0]
    return None


def _in_namespace(source: Source, value: Node, index: Node) -> tuple[Node, Node | None] | None:
    """`globals()[index]`, `vars(x)[index]`, `x.__dict__[index]`."""
    if value.type == "call":
        function, arguments = value.child_by_field_name("function"), positional_arguments(value)
        if function is not None and source.text(function) in ("globals", "vars", "locals"):
            return index, (arguments[0] if arguments else None)
    if value.type == "attribute":
        attribute = value.child_by_field_name("attribute")
        if attribute is not None and source.text(attribute) == "__dict__":
            return index, value.child_by_field_name("object")
    return None


def _patterns(source: Source, node: Node, depth: int) -> Iterator[_Pattern]:
    """What is written of the string that an expression gives."""
    if depth > 3:
        return
    if node.type == "string":
        yield from _of_f_string(source, node)
    elif node.type == "binary_operator":
        yield from _of_operator(source, node)
    elif node.type == "call":
        yield from _of_method(source, node, depth)
    elif node.type == "identifier":
        for value in _assigned(source, node):
            yield from _patterns(source, value, depth + 1)
    elif node.type in ("parenthesized_expression", "conditional_expression", "named_expression"):
        for child in node.named_children:
            yield from _patterns(source, child, depth + 1)


def _of_f_string(source: Source, node: Node) -> Iterator[_Pattern]:
    parts = [child for child in node.named_children if child.type in ("string_content", "interpolation")]
    if not any(part.type == "interpolation" for part in parts):
        return
    first = parts[0] if parts[0].type == "string_content" else None
    last = parts[-1] if parts[-1].type == "string_content" else None
    yield from _pattern(source, first, last)


def _of_operator(source: Source, node: Node) -> Iterator[_Pattern]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return
    if operator.type == "%":
        yield from _of_template(source, left, _CONVERSION)
    elif operator.type == "+":
        while left.type == "binary_operator" and (inner := left.child_by_field_name("left")) is not None:
            left = inner
        yield from _pattern(source, _content(source, left), _content(source, right))


def _of_method(source: Source, call: Node, depth: int) -> Iterator[_Pattern]:
    """`"do_{}".format(…)`, and methods that hand the string on."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return
    attribute, value = function.child_by_field_name("attribute"), function.child_by_field_name("object")
    if attribute is None or value is None:
        return
    if source.text(attribute) == "format":
        yield from _of_template(source, value, _FIELD)
    elif source.text(attribute) in ("lower", "strip", "replace"):
        yield from _patterns(source, value, depth + 1)


def _of_template(source: Source, node: Node, hole: re.Pattern[str]) -> Iterator[_Pattern]:
    content, text = _content(source, node), literal_string(source, node)
    holes = list(hole.finditer(text)) if text is not None else []
    if content is not None and text is not None and holes:
        yield _Pattern(
            text[: holes[0].start()], text[holes[-1].end() :], content.start_byte, content.end_byte
        )


def _pattern(source: Source, first: Node | None, last: Node | None) -> Iterator[_Pattern]:
    shown = first if first is not None else last
    if shown is not None:
        prefix = source.text(first) if first is not None else ""
        suffix = source.text(last) if last is not None else ""
        yield _Pattern(prefix, suffix, shown.start_byte, shown.end_byte)


def _content(source: Source, node: Node) -> Node | None:
    """The text of a plain string."""
    if node.type != "string" or literal_string(source, node) is None:
        return None
    return next((child for child in node.named_children if child.type == "string_content"), None)


def _assigned(source: Source, name: Node) -> Iterator[Node]:
    """The values that assignments of the file give to a name."""
    for site in source.bindings_of(name):
        statement = site.ancestor("assignment", "named_expression") if site.role in _GIVEN else None
        value = None
        if statement is not None:
            value = statement.child_by_field_name("right") or statement.child_by_field_name("value")
        if value is not None:
            yield value


_GIVEN = frozenset({Role.ASSIGN, Role.WALRUS})
_ON_FIRST = frozenset({"getattr", "hasattr", "setattr", "delattr", "getattr_static"})
_LOOKUP = re.compile(
    rb"\b(?:getattr|hasattr|setattr|delattr|getattr_static|__getattribute__|globals|vars|locals|__dict__)\b"
)
_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*\d*(?:\.\d+)?[a-z]")
_FIELD = re.compile(r"\{[^{}]*\}")
