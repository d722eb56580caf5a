"""Definitions in the whole workspace, by name or a part of it.

ripgrep says which files contain the letters, the outline of each says what is defined there. What an outline leaves out
(locals, imports, `self.x = …`) is not found here either.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.syntax.outline import Item, flat, outline
from lsptools.workspace.ripgrep import Skipped
from lsptools.workspace.snapshot import Snapshot

PYTHON_FILES = ("*.py", "*.pyi")


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition and the file it is in."""

    path: str
    qualified: str
    """Inside the file: `Class.method`. `path::qualified` is a place."""
    item: Item


@dataclass(frozen=True, slots=True)
class Symbols:
    """What was found, names that are exactly the query first, and the files that could not be looked at."""

    definitions: tuple[Definition, ...]
    skipped: tuple[Skipped, ...] = ()


def symbols(
    snapshot: Snapshot, query: str, *, exact: bool = False, kinds: frozenset[str] = frozenset()
) -> Symbols:
    """Definitions whose name contains `query`; with a dot in it, whose qualified name does. No `kinds` means all."""
    *_, last = parts = query.split(".")
    if not all(parts):
        raise BadRequest(
            "invalid", f"{query!r} is not a name", hint="ask for a name, a part of one, or Class.method"
        )
    candidates = snapshot.files_with([last], whole_words=False, globs=PYTHON_FILES)
    found: list[Definition] = []
    skipped = list(candidates.skipped)
    for path in candidates.files:
        try:
            document = snapshot.document(path)
        except BadRequest as error:
            skipped.append(Skipped(path, error.message))
            continue
        found += [
            Definition(path, qualified, item)
            for qualified, item in flat(outline(document))
            if (not kinds or item.kind in kinds) and _fits(item.name, qualified, query, exact=exact)
        ]
    found.sort(key=lambda each: (_distance(each.item.name, last), each.path, each.item.name_span))
    return Symbols(tuple(found), tuple(skipped))


def _fits(name: str, qualified: str, query: str, *, exact: bool) -> bool:
    if "." not in query:
        return name == query if exact else query in name
    return f".{qualified}".endswith(f".{query}") if exact else query in qualified


def _distance(name: str, query: str) -> int:
    if name == query:
        return 0
    return 1 if name.startswith(query) else 2
