"""Rename a symbol: gather its family, refuse with every reason, or return a plan that is proved.

The plan is a `Change` that nothing has been written of. Units: spans are code points of the decoded text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsptools.errors import Conflict, Refused
from lsptools.errors import Site as Place
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Symbol
from lsptools.languages.python.candidates import PYTHON_SUFFIXES, searching
from lsptools.languages.python.computed import COMPUTED
from lsptools.languages.python.folding import folded
from lsptools.languages.python.modules import Module
from lsptools.languages.python.private import PRIVATE
from lsptools.languages.python.references import Account, Finder
from lsptools.refactor.at_run_time import reached_at_run_time
from lsptools.refactor.conflicts import Renaming, check_name, conflicts, external_conflicts, sites_of
from lsptools.refactor.outside_bases import notes_on_bases
from lsptools.refactor.proof import BOUND, ProofLine, prove
from lsptools.refactor.readings import readings
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import Change, FileEdits, Move
from lsptools.workspace.links import links_to
from lsptools.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsptools.languages.python.inference import Asking

REFUSE, INCLUDE, SKIP = "refuse", "include", "skip"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller decides: what to do with `possible` occurrences, and whether to rename mentions."""

    possible: str = REFUSE
    """`refuse`, `include` or `skip`."""
    mentions: bool = False


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """A rename that may be done: what it is of, what it changes, and the proof."""

    symbol: Symbol
    references: References
    change: Change
    proof: tuple[ProofLine, ...]
    edited: frozenset[tuple[str, Span]]
    """The occurrences that get the new name: path and span before the change."""


def plan_rename(
    snapshot: Snapshot,
    at: FilePosition,
    new_name: str,
    policy: Policy | None = None,
    asking: Asking | None = None,
) -> RenamePlan:
    """Plan and prove a rename of the symbol at a place. With `asking`, jedi is asked about what is possible first.

    Raises `Refused` with all conflicts (`name_clash`, `name_capture`, `shadows_builtin`, `keyword`, `invalid`,
    `library_symbol`, `undecided`), `BadRequest` (`not_a_symbol`, `not_found`, `no_change`). `Refused.details` holds the
    `References` found before the refusal.
    """
    policy = policy or Policy()
    finder = Finder(snapshot, searching(snapshot, at))
    with closing(finder):
        target = finder.target(at)
        check_name(new_name, target.name)
        account = finder.account(target)
    if asking is not None and not account.external:
        from lsptools.languages.python.inferred import settled

        account = settled(account, asking)
    _refuse_external(account, finder)
    name = folded(new_name)
    modules = [root for root in account.family if root.kind == "module"]
    moves = tuple(_moves(finder, account, name)) if modules else ()
    wanted = _wanted(policy)
    chosen = [
        each for each in account.references.occurrences if each.evidence in wanted and each.role != COMPUTED
    ]
    starts = {(o.path, _byte(finder, o)) for o in chosen if o.path.endswith(PYTHON_SUFFIXES)}
    renaming = Renaming(finder, account, name, sites_of(account, finder, name, starts))
    found = (*conflicts(renaming), *_undecided(account, finder, policy, name))
    if found:
        raise _refusal(account, found, new_name)
    change = _change(finder, account, chosen, new_name, moves)
    proof = prove(finder, account, change, name, wanted=wanted)
    failed = tuple(line.conflict for line in proof if not line.ok)
    if failed:
        raise Refused(
            "name_capture",
            f"renaming `{target.name}` to `{new_name}` would change what the code means",
            hint="choose another name, or make the edits by hand at the places named",
            conflicts=failed,
            details=account.references,
        )
    read, notes = readings(snapshot, change, account.files), notes_on_bases(account, finder)
    change = replace(change, read=read, notes=notes)
    edited = frozenset((occurrence.path, occurrence.span) for occurrence in chosen)
    return RenamePlan(account.references.symbol, account.references, change, proof, edited)


def _byte(finder: Finder, occurrence: Occurrence) -> int:
    source = finder.project.source(occurrence.path)
    return source.byte(occurrence.span.start) if source is not None else -1


def _wanted(policy: Policy) -> frozenset[Evidence]:
    """The classes of occurrences to edit."""
    possible = {Evidence.POSSIBLE} if policy.possible == INCLUDE else set()
    mentions = {Evidence.MENTION} if policy.mentions else set()
    return BOUND | possible | mentions


def _change(
    finder: Finder, account: Account, chosen: list[Occurrence], new_name: str, moves: tuple[Move, ...]
) -> Change:
    by_path: dict[str, list[TextEdit]] = {}
    private = new_name.startswith("__") and not new_name.endswith("__")
    for occurrence in chosen:
        keeps_prefix = occurrence.replacement is not None and private
        text = (
            occurrence.replacement.format(new_name) if keeps_prefix and occurrence.replacement else new_name
        )
        if occurrence.role == PRIVATE:
            text = new_name.lstrip("_")
        by_path.setdefault(occurrence.path, []).append(TextEdit(occurrence.span, text))
    files = tuple(
        FileEdits(path, Edits.of(edits), finder.snapshot.document(path).digest)
        for path, edits in sorted(by_path.items())
    )
    label = f"rename {account.references.symbol.qualified} to {new_name}"
    return Change(edits=files, moves=moves, label=label)


# ---------------------------------------------------------------------------------------------------- refusals


def _refuse_external(account: Account, finder: Finder) -> None:
    if not account.external:
        return
    found = external_conflicts(account, finder)
    raise Refused(
        "library_symbol",
        f"`{account.target.name}` belongs to a library or to the language: {found[0].message}",
        hint="rename only what the workspace defines; an import can be given a local name with `as`",
        conflicts=found,
        details=account.references,
    )


def _undecided(account: Account, finder: Finder, policy: Policy, new_name: str) -> Iterator[Conflict]:
    if policy.possible != REFUSE:
        return
    yield from reached_at_run_time(account, finder, new_name)
    sites = [o for o in account.references.occurrences if o.evidence is Evidence.POSSIBLE]
    if sites:
        yield Conflict("undecided", f"{len(sites)} occurrences may be this symbol and cannot be known to be")


def _refusal(account: Account, found: tuple[Conflict, ...], new_name: str) -> Refused:
    symbol = account.references.symbol
    kind = found[0].kind
    message = f"{symbol.kind} `{symbol.name}` cannot be renamed to `{new_name}`: {found[0].message}"
    if all(conflict.kind == "undecided" for conflict in found):
        hint = (
            "look at them, then pass `--possible include` to rename them or `--possible skip` to leave them"
        )
        message = f"{found[0].message}"
    else:
        hint = f"choose a name that is free, or rename the other `{new_name}` first"
    return Refused(kind, message, hint=hint, conflicts=found, details=account.references)


# ---------------------------------------------------------------------------------------------------- modules


def _moves(finder: Finder, account: Account, new_name: str) -> Iterator[Move]:
    """The files and folders that get the new name with a module."""
    for root in sorted(account.family, key=lambda root: root.path):
        if root.kind != "module":
            continue
        module = finder.project.module_at(root.path)
        for old in _places(module):
            _refuse_links(finder, account, old)
            folder, _, base = old.rpartition("/")
            suffix = "" if module.folders else "." + base.rpartition(".")[2]
            new = f"{folder}/{new_name}{suffix}" if folder else f"{new_name}{suffix}"
            _refuse_existing(finder, account, new, folder, new_name)
            _refuse_standard(finder, account, folder, new_name)
            yield Move(old, new)


def _places(module: Module) -> tuple[str, ...]:
    if module.folders and "" in module.folders:
        raise Refused(
            "library_symbol",
            f"`{module.name}` is the workspace itself",
            hint="open the folder above it as the workspace (--root) and rename the package there",
        )
    return module.folders or ((module.link,) if module.link else module.files)


def _refuse_links(finder: Finder, account: Account, old: str) -> None:
    """A link would lead nowhere when what it leads to has another name."""
    links = list(links_to(finder.snapshot, old))
    if not links:
        return
    found = [
        Conflict(
            "name_clash", f"{link} leads to {old}", (Place(link, 1, 1, f"is a link that leads to {old}"),)
        )
        for link in links
    ]
    raise Refused(
        "name_clash",
        f"module `{account.target.name}` cannot be renamed: the link {links[0]} leads to {old}",
        hint="remove the link first, and make it again afterwards",
        conflicts=tuple(found),
        details=account.references,
    )


def _refuse_standard(finder: Finder, account: Account, folder: str, new_name: str) -> None:
    """A top-level module that is called like one of the standard library is imported instead of it, by the library too."""
    in_package = folder and finder.snapshot.is_file(f"{folder}/__init__.py")
    if new_name in sys.stdlib_module_names and not in_package:
        conflict = Conflict("shadows_builtin", f"`{new_name}` is a module of the standard library")
        raise Refused(
            "shadows_builtin",
            f"module `{account.target.name}` would hide `{new_name}` of the standard library",
            hint="choose a name that is no module of the standard library",
            conflicts=(conflict,),
            details=account.references,
        )


def _refuse_existing(finder: Finder, account: Account, new: str, folder: str, new_name: str) -> None:
    beside = [f"{folder}/{new_name}" if folder else new_name]
    beside += [beside[0] + suffix for suffix in (".py", ".pyi")]
    there = next((path for path in (new, *beside) if finder.snapshot.exists(path)), None)
    if there is not None:
        conflict = Conflict("name_clash", f"{there} exists", (Place(there, 1, 1, "is in the way"),))
        raise Refused(
            "exists",
            f"module `{account.target.name}` cannot be renamed to `{new_name}`: {there} exists",
            hint="choose a name that is free, or move the other file first",
            conflicts=(conflict,),
            details=account.references,
        )
