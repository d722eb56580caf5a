"""What the tests of editing share: a workspace in memory, a session that has read it, and undoing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsptools.edit.plan import Plan
from lsptools.edit.read import Reading, read
from lsptools.edit.session import Session
from lsptools.errors import ToolError
from lsptools.workspace.operations import MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

ROOT = "/nowhere/ws"


def memory(files: Mapping[str, bytes | str], links: Mapping[str, str] | None = None) -> MemoryOperations:
    """These files in a workspace in memory."""
    contents = {
        f"{ROOT}/{name}": data.encode() if isinstance(data, str) else data for name, data in files.items()
    }
    return MemoryOperations(
        contents or {f"{ROOT}/.keep": b""}, {f"{ROOT}/{name}": to for name, to in (links or {}).items()}
    )


def snapshot(operations: MemoryOperations) -> Snapshot:
    return Snapshot(Root(Path(ROOT)), operations)


def workspace(
    files: Mapping[str, bytes | str], links: Mapping[str, str] | None = None
) -> tuple[Snapshot, Session]:
    """A workspace of which a session has read every text file."""
    view, session = snapshot(memory(files, links)), Session()
    for name in files:
        try:
            read(view, session, name)
        except ToolError:
            continue
    return view, session


def after(plan: Plan, name: str) -> bytes:
    """What the file will hold."""
    (file,) = (file for file in plan.files if file.name == name)
    assert file.after is not None
    return file.after.encode()


def shown(view: Snapshot, session: Session, name: str, **range: int) -> Reading:
    reading = read(view, session, name, **range)
    assert isinstance(reading, Reading)
    return reading
