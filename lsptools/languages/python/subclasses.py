"""Classes below some classes that have other bases, too: there, hierarchies meet that do not know of each other.

`class Both(Reader, Writer)` makes one name of `Reader.close` and `Writer.close` without mentioning it. To find such
classes the files that contain the names of bases are searched for headers of class statements, one generation after the
other; what a header means is then asked from the evaluator.

Where it stops: a base that is named otherwise than its class (`import Reader as R`, an assignment).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsptools.languages.python.candidates import Candidates
from lsptools.languages.python.classes import Class, class_of
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.roles import Role


class Descent:
    """What is below some classes, by the names in headers; more classes can be added."""

    def __init__(self, candidates: Candidates, evaluator: Evaluator) -> None:
        self._candidates = candidates
        self._evaluator = evaluator
        self._tops: set[Class] = set()
        self._known = set(_EMPTY_BASES)
        self._several: dict[tuple[str, str], list[str]] = {}
        self._in_file: dict[str, list[tuple[str, list[str]]]] = {}

    def meeting(self, classes: Iterable[Class]) -> tuple[Class, ...]:
        """The classes below all that was added so far that have a base which is not below it."""
        new = set(classes) - self._tops
        self._tops |= new
        self._follow({cls.name for cls in new if cls.name} - self._known)
        mixed = (place for place, bases in sorted(self._several.items()) if not self._known.issuperset(bases))
        found = (cls for path, name in mixed for cls in self._named(path, name))
        return tuple(cls for cls in found if not self._tops.isdisjoint(self._evaluator.order(cls)))

    def overriding(self, members: Iterable[tuple[Class, str]]) -> dict[tuple[Class, str], list[Class]]:
        """For members of classes, the classes below that define them anew."""
        wanted: dict[str, list[Class]] = {}
        for cls, name in members:
            wanted.setdefault(name, []).append(cls)
        found: dict[tuple[Class, str], list[Class]] = {}
        for below in self._below({cls.name for classes in wanted.values() for cls in classes}, wanted):
            above = self._evaluator.order(below)[1:]
            for name, classes in wanted.items():
                owners = [cls for cls in classes if cls in above]
                if owners and self._evaluator.members(below, name):
                    for cls in owners:
                        found.setdefault((cls, name), []).append(below)
        return found

    def _below(self, frontier: set[str], words: Iterable[str]) -> Iterator[Class]:
        """The classes with a header that leads to one of these names, in files that have one of the words."""
        known = set(_EMPTY_BASES)
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
        while frontier:
            known |= frontier
            below: set[str] = set()
            for path, name, _ in self._headers(frontier):
                below.add(name)
                if pattern.search(self._candidates.snapshot.document(path).text):
                    yield from self._named(path, name)
            frontier = below - known

    def _follow(self, frontier: set[str]) -> None:
        while frontier:
            self._known |= frontier
            below: set[str] = set()
            for path, name, bases in self._headers(frontier):
                below.add(name)
                if len(bases) > 1:
                    self._several[path, name] = bases
            frontier = below - self._known

    def _headers(self, bases: set[str]) -> Iterator[tuple[str, str, list[str]]]:
        """(path, name, names of all bases) of the class statements that name one of `bases`."""
        for path in self._candidates.python(bases):
            for name, named in self._headers_in(path):
                if not bases.isdisjoint(named):
                    yield path, name, named

    def _headers_in(self, path: str) -> list[tuple[str, list[str]]]:
        known = self._in_file.get(path)
        if known is None:
            headers = _HEADER.finditer(self._candidates.snapshot.document(path).text)
            known = self._in_file[path] = [(each["name"], _base_names(each["bases"])) for each in headers]
        return known

    def _named(self, path: str, name: str) -> Iterator[Class]:
        source = self._evaluator.project.source(path)
        if source is None:
            return
        for site in source.sites(name):
            if site.role is Role.CLASS:
                yield class_of(source, site.path[-2][0])


def _base_names(bases: str) -> list[str]:
    """The last parts of the dotted names that stand as bases: without subscripts, keywords and comments."""
    plain = _COMMENT.sub("", bases)
    while (shorter := _SUBSCRIPT.sub("", plain)) != plain:
        plain = shorter
    parts = (part.strip() for part in plain.split(","))
    return [part.rpartition(".")[2] for part in parts if part and "=" not in part]


_EMPTY_BASES = frozenset({"object", "Generic", "Protocol", "ABC"})
"""Bases without members of their own."""
_HEADER = re.compile(
    r"\bclass\s+(?P<name>\w+)\s*(?:\[[^\]]*\])?\s*\((?P<bases>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*:"
)
_COMMENT = re.compile(r"#[^\n\r]*")
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
