"""tree-sitter queries: those of `grammars/<language>/*.scm`, and those a caller writes.

A caller's query that tree-sitter does not take is a `BadRequest` with line and column inside the query, and so is one
with a predicate that nobody evaluates: tree-sitter itself would match everything there, which is a wrong answer.
Nodes speak of bytes of the source that was parsed; `Pattern` answers in code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from tree_sitter import Language, Node, Query, QueryCursor, QueryError, Tree

from lsptools.errors import BadRequest, bug
from lsptools.syntax.tree import parse
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset, Lines, Span

WHOLE = "match"
"""The capture that a query without any gets: the whole pattern."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match of one pattern: its captures by name, in the order of the source."""

    pattern: int
    captures: dict[str, list[Node]]


def grammar_query(language: str, name: str) -> Query:
    """The compiled query `grammars/<language>/<name>.scm`."""
    return _grammar_query(language, name)


def compile_query(source: str) -> Pattern:
    """A caller's query for Python, checked. One without captures gets `@match` around its pattern."""
    query = _compiled(source)
    if query.capture_count == 0:
        if query.pattern_count != 1:
            raise BadRequest(
                "invalid",
                "the query has no pattern" if not query.pattern_count else "the query captures nothing",
                hint="write one pattern such as '(call function: (identifier) @name)', with a capture in each",
            )
        query = _compiled(f"{source}\n@{WHOLE}")
    return Pattern(query)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A caller's query, ready to run."""

    query: Query

    def spans_in(self, document: Document) -> Iterator[tuple[tuple[str, Span], ...]]:
        """The captures of each match, by name, in the order of the source and in code points."""
        lines = document.lines
        for match in matches(self.query, parse(document.utf8)):
            nodes = [(name, node) for name, nodes in match.captures.items() for node in nodes]
            spans = [(name, span_from_node(lines, node)) for name, node in nodes]
            if spans:
                yield tuple(sorted(spans, key=lambda each: (each[1].start, -each[1].end)))


def span_from_node(lines: Lines, node: Node) -> Span:
    """Where a node is, in code points."""
    start, end = ByteOffset(node.start_byte), ByteOffset(node.end_byte)
    return Span(lines.offset_from_byte(start), lines.offset_from_byte(end))


def matches(query: Query, tree: Tree) -> Iterator[Match]:
    """Every match in the tree, in the order of the source."""
    unknown: list[str] = []

    def refuse(predicate: str, args: object, pattern_index: int, captures: object) -> bool:
        # tree-sitter asks here for the predicates it does not know. An exception would be lost inside its C code.
        unknown.append(predicate)
        return False

    found = QueryCursor(query).matches(tree.root_node, refuse)
    if unknown:
        raise BadRequest(
            "invalid",
            f"the query uses the predicate #{unknown[0]}, which is not evaluated here",
            hint="use #eq?, #not-eq?, #match?, #not-match?, #any-of? or #not-any-of?",
        )
    for pattern, captures in found:
        yield Match(pattern, captures)


@cache
def _grammar_query(language: str, name: str) -> Query:
    source = _grammar_text(f"{language}/{name}.scm")
    try:
        query: Query = Query(_language(), source)
    except QueryError as error:
        bug(f"grammars/{language}/{name}.scm does not compile: {error}")
    return query


def _grammar_text(relative: str) -> str:
    """A file of `grammars/`: in the installed package, or beside the package in a source tree."""
    package = Path(__file__).parents[1]
    places = (package / "grammars" / relative, package.parent / "grammars" / relative)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        bug(f"grammars/{relative} is not part of this installation")
    return file.read_text(encoding="utf-8")


@cache
def _language() -> Language:
    return parse(b"").language


def _compiled(source: str) -> Query:
    try:
        # A string of its own: when something is wrong, tree-sitter 0.25 overwrites line ends in the one it is given.
        query: Query = Query(_language(), source.encode().decode())
    except QueryError as error:
        raise _explained(source, str(error)) from None
    except UnicodeEncodeError:
        raise BadRequest(
            "invalid", "the query has bytes that are no text", hint="write it in UTF-8"
        ) from None
    return query


_PLACED = re.compile(
    r"(?P<what>.*) at row (?P<row>\d+)(?:, column (?P<column>\d+))?(?:: (?P<detail>.*))?", re.DOTALL
)


def _explained(source: str, message: str) -> BadRequest:
    """tree-sitter's complaint with a 1-based place in code points, and the nearest name that exists."""
    rows = source.split("\n")
    found = _PLACED.fullmatch(message)
    if found is None:  # it ends too early
        what, detail, line, column = message, "", len(rows), len(rows[-1]) + 1
    else:
        what, detail, line = found["what"], found["detail"] or "", int(found["row"]) + 1
        before = rows[line - 1].encode("utf-8", "surrogateescape")[: int(found["column"] or 0)]
        column = len(before.decode("utf-8", "surrogateescape")) + 1
    place = f"{line}:{column}" if found is None or found["column"] else f"line {line}"
    sentence = what[:1].lower() + what[1:] + (f" `{detail}`" if detail else "")
    return BadRequest("invalid", f"the query is wrong at {place}: {sentence}", hint=_nearest(what, detail))


def _nearest(what: str, detail: str) -> str:
    language = _language()
    if "node type" in what:
        kinds = {language.node_kind_for_id(number) or "" for number in range(language.node_kind_count)}
        close = get_close_matches(detail, sorted(kinds), n=3)
    elif "field" in what:
        fields = (language.field_name_for_id(number) or "" for number in range(1, language.field_count + 1))
        close = get_close_matches(detail, fields, n=3)
    else:
        close = []
    if close:
        return f"did you mean {' or '.join(f'`{name}`' for name in close)}?"
    return "a query looks like '(call function: (identifier) @name)'"
