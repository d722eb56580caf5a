"""Proof of a move before it is written: the same finding on the result, and the imports gone through.

1. each name in the moved lines means what it meant;
2. each occurrence of the moved name means the definition at its new place, and what meant something else still does;
3. each name that new imports bind means what it meant where it stood before;
4. every touched file parses, and no import meets a module that is still being loaded.

Places and declarations are compared through the edits and through the cut: a scope that moved along is the same scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.cycles import Failure, Loadable, circle_of, circular_imports
from lsptools.languages.python.meaning import Root
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import TEXT
from lsptools.languages.python.scopes import Site, Source
from lsptools.refactor.edited_files import with_ends_of
from lsptools.refactor.moved_blocks import Block, plain_lines, words_in
from lsptools.refactor.origins import origins
from lsptools.refactor.proof import ProofLine, is_newly_broken
from lsptools.text.lines import Offset
from lsptools.workspace.change import Change

MOST_ENTRIES = 240
"""From so many modules the imports are gone through."""

_MOST_TOUCHED = 24
"""So many of the touched modules are asked for their circles; the two of the move come first."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The lines that go from one file to another."""

    old: Source
    new: Source
    blocks: tuple[Block, ...]
    inner: tuple[tuple[int, int, str], ...] = ()
    """Replacements inside of them: start, end, new text; bytes of the old file."""
    at: int = 0
    """Where in the new file they come in; a byte of it as it is."""

    @property
    def text(self) -> str:
        """All of it as it is put in, with `\\n` at line ends."""
        gap = "\n\n" if any(block.is_definition for block in self.blocks) else ""
        return gap.join(self.before(block, block.end).rstrip("\n") + "\n" for block in self.blocks)

    def before(self, block: Block, at: int) -> str:
        """The lines of a block up to a byte, as they are put in."""
        pieces, last = [], block.start
        for start, end, text in self.inner:
            if block.start <= start and end <= at:
                pieces += [self._decoded(last, start), text]
                last = end
        return plain_lines("".join([*pieces, self._decoded(last, at)]))

    def _decoded(self, start: int, end: int) -> str:
        return self.old.bytes[start:end].decode("utf-8", "surrogateescape")


def prove_move(
    finder: Finder,
    after: Finder,
    account: Account,
    change: Change,
    moved: list[Moved],
    bound: Mapping[Source, set[str]],
) -> tuple[ProofLine, ...]:
    """Check the change; one line per law, more where one fails. `bound` are the names that new imports bind, by file.

    That no import goes in a circle `after` it has been checked before (`new_cycles`).
    """
    return tuple(_Proof(finder, after, account, change, moved, bound).lines())


class _Proof:
    def __init__(
        self,
        finder: Finder,
        after: Finder,
        account: Account,
        change: Change,
        moved: list[Moved],
        bound: Mapping[Source, set[str]],
    ) -> None:
        self.before = finder
        self.after = after
        self.name = account.target.name
        self.account = account
        self.edits = {file.path: file.edits for file in change.edits}
        self.moved = {each.old.path: each for each in moved}
        self.targets = {each.old.path: each.new.path for each in moved}
        self.bound = {source.path: names for source, names in bound.items()}
        self.family = frozenset(filter(None, (self._root(root) for root in account.family)))

    def lines(self) -> Iterator[ProofLine]:
        n_names, wrong = self._names()
        yield from _line(f"{n_names} names in the moved lines and beside them mean what they meant", wrong)
        n_bound, wrong = self._occurrences()
        yield from _line(f"{n_bound} occurrences of `{self.name}` mean it at its new place", wrong)
        n_files, wrong = self._parses()
        yield from _line(f"{n_files} touched files still parse", wrong)
        yield ProofLine("no import meets a module that is still being loaded", True)

    def _names(self) -> tuple[int, list[str]]:
        """The words of the moved lines in both modules, and what new imports bind elsewhere."""
        wanted = {path: set(names) for path, names in self.bound.items()}
        for moved in self.moved.values():
            words = {word for block in moved.blocks for word in words_in(block)}
            for path in (moved.old.path, moved.new.path):
                wanted.setdefault(path, set()).update(words)
        n_names = 0
        wrong: list[str] = []
        for path, words in sorted(wanted.items()):
            source = self.before.project.source(path)
            for word in sorted(words - {self.name}) if source is not None else ():
                if source is not None:
                    for site in source.sites(word):
                        n_names += 1
                        wrong.extend(self._same(source, site))
        return n_names, wrong

    def _occurrences(self) -> tuple[int, list[str]]:
        n_bound = 0
        wrong: list[str] = []
        for source in self.before.sources_with(self.name):
            for site in source.sites(self.name):
                wrong.extend(self._same(source, site))
        for source in self.after.sources_with(self.name):
            for site in source.sites(self.name):
                meaning = self.after.meanings.of(source, site) if site.role not in TEXT else None
                if meaning is not None and meaning.roots & self.family:
                    n_bound += 1
                elif meaning is not None and meaning.roots & self.account.family:
                    wrong.append(f"{source.path} still looks for `{self.name}` at its old place")
        return n_bound, wrong

    def _same(self, source: Source, site: Site) -> Iterator[str]:
        """Does an occurrence mean what it meant, where it stands now?"""
        if site.role in TEXT:
            return
        carried = self._carried(source.path, site.start)
        if carried is None:
            return
        path, at = carried
        later = self.after.project.source(path)
        was = self.before.meanings.of(source, site)
        meant = origins(self.before.meanings, was.roots)
        then = frozenset(filter(None, (self._root(root) for root in meant)))
        here = f"{source.path}:{source.document.lines.user_from_offset(source.span(site.start, site.start).start)}"
        if later is None:
            yield f"{here} is lost"
            return
        word = source.bytes[site.start : site.end].decode("utf-8", "replace")
        there = later.site_at(at, at + site.end - site.start, word)
        now = origins(self.after.meanings, self.after.meanings.of(later, there).roots)
        if there.role in TEXT or then != now:
            yield f"{here}: `{word}` would mean something else"

    # ------------------------------------------------------------------ through the edits

    def _carried(self, path: str, at: int) -> tuple[str, int] | None:
        """(path, byte) of a place after the change; None if what stood there is replaced."""
        moved = self.moved.get(path)
        block = next((each for each in moved.blocks if each.covers(at)), None) if moved is not None else None
        if moved is not None and block is not None:
            return self._carried_along(moved, block, at)
        edits = self.edits.get(path)
        source = self.before.project.source(path)
        if edits is None or source is None:
            return path, at
        offset = source.span(at, at).start
        if any(edit.span.start <= offset < edit.span.end for edit in edits):
            return None
        there = edits.carry(offset, bias="right")
        later = self.after.project.source(path)
        return (path, later.byte(Offset(there))) if there is not None and later is not None else None

    def _carried_along(self, moved: Moved, block: Block, at: int) -> tuple[str, int] | None:
        if any(start <= at < end for start, end, _ in moved.inner):
            return None
        later = self.after.project.source(moved.new.path)
        if later is None:
            return None
        text = with_ends_of(moved.new, moved.before(block, block.end).rstrip("\n"), moved.old)
        put_in = self.edits[moved.new.path].carry(moved.new.span(moved.at, moved.at).start, bias="left")
        start = later.document.text.find(text, put_in or 0)
        if start < 0:
            return None
        inside = len(with_ends_of(moved.new, moved.before(block, at), moved.old))
        return moved.new.path, later.byte(Offset(start + inside))

    def _root(self, root: Root) -> Root | None:
        """The same declaration after the change."""
        if root.kind in ("builtin", "module") or root.path not in {*self.edits, *self.targets}:
            return root
        if root.start == -1:
            is_moved = root in self.account.family and root.path in self.targets
            return Root(root.kind, self.targets[root.path], -1, root.name) if is_moved else root
        start = root.start if root.start >= 0 else -2 - root.start
        carried = self._carried(root.path, start)
        if carried is None:
            return None
        path, at = carried
        return Root(root.kind, path, at if root.start >= 0 else -2 - at, root.name)

    # ------------------------------------------------------------------ files

    def _parses(self) -> tuple[int, list[str]]:
        wrong = []
        paths = [path for path in self.edits if path.endswith(PYTHON_SUFFIXES)]
        for path in paths:
            was, now = self.before.project.source(path), self.after.project.source(path)
            if now is None or is_newly_broken(was, now):
                wrong.append(f"{path} would not parse")
        return len(paths), wrong


def new_cycles(before: Finder, after: Finder, paths: Iterable[str]) -> list[Failure]:
    """Imports that would meet a module that is still being loaded, and do not now.

    They are gone through from each of the touched modules on, and from those that are in a circle with one.
    """
    found: dict[tuple[str, str], Failure] = {}
    then, now = Loadable(before.project), Loadable(after.project)
    touched = [path for path in dict.fromkeys(paths) if path.endswith(".py")]
    circles = (each for path in touched[:_MOST_TOUCHED] for each in circle_of(now, path))
    for path in list(dict.fromkeys([*touched[:_MOST_TOUCHED], *circles]))[:MOST_ENTRIES]:
        known = {(each.path, each.name) for each in circular_imports(then, path)}
        for failure in circular_imports(now, path):
            if (failure.path, failure.name) not in known:
                found.setdefault((failure.path, failure.name), failure)
    return list(found.values())


def _line(says: str, wrong: list[str]) -> Iterator[ProofLine]:
    if not wrong:
        yield ProofLine(says, True)
    yield from (ProofLine(each, False) for each in dict.fromkeys(wrong))
