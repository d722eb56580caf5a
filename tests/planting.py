"""Changes to plant and have verified: a workspace from texts, new texts for some of its files, and what the rungs say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from lsptools.text.diff import edits_between
from lsptools.verify.ladder import Means, climb
from lsptools.verify.verdict import Standing, Verdict
from lsptools.verify.versions import Versions
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

PASSED, FAILED = Standing.PASSED, Standing.FAILED
COULD_NOT_RUN, NOT_RUN = Standing.COULD_NOT_RUN, Standing.NOT_RUN


def workspace(folder: Path, files: Mapping[str, str]) -> Snapshot:
    """A workspace with these files; texts as they are, line ends too."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return Snapshot(Root.of(folder))


def planned(snapshot: Snapshot, new: Mapping[str, str | None], moves: tuple[Move, ...] = ()) -> Versions:
    """The change to these texts; `None`: the file goes."""
    edits, creations, deletions = [], [], []
    for name, text in new.items():
        if text is None:
            deletions.append(Deletion(name, snapshot.document(name).digest))
        elif snapshot.is_file(name):
            document = snapshot.document(name)
            edits.append(FileEdits(name, edits_between(document.text, text), document.digest))
        else:
            creations.append(Creation(name, text))
    change = Change(tuple(edits), moves, tuple(creations), tuple(deletions), label="the planted change")
    return Versions.of_change(snapshot, change)


def verdicts(versions: Versions, home: Path, *rungs: str, limit_s: float = 60.0) -> dict[str, Verdict]:
    """What these rungs say, with the programs of the environment that runs the tests."""
    variables = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    report = climb(versions, rungs, Means(home, variables, limit_s))
    return {verdict.rung: verdict for verdict in report.verdicts}
