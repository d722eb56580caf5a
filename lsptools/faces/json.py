"""Answers and errors as JSON for programs: one object, schema version 1. docs/json.md is its description.

ASCII only, so it survives every terminal and pipe; a stray byte of a file is a lone surrogate escape (`\\udc80`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from lsptools.errors import Conflict, Refused, Site, ToolError
from lsptools.tools.base import Answer

SCHEMA = 1
"""Grows by one when a member changes its meaning or goes; new members do not count."""


def answer_text(tool: str, answer: Answer) -> str:
    """The object of an answer, with a line end."""
    return _text({"schema": SCHEMA, "tool": tool, **answer.to_json()})


def error_text(tool: str | None, error: ToolError, beside: Mapping[str, object]) -> str:
    """The object of an error, with a line end; `beside` is what was found before."""
    return _text({"schema": SCHEMA, "tool": tool, **beside, "error": error_json(error)})


def error_json(error: ToolError) -> dict[str, object]:
    """An error: its kind, a sentence, the next call that would work, and every conflict."""
    conflicts = error.conflicts if isinstance(error, Refused) else ()
    return {
        **error.facts,
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "sites": [_site_json(site) for site in error.sites],
        "conflicts": [_conflict_json(conflict) for conflict in conflicts],
    }


def _conflict_json(conflict: Conflict) -> dict[str, object]:
    return {
        "kind": conflict.kind,
        "message": conflict.message,
        "sites": [_site_json(site) for site in conflict.sites],
    }


def _site_json(site: Site) -> dict[str, object]:
    return {"path": site.path, "line": site.line, "column": site.column, "says": site.says}


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"
