"""Published packages, by a pinned requirement (`name==1.2`): fetched once with pip, kept, unpacked.

A wheel has what is installed; a source archive has the tests, too. Both are the same bytes for everyone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

WORK = Path(__file__).resolve().parent / "work"
"""What the benchmarks fetch and write; git ignores it."""


def unpacked_wheel(requirement: str, root: Path) -> Path:
    """The wheel at `root`, as a repository of its own, unless it is there.

    `root` has to be outside any project. Below a `pyproject.toml` whose `.gitignore` names the folder, ty, zuban and
    pyrefly take the outer project for theirs, skip what it ignores, and answer with the definition alone.
    """
    root = root.resolve()
    if not (root / ".git").exists():
        with zipfile.ZipFile(_kept(requirement, "wheels", "--only-binary=:all:")) as archive:
            archive.extractall(root)
        make_repository(root)
    return root


def unpacked_source(requirement: str, folder: Path) -> Path:
    """The source archive below the empty `folder`; its root."""
    with tarfile.open(_kept(requirement, "sources", "--no-binary=:all:")) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


def make_repository(root: Path) -> None:
    """So that tools see where the project ends."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)


def _kept(requirement: str, kind: str, which: str) -> Path:
    """The file, fetched the first time."""
    folder = WORK / kind
    folder.mkdir(parents=True, exist_ok=True)
    if not list(_found(folder, requirement)):
        print(f"fetching {requirement}", flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", which, "--ignore-requires-python"]
        with tempfile.TemporaryDirectory(dir=folder) as place:  # a download that was stopped leaves nothing
            subprocess.run([*pip, *options, "--dest", place, requirement], check=True)
            for file in Path(place).iterdir():
                file.replace(folder / file.name)
    return next(_found(folder, requirement))


def _found(folder: Path, requirement: str) -> Iterator[Path]:
    """Files of this package and version: `name-1.2-py3-none-any.whl`, `Name-1.2.tar.gz`."""
    wanted, _, version = requirement.partition("==")
    for file in sorted(folder.iterdir()):
        name, _, rest = file.name.partition(f"-{version}")
        if _plain(name) == _plain(wanted) and (rest == ".tar.gz" or rest.startswith("-")):
            yield file


def _plain(name: str) -> str:
    """A name as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
