"""The file system as an interface, so that the same code runs on a disk and in memory.

Paths are absolute strings in the form of the platform; confinement is not decided here (`paths.py`). Failures are the
`OSError` the operating system raises; callers translate those they expect.

Three implementations: `LocalOperations` for the disk, `anchored.py` for a disk on which others may put links in our way, and
`MemoryOperations` for tests and previews (files, folders, links
and mode bits; no owners, no hard links, no clock). Only `apply.py` and `journal.py` call what writes.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH105, PTH106, PTH108, PTH112, PTH113, PTH114, PTH115, PTH116
# ruff: noqa: PTH120, PTH211
# Strings and `os`, not `pathlib`: a search reads thousands of files, and these calls are most of its time.

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from lsptools.workspace.paths import realpath


class Operations(Protocol):
    """What the workspace asks of a file system."""

    @property
    def is_local(self) -> bool:
        """Whether programs started on this machine see the same files."""

    def read_bytes(self, path: str) -> bytes:
        """The content of a regular file, links followed. Anything else (a pipe, a device) is `EINVAL`, at once."""

    def read_unlinked(self, path: str, *, most: int | None = None) -> bytes:
        """Like `read_bytes`, but a `path` that is itself a link is `ELOOP`, and more than `most` bytes are `EFBIG`, unread."""

    def stat(self, path: str) -> os.stat_result:
        """Facts about the file behind `path`."""

    def lstat(self, path: str) -> os.stat_result:
        """Facts about `path` itself, which may be a link."""

    def size(self, path: str) -> int:
        """Bytes in the file, without following a link; 0 if it is gone."""

    def exists(self, path: str) -> bool:
        """Whether `path` leads to something; a broken link does not."""

    def is_file(self, path: str) -> bool:
        """Whether `path` leads to a regular file."""

    def is_dir(self, path: str) -> bool:
        """Whether `path` leads to a folder."""

    def is_link(self, path: str) -> bool:
        """Whether `path` itself is a link."""

    def list_dir(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted."""

    def list_kinds(self, path: str) -> Mapping[str, str]:
        """Each name in a folder with what it is itself: `file`, `folder`, `link` or `other`."""

    def readlink(self, path: str) -> str:
        """What the link says, as it says it."""

    def realpath(self, path: str) -> str:
        """`path` with every link in it followed; what does not exist stays as spelled."""

    def write_new(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Create a file that must not exist, and wait until its content is on the disk.

        `mode` is set exactly; without it the process's default (umask) applies.
        """

    def write_atomic(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Replace or create `path`: a reader sees the old content or the new, also after a crash."""

    def replace(self, old: str, new: str) -> None:
        """Rename; a file at `new` is overwritten, in one step."""

    def rename(self, old: str, new: str) -> None:
        """Rename a file or folder; anything else at `new` is `FileExistsError`."""

    def link(self, path: str, other: str) -> None:
        """Give a file (not what a link leads to) a second name; `OSError` where there is no such thing."""

    def symlink(self, leads_to: str, path: str) -> None:
        """Create a link that says `leads_to`, at a `path` where nothing is."""

    def keep_owner(self, original: str, copy: str) -> bool:
        """Give the copy the owner, group and extended attributes of the original, as far as we may.

        False if owner and group are not those of the original now.
        """

    def unlink(self, path: str) -> None:
        """Remove a file, or a link (not what it leads to)."""

    def mkdir(self, path: str, *, mode: int = 0o777) -> None:
        """Create one folder, whose parent exists."""

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits."""

    def fsync_dir(self, path: str) -> None:
        """Wait until the names in a folder are on the disk; does nothing where the platform cannot."""


_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class LocalOperations:
    """The disk of this machine."""

    is_local = True

    def read_bytes(self, path: str) -> bytes:
        return read_open(os.open(path, _READ), path)

    def read_unlinked(self, path: str, *, most: int | None = None) -> bytes:
        if not _NOFOLLOW and os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return read_open(os.open(path, _READ | _NOFOLLOW), path, most)

    def stat(self, path: str) -> os.stat_result:
        return os.stat(path)

    def lstat(self, path: str) -> os.stat_result:
        return os.lstat(path)

    def size(self, path: str) -> int:
        try:
            return os.lstat(path).st_size
        except OSError:
            return 0

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_link(self, path: str) -> bool:
        return os.path.islink(path)

    def list_dir(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(os.listdir(path)))

    def list_kinds(self, path: str) -> Mapping[str, str]:
        with os.scandir(path) as entries:
            return {entry.name: _kind(entry) for entry in entries}

    def readlink(self, path: str) -> str:
        return os.readlink(path)

    def realpath(self, path: str) -> str:
        return realpath(path)

    def write_new(self, path: str, data: bytes, *more: bytes, mode: int | None = None) -> None:
        """`more` is written behind `data`, so that nobody has to join what is large."""
        descriptor = os.open(path, _CREATE, 0o666 if mode is None else 0o600)
        try:
            write_open(descriptor, (data, *more), mode)
        except BaseException:
            os.unlink(path)
            raise

    def write_atomic(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        temporary = temporary_beside(path)
        self.write_new(temporary, data, mode=mode)
        try:
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        self.fsync_dir(os.path.dirname(path))

    def replace(self, old: str, new: str) -> None:
        os.replace(old, new)

    def rename(self, old: str, new: str) -> None:
        # `os.rename` overwrites on POSIX. The same file under both names is a change of case on a file system
        # that ignores case, and wanted.
        if os.path.lexists(new) and not os.path.samestat(os.lstat(old), os.lstat(new)):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
        os.rename(old, new)

    def link(self, path: str, other: str) -> None:
        os.link(path, other, follow_symlinks=False)

    def symlink(self, leads_to: str, path: str) -> None:
        os.symlink(leads_to, path)

    def keep_owner(self, original: str, copy: str) -> bool:
        return keep_owner(os.open(original, _READ | _NOFOLLOW), os.open(copy, _READ | _NOFOLLOW))

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def mkdir(self, path: str, *, mode: int = 0o777) -> None:
        os.mkdir(path, mode)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def chmod(self, path: str, mode: int) -> None:
        os.chmod(path, stat.S_IMODE(mode))

    def fsync_dir(self, path: str) -> None:
        if os.name == "nt":
            return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_open(descriptor: int, parts: Sequence[bytes], mode: int | None) -> None:
    """Write all of a new open file, which is closed, and wait until it is on the disk."""
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(mode))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_owner(original: int, copy: int) -> bool:
    """Owner, group and extended attributes from one open file to another; both are closed. Were owner and group kept?"""
    is_kept = True
    try:
        facts, own = os.fstat(original), os.fstat(copy)
        if (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid) and hasattr(os, "fchown"):
            mode = stat.S_IMODE(facts.st_mode)
            try:
                os.fchown(copy, facts.st_uid, facts.st_gid)
            except PermissionError:
                # What ran as its owner must not run as us.
                mode &= ~(stat.S_ISUID | stat.S_ISGID)
                is_kept = False
            os.fchmod(copy, mode)  # a new owner has cost the file these bits
        if hasattr(os, "listxattr"):
            with suppress(OSError):
                for name in os.listxattr(original):
                    with suppress(OSError):
                        os.setxattr(copy, name, os.getxattr(original, name))
    finally:
        os.close(original)
        os.close(copy)
    return is_kept


def temporary_beside(path: str) -> str:
    """A fresh name in the folder of `path`. Short, because `path`'s own name may be as long as names can be."""
    return os.path.join(os.path.dirname(path), f".lsptools-{os.urandom(8).hex()}.tmp")


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() else "other"


def read_open(descriptor: int, path: str, most: int | None = None) -> bytes:
    """All bytes of an open regular file, which is closed. One `read` when its size does not change meanwhile.

    More than `most` bytes are `EFBIG`, and not read.
    """
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.EINVAL
            raise OSError(code, os.strerror(code), path)
        if most is not None and facts.st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        data = os.read(descriptor, facts.st_size + 1)
        if len(data) == facts.st_size:
            return data
        chunks = [data]
        while data:
            data = os.read(descriptor, 1 << 20)
            chunks.append(data)
        return b"".join(chunks)
    finally:
        os.close(descriptor)


class MemoryOperations:
    """A file system in memory, with `/` paths. `files` and `links` may be given; their folders follow."""

    is_local = False

    def __init__(
        self, files: Mapping[str, bytes] | None = None, links: Mapping[str, str] | None = None
    ) -> None:
        self._files: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._modes: dict[str, int] = {"/": 0o755}
        for path, data in (files or {}).items():
            self._folders_above(path)
            self._put(path, data, 0o644)
        for path, target in (links or {}).items():
            self._folders_above(path)
            self._links[path] = target

    def read_bytes(self, path: str) -> bytes:
        real = self._existing(path)
        if real not in self._files:
            raise _error(errno.EISDIR, path)
        return self._files[real]

    def read_unlinked(self, path: str, *, most: int | None = None) -> bytes:
        if self.is_link(path):
            raise _error(errno.ELOOP, path)
        data = self.read_bytes(path)
        if most is not None and len(data) > most:
            raise _error(errno.EFBIG, path)
        return data

    def stat(self, path: str) -> os.stat_result:
        return self._facts(self._existing(path))

    def lstat(self, path: str) -> os.stat_result:
        itself = self._itself(path)
        return self._facts(itself if itself in self._links else self._existing(path))

    def size(self, path: str) -> int:
        return len(self._files.get(self._itself(path), b""))

    def exists(self, path: str) -> bool:
        return self.realpath(path) in self._modes

    def is_file(self, path: str) -> bool:
        return self.realpath(path) in self._files

    def is_dir(self, path: str) -> bool:
        real = self.realpath(path)
        return real in self._modes and real not in self._files

    def is_link(self, path: str) -> bool:
        return self._itself(path) in self._links

    def list_dir(self, path: str) -> tuple[str, ...]:
        real = self._existing(path)
        if real in self._files:
            raise _error(errno.ENOTDIR, path)
        entries = [*self._modes, *self._links]
        return tuple(sorted(posixpath.basename(entry) for entry in entries if _in_folder(entry, real)))

    def list_kinds(self, path: str) -> Mapping[str, str]:
        folder = self._existing(path)
        return {name: self._kind(posixpath.join(folder, name)) for name in self.list_dir(path)}

    def readlink(self, path: str) -> str:
        itself = self._itself(path)
        if itself not in self._links:
            raise _error(errno.EINVAL, path)
        return self._links[itself]

    def realpath(self, path: str) -> str:
        return self._follow(path, n_links=0)

    def write_new(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        itself = self._free(path)
        self._put(itself, data, 0o644 if mode is None else stat.S_IMODE(mode))

    def write_atomic(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        temporary = temporary_beside(path)
        self.write_new(temporary, data, mode=mode)
        self.replace(temporary, path)

    def replace(self, old: str, new: str) -> None:
        if self.is_dir(new) and not self.is_link(new):
            raise _error(errno.EISDIR, new)
        source, target = self._itself(old), self._itself(new)
        if source == target:
            return
        if source not in self._modes and source not in self._links:
            raise _error(errno.ENOENT, old)
        self._links.pop(target, None)
        self._forget(target)
        self._move(source, target)

    def rename(self, old: str, new: str) -> None:
        source, target = self._itself(old), self._free(new)
        if source not in self._modes and source not in self._links:
            raise _error(errno.ENOENT, old)
        if target.startswith(source + "/"):
            raise _error(errno.EINVAL, new)
        self._move(source, target)

    def link(self, path: str, other: str) -> None:
        raise _error(errno.EPERM, other)

    def symlink(self, leads_to: str, path: str) -> None:
        self._links[self._free(path)] = leads_to

    def keep_owner(self, original: str, copy: str) -> bool:
        return True  # there are no owners

    def unlink(self, path: str) -> None:
        itself = self._itself(path)
        if self._links.pop(itself, None) is not None:
            return
        if itself not in self._files:
            raise _error(errno.EISDIR if itself in self._modes else errno.ENOENT, path)
        self._forget(itself)

    def mkdir(self, path: str, *, mode: int = 0o777) -> None:
        self._modes[self._free(path)] = mode & ~0o022

    def rmdir(self, path: str) -> None:
        itself = self._itself(path)
        if self.list_dir(itself):
            raise _error(errno.ENOTEMPTY, path)
        self._forget(itself)

    def chmod(self, path: str, mode: int) -> None:
        self._modes[self._existing(path)] = stat.S_IMODE(mode)

    def fsync_dir(self, path: str) -> None:
        self._existing(path)

    def _kind(self, entry: str) -> str:
        if entry in self._links:
            return "link"
        return "file" if entry in self._files else "folder"

    def _put(self, path: str, data: bytes, mode: int) -> None:
        self._files[path] = data
        self._modes[path] = mode

    def _forget(self, path: str) -> None:
        self._files.pop(path, None)
        self._modes.pop(path, None)

    def _move(self, source: str, target: str) -> None:
        for table in (self._files, self._links, self._modes):
            _move_keys(table, source, target)

    def _folders_above(self, path: str) -> None:
        folder = posixpath.dirname(path)
        while folder not in self._modes:
            self._modes[folder] = 0o755
            folder = posixpath.dirname(folder)

    def _facts(self, entry: str) -> os.stat_result:
        if entry in self._links:
            kind, mode, size = stat.S_IFLNK, 0o777, len(self._links[entry])
        elif entry in self._files:
            kind, mode, size = stat.S_IFREG, self._modes[entry], len(self._files[entry])
        else:
            kind, mode, size = stat.S_IFDIR, self._modes[entry], 0
        # (mode, inode, device, n_links, owner, group, size, accessed, modified, changed); the path stands for the inode
        return os.stat_result((kind | mode, hash(entry) & 0x7FFFFFFF, 0, 1, 0, 0, size, 0, 0, 0))

    def _existing(self, path: str) -> str:
        real = self.realpath(path)
        if real not in self._modes:
            raise _error(errno.ENOENT, path)
        return real

    def _free(self, path: str) -> str:
        itself = self._itself(path)
        if itself in self._modes or itself in self._links:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if not self.is_dir(posixpath.dirname(itself)):
            raise _error(errno.ENOENT, path)
        return itself

    def _itself(self, path: str) -> str:
        """`path` with the links above it followed, but not the last one."""
        folder, name = posixpath.split(posixpath.normpath(path))
        return posixpath.join(self.realpath(folder), name)

    def _follow(self, path: str, n_links: int) -> str:
        so_far = "/"
        for part in path.split("/"):
            if part == "..":
                so_far = posixpath.dirname(so_far)
                continue
            if part in ("", "."):
                continue
            so_far = posixpath.join(so_far, part)
            if so_far in self._links:
                if n_links > 40:
                    raise _error(errno.ELOOP, path)
                target = posixpath.join(posixpath.dirname(so_far), self._links[so_far])
                so_far = self._follow(target, n_links + 1)
        return so_far


def _in_folder(entry: str, folder: str) -> bool:
    return entry != folder and posixpath.dirname(entry) == folder


def _move_keys(table: dict[str, bytes] | dict[str, str] | dict[str, int], source: str, target: str) -> None:
    below = source + "/"
    for key in [key for key in table if key == source or key.startswith(below)]:
        table[target + key[len(source) :]] = table.pop(key)  # type: ignore[assignment]  # same table, same value


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
