"""Renames of a copy of a package, done and looked at by witnesses that know nothing of the finding; then taken back.

- the compiler: `bindings`, for each file that was touched;
- Python itself: `imported`, the namespaces that come to be when all modules are imported;
- a second search, on what is on the disk by then.

A refused rename is done all the same, to see that it would have changed something.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from laws.bindings import rebound
from laws.imported import Importer, differences
from laws.mypy_witness import Mypy
from laws.packages import DEPENDENCIES, copy_of
from laws.renames import Refusal, Rename

from lsptools.errors import Conflict, ToolError
from lsptools.faces.environment import Environment
from lsptools.languages.names import Evidence, FilePosition, References
from lsptools.languages.python.computed import COMPUTED
from lsptools.languages.python.private import PRIVATE as PRIVATE_ROLE
from lsptools.languages.python.references import Finder
from lsptools.refactor.proof import BOUND, prove
from lsptools.refactor.rename import plan_rename
from lsptools.search.references import references
from lsptools.text.edits import Edits, TextEdit
from lsptools.workspace.apply import apply
from lsptools.workspace.change import Change, FileEdits, Move
from lsptools.workspace.journal import undo
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import State


class Trials:
    """A copy of a package to rename things in; its files are the same before and after each method."""

    def __init__(self, package: str, folder: Path) -> None:
        self.folder = copy_of(package, folder / "ws").parent
        self.root = Root.of(self.folder)
        self.state = State.of(folder / "state", self.root)
        self.before = contents(self.folder)
        self.snapshot = self._snapshot()
        self.importer = Importer(self.folder, package)
        self.imported = self.importer.ask()

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self.importer.__exit__(None, None, None)

    def _snapshot(self) -> Snapshot:
        """The workspace as it is on the disk, with the packages that it imports beside it."""
        snapshot = Environment().context(self.root).snapshot
        return replace(snapshot, search_path=tuple(map(str, DEPENDENCIES))) if DEPENDENCIES else snapshot

    # ------------------------------------------------------------------ accepted

    def wrong_with(self, rename: Rename, mypy: Mypy | None = None) -> list[str]:
        """What the witnesses say against an accepted rename. mypy, if it is asked, counts where nothing was left open."""
        change = rename.plan.change
        wrong = list(rebindings(self.snapshot, change))
        apply(self.snapshot, change, self.state)
        if contents(self.folder) == self.before:
            wrong.append("nothing has changed")
        old, new = rename.definition.name, rename.new_name
        wrong += self._differences(old, new)
        wrong += disagreements(self._snapshot(), rename)
        if mypy is not None and not has_undecided(rename):
            wrong += mypy.new_complaints(old, new)
        self._undo()
        return wrong

    def is_asked(self, rename: Rename) -> bool:
        """Would the rename, if nobody decides about what is possible, wait for a decision?"""
        try:
            plan_rename(self.snapshot, rename.definition.place, rename.new_name)
        except ToolError as error:
            return error.kind == "undecided"
        return False

    def _differences(self, old: str, new: str) -> list[str]:
        """What importing shows. That a name is public now, so that star imports bring one name more, hides nothing."""
        found = differences(self.imported, self.importer.ask(), old, new)
        one_more = re.compile(rf"[\w.]+: `{new} = [^`]+` is new")
        return [each for each in found if hasattr(builtins, new) or not one_more.fullmatch(each)]

    def _undo(self) -> None:
        undo(self.root, self.state)
        assert contents(self.folder) == self.before

    # ------------------------------------------------------------------ refused

    def what_confirms(self, refusal: Refusal) -> str:
        """The witness to whom the refused rename, done all the same, changes a binding; empty: it changes nothing."""
        error = refusal.error
        if error.kind == "exists":
            return "a file" if all(self._exists(each) for each in error.conflicts) else ""
        if error.kind == "library_symbol":
            return "the library" if self._is_of_library(refusal) else ""
        if refusal.definition.kind == "module" and refusal.new_name in sys.stdlib_module_names:
            return "the library"
        if refusal.definition.kind == "module" and self._is_in_package(refusal):
            return "importing"
        assert isinstance(error.details, References), refusal
        change = forced(self.snapshot, refusal, error.details)
        if any(rebindings(self.snapshot, change)):
            return "the compiler"
        apply(self.snapshot, change, self.state)
        old, new = refusal.definition.name, refusal.new_name
        imported_otherwise = self._differences(old, new)
        self._undo()
        if imported_otherwise:
            return "importing"
        finder = Finder(self.snapshot)
        account = finder.account(finder.target(refusal.definition.place))
        if not all(line.ok for line in prove(finder, account, change, new)):
            return "a second search"
        return ""

    def _exists(self, conflict: Conflict) -> bool:
        return all((self.folder / site.path).exists() for site in conflict.sites) and bool(conflict.sites)

    def _is_in_package(self, refusal: Refusal) -> bool:
        """Has the package of a module a name already that would be the module's?"""
        package = refusal.definition.path.rpartition("/")[0].replace("/", ".")
        there = self.imported.namespaces.get(package, ())
        return any(each.startswith(f"{refusal.new_name} = ") for each in there)

    def _is_of_library(self, refusal: Refusal) -> bool:
        """Is what is named of a library: the old name at its place, a module, something built in, an import not found?"""
        name = refusal.definition.name
        for conflict in refusal.error.conflicts:
            paths = [(Path(site.path), site) for site in conflict.sites if Path(site.path).is_absolute()]
            for path, site in paths:
                line = path.read_text("utf-8").split("\n")[site.line - 1]
                is_module = name in (path.stem, path.parent.name) and (site.line, site.column) == (1, 1)
                if is_module or re.compile(rf"\b{re.escape(name)}\b").match(line, site.column - 1):
                    return True
            named = re.fullmatch(r"`((?:\w+\.)*)(\w+)` is a builtin", conflict.message)
            if named is not None and (
                self._is_import(named.group(1)) or _has(named.group(1), named.group(2))
            ):
                return True
        return False

    def _is_import(self, dotted: str) -> bool:
        """Is it imported, and neither of the package nor installed?"""
        module = dotted.rstrip(".")
        is_imported = re.compile(rf"^\s*(?:from|import) {re.escape(module)}\b".encode(), re.MULTILINE)
        if not module or not any(is_imported.search(data) for data in self.before.values()):
            return False
        first = module.partition(".")[0]
        found = [(folder / first).exists() for folder in (self.folder, *DEPENDENCIES)]
        return not any(found) and first not in sys.stdlib_module_names


def _has(dotted: str, name: str) -> bool:
    """Has `dict.`, `_io._IOBase.` or, where nothing is before it, the module of the builtins such an attribute?"""
    first, *rest = dotted.split(".")[:-1] or ["builtins"]
    found = getattr(builtins, first, None) or (
        import_module(first) if first in sys.builtin_module_names else None
    )
    for each in rest:
        found = getattr(found, each, None)
    return hasattr(found, name)


def has_undecided(rename: Rename) -> bool:
    """Were there occurrences that may be the symbol, and were left? Then mypy may well be right."""
    return any(each.evidence is Evidence.POSSIBLE for each in rename.plan.references.occurrences)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that is not compiled, and what is in it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def rebindings(snapshot: Snapshot, change: Change) -> Iterator[str]:
    """What a change does to the names of each Python file that it touches."""
    after = change.after(snapshot)
    for file in change.edits:
        if file.path.endswith(".py"):
            text = after.document(change.path_after(file.path)).text
            for each in rebound(snapshot.document(file.path).text, text):
                yield f"{file.path}: {each}"


def disagreements(after: Snapshot, rename: Rename) -> Iterator[str]:
    """What a search for the new name finds otherwise than what was edited."""
    plan, change = rename.plan, rename.plan.change
    edits = {file.path: file.edits for file in change.edits}
    at = (
        edits[rename.definition.path].carry(rename.definition.offset)
        if rename.definition.path in edits
        else None
    )
    if at is None:
        yield "the definition was not edited"
        return
    found = references(after, FilePosition(change.path_after(rename.definition.path), at))
    now = {(each.path, int(each.span.start)): each.evidence for each in found.occurrences}
    edited: set[tuple[str, int]] = set()
    for each in plan.references.occurrences:
        if (each.path, each.span) not in plan.edited:
            continue
        span = edits[each.path].carry_span(each.span)
        assert span is not None, each
        key = (change.path_after(each.path), int(span.start))
        edited.add(key)
        is_bound = now.get(key) is Evidence.CERTAIN
        may_be_bound = each.evidence is Evidence.LIKELY and now.get(key) not in (None, Evidence.UNRELATED)
        if not (is_bound or may_be_bound):
            yield f"{key} was {each.evidence.value} and is {now.get(key)}"
    for key, evidence in now.items():
        if evidence is Evidence.CERTAIN and key not in edited:
            yield f"{key} is certain and was not edited"


def forced(snapshot: Snapshot, refusal: Refusal, found: References) -> Change:
    """The change that was refused: every occurrence that is bound to the symbol gets the new name."""
    new = refusal.new_name
    is_private = new.startswith("__")
    by_path: dict[str, list[TextEdit]] = {}
    for each in found.occurrences:
        if each.evidence not in BOUND or each.role == COMPUTED:
            continue
        text = each.replacement.format(new) if each.replacement is not None and is_private else new
        text = new.lstrip("_") if each.role == PRIVATE_ROLE else text
        by_path.setdefault(each.path, []).append(TextEdit(each.span, text))
    files = tuple(
        FileEdits(path, Edits.of(edits), snapshot.document(path).digest)
        for path, edits in sorted(by_path.items())
    )
    moves: tuple[Move, ...] = ()
    if refusal.definition.kind == "module":
        folder = refusal.definition.path.rpartition("/")[0]
        moves = (Move(f"{folder}/{refusal.definition.name}.py", f"{folder}/{new}.py"),)
    return Change(edits=files, moves=moves, label="refused")
