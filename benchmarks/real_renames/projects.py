"""The packages: their source archives, environments and test suites.

A source archive is the same bytes for everyone and has the tests. Each package has an environment of its own with what its
tests need and without the package itself: only the copy that is looked at has it, by `PYTHONPATH`. Packages that pytest
itself imports cannot be judged this way, since a right rename would break pytest.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.archives import WORK, make_repository, unpacked_source
from benchmarks.real_renames.answers import Tree, read_tree

FOLDER = WORK / "real_renames"

_TOOLS_OF_TESTS = ("pytest==8.4.2", "coverage")
_CHECKERS = r"tool\.(?:basedpyright|mypy|pyrefly|pyright|ty|zuban)\b"
_SETTINGS_FILES = ("pyrightconfig.json", "pyrefly.toml", "ty.toml", "mypy.ini", ".mypy.ini", "zuban.toml")


class Unfit(Exception):
    """The tests of a package cannot judge here; the message says why."""


@dataclass(frozen=True, slots=True)
class Project:
    """One source archive; `requirement` pins it."""

    key: str
    requirement: str
    package: str
    """Folder of the package, relative to the root of the archive."""
    tests: tuple[str, ...] = ("tests",)
    """Arguments of pytest."""
    needs: tuple[str, ...] = ()
    """What else the tests import."""

    @property
    def source(self) -> str:
        """The folder that goes on the import path."""
        return str(Path(self.package).parent)

    @property
    def environment(self) -> Path:
        return FOLDER / "environments" / self.key

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of a test suite."""

    is_green: bool
    counts: Mapping[str, int]
    """What pytest's last line counts: passed, failed, skipped, …"""
    seconds: float
    output: str

    def agrees_with(self, baseline: Suite) -> bool:
        """Warnings are no tests: a rename may move a line that warns once."""
        return self.is_green == baseline.is_green and self.counts == baseline.counts


PROJECTS = (
    Project("inflection", "inflection==0.5.1", "inflection", tests=("test_inflection.py",)),
    Project("h11", "h11==0.16.0", "h11", tests=("h11",)),
    Project("tinydb", "tinydb==4.8.2", "tinydb", needs=("pyyaml",)),
    Project("toolz", "toolz==1.0.0", "toolz", tests=("toolz",)),
    Project(
        "wtforms",
        "wtforms==3.2.1",
        "src/wtforms",
        tests=("tests", "--ignore=tests/test_locale_babel.py"),
        needs=("markupsafe", "babel", "email_validator"),
    ),
    Project("sqlparse", "sqlparse==0.5.3", "sqlparse"),
    Project("tomlkit", "tomlkit==0.13.2", "tomlkit", needs=("pyyaml",)),
    Project("click", "click==8.1.8", "src/click"),
    Project("jinja2", "jinja2==3.1.6", "src/jinja2", needs=("markupsafe", "trio")),
    Project("more-itertools", "more-itertools==10.7.0", "more_itertools"),
)


def tree_of(project: Project) -> dict[str, bytes]:
    """The files of the archive, fetched once, without the settings of type checkers.

    Many projects tell type checkers to leave their tests out; a renamer that obeys breaks every test.
    """
    with tempfile.TemporaryDirectory() as place:
        return without_checkers(read_tree(unpacked_source(project.requirement, Path(place))))


def without_checkers(tree: Tree) -> dict[str, bytes]:
    kept = {path: content for path, content in tree.items() if path not in _SETTINGS_FILES}
    for path, tables in (("pyproject.toml", _CHECKERS), ("setup.cfg", r"mypy\b")):
        if path in kept:
            table = rf"(?ms)^\[\[?{tables}.*?(?=^\[|\Z)"
            kept[path] = re.sub(table.encode(), b"", kept[path])
    return kept


def digest_of(project: Project, tree: Tree) -> str:
    """Of all that a judgement rests on: the files, and how the tests are run."""
    told = hashlib.sha256(repr((project.tests, project.needs, _TOOLS_OF_TESTS)).encode())
    for path in sorted(tree):
        told.update(path.encode() + b"\0" + hashlib.sha256(tree[path]).digest())
    return told.hexdigest()[:16]


def laid_out(tree: Tree, root: Path) -> Path:
    """The tree at `root`, as a repository of its own.

    `root` has to be outside of any project, or some tools take that for theirs (see `archives.unpacked_wheel`).
    """
    for path, content in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    make_repository(root)
    return root


def prepare(project: Project) -> None:
    """Makes the environment of the tests, once."""
    if project.python.exists():
        return
    print(f"making the environment of {project.key}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(project.environment)], check=True)
    pip = [str(project.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([*pip, *_TOOLS_OF_TESTS, *project.needs], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(project.environment)
        raise


def variables(project: Project, root: Path, home: Path) -> dict[str, str]:
    """The environment activated, nothing else of the caller's, and the package of `root` on the import path."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": f"{project.environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(project.environment),
        "PYTHONPATH": str(root / project.source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "HOME": str(home),
        "TMPDIR": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
    }


def run_suite(project: Project, root: Path, home: Path, *, limit: float, until_first: bool = True) -> Suite:
    """The tests of `project` on the files at `root`, for `limit` seconds at most; by default up to the first failure."""
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *project.tests]
    return run_python(project, root, home, [*pytest, *(["-x"] if until_first else [])], limit)


def run_python(project: Project, root: Path, home: Path, arguments: list[str], limit: float) -> Suite:
    began = time.monotonic()
    process = subprocess.Popen(
        [str(project.python), *arguments],
        cwd=root,
        env=variables(project, root, home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nno end after {limit:.0f} s".encode()
    text = output.decode("utf-8", "replace")
    return Suite(process.returncode == 0, counts_of(text), time.monotonic() - began, text)


def counts_of(output: str) -> dict[str, int]:
    last = output.rstrip().rsplit("\n", 1)[-1]
    counted = re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)", last)
    return {what.removesuffix("s"): int(number) for number, what in counted}
