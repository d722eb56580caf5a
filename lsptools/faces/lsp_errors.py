"""From our errors to those of the protocol, and which of them are an answer rather than a failure.

A message says what is wrong and, after a colon, what would work; `data` holds the same for machines, with the places of
every conflict.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from lsprotocol import types

from lsptools.errors import InternalError, Refused, Site, Stale, ToolError

log = logging.getLogger("lsptools")

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32600, -32601, -32602, -32603
PARSE_ERROR, NOT_INITIALIZED = -32700, -32002
FAILED, CONTENT_MODIFIED, CANCELLED = -32803, -32801, -32800

NOTHING_THERE = frozenset({"not_a_symbol", "not_found", "binary", "is_directory", "outside_workspace"})
"""For a question about a place these mean: nothing is known of it."""


class Rejected(Exception):
    """An error of the protocol, to be sent as it is."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    @property
    def response(self) -> types.ResponseError:
        return types.ResponseError(code=self.code, message=self.message, data=self.data)


def rejected(error: BaseException) -> Rejected:
    """The protocol's error for whatever went wrong while a request was answered."""
    if isinstance(error, Rejected):
        return error
    if isinstance(error, ToolError) and not isinstance(error, InternalError):
        return Rejected(_code(error), _message(error), _data(error))
    log.error("bug while answering", exc_info=error)
    return Rejected(INTERNAL, f"{type(error).__name__}: {error}; this is a bug of lsptools")


def _code(error: ToolError) -> int:
    if error.kind == "cancelled":
        return CANCELLED
    return CONTENT_MODIFIED if isinstance(error, Stale) else FAILED


def _message(error: ToolError) -> str:
    conflicts = error.conflicts if isinstance(error, Refused) else ()
    lines = [f"{error.message} ({error.kind})"]
    told = [site for conflict in conflicts for site in conflict.sites] or list(error.sites)
    lines += [str(site) for site in told[:5]]
    if len(told) > 5:
        lines.append(f"and {len(told) - 5} more places")
    if error.hint and "--" not in error.hint:  # options of the command line help nobody in an editor
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


def _data(error: ToolError) -> dict[str, object]:
    data: dict[str, object] = {"kind": error.kind, "hint": error.hint, "sites": _sites(error.sites)}
    if isinstance(error, Refused):
        data["conflicts"] = [
            {"kind": each.kind, "message": each.message, "sites": _sites(each.sites)}
            for each in error.conflicts
        ]
    return data


def _sites(sites: Iterable[Site]) -> list[dict[str, object]]:
    """Lines and columns from 1, columns in code points, as everywhere in our own answers."""
    return [{"path": s.path, "line": s.line, "column": s.column, "says": s.says} for s in sites]
