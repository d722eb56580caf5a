"""The command line from outside: what goes to which stream, and the exit code."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsptools.errors import BadRequest, Refused, Stale, Unavailable, bug
from lsptools.faces.cli import main
from lsptools.tools import registry

SHOP = 'class Order:\n    """😀"""\n    def total(self): return 1\n'


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project as current folder, and a state folder of its own."""
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text(SHOP, "utf-8")
    monkeypatch.chdir(folder)
    for name in ("NO_COLOR", "FORCE_COLOR", "LSPTOOLS_DEBUG", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@dataclasses.dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Ran:
        code = main(arguments)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


def test_found(run: Run) -> None:
    assert run("outline", "src/shop.py") == Ran(
        0, "src/shop.py:1:7: class Order\nsrc/shop.py:3:9:   def total(self)\n", ""
    )
    assert run("symbols", "tot").out == "src/shop.py:3:9: method Order.total\n"
    assert run("search", "Order").out == "src/shop.py:1:7: class Order:\n"
    assert run(
        "search", "--structural", "(integer)"
    ).out == "src/shop.py:3:29:     def total(self): return 1\n" + ("  src/shop.py:3:29: @match 1\n")


def test_nothing_found(run: Run) -> None:
    for arguments in (["symbols", "nothing"], ["search", "nothing"], ["history"]):
        assert run(*arguments) == Ran(1, "", "")
    assert run("search", "nothing", "--json").json["matches"] == []


def test_an_error_is_text_on_standard_error(run: Run) -> None:
    ran = run("outline", "shop.py")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: there is no file 'shop.py'\nhint: ")


def test_an_error_is_an_answer_with_json(run: Run) -> None:
    ran = run("outline", "shop.py", "--json")
    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["kind"] == "not_found"
    assert (ran.json["schema"], ran.json["tool"]) == (1, "outline")


@pytest.mark.parametrize(
    "arguments", [["--json"], ["outlin", "--json"], ["rename", "a", "--json"], ["refs", "--json", "--zzz"]]
)
def test_wrong_usage_is_an_answer_with_json(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["kind"] == "invalid"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["search", "x", "--limit", "0"], "a limit of 0"),
        (["symbols", "x", "--limit", "-1"], "a limit of -1"),
        (["search", "(call)", "--structural", "--word"], "--structural goes with neither"),
        (["search", "(cal)", "--structural"], "the query is wrong at 1:2"),
        (["symbols", "a..b"], "'a..b' is not a name"),
        (["outline", "../x.py"], "outside the workspace"),
        (["outline", "src"], "'src' is a folder"),
    ],
)
def test_requests_that_cannot_be_answered(run: Run, arguments: list[str], says: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ") and says in ran.err and "\nhint: " in ran.err


def test_a_current_folder_that_is_gone(run: Run, workspace: Path) -> None:
    (workspace / "gone").mkdir()
    os.chdir(workspace / "gone")
    (workspace / "gone").rmdir()
    ran = run("outline", "x.py")
    assert ran.code == 2 and ran.err.startswith("unavailable: ")
    assert run("outline", "shop.py", "--root", str(workspace / "src")).code == 0
    assert run("--version").code == 0


def test_a_root_that_is_none(run: Run) -> None:
    ran = run("rename", "a.py:1:1", "b", "--root", "nowhere", "--json")
    assert (ran.code, ran.json["error"]["kind"]) == (2, "not_found")
    assert run("outline", "a.py", "--root", "nowhere").err.startswith("error: there is no folder ")


def test_the_root_decides_what_paths_mean(run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.parent)
    assert run("outline", "shop.py", "--root", "work/src").out.startswith("shop.py:1:7: ")
    assert run("outline", "src/shop.py", "--root", str(workspace), "--json").json["path"] == "src/shop.py"


def test_from_a_folder_below(run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "pyproject.toml").touch()
    monkeypatch.chdir(workspace / "src")
    assert run("outline", "shop.py").out.startswith("shop.py:1:7: ")
    assert run("outline", "shop.py", "--json").json["path"] == "src/shop.py"
    assert run("symbols", "Order").out.startswith("shop.py:1:7: ")


def acting(monkeypatch: pytest.MonkeyPatch, does: Callable[[], object]) -> None:
    """Let every tool do this."""
    original = registry.tool

    def changed(name: str) -> Any:
        return dataclasses.replace(original(name), run=lambda context, params: does())

    monkeypatch.setattr(registry, "tool", changed)


def failing(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadRequest("invalid", "x"), 2),
        (Refused("undecided", "x"), 1),
        (Stale("stale", "x"), 1),
        (Unavailable("unavailable", "x"), 2),
        (PermissionError(13, "Permission denied", "state"), 2),
    ],
)
def test_exit_codes(run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int) -> None:
    acting(monkeypatch, failing(error))
    ran = run("rename", "a", "b")
    assert (ran.code, ran.out) == (code, "")
    answer = run("rename", "a", "b", "--json")
    assert (answer.code, answer.err) == (code, "")
    assert (answer.json["applied"], answer.json["occurrences"], answer.json["undo"]) == (False, [], None)


def test_a_bug_is_told_without_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, lambda: bug("x is y"))
    first, again = run("outline", "a"), run("outline", "b")
    assert first.code == 70 and first.err == again.err
    assert first.err.startswith("internal error: x is y\nhint: this is a bug in lsptools; please report it")
    assert "Traceback" not in first.err
    acting(monkeypatch, failing(KeyError("z")))
    other = run("outline", "a", "--json")
    assert (other.code, other.json["error"]["kind"]) == (70, "internal")
    assert other.json["error"]["message"] == "KeyError: 'z'"


def test_a_traceback_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSPTOOLS_DEBUG", "1")
    acting(monkeypatch, failing(KeyError("z")))
    assert "Traceback" in run("outline", "a").err


def test_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, failing(KeyboardInterrupt()))
    assert run("outline", "a") == Ran(130, "", "")


def test_help_and_version(run: Run) -> None:
    assert run("--version").out.startswith("lsptools ")
    assert run("--version", "outline").out.startswith("lsptools ")
    assert (run("--help").code, run().code) == (0, 2)
    assert run("rename", "--help").out.startswith("Usage: lsptools rename ")


def test_colour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in run("outline", "src/shop.py", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("outline", "src/shop.py").out
    assert "\x1b[" not in run("outline", "src/shop.py", "--color", "never").out
    assert "\x1b[" not in run("outline", "src/shop.py", "--json").out


def test_nothing_is_left_behind_by_looking(run: Run, workspace: Path, tmp_path: Path) -> None:
    before = sorted(workspace.rglob("*"))
    for arguments in (["outline", "src/shop.py"], ["symbols", "Order"], ["search", "Order"], ["history"]):
        run(*arguments)
    assert sorted(workspace.rglob("*")) == before
    assert not (tmp_path / "state").exists()


def process(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "lsptools", *arguments], capture_output=True, check=False, **options
    )


def test_a_reader_that_goes_away_is_no_failure(workspace: Path) -> None:
    (workspace / "big.py").write_text("x = 1\n" * 100_000)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "lsptools", "search", "x", "--limit", "100000"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_any_text_can_be_printed_anywhere(workspace: Path) -> None:
    (workspace / "odd.py").write_bytes("# é\udcff\n".encode("utf-8", "surrogateescape"))
    environment = os.environ | {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    utf8 = process("search", "#", env=environment | {"PYTHONIOENCODING": "utf-8"})
    ascii_only = process("search", "#", env=environment | {"PYTHONIOENCODING": "ascii"})
    assert utf8.stdout == b"odd.py:1:1: # \xc3\xa9\xff\n"
    assert ascii_only.stdout == b"odd.py:1:1: # \\xe9\\udcff\n"
    assert (utf8.returncode, ascii_only.returncode) == (0, 0)
