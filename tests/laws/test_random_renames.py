"""Random renames of real code, to fresh names and to names that are somewhere in it: never wrong quietly.

What is accepted is done, and the program is whole: every touched file compiles, and the compiler binds each name in it
as before; all modules of the package are imported by a process of its own, with the same outcome and the same
namespaces; no name is looked up globally that nothing binds any more; a second search, from what is on the disk, finds
what was edited; mypy, on a sample of the nightly run, has nothing new to say. Undo restores bytes.

What is refused names a real conflict: done all the same, a binding changes.

LSPTOOLS_HYPOTHESIS_PROFILE=nightly tries `N_NIGHTLY` of each sort on each package, in parts that can be run one by one
(`-k "click and existing"`); LSPTOOLS_LAW_PACKAGES says where packages are that `make` does not install (see `packages`).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from laws.bindings import rebound
from laws.definitions import Definition, definitions_in, drawn
from laws.mypy_witness import Mypy
from laws.packages import is_nightly
from laws.remembering import remember
from laws.renames import ExistingNames, Refusal, Rename, fresh_name, is_dunder, tried
from laws.trials import Trials

from lsptools.errors import Refused
from lsptools.text.edits import Edits

PACKAGES = {"pathspec": 4, "platformdirs": 4, "packaging": 3}
"""How many renames of each sort."""
N_NIGHTLY = 100
N_PARTS = 4 if is_nightly else 1
ONE_IN = 5
"""In the first part of a nightly run, mypy looks at one in so many; it is slow to start."""
if is_nightly:
    INSTALLED = [*PACKAGES, "click", "hatchling", "rich"]
    OTHERS = ["boltons", "flask", "jinja2", "markdown", "marshmallow", "pyparsing", "requests", "tornado"]
    PACKAGES = dict.fromkeys([*INSTALLED, *OTHERS, "werkzeug"], N_NIGHTLY)


@pytest.mark.parametrize("part", range(N_PARTS))
@pytest.mark.parametrize("sort", ["fresh", "existing"])
@pytest.mark.parametrize("package", PACKAGES)
def test_a_rename_is_right_or_refused(
    package: str,
    sort: str,
    part: int,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember(monkeypatch)
    n_tried = PACKAGES[package] // N_PARTS
    kinds: Counter[str] = Counter()
    confirmed: Counter[str] = Counter()
    wrong: list[str] = []
    asked: list[str] = []
    with Trials(package, tmp_path) as trials:
        mypy = Mypy(trials.folder, package) if is_nightly and part == 0 else None
        for n, (definition, new_name) in enumerate(
            lots(trials.folder, package, sort)[part::N_PARTS][:n_tried]
        ):
            found = tried(trials.snapshot, definition, new_name)
            if isinstance(found, Rename):
                kinds[definition.kind] += 1
                says = trials.wrong_with(found, mypy if n % ONE_IN == 0 else None)
                if says:
                    told = asked if trials.is_asked(found) else wrong
                    told.append("\n  ".join([str(found), *says[:5]]))
            else:
                by = trials.what_confirms(found)
                confirmed[by or "nothing"] += 1
                wrong += [] if by else [f"refused without need: {found}"]
    figures = (
        f"{package}: {n_tried} renames to {sort} names ({part + 1} of {N_PARTS}): {kinds.total()} accepted, of "
        f"{len(kinds)} kinds; {confirmed.total()} refused, confirmed by {dict(confirmed)}; {len(wrong)} wrong; "
        f"{len(asked)} wrong where the caller is asked first"
    )
    record_property("law", figures)
    print("\n".join([figures, *asked]))
    assert not wrong, "\n".join([figures, *wrong])
    assert kinds.total() >= n_tried / 4, figures


def lots(folder: Path, package: str, sort: str) -> list[tuple[Definition, str]]:
    """As many definitions and new names as there are to try; the same ones every time."""
    luck = random.Random(f"{package} {sort}")
    definitions = [each for each in definitions_in(folder) if not is_dunder(each.name)]
    chosen = drawn(definitions, PACKAGES[package], seed=len(sort))
    if sort == "fresh":
        return [(each, fresh_name(each)) for each in chosen]
    names = ExistingNames(folder)
    return [(each, names.name_for(each, luck)) for each in chosen]


def test_the_law_sees_what_is_wrong(tmp_path: Path) -> None:
    """An edit that is forgotten, and a refusal without a reason."""
    with Trials("platformdirs", tmp_path) as trials:
        definitions = definitions_in(trials.folder)
        for kind in ("function", "class", "method", "module variable"):
            right = next(
                found
                for each in definitions
                if each.kind == kind
                and not is_dunder(each.name)
                and isinstance(found := tried(trials.snapshot, each, fresh_name(each)), Rename)
                and len(found.plan.edited) > 1
            )
            assert not trials.wrong_with(right), right
            assert trials.wrong_with(with_one_edit_less(right)), right
            references = right.plan.references
            refused = Refused("name_clash", "for no reason", details=references)
            assert not trials.what_confirms(Refusal(right.definition, right.new_name, refused)), right


def with_one_edit_less(rename: Rename) -> Rename:
    """The same, with an edit missing that is not the definition's."""
    own = (rename.definition.path, rename.definition.offset)
    change = rename.plan.change
    path, left = next(
        (file.path, edit)
        for file in change.edits
        for edit in file.edits
        if (file.path, edit.span.start) != own
    )
    edits = tuple(
        replace(file, edits=Edits.of([edit for edit in file.edits if file.path != path or edit != left]))
        for file in change.edits
    )
    return replace(rename, plan=replace(rename.plan, change=replace(change, edits=edits)))


@pytest.mark.parametrize(
    "old, new, is_kept",
    [
        ("inner", "fresh", True),
        ("inner", "argument", False),  # two locals become one
        ("inner", "outer", False),  # a use of the global is captured
        ("each", "inner", False),  # so is a use in a comprehension
        ("outer", "f", False),
        ("outer", "len", False),  # the builtin is used
        ("outer", "method", True),  # in the body of the class, the method is not bound yet
        ("method", "outer", True),
        ("later", "outer", False),  # this one is
    ],
)
def test_the_compiler_tells_what_is_rebound(old: str, new: str, is_kept: bool) -> None:
    code = """
def f(argument):
    inner = 1
    return [inner for each in argument], outer, len(argument)
def outer(): pass
class A:
    later = 1
    used = [outer]
    def method(self): return outer
"""
    assert is_kept is not any(rebound(code, re.sub(rf"\b{old}\b", new, code)))
