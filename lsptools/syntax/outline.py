"""What one file defines, and inside what: classes, functions, methods, attributes, variables, type aliases.

Made from the `tags` query of the language and the ranges it yields. The parser gives up the rest of a block where, say, a
bracket is left open; in a file with errors the lines that begin a function or class are therefore found by themselves, and
end where the indentation does. Names that are bound otherwise (imports, loop targets, `self.x = …`) are not definitions
here, and variables of a function are its own affair; of several assignments to a variable the first is its definition.
Spans are code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node, Tree

from lsptools.syntax.queries import grammar_query, matches, span_from_node
from lsptools.syntax.tree import parse
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset, Lines, Offset, Span

KINDS = ("class", "function", "method", "attribute", "variable", "type")
LONGEST_SIGNATURE = 100
"""Code points; what is longer (a dictionary assigned to a variable) is cut."""


@dataclass(frozen=True, slots=True)
class Item:
    """One definition."""

    name: str
    kind: str
    """One of `KINDS`."""
    span: Span
    """The whole definition, with its decorators."""
    name_span: Span
    signature: str
    """The definition without its body, on one line."""
    children: tuple[Item, ...] = ()


def outline(document: Document) -> tuple[Item, ...]:
    """The definitions of a Python file, outermost first, in the order of the source."""
    return _Nesting(document.text).items(_definitions(document))


def flat(items: Iterable[Item], inside: str = "") -> Iterator[tuple[str, Item]]:
    """Every item with its qualified name inside the file (`Class.method`), parents before their children."""
    for item in items:
        qualified = f"{inside}.{item.name}" if inside else item.name
        yield qualified, item
        yield from flat(item.children, qualified)


@dataclass(frozen=True, slots=True)
class _Definition:
    kind: str
    whole: Span
    name: Span
    header: Span
    """The statement up to its body."""


def _definitions(document: Document) -> list[_Definition]:
    """Sorted by start, wider ones first; of several that match one name, the widest."""
    tree = parse(document.utf8)
    widest: dict[Offset, _Definition] = {}
    for match in matches(grammar_query("python", "tags"), tree):
        ((label, (whole, *_)),) = ((key, nodes) for key, nodes in match.captures.items() if key != "name")
        for name in match.captures["name"]:
            found = _definition(document.lines, label.rpartition(".")[2], whole, name)
            known = widest.get(found.name.start)
            if known is None or found.whole.start < known.whole.start:
                widest[found.name.start] = found
    if tree.root_node.has_error:
        widest = {each.name.start: each for each in _headers(document, tree)} | widest
    return sorted(widest.values(), key=lambda each: (each.whole.start, -each.whole.end, each.name.start))


def _definition(lines: Lines, kind: str, whole: Node, name: Node) -> _Definition:
    statement = name.parent if kind in ("class", "function") else whole
    assert statement is not None, "a name is never the root of a tree"
    header = span_from_node(lines, statement)
    body = statement.child_by_field_name("body")
    if body is not None:
        header = Span(header.start, lines.offset_from_byte(ByteOffset(body.start_byte)))
    return _Definition(kind, span_from_node(lines, whole), span_from_node(lines, name), header)


_HEADER = re.compile(
    r"^(?P<indent>[ \t\f]*)(?P<head>(?:async[ \t]+)?(?P<word>def|class)[ \t]+(?P<name>[^\W\d]\w*)[^\r\n]*)",
    re.MULTILINE,
)
_KIND_OF_WORD = {"def": "function", "class": "class"}


def _headers(document: Document, tree: Tree) -> Iterator[_Definition]:
    """Functions and classes by the line they begin with; lines in strings do not count."""
    text, lines = document.text, document.lines
    for found in _HEADER.finditer(text.replace("\r", "\n")):
        name, head = (
            Span(Offset(found.start(group)), Offset(found.end(group))) for group in ("name", "head")
        )
        at = lines.byte_from_offset(name.start)
        node = tree.root_node.descendant_for_byte_range(at, at)
        if node is None or not node.type.startswith("string"):
            end = _end_of_block(text, lines, lines.line_of(name.start), len(found["indent"]))
            yield _Definition(_KIND_OF_WORD[found["word"]], Span(head.start, end), name, head)


def _end_of_block(text: str, lines: Lines, first: int, indent: int) -> Offset:
    """The end of the last line that is indented deeper than the block's first line."""
    end = lines.line_span(first).end
    for line in range(first + 1, lines.n_lines):
        span = lines.line_span(line)
        line_text = text[span.start : span.end]
        words = line_text.strip()
        if words and len(line_text) - len(line_text.lstrip()) <= indent:
            break
        if words:
            end = span.end
    return end


class _Nesting:
    """Puts definitions into each other by their ranges. A context object: the text at hand."""

    def __init__(self, text: str) -> None:
        self._text = text

    def items(self, definitions: list[_Definition], owner: str = "") -> tuple[Item, ...]:
        found: list[Item] = []
        bound: set[str] = set()
        at = 0
        while at < len(definitions):
            first = definitions[at]
            inner_end = at + 1
            while inner_end < len(definitions) and _holds(first, definitions[inner_end]):
                inner_end += 1
            item = self._item(first, definitions[at + 1 : inner_end], owner)
            at = inner_end
            if first.kind != "variable":
                found.append(item)
            elif owner != "function" and item.name not in bound:
                bound.add(item.name)
                found.append(item)
        return tuple(found)

    def _item(self, definition: _Definition, inner: list[_Definition], owner: str) -> Item:
        return Item(
            name=self._text[definition.name.start : definition.name.end],
            kind=_IN_CLASS.get(definition.kind, definition.kind) if owner == "class" else definition.kind,
            span=definition.whole,
            name_span=definition.name,
            signature=self._signature(definition),
            children=self.items(inner, definition.kind),
        )

    def _signature(self, definition: _Definition) -> str:
        words = " ".join(self._text[definition.header.start : definition.header.end].split())
        if definition.kind in ("class", "function"):
            words = words.rstrip(": ")
        return words if len(words) <= LONGEST_SIGNATURE else words[: LONGEST_SIGNATURE - 1] + "…"


_IN_CLASS = {"function": "method", "variable": "attribute"}


def _holds(outer: _Definition, inner: _Definition) -> bool:
    """Whether `inner` lies in `outer`; the names of one statement (`x, y = pair`) do not hold each other."""
    return outer.kind in ("class", "function") and inner.whole.end <= outer.whole.end
