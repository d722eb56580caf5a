"""Keywords that reach a function on a detour: in a dictionary that a call unpacks, or through someone who calls it later.

`f(**dict(size=1))`, `options = {"size": 1}; f(**options)`, `Thread(target=f, kwargs={"size": 1})`, `pool.submit(f, size=1)`.
What is unpacked on the spot, and what goes through a function that is known to hand its keywords on, is certain; a
dictionary that has a name may be changed on its way, and an unknown callee may keep what it gets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsptools.languages.python import signatures
from lsptools.languages.python.classes import Function, function_in, last_name, positional_arguments
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.meaning import Meaning, Meanings, Root

_FORWARDERS = frozenset(
    {
        "submit",
        "to_thread",
        "addCleanup",
        "addClassCleanup",
        "addModuleCleanup",
        "assertRaises",
        "assertWarns",
        "partialmethod",
    }
)
"""Functions of the standard library that call their first function with the keywords they are given."""
_DICTIONARIES = frozenset({"kwargs", "kwds", "kw", "keywords"})
"""Parameters that take the keywords of a later call as a dictionary (`Thread`, `Timer`, `apply_async`)."""
_TARGETS = frozenset({"target", "func", "function", "fn", "f", "callback", "call"})


@dataclass(frozen=True, slots=True)
class _Way:
    """A callable that gets a keyword, and whether that is certain."""

    call: Node
    function: Node
    is_certain: bool


def on_detour(meanings: Meanings, source: Source, site: Site, name: str, direct: Meaning) -> Meaning:
    """The meaning of a keyword argument, when what is called directly (`direct`) has no such parameter of ours."""
    if any(root.kind != "builtin" for root in direct.roots):
        return direct
    certain, perhaps = _found(meanings, source, _ways_of_keyword(source, site, known=direct.complete), name)
    if certain:
        return replace(
            direct, roots=certain, says="handed on as a keyword", complete=True, unknown="", unbound=()
        )
    return replace(direct, perhaps=perhaps) if perhaps else direct


def key_roots(
    meanings: Meanings, source: Source, site: Site, index: int, name: str
) -> tuple[frozenset[Root], frozenset[Root]]:
    """What a string that is a key becomes as a keyword: (certainly, perhaps); `site.path[index]` is the string."""
    return _found(meanings, source, _ways_of_key(source, site, index), name)


def reached(meanings: Meanings, source: Source, site: Site, name: str) -> frozenset[Root]:
    """The declarations that `name` would reach if it stood in the place of a keyword or of a key."""
    if site.role is Role.KEYWORD and len(site.path) > 2:
        call = site.path[-3][0].parent
        function = call.child_by_field_name("function") if call is not None else None
        ways = list(_ways_of_keyword(source, site, known=True))
        if call is not None and function is not None:
            ways.append(_Way(call, function, True))
    elif site.role is Role.STRING:
        index = string_index(site)
        ways = list(_ways_of_key(source, site, index)) if index is not None else []
    else:
        return frozenset()
    certain, perhaps = _found(meanings, source, ways, name)
    return certain | perhaps


def string_index(site: Site) -> int | None:
    """Where in the path of an occurrence the string is."""
    return next((i for i in range(len(site.path) - 1, 0, -1) if site.path[i][0].type == "string"), None)


def may_be_key(site: Site) -> bool:
    """Is the occurrence in a string that is a key of a dictionary?"""
    index = string_index(site) if site.role is Role.STRING else None
    if index is None:
        return False
    parent, field = site.path[index - 1][0], site.path[index][1]
    return (parent.type == "pair" and field == "key") or (parent.type == "subscript" and field == "subscript")


def taken_by(source: Source, value: Node) -> Function | None:
    """The function whose own `**options` an expression is."""
    if value.type != "identifier":
        return None
    owner = source.owner_of(value)
    if owner is None or owner.kind not in ("function", "lambda"):
        return None
    function = function_in(source, owner)
    taken = function.parameter(source.text(value))
    return function if taken is not None and taken.kind == "kwargs" else None


def _found(
    meanings: Meanings, source: Source, ways: Iterator[_Way] | list[_Way], name: str
) -> tuple[frozenset[Root], frozenset[Root]]:
    certain: set[Root] = set()
    perhaps: set[Root] = set()
    for way in ways:
        meaning = meanings.keyword_of(source, way.call, way.function, name, 2)
        ours = {root for root in meaning.roots if root.kind != "builtin"}
        (certain if way.is_certain and meaning.complete else perhaps).update(ours)
    return frozenset(certain), frozenset(perhaps - certain)


# ---------------------------------------------------------------------------------------------------- ways


def _ways_of_keyword(source: Source, site: Site, *, known: bool) -> Iterator[_Way]:
    """`known`: is it known what is called directly?"""
    call = site.path[-3][0].parent if len(site.path) > 2 else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    if call is None or function is None:
        return
    last = last_name(source, function)
    described = _described(source, function) if last in ("bind", "bind_partial") else None
    if described is not None:
        yield _Way(call, described, True)
    elif last == "dict":
        yield from _ways_of_dictionary(source, call, site)
    elif last == "update" and function.type == "attribute":
        yield from _ways_of_variable(source, function.child_by_field_name("object"), site)
    else:
        for callable_ in _callables(source, call):
            yield _Way(call, callable_, last in _FORWARDERS)
        owner = function.child_by_field_name("object") if function.type == "attribute" else None
        if owner is not None and not known:
            yield _Way(call, owner, False)  # `task.delay(size=1)`


def _described(source: Source, function: Node) -> Node | None:
    """The function in `signature(f).bind`."""
    owner = function.child_by_field_name("object")
    return signatures.signed(source, owner) if owner is not None else None


def _ways_of_key(source: Source, site: Site, index: int) -> Iterator[_Way]:
    parent, field = site.path[index - 1][0], site.path[index][1]
    if parent.type == "pair" and field == "key" and index >= 2:
        yield from _ways_of_dictionary(source, site.path[index - 2][0], site)
    elif parent.type == "subscript" and field == "subscript":
        yield from _ways_of_variable(source, parent.child_by_field_name("value"), site)
    elif parent.type == "argument_list" and parent.parent is not None:
        function = parent.parent.child_by_field_name("function")
        if function is not None and function.type == "attribute" and last_name(source, function) in _BY_KEY:
            yield from _ways_of_variable(source, function.child_by_field_name("object"), site)


def _ways_of_dictionary(source: Source, node: Node, site: Site) -> Iterator[_Way]:
    """Where a dictionary goes that is written out: unpacked on the spot, given as `kwargs=`, or bound to a name."""
    yield from _ways_of_value(source, node, is_certain=True)
    parent = node.parent
    if parent is not None and parent.type == "assignment":
        yield from _ways_of_variable(source, parent.child_by_field_name("left"), site)
    elif parent is not None and parent.type == "argument_list" and parent.parent is not None:
        function = parent.parent.child_by_field_name("function")
        if function is not None and function.type == "attribute" and last_name(source, function) == "update":
            yield from _ways_of_variable(source, function.child_by_field_name("object"), site)


def _ways_of_value(source: Source, node: Node, *, is_certain: bool) -> Iterator[_Way]:
    parent = node.parent
    if parent is None or parent.parent is None:
        return
    call = parent.parent.parent
    if call is None or call.type != "call":
        return
    function = call.child_by_field_name("function")
    if parent.type == "dictionary_splat" and function is not None:
        yield _Way(call, function, is_certain)
        if last_name(source, function) != "dict":
            for callable_ in _callables(source, call):
                yield _Way(call, callable_, False)
    elif parent.type == "keyword_argument":
        key = parent.child_by_field_name("name")
        if key is not None and source.text(key) in _DICTIONARIES:
            for callable_ in _callables(source, call):
                yield _Way(call, callable_, is_certain and source.text(key) != "kw")


def _ways_of_variable(source: Source, node: Node | None, site: Site) -> Iterator[_Way]:
    """Where the dictionary goes that a name means here."""
    if node is None or node.type != "identifier":
        return
    name = source.text(node)
    names = source.names(name)
    owner = names.scope_of(site.scope, name)
    for other in source.sites(name):
        if other.role is Role.READ and owner is not None and names.scope_of(other.scope, name) is owner:
            yield from _ways_of_value(source, other.leaf, is_certain=False)


def _callables(source: Source, call: Node) -> Iterator[Node]:
    """The arguments of a call that may be functions to be called by it."""
    for argument in positional_arguments(call):
        if argument.type in ("identifier", "attribute"):
            yield argument
    arguments = call.child_by_field_name("arguments")
    for each in arguments.named_children if arguments is not None else ():
        key = each.child_by_field_name("name") if each.type == "keyword_argument" else None
        value = each.child_by_field_name("value")
        if key is not None and value is not None and source.text(key) in _TARGETS:
            yield value


_BY_KEY = frozenset({"setdefault", "pop", "get"})
