"""Does Python read this file? The judge is the standard library's `ast`, told the oldest version the project supports.

Where the project needs a newer Python than the one that runs us, `ast` does not know all of its syntax. Then libcst, if it is
installed, is the second witness: what it reads is taken for good. Only reading is judged, not meaning: a `return` outside
of a function is read.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.syntax.quiet import quiet
from lsptools.syntax.readers import reason
from lsptools.workspace.snapshot import Snapshot

Version = tuple[int, int]
SUFFIXES = (".py", ".pyi", ".pyw")

_RUNNING: Version = sys.version_info[:2]
_OLDEST_KNOWN: Version = (3, 7)


@dataclass(frozen=True, slots=True)
class Problem:
    """Where and why a file is not read."""

    line: int
    """1-based."""
    column: int
    """1-based, code points."""
    message: str


def parse_problem(source: bytes, version: Version | None = None) -> Problem | None:
    """Why Python does not read these bytes of a file; `None` if it does. `version` is the oldest of the project."""
    wanted = version or _RUNNING
    found = _parsed(source, min(wanted, _RUNNING))
    if isinstance(found, ast.Module):
        return None
    if wanted > _RUNNING:
        from lsptools.syntax.witness import is_read

        return None if is_read(source) else found
    return found


def statement_lines(
    source: bytes, version: Version | None = None, *, n_before: int = 0
) -> tuple[int, ...] | None:
    """The lines, from 0, at which the statements at the top begin in the first column; `None` if it is not read.

    `n_before` empty lines were put in front of the source.
    """
    found = _parsed(source, min(version or _RUNNING, _RUNNING))
    if not isinstance(found, ast.Module):
        return None
    return tuple(_first_line(each) - 1 - n_before for each in found.body if each.col_offset == 0)


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return decorators[0].lineno if decorators else statement.lineno


def project_version(snapshot: Snapshot) -> Version | None:
    """The oldest Python that the workspace says it supports, if it says so."""
    for path, pattern in _SAID_IN:
        try:
            text = snapshot.document(path).text
        except BadRequest:
            continue
        if found := pattern.search(text):
            return (int(found[1]), int(found[2]))
    return None


_SAID_IN = (
    ("pyproject.toml", re.compile(r"""(?m)^\s*requires-python\s*=\s*["'][^"']*?(?:>=|~=|==)\s*(3)\.(\d+)""")),
    ("setup.cfg", re.compile(r"(?m)^\s*python_requires\s*=.*?(?:>=|~=|==)\s*(3)\.(\d+)")),
)


def _parsed(source: bytes, version: Version) -> ast.Module | Problem:
    features = version if _OLDEST_KNOWN <= version < _RUNNING else None
    try:
        with quiet():
            return ast.parse(source, feature_version=features)
    except SyntaxError as error:
        return Problem(max(error.lineno or 1, 1), max(error.offset or 1, 1), error.msg or "invalid syntax")
    except (ValueError, RecursionError, MemoryError) as error:
        # A NUL, or nesting beyond what the parser does.
        return Problem(1, 1, reason(error))
