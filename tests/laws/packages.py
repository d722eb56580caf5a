"""Real code for the laws: packages, found as imports are, and copies of them to work on.

Most are installed with `make`. LSPTOOLS_LAW_PACKAGES names a folder with others (`pip install --target FOLDER …`), which
are looked for first; a law that wants one which is not there skips it, and says so.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

import pytest

is_nightly = os.environ.get("LSPTOOLS_HYPOTHESIS_PROFILE") == "nightly"
DEPENDENCIES = tuple(
    Path(each) for each in os.environ.get("LSPTOOLS_LAW_PACKAGES", "").split(os.pathsep) if each
)
"""Folders of packages beside those that are installed."""


@cache
def folder_of(package: str) -> Path:
    """The folder of a package, and the test is skipped if there is none."""
    for folder in DEPENDENCIES:
        if (folder / package / "__init__.py").is_file():
            return folder / package
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(
            f"{package} is not installed: `pip install --target FOLDER {package}`, then set LSPTOOLS_LAW_PACKAGES=FOLDER"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def files_of(package: str) -> Iterator[Path]:
    """The Python files of a package, or of the standard library's folder `stdlib/…`."""
    if package.startswith("stdlib"):
        folder = Path(sysconfig.get_path("stdlib"), package.partition("/")[2])
        found = folder.glob("*.py") if package == "stdlib" else folder.rglob("*.py")
    else:
        found = folder_of(package).rglob("*.py")
    return iter(sorted(found))


def nightly_packages(known: Container[str]) -> list[str]:
    """All else that is installed and the standard library, when there is a night to look at them."""
    if not is_nightly:
        return []
    places = [Path(sysconfig.get_path("purelib")), *DEPENDENCIES]
    folders = (path.parent.name for place in places for path in place.glob("*/__init__.py"))
    installed = sorted({name for name in folders if name not in known})
    library = Path(sysconfig.get_path("stdlib")).glob("*/__init__.py")
    return [*installed, "stdlib", *sorted(f"stdlib/{path.parent.name}" for path in library)]


def copy_of(package: str, folder: Path) -> Path:
    """A copy of a package below `folder`, without what Python compiled; its parent is a workspace."""
    copied = folder / package
    shutil.copytree(folder_of(package), copied, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return copied
