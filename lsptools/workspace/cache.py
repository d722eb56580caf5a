"""Bytes kept from one call to the next in the user's cache folder: what can be made again, and may be gone at any time.

Each value is a file of its own, found by a key that the caller makes from all that the value depends on. A value whose checksum is
wrong is as if it were not there, and that one cannot be written does not matter. Bounded: what was not used for the longest time goes
beyond `most_bytes`. Files are replaced whole, so processes can share the folder; it is for the user alone (0700).
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from lsptools.errors import Unavailable
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.state import make_private

MOST_BYTES = 32 << 20
_DISK = LocalOperations()
_SUFFIX = ".kept"


@dataclass(frozen=True, slots=True)
class Cache:
    """The values below one folder; nothing is created before something is kept."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def get(self, key: str) -> bytes | None:
        """The value, which counts as used now; None if there is none."""
        path = self._path(key)
        try:
            checksum, _, value = _DISK.read_bytes(path).partition(b"\n")
        except OSError:
            return None
        if checksum != _checksum(value):
            return None
        with suppress(OSError):
            os.utime(path)
        return value

    def put(self, key: str, value: bytes) -> None:
        """Keep a value, if that can be done."""
        with suppress(OSError, Unavailable):
            make_private(self.folder)
            _DISK.write_atomic(self._path(key), _checksum(value) + b"\n" + value, mode=0o600)

    def tidy(self) -> None:
        """Remove what was not used for the longest time, if it is too much."""
        forget_oldest(self.folder, self.most_bytes, suffix=_SUFFIX)

    def _path(self, key: str) -> str:
        name = blake2b(os.fsencode(key), digest_size=16).hexdigest()
        return os.path.join(self.folder, f"{name}{_SUFFIX}")


def forget_oldest(folder: Path, most_bytes: int, *, suffix: str = "") -> None:
    """Remove those files of a folder that were not changed for the longest time, if all together are too large."""
    try:
        with os.scandir(folder) as entries:
            facts = [(entry.stat(), entry.path) for entry in entries if entry.name.endswith(suffix)]
    except OSError:
        return
    n_bytes = 0
    for stat, path in sorted(facts, key=lambda each: each[0].st_mtime_ns, reverse=True):
        n_bytes += stat.st_size
        if n_bytes > most_bytes:
            with suppress(OSError):
                _DISK.unlink(path)


def _checksum(value: bytes) -> bytes:
    return blake2b(value, digest_size=16).hexdigest().encode()
