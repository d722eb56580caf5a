"""Structural search: a tree-sitter query over the Python files of the workspace.

Every Python file that is not ignored is parsed, so it takes as long as the workspace is large. Broken files are searched
as far as the parser recovers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsptools.errors import BadRequest
from lsptools.search.text import Capture, Match, Matches
from lsptools.syntax.queries import Pattern, compile_query
from lsptools.text.document import Document
from lsptools.text.lines import Span
from lsptools.workspace.ripgrep import Skipped
from lsptools.workspace.snapshot import Snapshot

PYTHON_FILES = (".py", ".pyi")


def search_structure(
    snapshot: Snapshot, source: str, *, globs: Sequence[str] = (), limit: int = 10_000
) -> Matches:
    """Every match of the query, by path and place; a query that is wrong is a `BadRequest` with its line and column."""
    pattern = compile_query(source)
    found: list[Match] = []
    skipped: list[Skipped] = []
    n_matches = n_files = 0
    for path in snapshot.files(globs=globs):
        if not path.endswith(PYTHON_FILES):
            continue
        try:
            document = snapshot.document(path)
        except BadRequest as error:
            skipped.append(Skipped(path, error.message))
            continue
        here = list(_matches(path, document, pattern))
        n_files += bool(here)
        n_matches += len(here)
        found += here[: limit - len(found)]
    return Matches(tuple(found), n_matches, n_files, tuple(skipped))


def _matches(path: str, document: Document, pattern: Pattern) -> Iterator[Match]:
    for captures in pattern.spans_in(document):
        spans = [span for _, span in captures]
        whole = Span(min(span.start for span in spans), max(span.end for span in spans))
        yield Match(path, whole, tuple(Capture(name, span) for name, span in captures))
