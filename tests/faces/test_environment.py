"""What the process's surroundings mean: the workspace, paths, colour."""

import io
from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.faces.environment import Environment, Spelling


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("marker", [".git/", "pyproject.toml", "setup.cfg", "setup.py"])
def test_the_nearest_folder_with_a_marker_is_the_workspace(tmp_path: Path, marker: str) -> None:
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    mark = tmp_path / "project" / marker
    mark.mkdir() if marker.endswith("/") else mark.touch()
    assert Environment({}, below).root(None).path == tmp_path / "project"


def test_without_a_marker_it_is_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "pyproject.toml").touch()
    assert Environment({}, tmp_path).root(None).path == tmp_path


def test_a_home_folder_is_only_a_workspace_from_inside(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "downloads").mkdir()
    variables = {"HOME": str(tmp_path)}
    assert Environment(variables, tmp_path / "downloads").root(None).path == tmp_path / "downloads"
    assert Environment(variables, tmp_path).root(None).path == tmp_path


def test_a_given_root_starts_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / ".git").mkdir()
    assert Environment({}, tmp_path).root("x").path == tmp_path / "x"
    assert Environment({}, tmp_path).root(str(tmp_path / "x")).path == tmp_path / "x"
    with pytest.raises(BadRequest):
        Environment({}, tmp_path).root("y")


@pytest.mark.parametrize(
    ("choice", "variables", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour(choice: str, variables: dict[str, str], terminal: bool, expected: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert Environment(variables, Path("/")).colour(choice, stream) is expected


def test_the_packages_of_the_active_environment(tmp_path: Path) -> None:
    active, workspace = tmp_path / "envs" / "x", tmp_path / "w"
    packages = active / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    workspace.mkdir()
    root = Environment({}, workspace).root(None)
    assert Environment({"VIRTUAL_ENV": str(active)}, workspace).search_path(root) == (str(packages),)
    assert Environment({"VIRTUAL_ENV": "envs/x"}, tmp_path).search_path(root) == ()
    assert Environment({"VIRTUAL_ENV": str(workspace / ".venv")}, workspace).search_path(root) == ()
    assert Environment({}, workspace).search_path(root) == ()


@pytest.fixture
def spelling(tmp_path: Path) -> Spelling:
    """A person in `src/`; `both.py` is there and in the root, `here.py` only there, `there.py` only in the root."""
    (tmp_path / "src").mkdir()
    for name in ("src/both.py", "src/here.py", "both.py", "there.py"):
        (tmp_path / name).touch()
    return Spelling(tmp_path, tmp_path / "src")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("here.py:1:2", "src/here.py:1:2"),
        ("here.py:1", "src/here.py:1"),
        ("here.py::A.b", "src/here.py::A.b"),
        ("./both.py:1:2", "src/both.py:1:2"),
        ("../both.py:1:2", "both.py:1:2"),
        ("there.py:1:2", "there.py:1:2"),
        ("src/here.py:1:2", "src/here.py:1:2"),
        ("missing.py:1:2", "missing.py:1:2"),
        ("package.module.Class.method", "package.module.Class.method"),
        ("name", "name"),
        ("here.py", "here.py"),
    ],
)
def test_a_path_of_a_person_in_a_folder_below(spelling: Spelling, given: str, meant: str) -> None:
    assert spelling.to_workspace(given, is_place=True) == meant


@pytest.mark.parametrize("suffix", ["", ":1", ":1:2"])
def test_a_path_alone(spelling: Spelling, suffix: str) -> None:
    assert spelling.to_workspace(f"here.py{suffix}") == f"src/here.py{suffix}"


def test_a_path_that_may_mean_two_files(spelling: Spelling) -> None:
    with pytest.raises(BadRequest) as caught:
        spelling.to_workspace("both.py:1:2")
    assert caught.value.kind == "ambiguous" and "./both.py" in caught.value.hint


def test_what_is_shown_can_be_given_again(spelling: Spelling) -> None:
    for path in ("src/here.py", "there.py", "src/deep/new.py"):
        shown = spelling.shown(path)
        if (spelling.root / path).exists():
            assert spelling.to_workspace(f"{shown}:1:1") == f"{path}:1:1"
    assert spelling.shown("src/deep/new.py") == "deep/new.py"
    assert spelling.shown("/usr/lib/x.py") == "/usr/lib/x.py"


def test_with_a_given_root_nothing_is_translated(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    same = Spelling(tmp_path, tmp_path)
    assert same.to_workspace("a.py:1:1") == "a.py:1:1"
    assert same.shown("a.py") == "a.py"
