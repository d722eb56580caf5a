"""What the tests of changes share: a workspace and, beside it, its state folder."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from casefile import Entry, File, Tree, read_tree, with_folders, write_tree

from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace.apply import Applied, apply
from lsptools.workspace.change import Change, Deletion, FileEdits
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import MAX_BYTES, MAX_ENTRIES, State


@dataclass(frozen=True)
class Bench:
    """A workspace in `folder`/ws with a state folder in `folder`/state."""

    folder: Path
    max_entries: int = MAX_ENTRIES
    max_bytes: int = MAX_BYTES

    @property
    def ws(self) -> Path:
        return self.folder / "ws"

    @property
    def root(self) -> Root:
        return Root.of(self.ws)

    @property
    def state(self) -> State:
        state = State.of(self.folder / "state", self.root)
        return replace(state, max_entries=self.max_entries, max_bytes=self.max_bytes)

    @property
    def snapshot(self) -> Snapshot:
        """What is on the disk now."""
        return Snapshot(self.root)

    @property
    def tree(self) -> Tree:
        return read_tree(self.ws)

    def replacing(self, path: str, old: str, new: str) -> FileEdits:
        """Edits that put `new` in place of each `old` in a file."""
        document = self.snapshot.document(path)
        spans = [Span(Offset(m.start()), Offset(m.end())) for m in re.finditer(re.escape(old), document.text)]
        return FileEdits(path, Edits.of(TextEdit(span, new) for span in spans), document.digest)

    def deleting(self, path: str) -> Deletion:
        return Deletion(path, self.snapshot.document(path).digest)

    def apply(self, change: Change, on_step: Callable[[str], None] = lambda _: None) -> Applied:
        return apply(self.snapshot, change, self.state, on_step=on_step)


def bench(folder: Path, files: Mapping[str, bytes | Entry]) -> Bench:
    """A bench whose workspace holds these files, and folders above them."""
    made = Bench(folder)
    made.ws.mkdir(parents=True)
    entries = {name: File(entry) if isinstance(entry, bytes) else entry for name, entry in files.items()}
    write_tree(made.ws, with_folders(entries))
    return made


@contextmanager
def quick_folder(usual: Path) -> Iterator[Path]:
    """A folder in memory, where there is such a place: a disk takes its time for the thousands of fsyncs of some tests."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield usual
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="lsptools-test-") as made:
        yield Path(made)


class Stop:
    """A hook that counts the steps, and does something at the step with the given number."""

    def __init__(self, at: int | None = None, then: Callable[[], None] = lambda: None) -> None:
        self.at = at
        self.then = then
        self.steps: list[str] = []

    def __call__(self, step: str) -> None:
        self.steps.append(step)
        if len(self.steps) - 1 == self.at:
            self.then()


def kill_self() -> None:
    """As `kill -9` does: nothing is cleaned up, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_process_that_dies(act: Callable[[], object]) -> bool:
    """Run `act` in a fork of this process. Was the fork killed (or did it get through)?"""
    child = os.fork()
    if not child:
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
