"""Fields to whose names a base from elsewhere gives a meaning: columns of a model, which queries name by keyword and string.

    class Book(models.Model): name = CharField()
    Book.objects.filter(name="a").order_by("-name")         # each is the field, perhaps
    queries.filter(book__name__startswith="a")              # other words, which are made of its name

What the base is like is not known, so that is asked of every class that has one which was not found, or a metaclass of a
library, for attributes that the body assigns a call to (`CharField()`, `Column(String)`). Where it stops: what is named in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from lsptools.languages.python import closure
from lsptools.languages.python.classes import Class
from lsptools.languages.python.detours import string_index
from lsptools.languages.python.given import Given
from lsptools.languages.python.meaning import CONDITIONS, Root, by_place
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import FunctionValue, Types
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.references import Finder


class Columns:
    """The fields of this kind in a family, and what may name them."""

    def __init__(self, finder: Finder, name: str, family: frozenset[Root]) -> None:
        self._finder = finder
        self._name = name
        self._family = family

    @cached_property
    def owner(self) -> Class | None:
        """A class whose field the name is; None: the family has no field of this kind."""
        found = (closure.class_at(self._finder.project, root) for root in sorted(self._family, key=by_place))
        return next((cls for cls in found if cls is not None and self._is_column(cls)), None)

    def by_keyword(self, given: Given, callee: str) -> str:
        """Why a keyword of something unknown may be the field; empty: it is not."""
        if self.owner is None or not (given.attribute or callee in CONDITIONS):
            return ""
        return f"it may be the field of `{self.owner.name}`, whose base is not known"

    def by_string(self, path: str, start: int, end: int) -> str:
        """Why a word in a string may be the field (bytes of the file); empty: it is not."""
        if self.owner is None:
            return ""
        source = self._finder.project.source(path)
        site = source.site_at(start, end, self._name) if source is not None else None
        if source is None or site is None or not self._names_column(source, site):
            return ""
        return f"a string where fields of `{self.owner.name}` may be named, whose base is not known"

    def lookups(self) -> Iterator[tuple[Source, int]]:
        """Where words stand that are made of the field's name (`name__in`, `book__name`): file and byte."""
        if self.owner is None or self._name.startswith("_"):
            return
        parts = (f"{self._name}__", f"__{self._name}")
        paths = {path for part in parts for path in self._finder.candidates.python_parts(part)}
        word = re.escape(self._name.encode())
        pattern = re.compile(rb"\b(?:[a-z]\w*?__)?" + word + rb"(?:__\w+)?\b")
        for path in sorted(paths):
            source = self._finder.project.source(path)
            for found in pattern.finditer(source.bytes) if source is not None else ():
                if source is not None and b"__" in found.group():
                    site = source.site_at(found.start(), found.end(), found.group().decode())
                    if site.role is Role.KEYWORD or self._names_column(source, site):
                        yield source, found.start()

    def _is_column(self, cls: Class) -> bool:
        evaluator = self._finder.evaluator
        if self._finder.meanings.makes_constructor(cls) or evaluator.is_enum(cls):
            return False
        metaclass = evaluator.metaclass(cls)
        is_made = metaclass is not None and metaclass.source.external and metaclass.name not in _PLAIN
        if not (is_made or evaluator.missing_bases(cls)):
            return False
        statements = (
            site.ancestor("assignment")
            for site in evaluator.members(cls, self._name)
            if site.role in (Role.ASSIGN, Role.ANNOTATE) and site.scope.kind == "class"
        )
        values = (each.child_by_field_name("right") for each in statements if each is not None)
        return any(value is not None and value.type == "call" for value in values)

    def _names_column(self, source: Source, site: Site) -> bool:
        """Is it all of a string that is given to something unknown, or stands in a list of a class's body?"""
        index = string_index(site) if site.role is Role.STRING else None
        if index is None:
            return False
        content = literal_string(source, site.path[index][0])
        word = source.text_of(site)
        if content is None or content.lstrip("-+") != word:
            return False
        for at in range(index - 1, 0, -1):
            node = site.path[at][0]
            if node.type == "argument_list":
                return self._is_unknown(source, site.path[at - 1][0])
            if node.type in ("assignment", "augmented_assignment"):
                return site.scope.kind == "class"
            if node.type not in _AROUND:
                return False
        return False

    def _is_unknown(self, source: Source, call: Node) -> bool:
        function = call.child_by_field_name("function") if call.type == "call" else None
        if function is None or function.type != "attribute":
            return False
        return not _is_known(self._finder.evaluator.at(source, function))


def _is_known(types: Types) -> bool:
    """Is it all code of the workspace that is called, or of the language?"""
    return types.complete and all(
        isinstance(value, FunctionValue) and not value.function.source.external for value in types.values
    )


_PLAIN = frozenset({"ABCMeta", "EnumMeta", "EnumType", "type", "GenericMeta", "_ProtocolMeta"})
"""Metaclasses that do nothing with the names of a class's attributes."""
_AROUND = frozenset({"list", "tuple", "set", "keyword_argument", "pair", "dictionary", "expression_list"})
