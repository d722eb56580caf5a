"""Private names spelled out with their class: `vault._Vault__secret` names the class, too.

Inside a class `__secret` is bound as `_Vault__secret`. Whoever writes that from outside has to follow when the class is
renamed. Only the class's part of the word is the occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsptools.languages.names import Evidence
from lsptools.languages.python.classes import Class, class_of
from lsptools.languages.python.closure import class_at, variable_at
from lsptools.languages.python.meaning import Meaning, Meanings, Root
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source

PRIVATE = "private name"
"""The role of such an occurrence. In it the class stands without its leading underscores."""


def class_named_by(meanings: Meanings, root: Root) -> Class | None:
    """The class whose name a declaration is."""
    owner = class_at(meanings.project, root)
    variable = variable_at(meanings.project, root) if owner is None else None
    if owner is not None:
        source, sites = owner.source, meanings.evaluator.members(owner, root.name)
    elif variable is not None:
        source, sites = variable.source, variable.sites
    else:
        return None
    found = (class_of(source, site.path[-2][0]) for site in sites if site.role is Role.CLASS)
    return next(found, None)


def prefix_of(cls: Class) -> str:
    """What private names of the class begin with outside of it; empty if it has none."""
    bare = cls.name.lstrip("_")
    return f"_{bare}__" if bare and PRIVATE_NAME.search(cls.source.bytes, cls.start, cls.end) else ""


def spelled_out(
    meanings: Meanings, source: Source, prefix: str
) -> Iterator[tuple[int, int, Evidence | None, Meaning]]:
    """(start, end, class, meaning) of the class's part in each private name that is spelled out in a file.

    Start and end are bytes. The meaning is that of the class.
    """
    for found in re.finditer(re.escape(prefix).encode() + rb"\w+", source.bytes):
        word = found.group().decode("utf-8", "replace")
        if word.endswith("__") or source.bytes[found.start() - 1 : found.start()].isalnum():
            continue
        site = source.site_at(found.start(), found.end(), word)
        start = found.start() + 1
        yield start, start + len(prefix[1:-2].encode()), *_judged(meanings, source, site)


def _judged(meanings: Meanings, source: Source, site: Site) -> tuple[Evidence | None, Meaning]:
    says = "a private name, spelled out with its class"
    if site.role in (Role.COMMENT, Role.TOKEN):
        return Evidence.MENTION, Meaning(frozenset(), says)
    if site.role is Role.STRING:
        return Evidence.POSSIBLE, Meaning(frozenset(), says)
    member = meanings.of(source, site)
    roots: set[Root] = set()
    for root in member.roots:
        cls = class_at(meanings.project, root)
        if cls is not None and cls.outer.kind == "class":
            roots |= meanings.in_scope(cls.source, cls.outer, cls.name).roots
        elif cls is not None:
            roots |= meanings.variable(Variable(cls.source, cls.outer, cls.name)).roots
    if not roots and not member.complete:
        return Evidence.POSSIBLE, Meaning(frozenset(), says, False, member.unknown)
    return None, Meaning(frozenset(roots), says, steps=member.steps)


PRIVATE_NAME = re.compile(rb"(?<![\w\x80-\xff])__(?!\w*__(?![\w\x80-\xff]))[\w\x80-\xff]+")
"""A private name as it is written in its class."""
