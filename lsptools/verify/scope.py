"""Rung 1, scope: only what was announced is different, and what a file is made of stays.

Checked for each file: no file and no passage differs that the change does not name; encoding, byte order mark and permission bits are
the same; the kind of line end is the same, and lines do not end differently from each other if they did not before.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.text.document import Document
from lsptools.text.lines import Span
from lsptools.verify.verdict import Problem, Standing, Verdict, counted
from lsptools.verify.versions import Pair, Versions

NAME = "scope"
PROVES_NOT = "that what was changed is right"
_NEWLINES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


def check(versions: Versions) -> Verdict:
    """The verdict on a change."""
    problems = (
        *(problem for pair in versions.pairs for problem in _problems(versions, pair)),
        *(
            Problem(path, 0, 0, "mode", f"the permissions were {before:04o} and are {after:04o}")
            for path, (before, after) in versions.modes.items()
            if before != after
        ),
    )
    covers = counted(len(versions.pairs), "file")
    if problems:
        n_files = len({problem.path for problem in problems})
        says = f"{n_files} of {covers} not as announced: {problems[0].message}"
        return Verdict(NAME, Standing.FAILED, says, PROVES_NOT, covers, problems)
    announced = (
        "only what was announced differs"
        if versions.is_announced
        else "nothing was announced to compare with"
    )
    says = f"{announced}; encodings, line ends and permissions are kept"
    return Verdict(NAME, Standing.PASSED, says, PROVES_NOT, covers)


def _problems(versions: Versions, pair: Pair) -> Iterator[Problem]:
    if versions.is_announced:
        yield from _unannounced(versions, pair)
    if pair.before is not None and pair.after is not None:
        for code, says in _made_of(pair.before, pair.after):
            yield Problem(pair.name, 0, 0, code, says)


def _unannounced(versions: Versions, pair: Pair) -> Iterator[Problem]:
    change = versions.change
    announced = next((file.edits for file in change.edits if file.path == pair.old), None)
    created = {file.path for file in change.creations}
    deleted = {file.path for file in change.deletions}
    if pair.old is None or pair.new is None:
        if (pair.new not in created) if pair.old is None else (pair.old not in deleted):
            yield Problem(pair.name, 0, 0, "unannounced", "the file comes or goes, which was not announced")
        return
    if pair.old != pair.new and change.path_after(pair.old) != pair.new:
        yield Problem(pair.name, 0, 0, "unannounced", f"the file was called {pair.old}")
    if pair.before is None or pair.after is None:
        return
    if announced is not None and announced.apply(pair.before.text) == pair.after.text:
        return
    # Which of several equal lines came or went cannot be told from the texts, so this finds places, and decides nothing.
    spans = [edit.span for edit in announced or ()]
    lines = pair.before.lines
    for edit in pair.edits:
        if not any(_touch(edit.span, span) for span in spans):
            at = lines.user_from_offset(edit.span.start)
            says = "this was changed, which was not announced (the place is of the old text)"
            yield Problem(pair.name, at.line, at.column, "unannounced", says)


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _made_of(before: Document, after: Document) -> Iterator[tuple[str, str]]:
    if before.encoding != after.encoding or before.errors != after.errors:
        yield "encoding", f"the encoding was {before.encoding} and is {after.encoding}"
    if before.bom != after.bom:
        yield (
            "bom",
            f"the byte order mark was {before.bom.hex() or 'none'} and is {after.bom.hex() or 'none'}",
        )
    if _has_line_ends(before) and _has_line_ends(after):
        if not before.mixed_newlines and after.mixed_newlines:
            yield "line-ends", f"lines ended with {_NEWLINES[before.newline]} and now end differently"
        elif before.newline != after.newline:
            yield (
                "line-ends",
                f"lines ended with {_NEWLINES[before.newline]} and now end with {_NEWLINES[after.newline]}",
            )


def _has_line_ends(document: Document) -> bool:
    return "\n" in document.text or "\r" in document.text
