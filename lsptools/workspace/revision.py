"""The files of a git revision that differ from the workspace: git is asked only for what it has stored.

The list of the revision's files comes from `git ls-tree`, what differs is found by our own hashes, and the old content comes from
`git cat-file`. So git is never made to look at the working tree: no filter, hook or monitor of the workspace's settings runs.

Where it stops: submodules and links are left out. A file whose line ends git converts on checkout counts as the same if it
differs in them alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from lsptools.errors import BadRequest, Unavailable
from lsptools.text.document import Document, is_binary
from lsptools.workspace.output import Output
from lsptools.workspace.past import Past
from lsptools.workspace.paths import Root
from lsptools.workspace.process import Command, Ending, run
from lsptools.workspace.snapshot import Snapshot

LIMIT_S = 60.0
_OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_LARGEST = 256 << 20


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file as the revision has it."""

    mode: int
    name: str
    """Its hash."""


def past_of_revision(now: Snapshot, revision: str, variables: Mapping[str, str]) -> Past:
    """The files that differ between a revision and the workspace, as the revision has them."""
    git = _Git(now.root, variables)
    blobs = git.blobs(revision)
    documents: dict[str, Document | None] = {}
    modes: dict[str, tuple[int, int]] = {}
    for path, blob in blobs.items():
        data = _content(now, path)
        if data is not None:
            mode = stat.S_IMODE(now.operations.stat(str(now.root.path / path)).st_mode)
            if bool(mode & 0o100) != bool(blob.mode & 0o100):
                modes[path] = (mode & ~0o111 | (0o111 if blob.mode & 0o100 else 0), mode)
        if data is None or not _is_same(data, blob.name) or path in modes:
            old = git.content(blob.name)
            if not is_binary(old):
                documents[path] = Document.decode(old)
    for path in now.files():
        if path not in blobs:
            documents[path] = None
    return Past(f"what differs from {revision}", documents, (), modes)


class _Git:
    def __init__(self, root: Root, variables: Mapping[str, str]) -> None:
        self._root = root
        kept = {name: value for name, value in variables.items() if not name.startswith("GIT_")}
        self._variables = {
            **kept,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        folders = [
            folder
            for folder in variables.get("PATH", "").split(os.pathsep)
            if os.path.isabs(folder) and not root.holds(folder)
        ]
        program = shutil.which("git", path=os.pathsep.join(folders))
        if program is None:
            raise Unavailable(
                "unavailable", "git is not on PATH", hint="install git, or name a change instead"
            )
        self._program = program

    def blobs(self, revision: str) -> dict[str, _Blob]:
        """The regular files of a revision below the root of the workspace, by path."""
        if revision.startswith("-"):
            raise BadRequest(
                "invalid", f"{revision!r} is not a revision", hint="name a commit, branch or tag"
            )
        listed = self._run("ls-tree", "-r", "-z", revision)
        found = {}
        for line in listed.split(b"\0"):
            head, tab, path = line.partition(b"\t")
            if tab and head[:3] == b"100":
                mode, _, name = head.decode().split(" ")
                found[os.fsdecode(path)] = _Blob(int(mode, 8), name)
        return found

    def content(self, name: str) -> bytes:
        return self._run("cat-file", "blob", name)

    def _run(self, *arguments: str) -> bytes:
        out, err = Output(kept_tail=_LARGEST), Output()
        command = Command(
            (self._program, *_OPTIONS, *arguments), str(self._root.path), LIMIT_S, self._variables
        )
        finished = run(command, out, err)
        data = out.data
        if finished.ending is not Ending.EXITED or data is None:
            said = err.shown().text.strip().partition("\n")[0].removeprefix("fatal: ")
            kind = "not_found" if "Not a valid object name" in said else "unavailable"
            if kind == "not_found":
                raise BadRequest(
                    kind, f"git knows no revision {arguments[-1]!r}", hint="name a commit, branch or tag"
                )
            raise Unavailable(
                kind,
                f"git: {said or finished.ending.value}",
                hint="see to the repository, or name a change instead",
            )
        return data


def _content(now: Snapshot, path: str) -> bytes | None:
    try:
        return now.bytes(path)
    except BadRequest:
        return None


def _is_same(data: bytes, name: str) -> bool:
    return any(_name(each, len(name)) == name for each in (data, data.replace(b"\r\n", b"\n")))


def _name(data: bytes, length: int) -> str:
    """The hash by which git stores a content; repositories have SHA-1 or SHA-256."""
    make = hashlib.sha1 if length == 40 else hashlib.sha256
    return make(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
