"""The sessions of the README happen as they are printed: they are run in a copy of examples/shop, one after the other."""

import doctest
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsptools.faces.cli import main

REPOSITORY = Path(__file__).parent.parent
README = (REPOSITORY / "README.md").read_text("utf-8")
FLAGS = doctest.ELLIPSIS


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def calls(session: str) -> Iterator[tuple[str, str]]:
    """(command line, what it prints) of a shell session; an empty line ends what is printed."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed.rstrip("\n") + "\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shop, as the current folder; changes are noted in a state folder of its own."""
    folder = tmp_path / "shop"
    shutil.copytree(REPOSITORY / "examples" / "shop", folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(folder)
    for variable in ("HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "state"))
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.mark.parametrize("session", blocks("console"))
def test_a_session_in_a_shell(shop: Path, capsys: pytest.CaptureFixture[str], session: str) -> None:
    checker = doctest.OutputChecker()
    for command, wanted in calls(session):
        program, *arguments = shlex.split(command)
        assert program == "lsptools"
        main(arguments)
        printed = capsys.readouterr()
        got = printed.out + printed.err
        assert checker.check_output(wanted, got, FLAGS), f"$ {command}\n{got}"


@pytest.mark.parametrize("session", blocks("pycon"))
def test_a_session_in_python(shop: Path, session: str) -> None:
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed == 0, "".join(said)


def test_there_is_one_session_of_each() -> None:
    assert (len(blocks("console")), len(blocks("pycon"))) == (1, 1)


def test_the_check_would_see_a_difference() -> None:
    (session,) = blocks("console")
    wanted = dict(calls(session))["lsptools undo"]
    assert not doctest.OutputChecker().check_output(wanted, wanted.replace("models", "model"), FLAGS)
