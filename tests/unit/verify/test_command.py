"""`regression` by the project's own command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from planting import COULD_NOT_RUN, FAILED, PASSED, planned, workspace

from lsptools.errors import BadRequest
from lsptools.verify.ladder import Means, climb
from lsptools.verify.project import setting
from lsptools.verify.verdict import Standing, Verdict

APP = "def half(number):\n    return number // 2\n"
CHECK = "from app import half\n\nassert half(3) == 1, 'Error: not a half'\n"
TOLD = '[project]\nname = "x"\n\n[tool.lsptools]\ntest-command = "python check.py"\n\n[tool.other]\ntest-command = "false"\n'


def verdict_of(
    folder: Path,
    new: str,
    *,
    command: str | None = "python check.py",
    check: str = CHECK,
    told: str = "",
    limit_s: float = 60.0,
) -> Verdict:
    files = {"app.py": APP, "check.py": check, "pyproject.toml": told}
    means = Means(folder / "bench", {**os.environ, "VIRTUAL_ENV": sys.prefix}, limit_s, test_command=command)
    report = climb(planned(workspace(folder / "work", files), {"app.py": new}), ("regression",), means)
    (verdict,) = (each for each in report.verdicts if each.rung == "regression")
    return verdict


@pytest.mark.parametrize(
    ("new", "standing", "says"),
    [
        (APP + "\n", PASSED, "ended with exit code 0"),
        (APP.replace("//", "/"), FAILED, "failed with exit code 1, and succeeded on the old text"),
    ],
)
@pytest.mark.parametrize("is_told", [False, True], ids=["by the caller", "by the project"])
def test_a_command(tmp_path: Path, new: str, standing: Standing, says: str, is_told: bool) -> None:
    verdict = verdict_of(
        tmp_path, new, command=None if is_told else "python check.py", told=TOLD if is_told else ""
    )
    assert verdict.standing is standing and says in verdict.says, verdict
    assert verdict.covers == "the whole command: python check.py"
    if standing is FAILED:
        assert verdict.first_error is not None and "Traceback" in verdict.first_error.message


def test_what_fails_on_the_old_text_too_says_nothing_of_the_change(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, APP + "\n", check="raise SystemExit(3)\n")
    assert (
        verdict.standing is COULD_NOT_RUN
        and verdict.says == "the command failed with exit code 3, and on the old text, too"
    )


def test_a_flaky_command_says_nothing(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    check = f"import pathlib\nflag = pathlib.Path({str(flag)!r})\nwas = flag.exists()\nflag.touch()\nraise SystemExit(not was)\n"
    verdict = verdict_of(tmp_path, APP + "\n", check=check)
    assert verdict.standing is COULD_NOT_RUN and "flaky" in verdict.says


def test_a_command_that_is_not_there_could_not_run(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, APP + "\n", command="no-such-program --all")
    assert verdict.standing is COULD_NOT_RUN and "no-such-program" in verdict.says


def test_a_command_that_does_not_end(tmp_path: Path) -> None:
    check = "import app, time\ntime.sleep(600 * (app.half(3) != 1))\n"
    verdict = verdict_of(tmp_path, APP.replace("//", "/"), check=check, limit_s=15.0)
    assert verdict.standing is FAILED and "did not end in 15 s" in verdict.says


def test_an_open_quote_is_no_command(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="No closing quotation"):
        verdict_of(tmp_path, APP + "\n", command="python 'check.py")


SETTINGS = [
    (TOLD, "python check.py"),
    ("[tool.lsptools]\ntest-command = 'make \"all\"'\n", 'make "all"'),
    ('[tool.lsptools]\ntest-command = "sh -c \\"a\\""\n', 'sh -c "a"'),
    ("[tool.lsptools]  # ours\r\ntest-command = 'a'\r\n", "a"),
    ('[tool.lsptools]\n# test-command = "no"\n', None),
    ('[tool.lsptools.more]\ntest-command = "no"\n', None),
    ("", None),
    ('[tool.lsptools]\ntest-command = """make all"""\n', "make all"),
    ('[tool.lsptools]\r\ntest-command = """\r\nmake \\\r\n    all\r\n"""  # all\r\n', "make all\n"),
    ('[tool.lsptools]\ntest-command = """\n[ -f x ] "and" \\"""y""""\n[x]\n', '[ -f x ] "and" """y"'),
    ("[tool.lsptools]\ntest-command = '''\nsh -c 'a \\t''''\n", "sh -c 'a \\t'"),
    ('[tool.lsptools]\n"test-command" = "a\\tb\\u00e4\\U0001F600\\\\"', "a\tbä😀\\"),
    ("[ tool . lsptools ]\n'test-command' = ''", ""),
    ('[tool.lsptools]\ntest-command = ""', ""),
    ('[tool.lsptools]\nother = "test-command = 1"\n', None),
]


@pytest.mark.parametrize(("text", "wanted"), SETTINGS)
def test_what_the_project_sets(tmp_path: Path, text: str, wanted: str | None) -> None:
    assert setting(workspace(tmp_path, {"pyproject.toml": text}), "test-command") == wanted


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no tomllib")
@pytest.mark.parametrize(("text", "wanted"), SETTINGS)
def test_that_is_what_toml_says(text: str, wanted: str | None) -> None:
    import tomllib

    section = tomllib.loads(text).get("tool", {}).get("lsptools", {})
    assert section.get("test-command") == wanted


@pytest.mark.parametrize("value", ['["make", "all"]', "true", '"""make', "'make", '"make" all', "{}", ""])
def test_what_is_no_string_is_not_taken_for_nothing(tmp_path: Path, value: str) -> None:
    """Otherwise pytest would run, and pass, in the place of what the project names."""
    told = f"[tool.lsptools]\ntest-command = {value}\n"
    with pytest.raises(BadRequest, match="is no string"):
        verdict_of(tmp_path, APP + "\n", command=None, told=told)
