"""Twelve planted defects: each rung says of each exactly what it knows, and no rung claims more.

What only reads is tried on a copy of an installed package, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from planting import COULD_NOT_RUN, FAILED, NOT_RUN, PASSED, planned, verdicts, workspace

from lsptools.verify.verdict import Standing
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

READING = ("scope", "syntax", "names")
SHOP = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        "RATE = 19\n\n\ndef gross(net: int, rate: int = RATE) -> int:\n    return net + net * rate // 100\n\n\n"
        "class Fee:\n    def of(self, net: int) -> int:\n        return 0\n\n\n"
        "class Flat(Fee):\n    def of(self, net: int) -> int:\n        return 5\n"
    ),
    "shop/bills.py": (
        "from shop.prices import Flat, gross\n\n\ndef total(net: int) -> int:\n"
        "    return gross(net, rate=10) + Flat().of(net)\n\n\ndef unrelated() -> int:\n    return 1\n"
    ),
    "tests/test_bills.py": (
        "from shop.bills import total, unrelated\n\n\ndef test_total():\n    assert total(100) == 115\n\n\n"
        "def test_unrelated():\n    assert unrelated() == 1\n"
    ),
}
Texts = Mapping[str, str | None]
PRICES, BILLS, TESTS = "shop/prices.py", "shop/bills.py", "tests/test_bills.py"


def edited(path: str, old: str, new: str, files: Mapping[str, str] = SHOP) -> Texts:
    assert old in files[path]
    return {path: files[path].replace(old, new)}


@dataclass(frozen=True)
class Planted:
    """A defect, and what the rungs that are named say of it."""

    name: str
    new: Texts
    says: Mapping[str, Standing]
    first: str
    """What the first effective error has in it."""
    before: Mapping[str, str] | None = None
    limit_s: float = 60.0


FLAKY = SHOP[TESTS] + (
    "\n\ndef test_flaky(tmp_path_factory):\n"
    "    flag = tmp_path_factory.getbasetemp().parent.parent / 'lsptools-flag-{id}'\n"
    "    was_there = flag.exists()\n    flag.touch()\n    assert total(100) == 115 and was_there\n"
)
SILENT = {**SHOP, TESTS: SHOP[TESTS].replace("assert total(100) == 115", "total(100)")}
DEFECTS = [
    Planted(
        "no defect",
        edited(PRICES, "net * rate", "rate * net"),
        {
            "scope": PASSED,
            "syntax": PASSED,
            "names": PASSED,
            "types": PASSED,
            "tests": PASSED,
            "lint": NOT_RUN,
        },
        "",
    ),
    Planted(
        "syntax",
        edited(PRICES, "return 0", "return (0"),
        {"scope": PASSED, "syntax": FAILED, "names": COULD_NOT_RUN, "types": NOT_RUN, "tests": NOT_RUN},
        "was never closed",
    ),
    Planted(
        "scope of a name",
        edited(PRICES, "        return 5", "        nonlocal five\n        return 5"),
        {"scope": PASSED, "syntax": FAILED},
        "nonlocal",
    ),
    Planted(
        "import cycle",
        edited(PRICES, "RATE = 19", "from shop.bills import unrelated\n\nRATE = 19"),
        {"syntax": PASSED, "names": FAILED, "tests": COULD_NOT_RUN},
        "is not bound yet",
    ),
    Planted(
        "wrong type",
        edited(PRICES, "return net + net * rate // 100", "return net + net * rate / 100"),
        {"names": PASSED, "types": FAILED, "tests": PASSED},
        "Incompatible return value type",
    ),
    Planted(
        "dropped override",
        edited(
            PRICES,
            "class Flat(Fee):\n    def of(self, net: int) -> int:\n        return 5",
            "class Flat(Fee):\n    pass",
        ),
        {"syntax": PASSED, "names": PASSED, "types": PASSED, "tests": FAILED},
        "110 == 115",
    ),
    Planted(
        "changed keyword",
        edited(
            PRICES,
            "net: int, rate: int = RATE) -> int:\n    return net + net * rate",
            "net: int, percent: int = RATE) -> int:\n    return net + net * percent",
        ),
        {"syntax": PASSED, "names": FAILED, "types": FAILED, "tests": FAILED},
        "keyword argument `rate`",
    ),
    Planted(
        "CRLF flattened",
        {BILLS: SHOP[BILLS].replace("return 1\n", "return 2\n")},
        {"scope": FAILED, "syntax": PASSED, "names": PASSED},
        "ended with CRLF and now end with LF",
        before={**SHOP, BILLS: SHOP[BILLS].replace("\n", "\r\n")},
    ),
    Planted(
        "a test that asserts nothing",
        edited(PRICES, "return 5", "return 6"),
        {"names": PASSED, "tests": COULD_NOT_RUN},
        "",
        before=SILENT,
    ),
    Planted(
        "missing dependency",
        edited(PRICES, "RATE = 19", "import nonesuch_package\n\nRATE = 19"),
        {"syntax": PASSED, "names": PASSED, "tests": COULD_NOT_RUN},
        "No module named 'nonesuch_package'",
    ),
    Planted(
        "flaky test",
        edited(PRICES, "net * rate", "rate * net"),
        {"tests": PASSED},
        "",
        before={**SHOP, TESTS: FLAKY},
    ),
    Planted(
        "collection error",
        edited(TESTS, "def test_total", "1 / 0\n\n\ndef test_total"),
        {"syntax": PASSED, "names": PASSED, "tests": COULD_NOT_RUN},
        "division by zero",
    ),
    Planted(
        "time-out",
        edited(BILLS, "    return gross", "    import time\n\n    time.sleep(net * 9)\n    return gross"),
        {"syntax": PASSED, "names": PASSED, "tests": FAILED},
        "had not ended",
        limit_s=20.0,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("planted", DEFECTS, ids=[each.name for each in DEFECTS])
def test_a_planted_defect(planted: Planted, tmp_path: Path) -> None:
    files = {
        name: text.replace("{id}", f"{abs(hash(tmp_path)):x}")
        for name, text in (planted.before or SHOP).items()
    }
    versions = planned(workspace(tmp_path / "work", files), planted.new)
    found = verdicts(versions, tmp_path / "bench", *planted.says, limit_s=planted.limit_s)
    assert {rung: verdict.standing for rung, verdict in found.items()} == planted.says, found
    firsts = [str(each.first_error) for each in found.values() if each.first_error is not None]
    assert not planted.first or any(planted.first in each for each in firsts), firsts
    assert all(each.proves_not for each in found.values())
    assert not list((tmp_path / "bench").glob("*"))
    for name, text in files.items():
        assert (tmp_path / "work" / name).read_bytes() == text.encode()  # whatever ran, it was not here


@pytest.mark.slow
def test_what_is_flaky_or_fails_on_the_old_text_is_told_and_does_not_count(tmp_path: Path) -> None:
    files = {**SHOP, TESTS: SHOP[TESTS] + "\n\ndef test_wrong():\n    assert total(100) == 1\n"}
    versions = planned(workspace(tmp_path / "work", files), edited(PRICES, "net * rate", "rate * net"))
    verdict = verdicts(versions, tmp_path / "bench", "tests")["tests"]
    assert verdict.standing is PASSED and "1 test failed on the old text, too" in verdict.says
    assert verdict.first_error is None and len(verdict.problems) == 1


@pytest.mark.slow
def test_the_tests_that_reach_the_change_are_run_and_no_others(tmp_path: Path) -> None:
    versions = planned(workspace(tmp_path / "work", SHOP), edited(BILLS, "return 1", "return 2"))
    verdict = verdicts(versions, tmp_path / "bench", "tests")["tests"]
    assert verdict.standing is FAILED
    assert [problem.code for problem in verdict.problems] == ["tests/test_bills.py::test_unrelated"]
    assert verdict.covers.startswith("1 test of 2")


@pytest.mark.slow
def test_pytest_that_is_not_there_could_not_run(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "python").write_text("#!/bin/sh\necho 'No module named pytest' >&2\nexit 1\n")
    (bare / "python").chmod(0o755)
    (tmp_path / "work" / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "work" / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / "work" / ".venv" / "bin" / "python").symlink_to(bare / "python")
    versions = planned(workspace(tmp_path / "work", SHOP), edited(PRICES, "net * rate", "rate * net"))
    verdict = verdicts(versions, tmp_path / "bench", "tests")["tests"]
    assert verdict.standing is COULD_NOT_RUN and "pytest is not installed" in verdict.says


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A copy of an installed package."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(
        Path(click.__file__).parent, folder / "click", ignore=shutil.ignore_patterns("__pycache__")
    )
    return Snapshot(Root.of(folder))


Defect = Callable[[str], str]


@pytest.mark.parametrize(
    ("path", "defect", "wanted"),
    [
        ("click/exceptions.py", lambda text: text + "# a comment\n", {}),
        ("click/exceptions.py", lambda text: text.replace("\n", "\r\n"), {"scope": FAILED}),
        ("click/exceptions.py", lambda text: text.replace("def ", "def def ", 1), {"syntax": FAILED, "names": COULD_NOT_RUN}),
        ("click/exceptions.py", lambda text: text + "\nreturn 1\n", {"syntax": FAILED}),
        ("click/exceptions.py", lambda text: text.replace("class Abort(", "class Aborted("), {"names": FAILED}),
        ("click/globals.py", lambda text: text.replace("import typing as t", "import typing as t\nfrom .core import Command as Other"), {"names": FAILED}),
    ],
    ids=["none", "crlf", "syntax", "compile", "gone", "cycle"],
)  # fmt: skip
def test_on_a_copy_of_an_installed_package(
    package: Snapshot, path: str, defect: Defect, wanted: Mapping[str, Standing], tmp_path: Path
) -> None:
    text = package.document(path).text
    assert defect(text) != text
    found = verdicts(planned(package, {path: defect(text)}), tmp_path, *READING)
    assert {rung: verdict.standing for rung, verdict in found.items()} == dict.fromkeys(
        READING, PASSED
    ) | dict(wanted), found
