"""docs/limit-zero.md happens as it is printed, in a copy of examples/reports."""

import doctest
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import limit_zero
from lsptools.faces.cli import main

REPOSITORY = Path(__file__).parent.parent


def calls() -> Iterator[tuple[str, str]]:
    """(command line, what it prints), in the order of the page."""
    text = limit_zero.PAGE.read_text("utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


@pytest.mark.slow
def test_the_page_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "reports"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "examples" / "reports", folder, ignore=ignored)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    checker = doctest.OutputChecker()
    for command, wanted in calls():
        program, *arguments = shlex.split(command)
        assert program == "lsptools"
        main(arguments)
        printed = capsys.readouterr()
        got = printed.out + printed.err
        assert checker.check_output(wanted, got, doctest.ELLIPSIS), f"$ {command}\n{got}"


def test_the_script_runs_what_the_page_shows() -> None:
    assert list(limit_zero.commands()) == [command for command, _ in calls()]
