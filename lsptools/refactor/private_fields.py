"""Fields of attrs that begin with an underscore: the constructor takes them without it, as another word.

`A(size=3)` fills `_size`. The keyword is no occurrence of the field's name, so a rename would leave it: it waits for a decision.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.errors import Conflict
from lsptools.languages.python import closure
from lsptools.languages.python.classes import Class, last_name
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.refactor.places import place

_ATTRS = frozenset({"define", "mutable", "frozen", "attrs", "attributes", "s"})
"""Decorators of attrs, by the last part of their names."""
_COPIES = frozenset({"cls", "evolve", "__class__", "__init__"})
"""Callees that may fill the fields of any class."""


def keywords_of_private_fields(account: Account, finder: Finder, new_name: str) -> Iterator[Conflict]:
    """One conflict for each class of attrs whose private field the symbol is, if a call gives the field by keyword."""
    name = account.target.name
    keyword, new = name.lstrip("_"), new_name.lstrip("_")
    if keyword == name or name.startswith("__") or not keyword:
        return
    for root in account.family:
        cls = closure.class_at(finder.project, root)
        if cls is None or not _is_field(finder, cls, name):
            continue
        found = [
            place(source, site.start, f"attrs fills `{name}` by `{keyword}`, which would be `{new}`")
            for source in finder.sources_with(keyword)
            for site in source.sites(keyword)
            if site.role is Role.KEYWORD and _callee(source, site) in {cls.name, *_COPIES}
        ]
        if found:
            says = f"calls of `{cls.name}` give `{name}` as `{keyword}`, and would have to give it as `{new}`"
            yield Conflict("undecided", says, tuple(found))


def _is_field(finder: Finder, cls: Class, name: str) -> bool:
    """Is it a field of attrs that has no name of its own for the constructor (`alias=`)?"""
    if not _ATTRS & set(cls.decorator_names):
        return False
    sites = finder.evaluator.members(cls, name)
    statements = (site.ancestor("assignment") for site in sites if site.role in (Role.ASSIGN, Role.ANNOTATE))
    return any(node is not None and "alias=" not in cls.source.text(node) for node in statements)


def _callee(source: Source, site: Site) -> str:
    call = site.ancestor("call")
    function = call.child_by_field_name("function") if call is not None else None
    return last_name(source, function) if function is not None else ""
