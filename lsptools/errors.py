"""What was asked and cannot be had: one family of exceptions, four classes by who must act.

| class         | who must act                                   | exit code |
|---------------|------------------------------------------------|-----------|
| `BadRequest`  | the caller, by sending other arguments         | 2         |
| `Refused`     | the caller, by deciding (carries `conflicts`)  | 1         |
| `Stale`       | the caller, by reading again                   | 1         |
| `Unavailable` | the environment                                | 2         |

A broken invariant of ours is `bug(...)`: an `InternalError`, caught once per face (exit code 70).
"Nothing to do" and "verification failed" are values, never exceptions. Paths inside errors are relative to the
workspace with `/`; positions are code points (`lsptools.text.lines`), turned into line and column by the faces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NoReturn

KINDS = frozenset(
    {
        # edits
        "not_found",
        "ambiguous",
        "unread",
        "stale",
        "no_change",
        "exists",
        "overlap",
        "syntax",
        "encoding",
        "binary",
        "is_directory",
        "outside_workspace",
        "invalid",
        # renames
        "name_clash",
        "name_capture",
        "shadows_builtin",
        "keyword",
        "library_symbol",
        "not_a_symbol",
        "undecided",
        "import_cycle",
        # changes of parameters
        "in_use",
        # the environment
        "unavailable",
        "timed_out",
        "cancelled",
        # ours
        "internal",
    }
)


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file for a message: 1-based line and column (code points), and what stands there."""

    path: str
    line: int
    column: int
    says: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.says}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a rename may not happen: the thing renamed, the use that would change meaning, the binding responsible.

    `sites` holds them in this order; a conflict may lack the middle one.
    """

    kind: str
    message: str
    sites: tuple[Site, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}")


class ToolError(Exception):
    """Something asked for cannot be had.

    `kind` is one of `KINDS`, `message` one sentence without a full stop, `hint` names the next call that would
    work, `sites` are the places concerned.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, kind: str, message: str, *, hint: str = "", sites: tuple[Site, ...] = ()) -> None:
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind!r}")
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.sites = sites
        self.facts: Mapping[str, object] = {}
        """Further members of the error for programs, by name: what was asked for, which entry failed."""


class BadRequest(ToolError):
    """The caller has to send other arguments."""


class Refused(ToolError):
    """The caller has to decide; `conflicts` holds every reason found, not only the first."""

    exit_code = 1

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        hint: str = "",
        sites: tuple[Site, ...] = (),
        conflicts: tuple[Conflict, ...] = (),
        details: object = None,
    ) -> None:
        super().__init__(kind, message, hint=hint, sites=sites)
        self.conflicts = conflicts
        self.details = details
        """What was found before the refusal (for a rename: its `References`), for faces that show it."""


class Stale(ToolError):
    """A file is no longer what the plan was made from; read again."""

    exit_code = 1


class Unavailable(ToolError):
    """The environment lacks something (ripgrep, time, permission)."""


class InternalError(ToolError):
    """An invariant of lsptools does not hold. Always our fault."""

    exit_code = 70

    def __init__(self, message: str) -> None:
        super().__init__(
            "internal", message, hint="this is a bug in lsptools; please report it with the command"
        )


def bug(message: str) -> NoReturn:
    """Report a broken invariant of ours."""
    raise InternalError(message)
