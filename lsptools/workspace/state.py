"""The state folder: locks, and the record of every change made to one workspace, with the bytes it replaced.

It lies outside of the workspace, where the caller says (the user's state folder), and is named after the real path of
the root. Inside:

    lock                  held while anything is applied, undone or repaired in this workspace
    changes/<id>.<phase>  one change: a line of JSON, and behind it the bytes that it replaced or removed, one after the other;
                          the line says where by digest. How far it is, is in the name, so that going on is one rename
    ../locks/<n>.lock     shared by all workspaces, see `hold_files`

A record is complete and on the disk before its change touches the workspace, and is never rewritten. Its phases:

    staging  →  ready  →  committed  →  done
                  └──→  reverted  →  (gone)

The history is bounded: the oldest changes are forgotten beyond `max_entries` or `max_bytes` of records, but never the
newest. Folders and files are for the user alone (0700, 0600), for they hold source text.

Where it stops: state folders on file systems without `flock` have the locks that `filelock` can do there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsptools.errors import Unavailable
from lsptools.text.document import digest_of
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.steps import Step

if TYPE_CHECKING:
    from filelock import BaseFileLock

MAX_ENTRIES = 200
MAX_BYTES = 256 << 20
N_FILE_LOCKS = 64
MOST_TURNS = 20
"""So many times the time limit for one lock passes while others take turns, before all locks are given up."""

_FORMAT = 2
_OLD_FORMAT = 1
_PACK = "pack"
"""In the old format the bytes were in a file of their own. They are still read, and not written."""
_POLL_S = 0.01
_LOOK_S = 0.2
"""How often those who wait for a lock look whether somebody else has taken it."""
_DISK = LocalOperations()


class Phase(str, Enum):
    """How far a change is. After a crash, the first two are taken back, the others are tidied up."""

    STAGING = "staging"
    """New content is being written beside its targets; nothing can be seen yet."""
    READY = "ready"
    """The steps are being taken."""
    REVERTED = "reverted"
    """All steps were taken back; temporary files may be left."""
    COMMITTED = "committed"
    """All steps were taken; temporary files may be left."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Record:
    """One change as the state folder knows it."""

    id: str
    """Its number in the history and a few random digits, which no other state folder is likely to have: `17-9f3a`."""
    when: float
    """Seconds since 1970, UTC."""
    label: str
    root: str
    """The real path of the workspace."""
    undoes: str
    """The id of the change that this one takes back, or nothing."""
    file: str
    """With `undoes`: it took back only what that change did to this file; or nothing."""
    token: str
    """Random; in the names of its temporary files."""
    steps: tuple[Step, ...]
    stages: tuple[str, ...]
    """For each step, the folder for its temporary files, which stays where it is during the change."""
    contents: Mapping[str, tuple[int, int]]
    """Where behind the line the content with a digest is: offset and length in bytes."""


@dataclass(frozen=True, slots=True)
class State:
    """The state folder of one workspace. Nothing is created before it is needed. Build it with `State.of`."""

    folder: Path
    locks: Path | None = None
    """The folder of the file locks; `None`: inside of `folder`, which no other workspace then shares."""
    max_entries: int = MAX_ENTRIES
    max_bytes: int = MAX_BYTES

    @classmethod
    def of(cls, base: Path, root: Root) -> State:
        """The state folder for the workspace `root` below `base` (`<the user's state folder>/lsptools`)."""
        name = blake2b(os.fsencode(root.path), digest_size=16).hexdigest()
        return cls(base / name, base / "locks")

    @property
    def changes(self) -> Path:
        """Where the records are."""
        return self.folder / "changes"

    @contextmanager
    def hold(self, *, timeout_s: float, checkpoint: Callable[[], None] | None = None) -> Iterator[None]:
        """Keep everyone else from changing this workspace and its history. Not to be nested.

        This and `hold_files` wait as `held` does.
        """
        make_private(self.folder)
        make_private(self.changes)
        with held([self.folder / "lock"], timeout_s=timeout_s, checkpoint=checkpoint):
            yield

    @contextmanager
    def hold_files(
        self,
        real_paths: Iterable[str] | None,
        *,
        timeout_s: float,
        checkpoint: Callable[[], None] | None = None,
    ) -> Iterator[None]:
        """Keep these files (`None`: all files) from others, who may have opened another root above or below ours.

        A file's lock is one of `N_FILE_LOCKS`, chosen by the hash of its real path: so locks do not pile up, and a change of
        a thousand files does not run out of file descriptors. Files that share a lock wait for each other, no more. The
        order of taking them is fixed, so nobody waits in a circle.
        """
        folder = self.locks or self.folder / "locks"
        make_private(folder)
        numbers = (
            range(N_FILE_LOCKS) if real_paths is None else sorted({_lock_number(path) for path in real_paths})
        )
        locks = [folder / f"{number:02}.lock" for number in numbers]
        with held(locks, timeout_s=timeout_s, checkpoint=checkpoint):
            yield

    def new_record(
        self,
        root: str,
        label: str,
        undoes: str,
        steps: tuple[Step, ...],
        stages: tuple[str, ...],
        *,
        file: str = "",
    ) -> Record:
        """A record with the next number, which is not written yet."""
        number = max((_number(id) for id, _ in self._names()), default=0) + 1
        id = f"{number}-{os.urandom(2).hex()}"
        return Record(id, time.time(), label, root, undoes, file, os.urandom(8).hex(), steps, stages, {})

    def write(self, record: Record, contents: Mapping[str, bytes]) -> Record:
        """Put the record on the disk as `Phase.STAGING`, with the content its steps end."""
        where: dict[str, tuple[int, int]] = {}
        parts: list[bytes] = []
        n_bytes = 0
        for step in record.steps:
            if step.kind in ("write", "delete", "unlink") and step.before not in where:
                where[step.before] = (n_bytes, len(contents[step.before]))
                n_bytes += len(contents[step.before])
                parts.append(contents[step.before])
        written = replace(record, contents=where)
        draft = self._path(record.id, "draft")
        _DISK.write_new(draft, _json_from_record(written) + b"\n", *parts, mode=0o600)
        _DISK.rename(draft, self._path(record.id, Phase.STAGING.value))
        _DISK.fsync_dir(str(self.changes))
        return written

    def advance(self, id: str, old: Phase, new: Phase) -> None:
        """Say how far the change is now; when this returns, a crash does not forget it.

        That it is done may be forgotten: it is then tidied up once more.
        """
        _DISK.replace(self._path(id, old.value), self._path(id, new.value))
        if new is not Phase.DONE:
            _DISK.fsync_dir(str(self.changes))

    def phase(self, id: str) -> Phase | None:
        """How far a change is; `None` if it has no record."""
        return next((phase for phase in Phase if _DISK.exists(self._path(id, phase.value))), None)

    def drop(self, id: str) -> None:
        """Forget a change."""
        for ending in (*(phase.value for phase in Phase), "draft", _PACK):
            with suppress(FileNotFoundError):
                _DISK.unlink(self._path(id, ending))

    def unfinished(self) -> list[Record]:
        """The changes that were interrupted, or are under way in another process, newest first."""
        return self._records(phase for phase in Phase if phase is not Phase.DONE)

    def finished(self) -> list[Record]:
        """The changes in the history, newest first."""
        return self._records([Phase.DONE, Phase.COMMITTED])

    def content(self, record: Record) -> dict[str, bytes]:
        """The old bytes of a change, by digest."""
        pack = memoryview(self._pack(record.id))
        contents = {digest: bytes(pack[at : at + size]) for digest, (at, size) in record.contents.items()}
        for digest, data in contents.items():
            if digest_of(data) != digest:
                raise Unavailable(
                    "unavailable",
                    f"the state folder has lost what change {record.id} replaced",
                    hint="restore the files from version control",
                )
        return contents

    def _pack(self, id: str) -> bytes:
        for ending in (_PACK, *(phase.value for phase in Phase)):
            with suppress(FileNotFoundError):
                data = _DISK.read_bytes(self._path(id, ending))
                return data if ending == _PACK else data[data.find(b"\n") + 1 or len(data) :]
        return b""

    def tidy(self) -> None:
        """Forget the oldest changes beyond the bounds, and what a crash left behind here."""
        names = self._names()
        known = {id for id, ending in names if ending not in ("draft", _PACK)}
        for id, ending in names:
            if ending == "draft" or (ending == _PACK and id not in known):
                self.drop(id)
        n_bytes = 0
        done = sorted((id for id, ending in names if ending == Phase.DONE.value), key=_number, reverse=True)
        for n_newer, id in enumerate(done):
            n_bytes += sum(_DISK.size(self._path(id, ending)) for ending in (Phase.DONE.value, _PACK))
            if n_newer and (n_newer >= self.max_entries or n_bytes > self.max_bytes):
                self.drop(id)

    def _records(self, phases: Iterable[Phase]) -> list[Record]:
        wanted = {phase.value for phase in phases}
        ids = sorted({id for id, ending in self._names() if ending in wanted}, key=_number, reverse=True)
        records = []
        for id in ids:
            # Another process may move on or forget a change meanwhile.
            phase = self.phase(id)
            if phase is not None and phase.value in wanted:
                with suppress(FileNotFoundError), Path(self._path(id, phase.value)).open("rb") as file:
                    records.append(_record_from_json(id, file.readline()))
        return records

    def _names(self) -> list[tuple[str, str]]:
        """Id and ending of everything in `changes`."""
        try:
            names = _DISK.list_dir(str(self.changes))
        except FileNotFoundError:
            return []
        return [(id, ending) for id, _, ending in (name.rpartition(".") for name in names) if _is_id(id)]

    def _path(self, id: str, ending: str) -> str:
        # Not `self.changes / …`: this is asked for a hundred times in one change, and `pathlib` takes its time.
        return f"{self.folder}{os.sep}changes{os.sep}{id}.{ending}"


def _is_id(text: str) -> bool:
    number, _, rest = text.partition("-")
    return number.isascii() and number.isdigit() and bool(rest)


def _number(id: str) -> int:
    return int(id.partition("-")[0])


def _lock_number(real_path: str) -> int:
    # Names that differ in case only may be one file.
    digest = blake2b(os.fsencode(real_path.casefold()), digest_size=8).digest()
    return int.from_bytes(digest, "big") % N_FILE_LOCKS


def make_private(folder: Path) -> None:
    """Create a folder for the user alone, with those above it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _no_state(folder, error) from error


@contextmanager
def held(
    paths: list[Path], *, timeout_s: float, checkpoint: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the locks that these files are, taken in this order. One is waited for so long, and longer while others take turns.

    Who comes next is chance, so among many that are busy one may wait long without anybody holding the lock for long. Whoever
    takes it touches a file beside it, by which those who wait see that it goes on. For all locks together nobody waits longer than
    `MOST_TURNS` time limits. While we wait, `checkpoint` is called, whose error ends it.
    """
    # Imported when first needed: it takes longer to import than all of lsptools that looking up a name needs.
    from filelock import FileLock

    patience = Patience(timeout_s, checkpoint)
    with ExitStack() as held:
        for path in paths:
            lock = FileLock(path, mode=0o600)
            turns = path.with_name(f"{path.name}.turn")
            try:
                patience.acquire(lock, turns)
            except OSError as error:
                raise _no_state(path, error) from error
            held.callback(lock.release)
            with suppress(OSError):
                turns.touch(mode=0o600)
        yield


@dataclass(slots=True)
class Patience:
    """How long somebody waits for all locks that he needs at once."""

    timeout_s: float
    """So long for somebody who holds one and does not pass it on."""
    checkpoint: Callable[[], None] | None = None
    _began: float = field(default_factory=time.monotonic, init=False)

    def acquire(self, lock: BaseFileLock, turns: Path) -> None:
        """Take the lock, of which `turns` is touched by all who take it; `timed_out` when patience is at its end."""
        from filelock import Timeout

        since, seen = time.monotonic(), _last_turn(turns)
        while True:
            left_s = min(since + self.timeout_s, self._end) - time.monotonic()
            try:
                lock.acquire(timeout=max(0.0, min(left_s, _LOOK_S)), poll_interval=_POLL_S)
                return
            except Timeout:
                pass
            if self.checkpoint is not None:
                self.checkpoint()
            now = time.monotonic()
            if now >= self._end:
                raise self._timed_out(
                    f"other processes have been changing these files for {now - self._began:.0f} s"
                )
            if (turn := _last_turn(turns)) != seen:
                seen, since = turn, now
            elif now >= since + self.timeout_s:
                raise self._timed_out(
                    f"another process has been changing these files for more than {self.timeout_s:g} s"
                )

    @property
    def _end(self) -> float:
        return self._began + MOST_TURNS * self.timeout_s

    def _timed_out(self, says: str) -> Unavailable:
        return Unavailable("timed_out", says, hint="try again when that is done")


def _last_turn(turns: Path) -> int:
    try:
        return turns.stat().st_mtime_ns
    except OSError:
        return 0


def _no_state(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "unavailable",
        f"the state folder cannot be used: {path}: {error.strerror or error}",
        hint="make it writable, or choose another state folder",
    )


def _json_from_record(record: Record) -> bytes:
    return json.dumps(
        {
            "format": _FORMAT,
            "id": record.id,
            "when": record.when,
            "label": record.label,
            "root": record.root,
            "undoes": record.undoes,
            "file": record.file,
            "token": record.token,
            "steps": [[s.kind, s.path, s.new, s.before, s.after, s.mode] for s in record.steps],
            "stages": record.stages,
            "contents": record.contents,
        }
    ).encode()


def _record_from_json(id: str, data: bytes) -> Record:
    try:
        facts: dict[str, Any] = json.loads(data)  # our own file; what is in it is what we put there
    except ValueError:
        facts = {}
    if facts.get("format") not in (_FORMAT, _OLD_FORMAT):
        raise Unavailable(
            "unavailable",
            f"change {id} in the state folder was not written by this version of lsptools",
            hint="use the version that wrote it, or remove the state folder and with it the history",
        )
    return Record(
        facts["id"],
        facts["when"],
        facts["label"],
        facts["root"],
        facts["undoes"],
        facts.get("file", ""),
        facts["token"],
        tuple(Step(*step) for step in facts["steps"]),
        tuple(facts["stages"]),
        {digest: (at, size) for digest, (at, size) in facts["contents"].items()},
    )
