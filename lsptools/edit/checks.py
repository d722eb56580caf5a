"""What is checked before anything is written: the final text of each file, once, against what it was before.

A Python file that was read must still be read (`Refused`, `syntax`), and a notebook still be one, unless the caller says
otherwise; a file that was not, or that is new, is not held to it. In other languages, as far as the standard library reads them
(JSON, TOML) or there is a grammar, errors that were not there before are told and nothing is refused.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsptools.edit.notebook import SUFFIX as NOTEBOOK
from lsptools.edit.notebook import is_notebook
from lsptools.edit.python_changed import problem_after
from lsptools.edit.python_syntax import SUFFIXES, Problem, Version, parse_problem, project_version
from lsptools.errors import Conflict, Refused, Site
from lsptools.syntax.readers import language_read, unread
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.text.lines import ByteOffset, Lines
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Edited:
    """A file to check. No `before`: it is new."""

    name: str
    before: Document | None
    after: Document
    edits: Edits
    """Of the text of `before`."""


def check(snapshot: Snapshot, files: Iterable[Edited], *, allow_broken: bool) -> tuple[str, ...]:
    """What people should know of the result, one sentence each. Refused if a Python file or a notebook would be broken."""
    notes: list[str] = []
    broken: list[Conflict] = []
    version = _Later(snapshot)
    for file in files:
        is_python = file.name.endswith(SUFFIXES)
        if not is_python and not file.name.endswith(NOTEBOOK):
            notes += _new_errors(file)
            continue
        found = _python(file, version) if is_python else _notebook(file)
        if found is None:
            continue
        happened, site = found
        if file.before is None or allow_broken:
            notes.append(f"{site}")
        else:
            broken.append(Conflict("syntax", happened, (site,)))
    if broken:
        raise Refused(
            "syntax",
            "; ".join(f"{conflict.sites[0]}" for conflict in broken),
            hint=_hint(broken),
            conflicts=tuple(broken),
        )
    return tuple(notes)


def _hint(broken: Sequence[Conflict]) -> str:
    if all(conflict.sites[0].path.endswith(NOTEBOOK) for conflict in broken):
        return (
            "quote a cell with `edit` as `read` shows it, or write the JSON with its escapes; "
            "`allow_broken` writes it all the same"
        )
    return "send an edit after which the file can be parsed, or allow it with `allow_broken`"


class _Later:
    """The project's version, looked up when a Python file asks for it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._answer: list[Version | None] = []

    def __call__(self) -> Version | None:
        if not self._answer:
            self._answer.append(project_version(self._snapshot))
        return self._answer[0]


def _python(file: Edited, version: _Later) -> tuple[str, Site] | None:
    """What is wrong with a Python file that was read before, or is new."""
    if file.before is None:
        after = parse_problem(file.after.encode(), version())
    else:
        after = problem_after(file.before, file.edits, file.after, version())
    if after is None:
        return None
    says = f"{after.message}: {_source_line(file.after, after)}"
    happened = f"{file.name!r} would no longer parse" if file.before is not None else "it does not parse"
    return happened, Site(file.name, after.line, after.column, f"{happened}: {says}")


def _notebook(file: Edited) -> tuple[str, Site] | None:
    """What is wrong with a notebook that was one before, or is new."""
    if is_notebook(file.name, file.after.text):
        return None
    if file.before is not None and not is_notebook(file.name, file.before.text):
        return None
    found = unread(NOTEBOOK, file.after.text)
    says = "it is JSON without a list of cells" if found is None else f"it is not JSON: {found.message}"
    happened = (
        f"{file.name!r} would no longer be a notebook" if file.before is not None else "it is no notebook"
    )
    line, column = (1, 1) if found is None else (found.line, found.column)
    return happened, Site(file.name, line, column, f"{happened}: {says}")


def _source_line(document: Document, at: Problem) -> str:
    lines = document.lines
    return lines.line_text(min(at.line, lines.n_lines) - 1).strip()[:200]


def _new_errors(file: Edited) -> list[str]:
    suffix = posixpath.splitext(file.name)[1]
    language = language_read(suffix)
    if language is None:
        return _new_error_nodes(file)
    after = unread(suffix, file.after.text)
    if after is None or (file.before is not None and unread(suffix, file.before.text) is not None):
        return []
    happened = f"it is not {language}" + (" any more" if file.before is not None else "")
    return [f"{Site(file.name, after.line, after.column, f'{happened}: {after.message}')}"]


def _new_error_nodes(file: Edited) -> list[str]:
    from lsptools.syntax.grammars import errors, tree_of

    suffix = posixpath.splitext(file.name)[1]
    after = tree_of(suffix, file.after.utf8)
    if after is None or not after.root_node.has_error:
        return []
    before = tree_of(suffix, file.before.utf8) if file.before is not None else None
    n_before = sum(1 for _ in errors(before)) if before is not None else 0
    found = list(errors(after))
    if len(found) <= n_before:
        return []
    lines: Lines = file.after.lines
    at = lines.user_from_offset(lines.offset_from_byte(ByteOffset(found[0].start_byte)))
    return [f"{file.name}:{at}: the file has {len(found) - n_before} new syntax error(s)"]
