"""The copy in which programs run: what it takes along, and that it never shows the old for the new."""

from __future__ import annotations

import errno
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from planting import PASSED, planned, verdicts, workspace

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


def unreadable(monkeypatch: pytest.MonkeyPatch, **errors: int) -> None:
    """Files (by the beginning of their names) whose reading ends with an error, after some of it was read; folders, too."""
    scandir, copy2 = os.scandir, shutil.copy2

    def fail(path: str) -> None:
        number = errors.get(Path(path).name.partition(".")[0])
        if number is not None:
            raise OSError(number, os.strerror(number), path)

    def copied(old: str, new: str) -> object:
        Path(new).write_bytes(b"some of it")
        fail(old)
        return copy2(old, new)

    def listed(path: str | int) -> object:
        if isinstance(path, str):  # those who tidy up come with a descriptor
            fail(path)
        return scandir(path)

    monkeypatch.setattr(shutil, "copy2", copied)
    monkeypatch.setattr(os, "scandir", listed)


FILES = {
    "a.py": OLD,
    "__pycache__/a.cpython-00.pyc": "",
    "__pycache__/b.cpython-00.pyc": "",
    "secret.key": "",
    "data/torn.bin": "",
    "data/whole.bin": "",
    "closed/x.py": "",
    "test_a.py": "import a\n\n\ndef test_a():\n    assert a.X\n",
}


def test_what_cannot_be_read_is_named_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = workspace(tmp_path / "work", FILES)
    versions = planned(snapshot, {"a.py": NEW})
    unreadable(monkeypatch, b=errno.EACCES, secret=errno.EACCES, torn=errno.EIO, closed=errno.EACCES)
    with Bench(tmp_path / "bench", snapshot.root.path) as bench:
        bench.show("after", versions.after, versions.paths)
        assert bench.unread == ("closed", "data/torn.bin", "secret.key")
        files = (each for each in bench.folder.rglob("*") if each.is_file())
        there = {each.relative_to(bench.folder).as_posix() for each in files}
    assert there == {"a.py", "test_a.py", "data/whole.bin"}


def test_a_rung_says_what_its_program_could_not_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = planned(workspace(tmp_path / "work", FILES), {"a.py": NEW})
    unreadable(monkeypatch, b=errno.EACCES, secret=errno.EACCES)
    verdict = verdicts(versions, tmp_path / "bench", "tests")["tests"]
    assert verdict.standing is PASSED
    assert verdict.covers == "1 test of 1 that reach the change; without what cannot be read: secret.key"


def test_a_disk_that_is_full_is_another_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = workspace(tmp_path / "work", FILES)
    unreadable(monkeypatch, torn=errno.ENOSPC)
    with Bench(tmp_path / "bench", snapshot.root.path) as bench, pytest.raises(OSError) as caught:
        bench.show("after", snapshot, ())
    assert caught.value.errno == errno.ENOSPC
