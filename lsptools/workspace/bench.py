"""A copy of the workspace, outside of it, in which programs may run: it shows the old text or the new, and is thrown away.

Nothing of the user's tree is touched, whatever the programs do: files are copied, not linked. Only what is large and read by all
(virtual environments, `node_modules`) is a link to the original. Left out are version control and the caches of tools, so a
test that asks git about its own repository finds none. Compiled modules are taken along, so that a run does not compile the
project anew, except those of files that differ: Python tells old from new by size and second, which is not enough here.

Both versions are shown in the same folder, one after the other, so that paths in messages compare and what a tool has cached
of files that stay serves both.

What cannot be read is not in the copy, and named (`Bench.unread`); of compiled modules nobody misses one.
"""

# ruff: noqa: PTH101, PTH115, PTH211

from __future__ import annotations

import errno
import glob
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsptools.errors import BadRequest
from lsptools.workspace.snapshot import Snapshot

LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".tox",
        ".nox",
    }
    | {".hypothesis", ".ty_cache", ".pyrefly", ".coverage"}
)
COMPILED = "__pycache__"
LINKED = frozenset({"node_modules"})
LARGEST_FILE = 64 << 20
"""Bytes; what is larger is a link to the original."""


class Bench:
    """Use it as a context: it is made when something is to be shown, and removed at the end."""

    def __init__(self, home: Path, root: Path) -> None:
        self._home = home / f"{os.getpid()}-{os.urandom(4).hex()}"
        self._root = root
        self._is_made = False
        self.folder = self._home / root.name
        """The copy; it has the name of the workspace."""
        self.shown = ""
        self.unread: tuple[str, ...] = ()
        """What the copy lacks since it cannot be read: files and folders, relative to the root with `/`."""

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def scratch(self) -> Path:
        """A folder beside the copy, for what programs write."""
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = self._home / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def note(self, kind: str, text: str = "") -> Path:
        """A new file in the scratch folder."""
        number = sum(1 for _ in self.scratch.glob(f"{kind}-*"))
        path = self.scratch / f"{kind}-{number}"
        path.write_text(text, "utf-8")
        return path

    def show(self, label: str, snapshot: Snapshot, paths: Iterable[str]) -> None:
        """Put in the copy, for these paths, what a snapshot has there. `label` tells one state from another."""
        if not self._is_made:
            _remove_old(self._home.parent)
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            unread: list[str] = []
            _copy_folder(str(self._root), str(self.folder), unread)
            top = os.path.join(self._root, "")
            self.unread = tuple(sorted(each.removeprefix(top).replace(os.sep, "/") for each in unread))
            self._is_made = True
        if label == self.shown:
            return
        for path in paths:
            target = self.folder / path
            _forget_compiled(target)
            try:
                data = snapshot.bytes(path)
            except BadRequest:
                with suppress(OSError):
                    target.unlink()
                    _remove_empty(target.parent, self.folder)
                continue
            if target.is_symlink():
                target.unlink()  # the original behind it is the user's
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_file() or target.read_bytes() != data:
                target.write_bytes(data)
        self.shown = label


def _copy_folder(old: str, new: str, unread: list[str]) -> None:
    """Copy a folder with all that is in it; the paths of what cannot be read are added to `unread`."""
    os.mkdir(new)  # noqa: PTH102
    with _reading(old, unread), os.scandir(old) as entries:
        for entry in entries:
            if entry.name in LEFT_OUT:
                continue
            target = os.path.join(new, entry.name)
            if entry.name == COMPILED:
                if entry.is_dir(follow_symlinks=False):
                    _copy_compiled(entry.path, target)
                continue
            with _reading(entry.path, unread):
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), target)
                elif entry.is_dir():
                    if entry.name in LINKED or os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                        os.symlink(entry.path, target)
                    else:
                        _copy_folder(entry.path, target, unread)
                elif entry.is_file():
                    if entry.stat().st_size > LARGEST_FILE:
                        os.symlink(entry.path, target)
                    else:
                        _copy_file(entry.path, target)
                        os.chmod(target, entry.stat().st_mode | 0o600)


def _copy_compiled(old: str, new: str) -> None:
    """Not those that pytest has rewritten: they name the files of the user's tree as the place of a failure."""
    os.mkdir(new)  # noqa: PTH102
    with _reading(old), os.scandir(old) as entries:
        for entry in entries:
            with _reading(entry.path):
                if (
                    entry.name.endswith(".pyc")
                    and "-pytest-" not in entry.name
                    and entry.is_file(follow_symlinks=False)
                ):
                    _copy_file(entry.path, os.path.join(new, entry.name))


def _copy_file(old: str, new: str) -> None:
    try:
        shutil.copy2(old, new)
    except OSError:
        with suppress(OSError):
            os.unlink(new)  # noqa: PTH108  # no half of a file
        raise


@contextmanager
def _reading(path: str, unread: list[str] | None = None) -> Iterator[None]:
    """Go on where this cannot be read, and say so. That the copy cannot be written is another matter."""
    try:
        yield
    except FileNotFoundError:
        pass  # gone meanwhile
    except OSError as error:
        if error.errno in _IS_FULL:
            raise
        if unread is not None:
            unread.append(path)


_IS_FULL = (errno.ENOSPC, errno.EDQUOT)


def _forget_compiled(source: Path) -> None:
    for each in source.parent.glob(f"{COMPILED}/{glob.escape(source.stem)}.*.pyc"):
        each.unlink()


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove the folder and those above it, as long as nothing is in them."""
    while folder != top:
        with suppress(OSError):
            shutil.rmtree(folder / COMPILED, ignore_errors=True)
            folder.rmdir()
            folder = folder.parent
            continue
        return


def _remove_old(home: Path) -> None:
    """Copies of processes that are gone."""
    if not home.is_dir():
        return
    for each in home.iterdir():
        pid = each.name.partition("-")[0]
        if pid.isdigit() and not _is_running(int(pid)):
            shutil.rmtree(each, ignore_errors=True)


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True  # asking would end it; such a folder stays
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
