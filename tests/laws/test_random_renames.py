"""Random renames of real code, done and taken back: what is accepted leaves the program whole.

Witnesses that know nothing of the finding: `ast` parses every file; the package is imported, all its modules, by a
process of its own; `symtable` says which names are looked up globally, and after the rename none of them is unbound
that was bound before; where there is time, mypy checks the package and has nothing new to say. Undo restores bytes.
"""

from __future__ import annotations

import builtins
import os
import re
import subprocess
import symtable
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from laws.definitions import definitions_in, drawn
from laws.packages import copy_of, is_nightly
from laws.renames import Rename, accepted

from lsptools.faces.environment import Environment
from lsptools.languages.names import Evidence
from lsptools.text.document import Document
from lsptools.workspace.apply import apply
from lsptools.workspace.journal import undo
from lsptools.workspace.paths import Root
from lsptools.workspace.state import State

PACKAGES = {"pathspec": 3, "platformdirs": 3, "packaging": 2}
"""How many renames of each."""
if is_nightly:
    PACKAGES = {"pathspec": 60, "platformdirs": 40, "packaging": 80, "click": 80, "hatchling": 40, "rich": 60}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_renamed_package_works_and_comes_back(
    package: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = copy_of(package, tmp_path / "ws").parent
    root = Root.of(folder)
    state = State.of(tmp_path / "state", root)
    before = contents(folder)
    names_before = unbound_names(folder)
    complaints = mypy_says(folder, package) if is_nightly else Counter()
    imported_before = imports(folder, package)
    definitions = definitions_in(folder)
    refused: list[str] = []
    kinds: Counter[str] = Counter()
    snapshot = Environment().context(root).snapshot
    lots = drawn(definitions, len(definitions), seed=PACKAGES[package])
    for rename in accepted(snapshot, iter(lots), refused):
        apply(snapshot, rename.plan.change, state)
        assert contents(folder) != before, rename
        assert unbound_names(folder, rename) <= names_before, rename  # and all of it still parses
        assert imports(folder, package, rename) == imported_before, rename
        if is_nightly and not has_undecided(rename):
            said = mypy_says(folder, package, rename)
            assert said <= complaints, f"{rename.definition}: {said - complaints}"
        undo(root, state)
        assert contents(folder) == before, rename
        kinds[rename.definition.kind] += 1
        if kinds.total() == PACKAGES[package]:
            break
    figures = f"{package}: {kinds.total()} renames of {len(kinds)} kinds; refused: {len(refused)}"
    record_property("law", figures)
    print(figures)
    assert kinds.total() == PACKAGES[package], "\n".join([figures, *refused])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that is not compiled, and what is in it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unbound_names(folder: Path, of: Rename | None = None) -> set[tuple[str, str]]:
    """Names that are looked up globally in a file, and that neither the file nor the language binds."""
    return {
        (_as_before(path.name, of), name)
        for path in folder.rglob("*.py")
        for name in _unbound(Document.decode(path.read_bytes()).text)
    }


@cache
def _unbound(text: str) -> frozenset[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = symtable.symtable(text, "?", "exec")
    bound = {
        symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    bound |= {symbol.get_name() for symbol in top.get_symbols() if symbol.is_namespace()}
    used: set[str] = set()
    waiting = [top]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_declared_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (symbol.is_global() or table is top):
                used.add(symbol.get_name())
    return frozenset(used - bound - set(dir(builtins)))


IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in sorted(each.name for each in pkgutil.walk_packages(package.__path__, package.__name__ + ".", lambda _: None)):
    if module.rpartition(".")[2] == "__main__":
        continue
    try:
        importlib.import_module(module)
    except Exception as error:
        print(module, type(error).__name__)
    else:
        print(module, "imported")
"""


def imports(folder: Path, package: str, of: Rename | None = None) -> list[str]:
    """Which modules of a package can be imported, by a process of its own that finds it in `folder` first."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", IMPORT_ALL, package],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return sorted(_as_before(done.stdout, of).split("\n"))


def mypy_says(folder: Path, package: str, of: Rename | None = None) -> Counter[tuple[str, str]]:
    """mypy's complaints about a package, by file; the new name of a rename is read as the old one."""
    options = ["--no-error-summary", "--hide-error-context", "--check-untyped-defs"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={folder.parent / 'mypy'}", package],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^([^:\n]+):\d+: error: (.*)$", _as_before(done.stdout, of), re.MULTILINE)
    return Counter(found)


def _as_before(text: str, of: Rename | None) -> str:
    """What is said after a rename, with the old name in place of the new one."""
    return text.replace(of.new_name, of.definition.name) if of is not None else text


def has_undecided(rename: Rename) -> bool:
    """Were there occurrences that may be the symbol, and were left? Then mypy may well be right."""
    return any(each.evidence is Evidence.POSSIBLE for each in rename.plan.references.occurrences)
