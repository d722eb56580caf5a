"""The disk of this machine, where no link that someone puts in our way leads us out of the workspace.

A real path has no link in it, yet between finding it out and using it a folder can be replaced by a link. So what is read and
written below the root is reached here folder by folder, from the root down, each opened in the one before it and never
through a link (`openat` with `O_NOFOLLOW`); what is done is done in the folder that is open then. A link found on the way is
`ELOOP` or `ENOTDIR`.

Paths must be real; outside of the root, and where the system has no such calls (Windows), this is `LocalOperations`. Where it stops:
the folder that was opened may be moved elsewhere by then. It is the same folder all the same.
"""

# ruff: noqa: PTH120
# Strings and `os`, as in `operations.py`.

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from lsptools.workspace.operations import (
    LocalOperations,
    keep_owner,
    read_open,
    temporary_beside,
    write_open,
)
from lsptools.workspace.paths import Root

_CALLS = {os.open, os.stat, os.rename, os.link, os.unlink, os.mkdir, os.rmdir, os.chmod}
IS_POSSIBLE = os.supports_dir_fd >= _CALLS and hasattr(os, "O_DIRECTORY") and hasattr(os, "O_NOFOLLOW")
"""Whether the system can do all of this in an open folder."""

if IS_POSSIBLE:
    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    _READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    _CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class AnchoredOperations(LocalOperations):
    """Operations whose reads of files and whose writes below `root` pass through no link."""

    def __init__(self, root: Root) -> None:
        self._root = str(root.path)
        self._prefix = self._root.rstrip(os.sep) + os.sep

    def read_unlinked(self, path: str, *, most: int | None = None) -> bytes:
        if not self._is_below(path):
            return super().read_unlinked(path, most=most)
        with self._folder_of(path) as (folder, name):
            return read_open(os.open(name, _READ, dir_fd=folder), path, most)

    def write_new(self, path: str, data: bytes, *more: bytes, mode: int | None = None) -> None:
        if not self._is_below(path):
            super().write_new(path, data, *more, mode=mode)
            return
        with self._folder_of(path) as (folder, name):
            descriptor = os.open(name, _CREATE, 0o666 if mode is None else 0o600, dir_fd=folder)
            try:
                write_open(descriptor, (data, *more), mode)
            except BaseException:
                os.unlink(name, dir_fd=folder)
                raise

    def write_atomic(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        temporary = temporary_beside(path)
        self.write_new(temporary, data, mode=mode)
        try:
            self.replace(temporary, path)
        except BaseException:
            self.unlink(temporary)
            raise
        self.fsync_dir(os.path.dirname(path))

    def replace(self, old: str, new: str) -> None:
        with self._folder_of(old) as (from_folder, from_name), self._folder_of(new) as (to_folder, to_name):
            os.replace(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)

    def rename(self, old: str, new: str) -> None:
        with self._folder_of(old) as (from_folder, from_name), self._folder_of(new) as (to_folder, to_name):
            there = _facts(to_name, to_folder)
            itself = os.stat(from_name, dir_fd=from_folder, follow_symlinks=False)
            # The same file under both names is a change of case, see `LocalOperations.rename`.
            if there is not None and not os.path.samestat(itself, there):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
            os.rename(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)

    def link(self, path: str, other: str) -> None:
        with (
            self._folder_of(path) as (from_folder, from_name),
            self._folder_of(other) as (to_folder, to_name),
        ):
            os.link(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder, follow_symlinks=False)

    def symlink(self, leads_to: str, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.symlink(leads_to, name, dir_fd=folder)

    def keep_owner(self, original: str, copy: str) -> bool:
        with self._folder_of(original) as (folder, name), self._folder_of(copy) as (other, other_name):
            first = os.open(name, _READ, dir_fd=folder)
            try:
                second = os.open(other_name, _READ, dir_fd=other)
            except BaseException:
                os.close(first)
                raise
            return keep_owner(first, second)

    def unlink(self, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def mkdir(self, path: str, *, mode: int = 0o777) -> None:
        with self._folder_of(path) as (folder, name):
            os.mkdir(name, mode, dir_fd=folder)

    def rmdir(self, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def chmod(self, path: str, mode: int) -> None:
        with self._folder_of(path) as (folder, name):
            # Of a link `chmod` would change what it leads to; what is open is what was asked for.
            descriptor = os.open(name, _READ, dir_fd=folder)
            try:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            finally:
                os.close(descriptor)

    def _is_below(self, path: str) -> bool:
        return path.startswith(self._prefix)

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """The open folder that `path` is in, and the name in it."""
        above, name = os.path.split(path)
        descriptor = self._opened(above)
        try:
            yield descriptor, name
        finally:
            os.close(descriptor)

    def _opened(self, folder: str) -> int:
        if not self._is_below(folder):
            return os.open(folder, _FOLDER)
        descriptor = os.open(self._root, _FOLDER)
        for part in folder[len(self._prefix) :].split("/"):
            try:
                inner = os.open(part, _FOLDER, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = inner
        return descriptor


def _facts(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def operations_for(root: Root) -> LocalOperations:
    """The operations for a workspace on this machine: anchored, where that is possible."""
    return AnchoredOperations(root) if IS_POSSIBLE else LocalOperations()
