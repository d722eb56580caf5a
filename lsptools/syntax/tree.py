"""Source bytes to concrete syntax trees.

Never fails on broken source: the tree then has error nodes. Positions are bytes of the UTF-8 source; `Lines` turns
them into code points. `Node`, `Tree` and `TreeCursor` are tree-sitter's own, handed on so that no other layer names
the library.
"""

from __future__ import annotations

import re
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Range, Tree, TreeCursor

__all__ = [
    "Node",
    "Tree",
    "TreeCursor",
    "as_the_grammar_reads",
    "first_error",
    "parse",
    "parse_part",
    "python_language",
]


def parse(source: bytes) -> Tree:
    """The tree of a Python file given as UTF-8."""
    return _parser().parse(as_the_grammar_reads(source))


def parse_part(source: bytes, start: int, end: int) -> Tree:
    """The tree of the statements between two bytes; all positions but points (rows and columns) are those in the file.

    `source` is what `as_the_grammar_reads` answers.
    """
    return Parser(python_language(), included_ranges=[Range(_NOWHERE, _NOWHERE, start, end)]).parse(source)


_NOWHERE = Point(0, 0)


def as_the_grammar_reads(source: bytes) -> bytes:
    """What the grammar is shown where Python and it differ: something else of the same length; no byte moves.

    - a lone `\\r` ends a line for Python, and a `\\n` for both;
    - `type(x).attribute = 1` is an assignment, and a type alias to the grammar because of the first word.
    """
    if b"\r" in source:
        source = _LONE_RETURN.sub(b"\n", source)
    if b"type" in source:
        source = _CALL_OF_TYPE.sub(_other_word, source)
    return source


def first_error(tree: Tree) -> Node | None:
    """The first error or missing node of a tree in document order, or None."""
    node = tree.root_node
    if not node.has_error:
        return None
    while True:
        if node.is_error or node.is_missing:
            return node
        broken = next((child for child in node.children if child.has_error or child.is_missing), None)
        if broken is None:
            return node
        node = broken


@cache
def python_language() -> Language:
    """The grammar, for queries."""
    return Language(tree_sitter_python.language())


_LONE_RETURN = re.compile(rb"\r(?!\n)")
_CALL_OF_TYPE = re.compile(rb"type(?=[ \t]*\([^\n]*\)[ \t]*[.\[][^\n=]*=(?!=))")


def _other_word(found: re.Match[bytes]) -> bytes:
    """At the start of a statement, `type` is shown as a word that begins nothing else.

    `Node.text` shows that word, too; nothing may compare it with `type`.
    """
    source, at = found.string, found.start()
    before = source[max(0, at - 200) : at].rstrip(b" \t\f")
    starts = before[-1:] in b"\n;:" if before else at < 200
    return b"Type" if starts else found.group()


@cache
def _parser() -> Parser:
    return Parser(python_language())
