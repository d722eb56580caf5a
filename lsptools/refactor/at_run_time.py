"""What reaches a name at run time without naming it: look-ups of libraries, runners and hooks, options, values, constructors.

None of these is an occurrence that could be edited, so each is a conflict that waits for a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsptools.errors import Conflict
from lsptools.errors import Site as Place
from lsptools.languages.python import closure, fixtures
from lsptools.languages.python.classes import Class, Function, last_name, positional_arguments
from lsptools.languages.python.columns import Columns
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import ClassValue
from lsptools.refactor.places import place
from lsptools.refactor.selection import nodes_in
from lsptools.syntax.tree import Node

_HOOK = "pytest_"
_STRING_ENUMS = frozenset({"StrEnum", "LowercaseStrEnum"})
_ATTRS = frozenset({"define", "mutable", "frozen", "attrs", "attributes", "s"})
"""Decorators of attrs, by the last part of their names."""
_COPIES = frozenset({"cls", "evolve", "__class__", "__init__"})
"""Callees that may fill the fields of any class."""


def reached_at_run_time(account: Account, finder: Finder, new_name: str) -> Iterator[Conflict]:
    """A conflict for each way in which the symbol is found by its name, or by one that is made of it."""
    for computed in account.by_library:
        sites = (place(computed.source, computed.start, "is where the library looks it up"),)
        yield _undecided(computed.says, *sites)
    yield from _collected(account, new_name)
    name = account.target.name
    lookups = [
        place(source, at, f"may look `{name}` up")
        for source, at in Columns(finder, name, account.family).lookups()
    ]
    if lookups:
        yield _undecided(f"words that are made of `{name}` may look the field up", *lookups)
    for root in sorted(account.family, key=by_place):
        function = closure.function_at(finder.project, root)
        if function is not None and closure.is_parameter(finder.project, root):
            yield from _called_with(function, name)
        cls = closure.class_at(finder.project, root)
        if cls is not None and _is_valued_by_name(finder, cls, name):
            yield _undecided(f"the value of the member is made of its name, in `{cls.name}`")
        if cls is not None:
            yield from _filled_by_another_word(finder, cls, name, new_name)
            yield from _listed(finder, cls)


def _undecided(says: str, *sites: Place) -> Conflict:
    return Conflict("undecided", says, sites)


def _collected(account: Account, new_name: str) -> Iterator[Conflict]:
    """Tests and hooks, which pytest and its like find by their names."""
    symbol, name = account.references.symbol, account.target.name
    if symbol.kind == "function" and name.startswith(_HOOK):
        yield _undecided(f"pytest finds the hook `{name}` by its name")
    collected = "test" if name.startswith("test") else "Test" if name.startswith("Test") else ""
    if not collected or new_name.startswith(collected) or not fixtures.is_test_file(symbol.path):
        return
    if symbol.kind in ("function", "method", "class"):
        yield _undecided(f"test runners collect `{name}` by its name, and would not find `{new_name}`")


def _called_with(function: Function, name: str) -> Iterator[Conflict]:
    """A parameter that pytest, or a decorator which is told it with dashes (`"--out-dir"`), fills by its name."""
    if function.name.startswith(_HOOK):
        yield _undecided(f"pytest calls the hook `{function.name}` by the names of its parameters")
    if "_" not in name.strip("_"):
        return  # spelled alike, it is an occurrence
    wanted, source = name.replace("_", "-"), function.source
    strings = (node for each in function.decorators for node in nodes_in(each) if node.type == "string")
    spelled = [
        node.start_byte
        for node in strings
        if wanted in (part.lstrip("-") for part in (literal_string(source, node) or "").split("/"))
    ]
    if spelled:
        sites = (place(source, at, f"may be how `{name}` is given") for at in spelled)
        yield _undecided(f"a decorator of `{function.name}` may call it by `{name}`", *sites)


def _is_valued_by_name(finder: Finder, cls: Class, name: str) -> bool:
    """Is it a member of an enum whose value `auto()` makes of the name?"""
    evaluator = finder.evaluator
    if not evaluator.is_enum(cls):
        return False
    order = evaluator.order(cls)
    bases = {last_name(each.source, node) for each in order for node in each.base_nodes}
    ours = (each for each in order if not each.source.external)
    if not bases & _STRING_ENUMS and not any(each.own_function("_generate_next_value_") for each in ours):
        return False
    statements = (site.ancestor("assignment") for site in evaluator.members(cls, name))
    values = (node.child_by_field_name("right") for node in statements if node is not None)
    calls = (value for value in values if value is not None and value.type == "call")
    return any(last_name(cls.source, call) == "auto" for call in calls)


def _filled_by_another_word(finder: Finder, cls: Class, name: str, new_name: str) -> Iterator[Conflict]:
    """A private field of attrs: the constructor takes `_size` as `size`, which is no occurrence of the field's name."""
    keyword, new = name.lstrip("_"), new_name.lstrip("_")
    if keyword == name or name.startswith("__") or not keyword or not _is_field_of_attrs(finder, cls, name):
        return
    sites = tuple(
        place(source, site.start, f"attrs fills `{name}` by `{keyword}`, which would be `{new}`")
        for source in finder.sources_with(keyword)
        for site in source.sites(keyword)
        if site.role is Role.KEYWORD and _callee(source, site) in {cls.name, *_COPIES}
    )
    if sites:
        says = f"calls of `{cls.name}` give `{name}` as `{keyword}`, and would have to give it as `{new}`"
        yield _undecided(says, *sites)


def _is_field_of_attrs(finder: Finder, cls: Class, name: str) -> bool:
    """One that has no name of its own for the constructor (`alias=`)."""
    if _ATTRS.isdisjoint(cls.decorator_names):
        return False
    sites = (
        site for site in finder.evaluator.members(cls, name) if site.role in (Role.ASSIGN, Role.ANNOTATE)
    )
    statements = (site.ancestor("assignment") for site in sites)
    return any(node is not None and not _has_alias(cls.source, node) for node in statements)


def _has_alias(source: Source, statement: Node) -> bool:
    value = statement.child_by_field_name("right")
    return (
        value is not None and value.type == "call" and fixtures.keyword_of(source, value, "alias") is not None
    )


def _listed(finder: Finder, cls: Class) -> Iterator[Conflict]:
    """A loop of the module over all names of the class, which are made something of when it is imported."""
    source = cls.source
    if _LISTED.search(source.bytes) is None:
        return
    for loop in source.tree.root_node.children:
        over = loop.child_by_field_name("right") if loop.type == "for_statement" else None
        for node in nodes_in(over) if over is not None else ():
            of = _whose_names(source, node)
            if of is None:
                continue
            values = finder.evaluator.at(source, of).values
            if any(
                isinstance(value, ClassValue) and cls in finder.evaluator.order(value.cls) for value in values
            ):
                says = (
                    f"the module goes through all names of `{source.text(of)}`, and may make others of them"
                )
                yield _undecided(says, place(source, node.start_byte, "is where it does"))


_LISTED = re.compile(rb"\b__dict__\b|\b(?:vars|dir)\s*\(")


def _whose_names(source: Source, node: Node) -> Node | None:
    """`x` in `x.__dict__`, `vars(x)` and `dir(x)`."""
    if node.type == "attribute" and last_name(source, node) == "__dict__":
        return node.child_by_field_name("object")
    function = node.child_by_field_name("function") if node.type == "call" else None
    if function is None or source.text(function) not in ("vars", "dir"):
        return None
    return next(iter(positional_arguments(node)), None)


def _callee(source: Source, site: Site) -> str:
    call = site.ancestor("call")
    function = call.child_by_field_name("function") if call is not None else None
    return last_name(source, function) if function is not None else ""
