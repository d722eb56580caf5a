"""Real code for the laws: the installed packages, found as imports are, and copies of them to work on."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

is_nightly = os.environ.get("LSPTOOLS_HYPOTHESIS_PROFILE") == "nightly"


@cache
def folder_of(package: str) -> Path:
    """The folder of an installed package."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations, (
        f"{package} is not installed; `make` installs it"
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
    folders = Path(sysconfig.get_path("purelib")).glob("*/__init__.py")
    installed = sorted(path.parent.name for path in folders if path.parent.name not in known)
    library = Path(sysconfig.get_path("stdlib")).glob("*/__init__.py")
    return [*installed, "stdlib", *sorted(f"stdlib/{path.parent.name}" for path in library)]


def copy_of(package: str, folder: Path) -> Path:
    """A copy of a package below `folder`, without what Python compiled; its parent is a workspace."""
    copied = folder / package
    shutil.copytree(folder_of(package), copied, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return copied
