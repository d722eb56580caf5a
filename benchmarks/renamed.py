"""What a rename has left of a package: which lines it changed, whether they are right, whether everything still compiles and imports.

Places are lines, for a rename keeps their numbers. *Wrong* is a changed line that is not its old self with the new name in the place
of the old one. A package imports if every module that could be imported before still can be.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.archives import WORK

DEPENDENCIES = ("asgiref==3.11.0", "sqlparse==0.5.3")
"""What Django imports."""
Lines = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class State:
    """What became of a copy of the package."""

    changed: Lines
    wrong: Lines
    litter: int
    """Files that were not there, such as backups."""
    broken: int
    """Python files that do not compile any more."""
    lost: int
    """Modules that cannot be imported any more."""


def state_of(copy: Path, original: Path, old: str, new: str) -> State:
    """Compare a copy after a rename of `old` to `new` with what it was made from."""
    before, after = _files(original), _files(copy)
    changed: set[tuple[str, int]] = set()
    wrong: set[tuple[str, int]] = set()
    for path, content in before.items():
        now = after.get(path)
        if now == content:
            continue
        lines, lines_now = content.split(b"\n"), (now or b"").split(b"\n")
        for number in range(max(len(lines), len(lines_now))):
            was, is_now = (_line(each, number) for each in (lines, lines_now))
            if was == is_now:
                continue
            changed.add((path, number + 1))
            if is_now is None or is_now.replace(new.encode(), old.encode()) != was:
                wrong.add((path, number + 1))
    broken = sum(
        _compiles(before[path]) and not _compiles(content)
        for path, content in after.items()
        if path in before and path.endswith(".py")
    )
    lost = len(importable(original) - _importable(copy))
    return State(frozenset(changed), frozenset(wrong), len(after.keys() - before.keys()), broken, lost)


def _files(root: Path) -> Mapping[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[0] != ".git"
    }


def _line(lines: list[bytes], number: int) -> bytes | None:
    return lines[number] if number < len(lines) else None


def _compiles(content: bytes) -> bool:
    try:
        ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    return True


_IMPORT_ALL = """
import contextlib, importlib, io, pkgutil, sys, warnings
warnings.simplefilter("ignore")
from django.conf import settings
apps = "admin auth contenttypes sessions messages sites flatpages redirects sitemaps staticfiles humanize"
settings.configure(
    INSTALLED_APPS=[f"django.contrib.{name}" for name in apps.split()], SECRET_KEY="x", SITE_ID=1,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
import django
django.setup()
for found in pkgutil.walk_packages(django.__path__, "django.", onerror=lambda name: None):
    if not found.name.endswith("__main__"):
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(found.name)
            print(found.name, file=sys.__stdout__)
"""


@cache
def importable(root: Path) -> frozenset[str]:
    """The modules of the untouched package that can be imported."""
    found = _importable(root)
    if len(found) < 500:
        raise SystemExit(
            f"only {len(found)} modules of {root} can be imported; are {DEPENDENCIES} installed?"
        )
    return found


def _importable(root: Path) -> frozenset[str]:
    """Asked of a fresh interpreter. If not even the start succeeds, none."""
    path = os.pathsep.join(map(str, (root, _dependencies())))
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-S", "-c", _IMPORT_ALL]
    done = subprocess.run(
        command, env=env, cwd=root, capture_output=True, text=True, timeout=300, check=False
    )
    return frozenset(done.stdout.split())


@cache
def _dependencies() -> Path:
    folder = WORK / "agent-peers" / "dependencies"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(folder), *DEPENDENCIES], check=True)
    return folder
