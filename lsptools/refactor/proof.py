"""Proof of a rename before it is written: the same finding, run on the result.

The plan is laid over the snapshot and every occurrence of the old and of the new name is given its meaning again:

1. each edited occurrence is bound to the renamed declarations;
2. each occurrence of the new name that was there before means what it meant;
3. each occurrence of the old name that is left means what it meant, and none of them meant the symbol;
4. every touched file still parses.

Declarations are compared through the edits: a scope that moved by three characters is the same scope. What could not
be derived before (`likely` and `possible` occurrences that were edited) is checked only not to have become bound to
something else. Invariant: nothing here uses the plan's own list of occurrences to decide what is bound; an edit
that is missing and one too many both fail. Which classes of occurrences are edited is the caller's decision and is
given; of those none may be left, and of others none may be touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lsptools.errors import Conflict
from lsptools.errors import Site as Place
from lsptools.languages.names import Evidence, FilePosition
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.closure import class_at, function_at
from lsptools.languages.python.compiles import compiles
from lsptools.languages.python.computed import COMPUTED
from lsptools.languages.python.meaning import Meaning, Root, by_place
from lsptools.languages.python.references import KEPT_BYTES, Account, Finder, Keep
from lsptools.languages.python.roles import TEXT
from lsptools.languages.python.scopes import Source, mangled
from lsptools.refactor.places import place_in
from lsptools.text.edits import Edits
from lsptools.text.lines import Offset, Span
from lsptools.workspace.change import Change
from lsptools.workspace.snapshot import Snapshot

NO_EDITS = Edits(())


@dataclass(frozen=True, slots=True)
class ProofLine:
    """One thing that was checked."""

    says: str
    ok: bool
    site: Place | None = None
    """Of a failure: where it is."""

    @property
    def conflict(self) -> Conflict:
        """The failure as a reason for a refusal."""
        return Conflict("name_capture", self.says, (self.site,) if self.site is not None else ())


BOUND = frozenset({Evidence.CERTAIN, Evidence.LIKELY})


def prove(
    finder: Finder,
    account: Account,
    change: Change,
    new_name: str,
    *,
    wanted: Collection[Evidence] = BOUND,
) -> tuple[ProofLine, ...]:
    """Check the change against the account; one line per law, more where one fails.

    `wanted` are the classes of evidence whose occurrences get the new name.
    """
    after = change.after(finder.snapshot)
    return tuple(_Proof(finder, account, change, new_name, after, frozenset(wanted)).lines())


def is_newly_broken(before: Source | None, after: Source) -> bool:
    """Does a file not parse any more, or not compile? Only what could be loaded before is asked about."""
    if before is not None and before.is_broken:
        return False
    if after.is_broken:
        return True
    return (before is None or compiles(before.document.text)) and not compiles(after.document.text)


class _Proof:
    def __init__(
        self,
        finder: Finder,
        account: Account,
        change: Change,
        new_name: str,
        after: Snapshot,
        wanted: frozenset[Evidence],
    ) -> None:
        self.wanted = wanted
        self.before = finder
        self.account = account
        self.old = account.target.name
        self.new = new_name
        self.edits = {file.path: file.edits for file in change.edits}
        self.moves = {move.old: move.new for move in change.moves}
        self.after = Finder(after)
        self.snapshot = after
        self.evidence = {
            (occurrence.path, occurrence.span.start): occurrence.evidence
            for occurrence in account.references.occurrences
        }
        self.family = frozenset(filter(None, (self._moved(root) for root in account.family)))

    # ------------------------------------------------------------------ the laws

    def lines(self) -> Iterator[ProofLine]:
        wrong = list(self._definition())
        yield from _line(f"the symbol is found under `{self.new}`, with all its declarations", wrong)
        n_bound, wrong = self._edited()
        yield from _line(f"{n_bound} edited occurrences are bound to it", wrong)
        n_old, wrong = self._there_before()
        yield from _line(f"{n_old} occurrences of `{self.new}` that were there mean what they meant", wrong)
        n_left, wrong = self._left()
        yield from _line(f"{n_left} occurrences of `{self.old}` that stay mean what they meant", wrong)
        n_files, wrong = self._parses()
        yield from _line(f"{n_files} touched files still parse", wrong)

    def _definition(self) -> Iterator[Place]:
        """The family after is the family before, moved."""
        target = self.account.target
        path = self._path(target.source.path)
        span = target.source.span(target.site.start, target.site.end)
        start = self._edits_of(target.source.path).carry(span.start)
        if start is None:
            start = span.start
        # The names of a moved declaration are looked up where the target's own occurrence stands now.
        place = FilePosition(path, start)
        if target.is_module:
            root = next(iter(target.roots))
            place = FilePosition(self._path(root.path), Offset(0), is_module=True)
        found = self.after.target(place)
        grown = self.after.account(found)
        self.found = grown
        missing = self.family - grown.family
        extra = grown.family - self.family
        lost = (root for root in self.account.family if self._moved(root) in missing)
        for root in sorted(lost, key=by_place):
            yield self._declared(self.before, root, f"the declaration of `{root.name}` would be lost")
        for root in sorted(extra, key=by_place):
            yield self._declared(self.after, root, f"`{root.name}` would be one name with the symbol")

    def _declared(self, finder: Finder, root: Root, says: str) -> Place:
        symbol = finder.symbol_of(root, root.name)
        return place_in(finder.project.source(symbol.path), symbol.path, symbol.span.start, says)

    def _edited(self) -> tuple[int, list[Place]]:
        """Each edited occurrence in code means the renamed declarations."""
        bound: dict[tuple[str, int], Evidence] = {
            (occurrence.path, occurrence.span.start): occurrence.evidence
            for occurrence in self.found.references.occurrences
        }
        n_bound = 0
        wrong: list[Place] = []
        for path, edits in self.edits.items():
            for edit in edits:
                was = self.evidence.get((path, edit.span.start))
                at = self._carried(path, edit.span)
                now = bound.get((self._path(path), at))
                if was not in self.wanted:
                    wrong.append(self._place(path, edit.span, "is edited, and is not to be"))
                elif was not in BOUND:
                    continue  # nobody can know what it is bound to
                elif now is Evidence.CERTAIN or (was is Evidence.LIKELY and now is not Evidence.UNRELATED):
                    n_bound += 1
                else:
                    wrong.append(self._place(path, edit.span, "would not be bound to the symbol"))
        return n_bound, wrong

    def _carried(self, path: str, span: Span) -> int:
        carried = self.edits[path].carry_span(span)
        return carried.start if carried is not None else -1

    def _left(self) -> tuple[int, list[Place]]:
        """Occurrences of the old name that stay mean the same before and after, and none of them meant the symbol."""
        n_checked = 0
        wrong = list(self._forgotten())
        keep = Keep(KEPT_BYTES)
        for file in self.account.files:
            edited = {edit.span.start for edit in self._edits_of(file.path)}
            left = [fact for fact in file.facts if fact.role not in TEXT and fact.span.start not in edited]
            later = self.after.project.source(self._path(file.path)) if left else None
            for fact in left:
                n_checked += 1
                evidence = self.evidence.get((fact.path, fact.span.start))
                if evidence is not Evidence.POSSIBLE and evidence not in self.wanted:
                    wrong.extend(self._same(fact.path, fact.span, fact.written, fact.meaning, later))
            if later is not None:
                keep.add(later)
        return n_checked, wrong

    def _forgotten(self) -> Iterator[Place]:
        """Occurrences that are to be edited, in code or text, and are not."""
        edited = {(path, edit.span) for path, edits in self.edits.items() for edit in edits}
        for occurrence in self.account.references.occurrences:
            if occurrence.role == COMPUTED:
                continue  # there is no name to edit
            if occurrence.evidence in self.wanted and (occurrence.path, occurrence.span) not in edited:
                yield self._place(occurrence.path, occurrence.span, "means the symbol and was left")

    def _there_before(self) -> tuple[int, list[Place]]:
        """Occurrences of the new name that were there mean the same before and after."""
        n_checked = 0
        wrong: list[Place] = []
        keep = Keep(KEPT_BYTES)
        for source in self.before.sources_with(self.new):
            edited = {edit.span.start for edit in self._edits_of(source.path)}
            later = self.after.project.source(self._path(source.path))
            for site in source.sites(self.new):
                span = source.span(site.start, site.end)
                if site.role not in TEXT and span.start not in edited:
                    n_checked += 1
                    was = self.before.meanings.of(source, site)
                    written = source.text_of(site)
                    wrong.extend(self._same(source.path, span, written, was, later))
            keep.add(source)
            if later is not None:
                keep.add(later)
        return n_checked, wrong

    def _same(
        self, path: str, span: Span, written: str, was: Meaning, later: Source | None
    ) -> Iterator[Place]:
        at = self._edits_of(path).carry(span.start)
        if later is None or at is None or later.document.text[at : at + len(written)] != written:
            yield self._place(path, span, "was damaged")
            return
        start, end = later.byte(at), later.byte(Offset(at + len(written)))
        site = later.site_at(start, end, written)
        means = self.after.meanings.of(later, site)
        then = frozenset(filter(None, (self._moved(root) for root in was.roots)))
        if site.role in TEXT or not _agree(then, was, means):
            yield self._place(path, span, f"`{written}` would mean something else")
        elif not was.roots & self.account.family and means.roots & self.family:
            yield self._place(path, span, f"`{written}` would mean the symbol")

    def _parses(self) -> tuple[int, list[Place]]:
        wrong: list[Place] = []
        before = {file.path: file.is_broken for file in self.account.files}
        after = {file.path: file.is_broken for file in self.found.files}
        paths = [path for path in self.edits if path.endswith(PYTHON_SUFFIXES)]
        for path in paths:
            now = self._path(path)
            later = self.after.project.source(now)
            if later is None:
                wrong.append(Place(path, 1, 1, "could not be read again"))
                continue
            is_broken = after.get(now)
            if is_broken is None:
                is_broken = later.is_broken
            if is_broken and not before.get(path, False):
                wrong.append(Place(path, 1, 1, "would not parse"))
        return len(paths), wrong

    # ------------------------------------------------------------------ through the edits

    def _edits_of(self, path: str) -> Edits:
        return self.edits.get(path, NO_EDITS)

    def _path(self, path: str) -> str:
        for old, new in self.moves.items():
            if path == old:
                return new
            if path.startswith(old + "/"):
                return new + path[len(old) :]
        return path

    def _moved(self, root: Root) -> Root | None:
        """The same declaration in the snapshot after."""
        name = self._renamed(root)
        path = self._path(root.path)
        if root.start == -1 or root.kind in ("builtin", "module") or root.path not in self.edits:
            return Root(root.kind, path, root.start, name)
        source, later = self.before.project.source(root.path), self.after.project.source(path)
        if source is None or later is None:
            return None
        start = root.start if root.start >= 0 else -2 - root.start
        at = self.edits[root.path].carry(source.span(start, start).start, bias="left")
        if at is None:
            return None
        moved = later.byte(Offset(at))
        return Root(root.kind, path, moved if root.start >= 0 else -2 - moved, name)

    def _renamed(self, root: Root) -> str:
        if root not in self.account.family or root.kind == "builtin":
            return root.name
        if not self.new.startswith("__"):
            return self.new
        cls = class_at(self.before.project, root)
        function = function_at(self.before.project, root)
        scope = cls.scope if cls is not None else function.scope if function is not None else None
        return mangled(self.new, scope) if scope is not None else self.new

    def _place(self, path: str, span: Span, says: str) -> Place:
        return place_in(self.before.project.source(path), path, span.start, says)


def _agree(then: frozenset[Root], was: Meaning, now: Meaning) -> bool:
    """Does an occurrence mean the same? What was unknown may stay unknown for another reason."""
    if then == now.roots:
        return True
    return not was.complete and not then and not now.complete and not now.roots


def _line(says: str, wrong: list[Place]) -> Iterator[ProofLine]:
    if not wrong:
        yield ProofLine(says, True)
    yield from (ProofLine(str(each), False, each) for each in wrong)
