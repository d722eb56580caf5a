"""Is the workspace under version control, and as it was last staged? Asked without starting any program of it or for it.

A checkout is a folder with `.git`, `.hg`, `.svn` or `.jj` in it or above it. Whether it is clean is read from git's index: a file that
has not the size and time noted there is compared by content. git itself is not asked, for it could be made to run the workspace's
own programs (filters, monitors) by such a question.

Where it stops: what is staged and not committed, what is not tracked, and other version control are not looked at; nor is a
repository that begins above the root or lies elsewhere, for that is outside of the workspace.
"""

from __future__ import annotations

import posixpath
import stat
import struct
from collections.abc import Iterator
from hashlib import sha1
from itertools import islice
from typing import NamedTuple

from lsptools.workspace.snapshot import Snapshot

MARKS = (".git", ".hg", ".svn", ".jj")
MOST_FILES = 5_000
"""So many entries of the index are looked at."""


def is_checkout(snapshot: Snapshot) -> bool:
    """Is there a mark of version control in the root or in a folder above?"""
    folder = snapshot.root.path.as_posix()
    while True:
        if any(snapshot.operations.exists(posixpath.join(folder, mark)) for mark in MARKS):
            return True
        above = posixpath.dirname(folder)
        if above == folder:
            return False
        folder = above


def changed_file(snapshot: Snapshot) -> str | None:
    """A tracked file that is not as git last staged it; `None` if there is none, as far as can be told."""
    root = snapshot.root.path.as_posix()
    try:
        index = snapshot.operations.read_unlinked(f"{root}/.git/index")
        entries = islice(_entries(index), MOST_FILES)
        return next((entry.path for entry in entries if not _is_as_staged(snapshot, root, entry)), None)
    except (OSError, struct.error, ValueError):
        return None  # no repository here, or not in a form that is known


class _Entry(NamedTuple):
    path: str
    size: int
    seconds: int
    """When the file was last modified, as git noted it."""
    name: bytes
    """Of the content: its SHA-1 as a blob."""


_HEAD = struct.Struct(">4sII")
_FACTS = struct.Struct(">10I20sH")
_IS_EXTENDED = 0x4000
_REGULAR = 0o100000


def _entries(index: bytes) -> Iterator[_Entry]:
    """The regular files of an index, versions 2 and 3."""
    signature, version, n_entries = _HEAD.unpack_from(index)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError("an index of another version")
    at = _HEAD.size
    for _ in range(n_entries):
        *facts, name, flags = _FACTS.unpack_from(index, at)
        start = at + _FACTS.size + (2 if flags & _IS_EXTENDED else 0)
        end = index.index(b"\0", start)
        if facts[6] & 0o170000 == _REGULAR:
            yield _Entry(index[start:end].decode("utf-8", "surrogateescape"), facts[9], facts[2], name)
        at += (end - at + 8) & ~7  # padded with NULs to a multiple of eight, at least one


def _is_as_staged(snapshot: Snapshot, root: str, entry: _Entry) -> bool:
    path = f"{root}/{entry.path}"
    try:
        facts = snapshot.operations.lstat(path)
        if not stat.S_ISREG(facts.st_mode):
            return False
        if facts.st_size == entry.size and int(facts.st_mtime) == entry.seconds:
            return True
        data = snapshot.operations.read_unlinked(path)
    except OSError:
        return False
    # With git's conversion of line ends, the blob has others than the file.
    return entry.name in (_blob_name(data), _blob_name(data.replace(b"\r\n", b"\n")))


def _blob_name(data: bytes) -> bytes:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()
