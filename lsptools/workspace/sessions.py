"""Named sessions: what a caller has seen, kept in the state folder from one command to the next.

A session is one small file, `sessions/<name>.json`: digest by real path, which notebooks were read as JSON, and what was told. Beside it, shared by all sessions, lies the content that
was seen, by digest, so that a later command can show what has changed since; it is bounded, and the oldest goes first.
Whoever updates a session holds its lock and adds to what is there, so commands that run at the same time lose nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsptools.errors import BadRequest, Unavailable
from lsptools.text.document import digest_of
from lsptools.workspace.cache import forget_oldest
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.state import State, held, make_private

MAX_CONTENT_BYTES = 64 << 20
_LARGEST_CONTENT = 4 << 20
_TIMEOUT_S = 10.0
_DISK = LocalOperations()
_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a session."""

    digests: dict[str, str]
    """By real path."""
    told: frozenset[str]
    """What the caller has been warned of."""
    raw: frozenset[str] = frozenset()
    """The real paths of notebooks that were read as the JSON they are."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """The named sessions of one workspace."""

    folder: Path

    @classmethod
    def of(cls, state: State) -> Sessions:
        """Those kept in this state folder; nothing is created yet."""
        return cls(state.folder / "sessions")

    def load(self, name: str) -> Kept:
        """What is kept of the session; nothing if it is new."""
        try:
            loaded = json.loads(_DISK.read_bytes(str(self._file(name))))
            return Kept(dict(loaded["digests"]), frozenset(loaded["told"]), frozenset(loaded.get("raw", ())))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return Kept({}, frozenset())
        except OSError as error:
            raise self._cannot_be_kept(name, error) from error

    def update(
        self,
        name: str,
        digests: Mapping[str, str | None],
        told: Iterable[str] = (),
        raw: Collection[str] = (),
    ) -> None:
        """Enter what was seen (`None`: the file is forgotten) and told; of what was seen, `raw` as the JSON it is."""
        path = str(self._file(name))
        make_private(self.folder)
        with held([self.folder / f"{name}.lock"], timeout_s=_TIMEOUT_S):
            before = self.load(name)
            known: dict[str, str | None] = {**before.digests, **digests}
            kept = {
                "digests": {path: digest for path, digest in known.items() if digest is not None},
                "told": sorted(before.told.union(told)),
                "raw": sorted((before.raw - digests.keys()) | {path for path in raw if digests.get(path)}),
            }
            try:
                _DISK.write_atomic(path, json.dumps(kept).encode(), mode=0o600)
            except OSError as error:
                raise self._cannot_be_kept(name, error) from error

    def _cannot_be_kept(self, name: str, error: OSError) -> Unavailable:
        return Unavailable(
            "unavailable",
            f"the session {name!r} cannot be kept in {self.folder}: {error.strerror or error}",
            hint="see to that folder (permissions, room on the disk), or do without a session: pass `expect`",
        )

    def content(self, digest: str) -> bytes | None:
        """The bytes with this digest, if they are still kept."""
        try:
            data = _DISK.read_bytes(str(self._content_file(digest)))
        except OSError:
            return None
        return data if digest_of(data) == digest else None

    def keep(self, contents: Iterable[bytes]) -> None:
        """Keep what was seen, as far as there is room."""
        make_private(self._contents)
        for data in contents:
            if len(data) <= _LARGEST_CONTENT:
                with suppress(OSError):  # it only helps a later message
                    _DISK.write_atomic(str(self._content_file(digest_of(data))), data, mode=0o600)
        forget_oldest(self._contents, MAX_CONTENT_BYTES)

    @property
    def _contents(self) -> Path:
        return self.folder / "seen"

    def _content_file(self, digest: str) -> Path:
        if not digest.isalnum():
            raise Unavailable("unavailable", f"{digest!r} is no digest", hint="remove the session")
        return self._contents / digest

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise BadRequest(
                "invalid",
                f"{name!r} is no name for a session",
                hint="use letters, digits, `_`, `-` and `.`, at most 64",
            )
        return self.folder / f"{name}.json"
