"""What a call gives, or a mapping that may be unpacked into one, as plain data; and which functions could take it.

A call of something unknown (`callback(event=1)`) says how many arguments it gives and under which names; a function that
needs others, or has no such parameters, is not what is called there. A mapping that is written out (`{"event": 1}`) says
the same of its keys. Where it stops: what is unpacked, and keys that are added later, have no number and no names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.languages.python.arguments import positional_parameters
from lsptools.languages.python.classes import Function, last_name
from lsptools.languages.python.detours import string_index
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Given:
    """What is given to whatever is called."""

    n_positional: int
    names: frozenset[str]
    """Of the keywords, or of the keys that are written."""
    is_open: bool
    """May there be more: unpacked arguments, other keys?"""
    attribute: str = ""
    """The attribute that is called, if one is."""


def given_by_keyword(source: Source, site: Site) -> Given | None:
    """What the call gives in which a keyword stands."""
    arguments = site.path[-3][0] if len(site.path) > 2 else None
    if site.role is not Role.KEYWORD or arguments is None or arguments.type != "argument_list":
        return None
    known = source.memo.get(("given", arguments.start_byte))
    if not isinstance(known, Given):
        known = source.memo["given", arguments.start_byte] = _given(source, arguments)
    return known


def _given(source: Source, arguments: Node) -> Given:
    n_positional, names, is_open = 0, set[str](), False
    for child in arguments.named_children:
        if child.type == "keyword_argument":
            key = child.child_by_field_name("name")
            names.add(source.text(key) if key is not None else "")
        elif child.type in ("list_splat", "dictionary_splat"):
            is_open = True
        elif child.type != "comment":
            n_positional += 1
    return Given(n_positional, frozenset(names), is_open, _called_attribute(source, arguments))


def keys_around(source: Source, site: Site) -> Given | None:
    """The keys beside a word that is a key: of a display, of `dict(…)` or `update(…)`; of a look-up nothing but itself.

    None: it is no key.
    """
    if site.role is Role.KEYWORD:
        call = site.path[-3][0].parent if len(site.path) > 2 else None
        function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        if function is None or last_name(source, function) not in _BY_KEYWORD:
            return None
        given = given_by_keyword(source, site)
        return Given(0, given.names, True) if given is not None else None
    index = string_index(site) if site.role is Role.STRING else None
    if index is None or literal_string(source, site.path[index][0]) != site.spelling:
        return None
    parent, field = site.path[index - 1][0], site.path[index][1]
    if parent.type == "pair" and field == "key" and index >= 2:
        return _of_display(source, site.path[index - 2][0])
    if (parent.type == "subscript" and field == "subscript") or _is_looked_up(source, parent):
        return Given(0, frozenset({site.spelling}), True)
    return None


def is_asked_for(site: Site) -> bool:
    """Is it asked whether the word is a key: `"name" in mapping`?"""
    index = string_index(site) if site.role is Role.STRING else None
    parent = site.path[index - 1][0] if index else None
    return parent is not None and parent.type == "comparison_operator" and b" in " in (parent.text or b"")


def fits(function: Function, name: str, given: Given, n_filled: int | None) -> bool:
    """Could the function take what is given, with its parameter `name` by keyword?

    `n_filled` parameters are filled before (`self`); None: something between may fill any of them, and take arguments away.
    """
    parameters = function.parameters
    if any(parameter.kind == "kwargs" for parameter in parameters):
        unknown = set[str]()
    else:
        unknown = set(given.names) - {each.name for each in parameters if each.takes_keyword}
    if unknown or n_filled is None:
        return not unknown
    positional = [each.name for each in positional_parameters(parameters)]
    n_taken = n_filled + given.n_positional
    if n_taken > len(positional) and not any(each.kind == "args" for each in parameters):
        return False
    if name in positional[:n_taken]:
        return False
    filled = given.names.union(positional[:n_taken])
    needed = (
        each.name for each in parameters if each.kind not in ("args", "kwargs") and each.default is None
    )
    return given.is_open or filled.issuperset(needed)


def _called_attribute(source: Source, arguments: Node) -> str:
    function = arguments.parent.child_by_field_name("function") if arguments.parent is not None else None
    attribute = function.child_by_field_name("attribute") if function is not None else None
    return source.text(attribute) if attribute is not None else ""


def _of_display(source: Source, display: Node) -> Given:
    known = source.memo.get(("keys", display.start_byte))
    if not isinstance(known, Given):
        known = Given(0, frozenset(_keys_of(source, display)), True)
        source.memo["keys", display.start_byte] = known
    return known


def _keys_of(source: Source, display: Node) -> Iterator[str]:
    for pair in display.named_children:
        key = pair.child_by_field_name("key") if pair.type == "pair" else None
        text = literal_string(source, key) if key is not None and key.type == "string" else None
        if text is not None:
            yield text


def _is_looked_up(source: Source, arguments: Node) -> bool:
    """Is it the key in `mapping.get("key")` and its like?"""
    call = arguments.parent if arguments.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    return (
        function is not None
        and function.type == "attribute"
        and last_name(source, function) in ("get", "pop", "setdefault")
    )


_BY_KEYWORD = frozenset({"dict", "update"})
