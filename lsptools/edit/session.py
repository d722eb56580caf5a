"""What one caller has seen: the ground on which an edit may stand.

A file is known by its real path, whatever name was used, and what was seen of it by the digest of its bytes, never by a time.
What the session itself writes counts as seen. The old bytes are kept too, up to a limit, so that a refusal can show what
has changed since.

A session may be used by several threads. `hold` makes those that change the same files wait for each other, so that each
plans from what the one before has left; other processes are kept off by the locks and digests of `apply`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock

KEPT_BYTES = 32 << 20
"""How many bytes of content a session keeps, to show what has changed since."""


@dataclass(slots=True)
class Session:
    """One caller's knowledge of files. Not a value: it grows with every read."""

    digests: dict[str, str] = field(default_factory=dict)
    """Digest by real absolute path, as last seen."""
    told: set[str] = field(default_factory=set)
    """What the caller has been warned of, so that it is said once."""
    recall: Callable[[str], bytes | None] = lambda _: None
    """Where content by digest is looked up that this object does not hold."""
    raw: set[str] = field(default_factory=set)
    """The real paths of notebooks that the caller knows as the JSON they are, not as cells."""
    updates: dict[str, str | None] = field(default_factory=dict)
    """What was seen or forgotten by this object, for those who keep a session beyond it."""
    _contents: dict[str, bytes] = field(default_factory=dict)
    """Content by digest, the longest unused first."""
    _n_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)
    _file_locks: dict[str, RLock] = field(default_factory=dict)

    def see(
        self, real: str, digest: str, content: bytes | None = None, *, is_raw: bool | None = None
    ) -> None:
        """The caller knows this content now. `is_raw`: as it is, not as cells; `None`: as before."""
        with self._lock:
            self.digests[real] = self.updates[real] = digest
            if is_raw is not None:
                (self.raw.add if is_raw else self.raw.discard)(real)
            if content is not None:
                self._keep(digest, content)

    def seen(self, real: str) -> str | None:
        """The digest the caller knows; `None` if the file was not read."""
        return self.digests.get(real)

    def forget(self, real: str) -> None:
        """The file is gone."""
        with self._lock:
            self.raw.discard(real)
            if self.digests.pop(real, None) is not None:
                self.updates[real] = None

    def move(self, old: str, new: str) -> None:
        """A file, or a folder with all in it, has another real path now."""
        with self._lock:
            known = [
                (real, digest, real in self.raw)
                for real, digest in self.digests.items()
                if f"{real}{os.sep}".startswith(old + os.sep)
            ]
        for real, digest, is_raw in known:
            self.forget(real)
            self.see(new + real[len(old) :], digest, is_raw=is_raw)

    def content(self, digest: str) -> bytes | None:
        """The bytes that were seen, if they are still kept."""
        return self._contents.get(digest) or self.recall(digest)

    @property
    def contents(self) -> tuple[bytes, ...]:
        """What is kept of what was seen."""
        with self._lock:
            return tuple(self._contents.values())

    def others(self, real: str) -> Mapping[str, bytes]:
        """What was seen of other files, by real path, as far as it is kept."""
        with self._lock:
            known = {path: self._contents.get(digest) for path, digest in self.digests.items()}
        return {path: data for path, data in known.items() if data is not None and path != real}

    def is_news(self, what: str) -> bool:
        """Whether this has not been said yet; it counts as said from now on."""
        with self._lock:
            is_new = what not in self.told
            self.told.add(what)
        return is_new

    @contextmanager
    def hold(self, reals: Iterable[str]) -> Iterator[None]:
        """Keep other threads of this session from these files. Taken in a fixed order, so nobody waits in a circle."""
        with self._lock:
            locks = [self._file_locks.setdefault(real, RLock()) for real in sorted(set(reals))]
        with ExitStack() as held:
            for lock in locks:
                held.enter_context(lock)
            yield

    def _keep(self, digest: str, content: bytes) -> None:
        if digest in self._contents:
            self._contents[digest] = self._contents.pop(digest)
            return
        if len(content) > KEPT_BYTES // 4:
            return
        self._contents[digest] = content
        self._n_bytes += len(content)
        while self._n_bytes > KEPT_BYTES:
            oldest = next(iter(self._contents))
            self._n_bytes -= len(self._contents.pop(oldest))
