"""The proof of a rename sees what is wrong with it: errors are planted in accepted renames of real code.

Five kinds, each at a place chosen by lot:

- the plan forgets an occurrence, misspells one, or edits one more of the same word;
- the finding errs: it takes an occurrence of the symbol for something else's, or the other way round, and the plan
  follows it, so that only what the names mean afterwards can tell.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from laws.definitions import definitions_in, drawn
from laws.packages import copy_of, is_nightly
from laws.renames import Rename, accepted

from lsptools.faces.environment import Environment
from lsptools.languages.names import Evidence, Occurrence
from lsptools.languages.python.facts import FileFacts
from lsptools.languages.python.meaning import Meaning, Root
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import TEXT
from lsptools.refactor.proof import prove
from lsptools.text.edits import Edits, TextEdit
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.paths import Root as Folder
from lsptools.workspace.snapshot import Snapshot

PACKAGES = ["click", "packaging", "pathspec", "platformdirs", "hatchling"]
N_RENAMES = 60 if is_nightly else 5


@pytest.mark.parametrize("package", PACKAGES)
def test_a_planted_error_is_seen(
    package: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = copy_of(package, tmp_path).parent
    snapshot = Environment().context(Folder.of(folder)).snapshot
    lots = random.Random(N_RENAMES)
    definitions = definitions_in(folder)
    refused: list[str] = []
    missed: list[str] = []
    planted: Counter[str] = Counter()
    n_renames = 0
    for rename in accepted(snapshot, iter(drawn(definitions, len(definitions), seed=N_RENAMES)), refused):
        finder = Finder(snapshot)
        account = finder.account(finder.target(rename.definition.place))
        assert is_proved(finder, account, rename.plan.change, rename)
        for kind, plant in PLANTED.items():
            found = plant(snapshot, account, rename, lots)
            if found is None:
                continue
            planted[kind] += 1
            wrong_account, change, where = found
            if is_proved(finder, wrong_account, change, rename):
                missed.append(f"{kind}: {rename.definition} {where}")
        n_renames += 1
        if n_renames >= N_RENAMES and set(planted) == set(PLANTED):
            break
    figures = f"{package}: errors planted in {n_renames} renames: {dict(planted)}; refused: {len(refused)}"
    record_property("law", figures)
    print(figures)
    assert not missed, "\n".join([figures, *missed])
    assert n_renames >= N_RENAMES and set(planted) == set(PLANTED), figures


def is_proved(finder: Finder, account: Account, change: Change, rename: Rename) -> bool:
    return all(line.ok for line in prove(finder, account, change, rename.new_name))


Planted = tuple[Account, Change, str]
"""What the finding says, the plan, and where the error is."""


def a_forgotten_edit(
    snapshot: Snapshot, account: Account, rename: Rename, lots: random.Random
) -> Planted | None:
    path, edit = lots.choice([(file.path, edit) for file in rename.plan.change.edits for edit in file.edits])
    return account, _without(rename.plan.change, path, edit), f"left at {path}:{edit.span}"


def an_edit_too_many(
    snapshot: Snapshot, account: Account, rename: Rename, lots: random.Random
) -> Planted | None:
    others = [
        each
        for each in rename.plan.references.occurrences
        if (each.path, each.span) not in rename.plan.edited and each.replacement is None
    ]
    if not others:
        return None
    chosen = lots.choice(others)
    return account, _with(snapshot, rename.plan.change, chosen, rename.new_name), f"edited {chosen}"


def a_finding_too_few(
    snapshot: Snapshot, account: Account, rename: Rename, lots: random.Random
) -> Planted | None:
    chosen = _in_code(account, Evidence.CERTAIN, lots)
    if chosen is None:
        return None
    change = _without(rename.plan.change, chosen.path, TextEdit(chosen.span, ""))
    elsewhere = frozenset({Root("variable", "elsewhere.py", -1, rename.definition.name)})
    return _judged(account, chosen, Evidence.UNRELATED, elsewhere), change, f"taken for another: {chosen}"


def a_finding_too_many(
    snapshot: Snapshot, account: Account, rename: Rename, lots: random.Random
) -> Planted | None:
    chosen = _in_code(account, Evidence.UNRELATED, lots)
    if chosen is None:
        return None
    judged = _judged(account, chosen, Evidence.CERTAIN, account.family)
    return (
        judged,
        _with(snapshot, rename.plan.change, chosen, rename.new_name),
        f"taken for the symbol: {chosen}",
    )


def a_misspelled_edit(
    snapshot: Snapshot, account: Account, rename: Rename, lots: random.Random
) -> Planted | None:
    path, edit = lots.choice([(file.path, edit) for file in rename.plan.change.edits for edit in file.edits])
    chosen = next(
        each for each in rename.plan.references.occurrences if (each.path, each.span) == (path, edit.span)
    )
    change = _without(rename.plan.change, path, edit)
    return account, _with(snapshot, change, chosen, edit.new_text + "s"), f"misspelled at {path}:{edit.span}"


PLANTED = {
    "an edit is misspelled": a_misspelled_edit,
    "an edit is forgotten": a_forgotten_edit,
    "an edit is too many": an_edit_too_many,
    "an occurrence is taken for something else": a_finding_too_few,
    "something else is taken for the symbol": a_finding_too_many,
}


def _in_code(account: Account, evidence: Evidence, lots: random.Random) -> Occurrence | None:
    code = {(fact.path, fact.span) for file in account.files for fact in file.facts if fact.role not in TEXT}
    found = [
        each
        for each in account.references.occurrences
        if each.evidence is evidence and each.replacement is None and (each.path, each.span) in code
    ]
    return lots.choice(found) if found else None


def _judged(account: Account, chosen: Occurrence, evidence: Evidence, roots: frozenset[Root]) -> Account:
    """The account, if the finding had been of another opinion about one occurrence."""
    occurrences = tuple(
        replace(each, evidence=evidence) if each is chosen else each
        for each in account.references.occurrences
    )

    def judged(file: FileFacts) -> FileFacts:
        facts = tuple(
            replace(fact, meaning=Meaning(roots, "planted"))
            if (fact.path, fact.span) == (chosen.path, chosen.span)
            else fact
            for fact in file.facts
        )
        return replace(file, facts=facts)

    references = replace(account.references, occurrences=occurrences)
    return replace(account, references=references, files=tuple(judged(file) for file in account.files))


def _without(change: Change, path: str, edit: TextEdit) -> Change:
    files = []
    for file in change.edits:
        edits = [each for each in file.edits if file.path != path or each.span != edit.span]
        files += [replace(file, edits=Edits.of(edits))] if edits else []
    return replace(change, edits=tuple(files))


def _with(snapshot: Snapshot, change: Change, chosen: Occurrence, new_text: str) -> Change:
    files = {file.path: file for file in change.edits}
    known = files.get(chosen.path)
    edits = Edits.of([TextEdit(chosen.span, new_text), *(known.edits if known is not None else ())])
    files[chosen.path] = FileEdits(chosen.path, edits, snapshot.document(chosen.path).digest)
    return replace(change, edits=tuple(file for _, file in sorted(files.items())))
