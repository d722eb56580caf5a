"""Whether the workspace is under version control, asked without starting any program of it or for it.

A checkout is a folder with `.git`, `.hg` or `.svn` in it or above it. What is committed is not asked: git could be made to run
the workspace's own programs (filters, monitors) by such a question.
"""

from __future__ import annotations

import posixpath

from lsptools.workspace.snapshot import Snapshot

MARKS = (".git", ".hg", ".svn", ".jj")


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
