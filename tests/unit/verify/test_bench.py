"""The copy in which programs run: what it takes along, and that it never shows the old for the new."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path

from planting import planned, workspace

from lsptools.workspace.bench import Bench

OLD, NEW = "X = 1\n", "X = 2\n"


def says(folder: Path, module: str) -> str:
    program = f"import {module}; print({module}.X, {module}.__cached__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.partition(" ")[0]


def test_compiled_modules_come_along_except_of_what_differs(tmp_path: Path) -> None:
    """Old and new text have one size and, here, one time: only the name says which is which."""
    snapshot = workspace(tmp_path / "work", {"a.py": OLD, "b.py": OLD, "a1.py": OLD})
    for name in ("a.py", "b.py", "a1.py"):
        os.utime(tmp_path / "work" / name, (1e9, 1e9))
        py_compile.compile(str(tmp_path / "work" / name))
    compiled = tmp_path / "work" / "__pycache__"
    (compiled / "a.cpython-00-pytest-1.0.pyc").touch()
    versions = planned(snapshot, {"a.py": NEW})
    with Bench(tmp_path / "bench", snapshot.root.path) as bench:
        for version, shown, wanted in (("after", versions.after, "2"), ("before", versions.before, "1")):
            bench.show(version, shown, versions.paths)
            os.utime(bench.folder / "a.py", (1e9, 1e9))
            assert says(bench.folder, "a") == wanted
        there = {each.name.partition(".")[0] for each in (bench.folder / "__pycache__").iterdir()}
        assert there == {"b", "a1"}
    assert len(list(compiled.iterdir())) == 4  # the user's own stay


def test_a_folder_of_compiled_modules_that_is_a_link_is_left_out(tmp_path: Path) -> None:
    snapshot = workspace(tmp_path / "work", {"a.py": OLD})
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "a.cpython-00.pyc").touch()
    (tmp_path / "work" / "__pycache__").symlink_to(tmp_path / "cache")
    versions = planned(snapshot, {"a.py": NEW})
    with Bench(tmp_path / "bench", snapshot.root.path) as bench:
        bench.show("after", versions.after, versions.paths)
        assert not (bench.folder / "__pycache__").exists()
    assert (tmp_path / "cache" / "a.cpython-00.pyc").exists()
