"""Classes that a call makes from literals: `namedtuple("P", "x y")`, `NamedTuple`, `TypedDict`, `Enum`, `make_dataclass`.

The field names stand in strings: one string with all of them, a list of strings, a list of pairs, or the keys of a
dictionary. Each is a declaration, as a line of a class body would be.

Where it stops: names that are computed, and strings with escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from lsptools.languages.python.classes import Class, last_name
from lsptools.languages.python.roles import Path
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.syntax.tree import Node

MAKERS = {
    "namedtuple": "tuple",
    "NamedTuple": "tuple",
    "TypedDict": "dict",
    "make_dataclass": "object",
    "Enum": "enum",
    "IntEnum": "enum",
    "StrEnum": "enum",
    "Flag": "enum",
    "IntFlag": "enum",
}
"""What is called, and what the class made is: a builtin whose members it has, or an enum."""


class Record(Class):
    """A class made by a call. Its `node` is the call; its body is the argument that names the fields."""

    @cached_property
    def maker(self) -> str:
        """The last part of what is called."""
        return last_name(self.source, self.node)

    @cached_property
    def name(self) -> str:
        arguments = _arguments(self.node)
        text = _content(arguments[0]) if arguments else None
        return self.source.text(text) if text is not None else self.maker

    @cached_property
    def scope(self) -> Scope:
        """A call has no scope of its own: where it stands."""
        return self.source.descend(self.start)[1]

    @property
    def outer(self) -> Scope:
        return self.scope

    @property
    def base_nodes(self) -> tuple[Node, ...]:
        return ()

    @property
    def keywords(self) -> dict[str, Node]:
        return {}

    @property
    def decorators(self) -> tuple[Node, ...]:
        return ()

    @property
    def is_enum(self) -> bool:
        return MAKERS[self.maker] == "enum"

    def spelled(self, name: str) -> str:
        return name

    def body_sites(self, name: str) -> list[Site]:
        """The string in which the field is named."""
        return [
            self.source.site_at(start, end, name)
            for start, end, _ in self._fields
            if self._at(start, end) == name
        ]

    def annotation_of(self, name: str) -> Node | None:
        """The type given to a field."""
        return next((node for start, end, node in self._fields if self._at(start, end) == name), None)

    def _at(self, start: int, end: int) -> str:
        return self.source.bytes[start:end].decode("utf-8", "replace")

    @cached_property
    def _fields(self) -> tuple[tuple[int, int, Node | None], ...]:
        arguments = _arguments(self.node)
        return tuple(_named_in(self.source, arguments[1])) if len(arguments) > 1 else ()


def record_of(source: Source, call: Node) -> Record | None:
    """The class that a call makes, judged by the name of what is called; None: it makes none."""
    if call.type != "call" or last_name(source, call) not in MAKERS or len(_arguments(call)) < 2:
        return None
    key = ("class", call.start_byte)
    found = source.definitions.get(key)
    if not isinstance(found, Record):
        found = source.definitions[key] = Record(source, call.start_byte, call.end_byte)
    return found


def record_around(source: Source, path: Path) -> Record | None:
    """The class in whose field names the leaf at the end of a path stands."""
    for node, _ in reversed(path):
        if node.type == "call":
            return record_of(source, node)
        if node.type in ("block", "module", "lambda"):
            break
    return None


def _arguments(call: Node) -> list[Node]:
    """The name and the fields, which may be keywords (`typename=`, `field_names=`, `names=`)."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    found: list[Node] = []
    for child in arguments.named_children:
        if child.type == "keyword_argument":
            key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if (
                key is not None
                and value is not None
                and key.text in (b"field_names", b"names", b"fields", b"typename")
            ):
                found.append(value)
        elif child.type not in ("comment", "list_splat", "dictionary_splat"):
            found.append(child)
    return found


def _named_in(source: Source, node: Node) -> Iterator[tuple[int, int, Node | None]]:
    """(start, end, type) of each field in the argument that names them."""
    if node.type == "string":
        text = _content(node)
        for word in _WORD.finditer(source.bytes, text.start_byte, text.end_byte) if text is not None else ():
            yield *word.span(), None
    elif node.type in ("list", "tuple", "set"):
        for entry in node.named_children:
            parts = [child for child in entry.named_children if child.type != "comment"]
            pair = entry.type in ("tuple", "list") and bool(parts)
            text = _content(parts[0] if pair else entry)
            if text is not None:
                yield text.start_byte, text.end_byte, parts[1] if pair and len(parts) > 1 else None
    elif node.type == "dictionary":
        for entry in node.named_children:
            key = entry.child_by_field_name("key")
            text = _content(key) if key is not None else None
            if text is not None:
                yield text.start_byte, text.end_byte, entry.child_by_field_name("value")


def _content(node: Node) -> Node | None:
    """What stands between the quotes of a plain string."""
    if node.type != "string":
        return None
    parts = [child for child in node.named_children if child.type not in ("string_start", "string_end")]
    plain = len(parts) == 1 and parts[0].type == "string_content" and not parts[0].named_child_count
    return parts[0] if plain else None


_WORD = re.compile(rb"[^\s,]+")
