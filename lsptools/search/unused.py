"""Definitions that nothing refers to, found conservatively: what may be used in a way that no search sees is spared.

Listed is what `refs` has no certain, likely or possible occurrence of, except in its own declarations and bodies. Where it
stops: who uses the workspace from outside is not seen; a public name of a library may be all it is for. Spared, and counted
with the reason, is what others call without naming it: names of the language, decorated definitions, tests and fixtures,
members of classes with a base that is a library's or was not found, members of protocols, and names whose beginning stands in a string
(`getattr(self, "visit_" + kind)`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.languages.names import Evidence, FilePosition, Occurrence, Symbol
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import Class, class_of, function_of
from lsptools.languages.python.decorators import REGISTERS_NOTHING
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.scopes import Source
from lsptools.search.definitions import Definitions
from lsptools.search.hierarchy import unknown_bases
from lsptools.syntax.outline import Item
from lsptools.text.lines import Span
from lsptools.workspace.globs import quoted
from lsptools.workspace.snapshot import Snapshot

KINDS = ("class", "function", "method", "variable")
_REFERS = (Evidence.CERTAIN, Evidence.LIKELY, Evidence.POSSIBLE)
_PLAIN_BASES = frozenset({"object", "Generic", "ABC", "Exception"})
"""Bases that call no methods of classes below them by name."""


@dataclass(frozen=True, slots=True)
class Unused:
    """A definition that nothing refers to."""

    symbol: Symbol
    reason: str
    counts: Mapping[str, int]
    """Its name's occurrences by class of evidence; `certain` are its declarations, and uses in its own body."""


@dataclass(frozen=True, slots=True)
class UnusedFound:
    """What was looked at, what nothing refers to, and what was spared."""

    unused: tuple[Unused, ...]
    n_definitions: int
    spared: Mapping[str, int]
    """How many definitions were not judged, by reason."""
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


def unused(snapshot: Snapshot, path: str = "", *, kinds: frozenset[str] = frozenset()) -> UnusedFound:
    """The unused definitions in a file, in a folder, or everywhere; no `kinds` means all of `KINDS`.

    Raises `BadRequest` (`not_found`) if there is no such file or folder.
    """
    return _Search(snapshot, kinds or frozenset(KINDS)).found(_paths(snapshot, path))


def _paths(snapshot: Snapshot, path: str) -> list[str]:
    if path and snapshot.is_file(path):
        found = [snapshot.root.relative(path)]
    else:
        name = snapshot.root.relative(path) if path else "."
        if not snapshot.is_dir(name):
            raise BadRequest(
                "not_found", f"there is no {path}", hint="name a file or a folder of the workspace"
            )
        folder = "" if name == "." else f"{quoted(name)}/**/"
        found = list(snapshot.files(globs=tuple(f"{folder}*{suffix}" for suffix in (".py", ".pyw"))))
    return [each for each in found if each.endswith(PYTHON_SUFFIXES)]


class _Search:
    def __init__(self, snapshot: Snapshot, kinds: frozenset[str]) -> None:
        self.finder = Finder(snapshot)
        self.definitions = Definitions(self.finder)
        self.kinds = kinds
        self.spared: Counter[str] = Counter()
        self.incomplete: dict[str, None] = {}
        self.n_definitions = 0

    def found(self, paths: list[str]) -> UnusedFound:
        unused = tuple(self._all(paths))
        return UnusedFound(
            unused, self.n_definitions, dict(self.spared), not self.incomplete, tuple(self.incomplete)
        )

    def _all(self, paths: list[str]) -> Iterator[Unused]:
        for path in paths:
            source = self.finder.project.source(path)
            if source is None or source.is_broken or source.external:
                if source is not None and source.is_broken:
                    self.incomplete[f"{path} does not parse"] = None
                continue
            for _, item in self.definitions.of(path):
                if item.kind in self.kinds:
                    self.n_definitions += 1
                    yield from self._one(source, item)
            source.release()

    def _one(self, source: Source, item: Item) -> Iterator[Unused]:
        why = self._spared(source, item)
        account = None if why else self._account(source, item)
        if account is not None:
            why = "a library has it, too, and may call it" if account.external else ""
            uses = list(self._uses(account))
            if not why and not uses:
                why = self._named_in_part(item.name)
                if not why:
                    yield self._unused(account, item)
        if why:
            self.spared[why] += 1

    def _account(self, source: Source, item: Item) -> Account | None:
        try:
            target = self.finder.target(FilePosition(source.path, item.name_span.start))
        except BadRequest:
            self.spared["what it is bound to could not be derived"] += 1
            return None
        account = self.finder.account(target)
        self.incomplete.update(dict.fromkeys(account.references.incomplete_because))
        return account

    # ------------------------------------------------------------------ what counts

    def _uses(self, account: Account) -> Iterator[Occurrence]:
        """Occurrences that refer to the definition from outside of its declarations and bodies."""
        own = self._own(account)
        for each in account.references.occurrences:
            if each.evidence in _REFERS and not any(
                path == each.path and span.start <= each.span.start < span.end for path, span in own
            ):
                yield each

    def _own(self, account: Account) -> list[tuple[str, Span]]:
        found = []
        for symbol in account.references.declarations:
            item = self.definitions.named_at(symbol.path, symbol.span)
            is_block = item is not None and item.kind in ("class", "function", "method")
            found.append((symbol.path, item.span if item is not None and is_block else symbol.span))
        return found

    def _unused(self, account: Account, item: Item) -> Unused:
        counts = account.references.counts()
        n_own = counts["certain"] + counts["likely"] + counts["possible"]
        n_declared = len(account.references.declarations)
        if n_own > n_declared:
            reason = "only it refers to itself"
        elif counts["mention"]:
            reason = f"only text speaks of it ({counts['mention']})"
        elif counts["unrelated"]:
            reason = f"the name stands only for other things elsewhere ({counts['unrelated']})"
        else:
            reason = "the name stands nowhere else"
        return Unused(account.references.symbol, reason, counts)

    # ------------------------------------------------------------------ what is spared

    def _spared(self, source: Source, item: Item) -> str:
        """Why a definition is not judged; empty: it is."""
        name = item.name
        if name.startswith("__") and name.endswith("__"):
            return "the language knows the name"
        if name.strip("_") == "":
            return "a name for what is not wanted"
        if name.startswith(("test", "Test", "pytest_", "setUp", "tearDown", "setup_", "teardown_")):
            return "pytest or unittest knows the name"
        path, _ = source.descend(source.byte(item.name_span.start))
        statement = path[-2][0] if len(path) > 1 else None
        if statement is not None and statement.type in ("function_definition", "class_definition"):
            is_class = statement.type == "class_definition"
            definition = class_of(source, statement) if is_class else function_of(source, statement)
            unknown = [each for each in definition.decorator_names if each not in REGISTERS_NOTHING]
            if unknown or any(each in ("setter", "deleter", "getter") for each in definition.decorator_names):
                return "it is decorated, and perhaps registered"
            if is_class and any(self._base_is_active(source, definition)):
                return "a base that is a library's or was not found may register it"
        around = [node for node, _ in path[:-2] if node.type == "class_definition"]
        if around and any(self._base_is_active(source, class_of(source, around[-1]))):
            return "a base that is a library's, a protocol, or was not found may call it"
        return ""

    def _base_is_active(self, source: Source, definition: object) -> Iterator[bool]:
        if not isinstance(definition, Class):
            return
        evaluator = self.finder.evaluator
        metaclass = evaluator.metaclass(definition)
        yield metaclass is not None and not (metaclass.source.external and metaclass.name == "ABCMeta")
        yield any(unknown_bases(self.finder, cls) for cls in evaluator.order(definition))
        for cls in evaluator.order(definition)[1:]:
            yield cls.source.external and cls.name not in _PLAIN_BASES

    def _named_in_part(self, name: str) -> str:
        """Does a string end with the beginning of the name, so that the rest may be put to it at run time?"""
        starts = [
            name[: found.end()] for found in re.finditer(r"_", name) if 0 < found.start() < len(name) - 1
        ]
        for start in starts:
            if not start.strip("_"):
                continue
            pattern = re.compile(rf"[\"']{re.escape(start)}(?:[\"'{{%])")
            for path in self.finder.candidates.python_parts(start):
                source = self.finder.project.source(path)
                if source is not None and pattern.search(source.document.text):
                    return f"a string holds the beginning of its name ({start})"
        return ""
