"""Private names of a class that is renamed: `__secret` in `Vault` is `_Vault__secret`, and will be `_Safe__secret`.

That may be a name which is there already: spelled out somewhere, or private in a class `Safe` above or below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsptools.errors import Conflict
from lsptools.languages.python.classes import Class, class_of
from lsptools.languages.python.closure import class_at
from lsptools.languages.python.private import PRIVATE_NAME, class_named_by, prefix_of
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import TEXT, Role
from lsptools.languages.python.scopes import Source
from lsptools.refactor.places import place


def private_conflicts(finder: Finder, account: Account, new: str) -> Iterator[Conflict]:
    """What the private names of the renamed classes would meet."""
    for root in account.family:
        cls = class_named_by(finder.meanings, root)
        bare = new.lstrip("_")
        if cls is None or not prefix_of(cls) or bare == cls.name.lstrip("_"):
            continue
        names = _private_names(cls)
        if not bare:
            says = f"private names such as `{min(names)}` of `{cls.name}` would be private no longer"
            yield Conflict("name_clash", says, (place(cls.source, cls.start, "is the class"),))
            continue
        yield from _spelled_out(finder, cls, f"_{bare}", names)
        yield from _namesakes(finder, cls, bare, names)


def _private_names(cls: Class) -> frozenset[str]:
    found = PRIVATE_NAME.finditer(cls.source.bytes, cls.start, cls.end)
    return frozenset(each.group().decode("utf-8", "replace") for each in found)


def _spelled_out(finder: Finder, cls: Class, prefix: str, names: frozenset[str]) -> Iterator[Conflict]:
    for path in finder.candidates.python_parts(f"{prefix}__"):
        source = finder.project.source(path)
        for found in re.finditer(rf"\b{re.escape(prefix)}__\w+", source.document.text) if source else ():
            word = found.group()
            if source is None or word[len(prefix) :] not in names:
                continue
            start = len(source.document.text[: found.start()].encode("utf-8", "surrogateescape"))
            if _may_meet(finder, cls, source, start, word):
                says = (
                    f"`{word[len(prefix) :]}` of `{cls.name}` would become `{word}`, which is there already"
                )
                sites = (
                    place(cls.source, cls.start, "renaming this class"),
                    place(source, start, "would make its private name this one"),
                )
                yield Conflict("name_clash", says, sites)


def _may_meet(finder: Finder, cls: Class, source: Source, start: int, word: str) -> bool:
    """Can the spelled-out name be on an object of the class? Not if it is known to be on another one's."""
    site = source.site_at(start, start + len(word.encode()), word)
    if site.role in TEXT:
        return site.role is Role.STRING
    roots = finder.meanings.of(source, site).roots
    owners = [owner for root in roots if (owner := class_at(finder.project, root)) is not None]
    order = finder.evaluator.order
    return not owners or any(owner in order(cls) or cls in order(owner) for owner in owners)


def _namesakes(finder: Finder, cls: Class, bare: str, names: frozenset[str]) -> Iterator[Conflict]:
    """Classes of the new name in the same hierarchy that have such a private name, too."""
    order = finder.evaluator.order
    below = (
        other
        for source in finder.sources_with(bare)
        for other in _classes(source, bare)
        if cls in order(other)
    )
    for other in dict.fromkeys([*order(cls)[1:], *below]):
        if other is cls or other.name.lstrip("_") != bare:
            continue
        for name in sorted(names & _private_names(other)):
            says = f"`{name}` of `{cls.name}` would be the same as that of `{other.name}`"
            sites = (
                place(cls.source, cls.start, "renaming this class"),
                place(other.source, other.start, "would give it the private names of the class here"),
            )
            yield Conflict("name_clash", says, sites)


def _classes(source: Source, bare: str) -> Iterator[Class]:
    for name in (bare, f"_{bare}", f"__{bare}"):
        for site in source.sites(name):
            if site.role is Role.CLASS:
                yield class_of(source, site.path[-2][0])
