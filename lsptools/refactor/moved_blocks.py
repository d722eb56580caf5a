"""The lines of a definition that moves: its statements, their decorators, and the comments directly above them.

Only what stands by itself at the top of a module can be cut out: a definition in a branch, in a `try`, beside another
statement in its line, or bound together with other names is a conflict. Units: bytes of the UTF-8 source, half-open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsptools.errors import Conflict
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.roles import DECLARING, Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.refactor.places import line_start, next_line, place
from lsptools.syntax.tree import Node

_MOVABLE = frozenset({Role.FUNCTION, Role.CLASS, Role.ASSIGN, Role.ANNOTATE, Role.TYPE_ALIAS})
_STATEMENTS = frozenset(
    {
        "function_definition",
        "class_definition",
        "decorated_definition",
        "expression_statement",
        "type_alias_statement",
    }
)


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file, the last line end included."""

    source: Source
    start: int
    end: int
    is_definition: bool
    """A function or class, and so set apart by two empty lines."""

    def covers(self, at: int) -> bool:
        return self.start <= at < self.end

    @property
    def text(self) -> str:
        """The lines, with `\\n` at their ends, also of the last."""
        data = self.source.bytes[self.start : self.end].decode("utf-8", "surrogateescape")
        return plain_lines(data).rstrip("\n") + "\n"

    def removal(self) -> tuple[int, int]:
        """What goes with it: the empty lines behind it, or, at the end of the file, those before it."""
        data = self.source.bytes
        behind = _EMPTY_LINES.match(data, self.end)
        end = behind.end() if behind is not None else self.end
        if end < len(data):
            return self.start, end
        before = len(data[: self.start].rstrip(b" \t\r\n"))
        return min(next_line(self.source, before), self.start) if before else 0, end


def plain_lines(text: str) -> str:
    """The text with `\\n` at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def blocks_of(source: Source, name: str) -> tuple[list[Block], list[Conflict]]:
    """The definitions of a module-level name in a file, in order, and what stands in the way of cutting them out."""
    found: list[Block] = []
    wrong: list[Conflict] = []
    for site in Variable(source, source.module_scope, name).sites:
        block = _block(source, site)
        if block is None:
            says = f"`{name}` is bound in a way that cannot be cut out: {site.role.value}"
            wrong.append(Conflict("undecided", says, (place(source, site.start, "is bound here"),)))
        else:
            found.append(block)
    for site in source.sites(name):
        if site.role in DECLARING:
            says = f"`{name}` is bound again inside of a function"
            wrong.append(Conflict("undecided", says, (place(source, site.start, "is declared here"),)))
    return _joined(found), wrong


def _block(source: Source, site: Site) -> Block | None:
    statement = site.path[0][0]
    if site.role not in _MOVABLE or statement.type not in _STATEMENTS or not _binds_only(site, statement):
        return None
    lines = whole_lines(source, statement)
    if lines is None:
        return None
    is_definition = site.role in (Role.FUNCTION, Role.CLASS)
    return Block(source, _with_comments(source, lines[0]), lines[1], is_definition)


def _binds_only(site: Site, statement: Node) -> bool:
    """Does the statement bind this name at the top of the module, and nothing else?"""
    if site.role is Role.FUNCTION or site.role is Role.CLASS:
        definition = site.path[-2][0]
        outer = definition.parent
        return definition == statement or (outer is not None and outer == statement)
    if site.role is Role.TYPE_ALIAS:
        return True
    assignment = statement.named_children[0] if statement.named_children else None
    if assignment is None or assignment.type != "assignment" or statement.named_child_count > 1:
        return False
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    return left is not None and left.type == "identifier" and (right is None or right.type != "assignment")


def whole_lines(source: Source, statement: Node) -> tuple[int, int] | None:
    """The lines of a statement, if it has them for itself (a comment may follow)."""
    data = source.bytes
    start = line_start(source, statement.start_byte)
    rest = _REST_OF_LINE.match(data, statement.end_byte)
    if data[start : statement.start_byte].strip() or rest is None:
        return None
    return start, rest.end()


def _with_comments(source: Source, start: int) -> int:
    """The start of the comment lines that stand directly above."""
    data = source.bytes
    while start > 0:
        line_break = 2 if data[:start].endswith(b"\r\n") else 1
        above = line_start(source, start - line_break)
        line = data[above:start]
        if not line.startswith(b"#") or _NOT_A_COMMENT.match(line):
            return start
        start = above
    return start


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Blocks with nothing but empty lines between them are one."""
    found: list[Block] = []
    for block in sorted(blocks, key=lambda block: block.start):
        last = found[-1] if found else None
        if last is not None and not block.source.bytes[last.end : block.start].strip():
            is_definition = last.is_definition or block.is_definition
            found[-1] = Block(block.source, last.start, block.end, is_definition)
        else:
            found.append(block)
    return found


def words_in(block: Block) -> Iterator[str]:
    """Every word of the block once."""
    yield from dict.fromkeys(found.group() for found in _WORD.finditer(block.text))


_EMPTY_LINES = re.compile(rb"(?:[ \t\f]*(?:\r\n|\n|\r))+")
_REST_OF_LINE = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_NOT_A_COMMENT = re.compile(rb"#!|#\s*(?:-\*-|.*coding[:=])|#\s*%%")
_WORD = re.compile(r"[^\W\d]\w*")
