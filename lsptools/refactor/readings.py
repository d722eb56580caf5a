"""What a plan rests on beside the files that it changes."""

from __future__ import annotations

from collections.abc import Iterable

from lsptools.languages.python.facts import FileFacts
from lsptools.workspace.change import Change, Reading
from lsptools.workspace.snapshot import Snapshot


def readings(snapshot: Snapshot, change: Change, files: Iterable[FileFacts] = ()) -> tuple[Reading, ...]:
    """What was read from the disk to find, check and prove the change, and stays as it is.

    `snapshot` is the one that the change is of. `files` may have been worked on by another process, and say what that read.
    """
    read = {path: digest for file in files for path, digest in file.read}
    read.update(snapshot.read_since(0))
    changed = {file.path for file in change.edits}
    return tuple(
        Reading(path, digest)
        for path, digest in sorted(read.items())
        if path not in changed and path not in snapshot.overlays
    )
