"""Proof of a change of parameters before it is written: the calls are looked for again, in the result.

The plan is laid over the snapshot, and with the rules that found the uses before:

1. each definition has the parameters it was to get;
2. the same uses are found, and no other;
3. each call that was rewritten or is right as it is gives each parameter the expression that it gave before, and fits;
4. every touched file that parsed still parses.

Where it stops: the second search uses the same rules as the first. It catches wrong edits, not a rule that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lsptools.languages.names import FilePosition
from lsptools.languages.python.arguments import bind, call_parts
from lsptools.languages.python.callables import Callee, Uses, callee_at, uses_of
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import Function
from lsptools.languages.python.references import Finder
from lsptools.languages.python.uses import PARTIAL, Use
from lsptools.refactor.proof import ProofLine, is_newly_broken
from lsptools.refactor.signature_request import Entry
from lsptools.text.edits import Edits
from lsptools.text.lines import Offset
from lsptools.workspace.change import Change

if TYPE_CHECKING:
    from lsptools.refactor.signature import Site

_Key = tuple[str, int]


def prove_signature(
    finder: Finder,
    callee: Callee,
    change: Change,
    lists: Mapping[Function, Sequence[Entry]],
    uses: Uses,
    sites: Sequence[Site],
) -> tuple[ProofLine, ...]:
    """One line per law, more where one fails. `sites` are the calls whose arguments are known, rewritten or not."""
    return tuple(_Proof(finder, callee, change, lists, uses, sites).lines())


class _Proof:
    def __init__(
        self,
        finder: Finder,
        callee: Callee,
        change: Change,
        lists: Mapping[Function, Sequence[Entry]],
        uses: Uses,
        sites: Sequence[Site],
    ) -> None:
        self.before = finder
        self.callee = callee
        self.lists = lists
        self.uses = uses
        self.sites = sites
        self.edits = {file.path: file.edits for file in change.edits}
        self.after = Finder(change.after(finder.snapshot))

    def lines(self) -> Iterator[ProofLine]:
        target = self.callee.target
        at = target.source.span(target.site.start, target.site.end).start
        self.again = callee_at(
            self.after, FilePosition(target.source.path, self._carried(target.source.path, at))
        )
        found = {self._key(use): use for use in uses_of(self.after, self.again).uses}
        yield from _line(
            f"{len(self.lists)} definitions have their new parameters", list(self._definitions())
        )
        yield from _line(f"{len(self.uses.uses)} uses are found again, and no other", list(self._same(found)))
        yield from _line(
            f"{len(self.sites)} calls give each parameter what they gave", list(self._arguments(found))
        )
        yield from _line(f"{len(self.edits)} touched files still parse", list(self._parses()))

    def _definitions(self) -> Iterator[str]:
        by_place = {(f.source.path, f.name_span.start): f for f in self.again.functions}
        for function, entries in self.lists.items():
            path = function.source.path
            now = by_place.get((path, self._carried(path, function.name_span.start)))
            wanted = [(e.name, e.kind, e.has_default) for e in entries if e.kind != "separator"]
            got = (
                [(p.name, p.kind, p.default is not None) for p in now.parameters] if now is not None else None
            )
            if got != wanted:
                yield f"`{function.name}` in {path} does not have the parameters it was to get"

    def _same(self, found: Mapping[_Key, Use]) -> Iterator[str]:
        wanted = {self._carried_key(use): use for use in self.uses.uses if not self._is_gone(use)}
        for key in wanted.keys() - found.keys():
            yield f"{self._show(wanted[key])} is no use of it any more"
        # Uses in an argument that is written somewhere else are found at a new place.
        self.moved = [use for key, use in found.items() if key not in wanted]
        n_moved = sum(self._is_gone(use) and not self._is_deleted(use) for use in self.uses.uses)
        if len(self.moved) != n_moved:
            yield f"{n_moved} uses move with an argument, and {len(self.moved)} are found at new places"

    def _is_gone(self, use: Use) -> bool:
        """Did the use stand in an argument that goes, or is written somewhere else?"""
        return any(
            edit.span.start <= use.span.start and use.span.end <= edit.span.end
            for edit in self.edits.get(use.path, ())
        )

    def _is_deleted(self, use: Use) -> bool:
        source = self.before.project.source(use.path)
        at = source.byte(use.span.start) if source is not None else -1
        spans = (span for site in self.sites if site.use.path == use.path for span in site.deleted)
        return any(start <= at < end for start, end in spans)

    def _arguments(self, found: Mapping[_Key, Use]) -> Iterator[str]:
        moved = [
            site.expects for site in self.sites if self._is_gone(site.use) and not self._is_deleted(site.use)
        ]
        for site in self.sites:
            if not self._is_gone(site.use):
                now = found.get(self._carried_key(site.use))
                if now is None or self._given(now) != site.expects:
                    yield f"{self._show(site.use)} would give other arguments"
        there = [given for use in self.moved if use.call is not None and (given := self._given(use))]
        yield from (
            f"a call with {expects} moved with an argument and is lost"
            for expects in moved
            if expects and expects not in there
        )

    def _given(self, use: Use) -> dict[str, tuple[str, ...]] | None:
        """What a call in the result gives to each parameter, as text on one line; None: it does not fit."""
        source, main = self.after.project.source(use.path), self.again.main
        if source is None or main is None or use.call is None:
            return None
        is_partial = use.kind == PARTIAL
        arguments = call_parts(source, source.node_at(*use.call), is_partial=is_partial)
        bound = bind(main.parameters, arguments, use.n_filled, more_follow=is_partial)
        if bound.left_over or bound.missing:
            return None
        return {
            name: tuple(" ".join(each.text.split()) for each in given)
            for name, given in bound.by_parameter.items()
        }

    def _parses(self) -> Iterator[str]:
        for path in self.edits:
            if path.endswith(PYTHON_SUFFIXES):
                before, after = self.before.project.source(path), self.after.project.source(path)
                if after is None or is_newly_broken(before, after):
                    yield f"{path} would not parse"

    def _carried(self, path: str, at: Offset) -> Offset:
        carried = self.edits.get(path, Edits(())).carry(at, bias="right")
        return carried if carried is not None else Offset(-1)

    def _carried_key(self, use: Use) -> _Key:
        return use.path, self._carried(use.path, use.span.start)

    def _key(self, use: Use) -> _Key:
        return use.path, use.span.start

    def _show(self, use: Use) -> str:
        lines = self.before.snapshot.document(use.path).lines
        return f"{use.path}:{lines.user_from_offset(use.span.start)}"


def _line(says: str, wrong: list[str]) -> Iterator[ProofLine]:
    if not wrong:
        yield ProofLine(says, True)
    yield from (ProofLine(each, False) for each in wrong)
