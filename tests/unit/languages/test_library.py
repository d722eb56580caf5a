"""What libraries define is the same whether ripgrep was begun early or not, and nothing of it outlives the question."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lsptools import open_workspace
from lsptools.faces.environment import Environment
from lsptools.languages.python.library import LibraryOwner
from lsptools.languages.python.modules import Project
from lsptools.workspace.paths import Root

LIBRARY = {
    "outside/__init__.py": "def only_outside(): ...\n",
    "own/__init__.py": "def only_in_a_copy(): ...\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    for name, text in LIBRARY.items():
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_text(text)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / "a.py").write_text("class A:\n    def unheard_of_anywhere(self): ...\n")
    return Project(Environment().context(Root.of(tmp_path)).snapshot)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[Any]]]:
    found: list[subprocess.Popen[Any]] = []
    start = subprocess.Popen.__init__

    def noted(self: subprocess.Popen[Any], *arguments: Any, **named: Any) -> None:
        found.append(self)
        start(self, *arguments, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    yield found
    assert all(process.returncode is not None for process in found), "some were left alone"


@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("bit_length", "the builtin `bool`"),
        ("only_outside", "`outside/__init__.py` of the installed packages"),
        ("only_in_a_copy", None),
        ("unheard_of_anywhere", None),
    ],
)
def test_who_has_it(
    name: str, owner: str | None, is_early: bool, project: Project, started: list[subprocess.Popen[Any]]
) -> None:
    asked = LibraryOwner(project, name, frozenset({"own"}))
    if is_early:
        asked.begin()
        n_begun = len(started)
        asked.begin()
        assert len(started) == n_begun
    assert asked.found == owner
    asked.begin()  # what is known is not looked for again
    assert all(process.returncode is not None for process in started)


def test_what_nobody_waits_for_is_ended(project: Project, started: list[subprocess.Popen[Any]]) -> None:
    asked = LibraryOwner(project, "unheard_of_anywhere", frozenset())
    asked.begin()
    assert len(started) == len(project.library_roots)
    asked.cancel()
    assert asked.found is None


def test_a_search_for_a_method_leaves_nothing_behind(
    project: Project, started: list[subprocess.Popen[Any]]
) -> None:
    found = open_workspace(project.snapshot.root.path).references("a.py::A.unheard_of_anywhere")
    assert len(found.occurrences) == 1
    assert len(started) > len(project.library_roots)
