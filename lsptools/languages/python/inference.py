"""What jedi derives where our own derivation ends: asked in processes of its own, until a deadline.

jedi reads what we do not: the types of the standard library (typeshed), and the bodies of functions for what they return. It is asked
for places only, file by file, by up to `Asking.processes` workers (`inference_worker.py`). What was not answered when the time
is over is named. Answers are kept by the content of all files that were looked at for them (`inference_cache.py`).

Where it stops: jedi reads files as they are on the disk, except for the one it is asked about; it does not say when it knows
only some of the alternatives; a parameter without an annotation is unknown to it, as it is to us.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lsptools.errors import BadRequest, Unavailable
from lsptools.languages.names import FilePosition
from lsptools.languages.python.candidates import PYTHON_FILES
from lsptools.languages.python.inference_cache import Answer, Answers, Found
from lsptools.languages.python.modules import SOURCE_FOLDERS, Project
from lsptools.text.lines import UserPos
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import make_private

WORKER = Path(__file__).with_name("inference_worker.py")
_BEAT_S = 0.1
"""How often a caller who wants to stop is heard."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How jedi may be asked."""

    seconds: float
    """After so long, what has not been answered is left open."""
    cache: Path
    """The user's folder for what can be made again; it is created when it is needed."""
    processes: int = 2


@dataclass(frozen=True, slots=True)
class Inference:
    """What was found for each place, and which places have no answer."""

    found: Mapping[FilePosition, tuple[Found, ...]]
    open: tuple[FilePosition, ...] = ()
    is_late: bool = False
    """Are there open ones because the time was over? Else jedi's process has ended."""


def inferred(project: Project, places: Sequence[FilePosition], asking: Asking) -> Inference:
    """The definitions that jedi sees for the names at these places (offsets in code points).

    `Unavailable` if jedi is not installed; what the snapshot's checkpoint raises goes to the caller.
    """
    if not places:
        return Inference({})
    _check_installed()
    by_file: dict[str, list[FilePosition]] = {}
    for place in places:
        by_file.setdefault(place.path, []).append(place)
    kept = Answers.of(asking.cache, project.snapshot, _search_path(project), _fingerprint(project.snapshot))
    found: dict[FilePosition, tuple[Found, ...]] = {}
    files: list[_File] = []
    for path, wanted in sorted(by_file.items(), key=lambda each: (-len(each[1]), each[0])):
        known = kept.known(path)
        found |= {place: known[place.offset] for place in wanted if place.offset in known}
        unknown = [place for place in wanted if place.offset not in known]
        if unknown:
            files.append(_File.of(project.snapshot, path, unknown))
    with _Workers(project, asking, files) as workers:
        for file in workers.answered():
            found |= file.found
            if file.is_done:
                answers = {place.offset: answer for place, answer in file.found.items()}
                kept.keep(file.path, Answer(answers, file.looked_at))
    kept.tidy()
    return Inference(found, tuple(place for place in places if place not in found), workers.are_late)


def _check_installed() -> None:
    if importlib.util.find_spec("jedi") is None:
        raise Unavailable(
            "unavailable",
            "to infer receivers needs jedi, which is not installed",
            hint="pip install 'lsptools[infer]', or leave `--infer` out",
        )


def _fingerprint(snapshot: Snapshot) -> str:
    """What changes when a module may be found elsewhere: the names of all Python files."""
    return "\n".join(snapshot.files(globs=PYTHON_FILES))


def _search_path(project: Project) -> tuple[str, ...]:
    root = os.fspath(project.snapshot.root.path)
    folders = (root, *(os.path.join(root, each) for each in (*SOURCE_FOLDERS, *project.library_roots)))
    return tuple(dict.fromkeys(folders))


@dataclass(slots=True)
class _File:
    """A file with places to ask about."""

    path: str
    text: str
    places: Mapping[tuple[int, int], FilePosition]
    """By line (from 1) and column (from 0)."""
    found: dict[FilePosition, tuple[Found, ...]] = field(default_factory=dict)
    looked_at: tuple[str, ...] = ()
    is_done: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot, path: str, places: Sequence[FilePosition]) -> _File:
        document = snapshot.document(path)
        at = {}
        for place in places:
            user = document.lines.user_from_offset(place.offset)
            at[user.line, user.column - 1] = place
        return cls(path, document.text, at)


class _Workers:
    """The processes, each with one file at a time."""

    def __init__(self, project: Project, asking: Asking, files: Sequence[_File]) -> None:
        self._snapshot = project.snapshot
        self._end = time.monotonic() + asking.seconds
        self._waiting = list(reversed(files))
        self._said: queue.SimpleQueue[tuple[_Worker, dict[str, Any] | None]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self.are_late = False
        self._asking = asking
        self._n_workers = min(asking.processes, len(files), os.cpu_count() or 1)
        self._setup = {
            "root": os.fspath(project.snapshot.root.path),
            "search_path": _search_path(project),
            "cache": os.fspath(asking.cache / "jedi"),
        }

    def __enter__(self) -> _Workers:
        make_private(self._asking.cache)
        try:
            for _ in range(self._n_workers):
                self._workers.append(_Worker(self._setup, self._said))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def answered(self) -> Iterator[_File]:
        """Each file when it is done, and at the end those that are not."""
        for worker in self._workers:
            self._give(worker)
        while any(worker.file for worker in self._workers):
            self._snapshot.checkpoint()
            left = self._end - time.monotonic()
            if left <= 0:
                self.are_late = True
                break
            with suppress(queue.Empty):
                worker, said = self._said.get(timeout=min(left, _BEAT_S))
                file = worker.take(said)
                if file is not None:
                    yield file
                    if file.is_done:
                        self._give(worker)
        yield from (worker.file for worker in self._workers if worker.file is not None)

    def _give(self, worker: _Worker) -> None:
        if self._waiting:
            worker.ask(self._snapshot, self._waiting.pop())


class _Worker:
    """One process, and the thread that hears it."""

    def __init__(
        self, setup: Mapping[str, object], said: queue.SimpleQueue[tuple[_Worker, dict[str, Any] | None]]
    ) -> None:
        # Isolated: neither variables nor the current folder decide what it imports. Where jedi is, is said.
        program = (
            f"import sys, runpy; sys.path += {_library_folders()!r}; "
            f"runpy.run_path({os.fspath(WORKER)!r}, run_name='__main__')"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=WORKER.parent,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._stdout: IO[bytes] = self._process.stdout
        self.file: _File | None = None
        self._said = said
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._write(setup)

    def ask(self, snapshot: Snapshot, file: _File) -> None:
        self.file = file
        path = os.path.join(snapshot.root.path, file.path)
        self._write({"path": path, "text": file.text, "places": list(file.places)})

    def take(self, said: dict[str, Any] | None) -> _File | None:
        """Enter what it said; the file, if that was the last of it. None: it is gone."""
        file = self.file
        if file is None:
            return None
        if said is not None and "place" in said:
            line, column = said["place"]
            file.found[file.places[line, column]] = tuple(Found(*each) for each in said["found"])
            return None
        self.file = None
        if said is not None:
            file.looked_at, file.is_done = tuple(said["looked_at"]), True
        return file

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()

    def _listen(self) -> None:
        for line in self._stdout:
            if line.endswith(b"\n"):
                self._said.put((self, json.loads(line)))
        self._said.put((self, None))

    def _write(self, what: object) -> None:
        with suppress(OSError):  # it is gone, which is heard
            self._stdin.write(json.dumps(what).encode() + b"\n")
            self._stdin.flush()


def _library_folders() -> list[str]:
    found = (importlib.util.find_spec(name) for name in ("jedi", "parso"))
    origins = (spec.origin for spec in found if spec is not None and spec.origin is not None)
    return list(dict.fromkeys(os.fspath(Path(origin).parents[1]) for origin in origins))


def place_of(snapshot: Snapshot, found: Found) -> FilePosition | None:
    """Where in the workspace a definition is; None if that cannot be said: jedi may have read another text than we have."""
    if found.path is None or not found.line:
        return None
    try:
        path = snapshot.root.relative(found.path)
        offset = snapshot.document(path).lines.offset_from_user(UserPos(found.line, found.column + 1))
    except BadRequest:
        return None
    return FilePosition(path, offset)
