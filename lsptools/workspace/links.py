"""Symbolic links of the workspace that lead to a file or folder, or into it.

Searches do not follow links, so nothing else meets them. Looked for is where searches look (`walk.py`), and in what is ignored, too;
folders that are not the workspace's own (version control, virtual environments, installed packages) are left out.
"""

# Strings and `os`, as in `operations.py`.

from __future__ import annotations

import os
from collections.abc import Iterator

from lsptools.workspace.change import is_at_or_below
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.walk import FOREIGN, VERSION_CONTROL


def links_to(snapshot: Snapshot, path: str) -> Iterator[str]:
    """The relative paths of the links, those of a folder before those below it. A link that goes where it leads is none."""
    operations, root = snapshot.operations, str(snapshot.root.path)
    for link in _links(snapshot):
        absolute = os.path.join(root, link)
        try:
            real = operations.realpath(absolute)
        except OSError:
            continue  # it leads in a circle
        if not snapshot.root.spells(real):
            continue
        there = os.path.relpath(real, root).replace(os.sep, "/")
        moves_along = is_at_or_below(link, path) and not os.path.isabs(operations.readlink(absolute))
        if is_at_or_below(there, path) and not moves_along:
            yield link


def _links(snapshot: Snapshot) -> Iterator[str]:
    """Every link of the workspace, wherever it leads."""
    pending = [""]
    while pending:
        snapshot.checkpoint()
        folder = pending.pop()
        try:
            kinds = snapshot.operations.list_kinds(os.path.join(snapshot.root.path, folder))
        except OSError:
            continue  # gone meanwhile, or not for us to read: whoever cannot see a link does not follow it
        if folder and "pyvenv.cfg" in kinds:
            continue
        prefix = f"{folder}/" if folder else ""
        names = sorted(kinds)
        yield from (prefix + name for name in names if kinds[name] == "link")
        pending += [
            prefix + name
            for name in reversed(names)
            if kinds[name] == "folder" and name not in FOREIGN and name not in VERSION_CONTROL
        ]
