"""Rung 2, syntax: what could be read before still can: Python by its own compiler, other languages by their grammar.

The compiler is that of the Python which runs us: it also finds what the grammar alone does not (`return` outside of a function,
a name that is a parameter and global). `ast` is asked with the least version the project promises to run on, as far as it can
tell. A second witness, libcst, is told of: whether it reads the file, too, and writes it back the same. Where a project asks for
a Python newer than ours, our compiler is no judge, and tree-sitter and libcst decide. JSON, notebooks and
(from Python 3.11 on) TOML are read by Python's own readers, other languages by tree-sitter as far as their grammar is installed. A
file that could not be read before is not held to this.
"""

from __future__ import annotations

import ast
import posixpath
import sys
from collections import Counter
from collections.abc import Iterable

from lsptools.syntax.grammars import errors, tree_of
from lsptools.syntax.quiet import quiet
from lsptools.syntax.readers import language_read, reason, unread
from lsptools.syntax.tree import Node, first_error, parse
from lsptools.syntax.witness import Witnessed, witnessed
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset
from lsptools.verify.project import least_python
from lsptools.verify.verdict import Problem, Standing, Verdict, counted
from lsptools.verify.versions import Pair, Versions

NAME = "syntax"
PROVES_NOT = "that names mean something, or that it runs"
Version = tuple[int, int]


def check(versions: Versions) -> Verdict:
    """The verdict on a change."""
    least = least_python(versions.after)
    pairs = [pair for pair in versions.pairs if pair.after is not None and _is_known(pair)]
    python = [pair for pair in pairs if pair.is_python]
    covers = _covers(python, len(pairs), sum(pair.after is not None for pair in versions.pairs), least)
    if not pairs:
        says = "no Python file differs, nor one of another language that is known"
        return Verdict(NAME, Standing.NOT_RUN, says, PROVES_NOT, covers)
    problems: list[Problem] = []
    n_broken = 0
    for pair in pairs:
        found = _problem(pair, pair.after, least)
        if found is not None and _problem(pair, pair.before, least) is not None:
            n_broken += 1
        elif found is not None:
            problems.append(found)
    if problems:
        says = f"{len(problems)} of {counted(len(pairs), 'file')} cannot be read any more"
        return Verdict(NAME, Standing.FAILED, says, PROVES_NOT, covers, tuple(problems))
    if n_broken == len(pairs):
        return Verdict(
            NAME, Standing.NOT_RUN, "these files could not be read before either", PROVES_NOT, covers
        )
    broken = f"; {n_broken} could not be read before either" if n_broken else ""
    says = f"{counted(len(pairs) - n_broken, 'file')} can be read{broken}"
    return Verdict(NAME, Standing.PASSED, says, PROVES_NOT, covers)


def _covers(python: list[Pair], n_known: int, n_all: int, least: Version) -> str:
    said = [f"{counted(len(python), 'Python file')} as of Python {least[0]}.{least[1]}"]
    if python:
        said += _of_witness(pair.after for pair in python)
    if n_known > len(python):
        said.append(f"{counted(n_known - len(python), 'other file')} by grammar")
    if n_all > n_known:
        said.append(f"{counted(n_all - n_known, 'other file')} without a grammar here")
    return "; ".join(said)


def _of_witness(documents: Iterable[Document | None]) -> list[str]:
    """What libcst says of the new texts."""
    found = Counter(witnessed(document.encode()) for document in documents if document is not None)
    if found[Witnessed.ABSENT]:
        return ["no second witness (libcst is not installed)"]
    same = found[Witnessed.SAME]
    said = [f"{counted(same, 'file')} read and written back the same by libcst"] if same else []
    others = (
        (Witnessed.UNREAD, "not read by libcst"),
        (Witnessed.DIFFERENT, "written back otherwise by libcst"),
    )
    return said + [f"{counted(found[kind], 'file')} {what}" for kind, what in others if found[kind]]


def _is_known(pair: Pair) -> bool:
    """Whether there is something to read the file with. A new JSON file may be in one of its dialects."""
    if pair.is_python:
        return True
    if language_read(_suffix(pair)) is not None:
        return pair.before is not None
    return tree_of(_suffix(pair), b"") is not None


def _suffix(pair: Pair) -> str:
    return posixpath.splitext(pair.name)[1].lower()


def _problem(pair: Pair, document: Document | None, least: Version) -> Problem | None:
    """Why a text cannot be read, if it cannot."""
    if document is None:
        return None
    if pair.is_python:
        return _problem_of_python(pair, document, least)
    if language_read(_suffix(pair)) is not None:
        found = unread(_suffix(pair), document.text)
        return (
            None if found is None else Problem(pair.name, found.line, found.column, "syntax", found.message)
        )
    tree = tree_of(_suffix(pair), document.utf8)
    node = None if tree is None else next(errors(tree), None)
    return (
        None
        if node is None
        else _at_node(pair, document, node, "the grammar of its language does not know this")
    )


def _problem_of_python(pair: Pair, document: Document, least: Version) -> Problem | None:
    if least > sys.version_info[:2]:
        node = first_error(parse(document.utf8))
        if node is not None and witnessed(document.encode()) in (Witnessed.UNREAD, Witnessed.ABSENT):
            return _at_node(pair, document, node, "the grammar of Python does not know this")
        return None
    try:
        with quiet():
            tree = ast.parse(document.text, pair.name, feature_version=least)
            compile(document.text, pair.name, "exec", dont_inherit=True)
            del tree
    except SyntaxError as error:
        return Problem(pair.name, error.lineno or 0, error.offset or 0, "syntax", error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(pair.name, 0, 0, "syntax", reason(error))
    return None


def _at_node(pair: Pair, document: Document, node: Node, message: str) -> Problem:
    at = document.lines.user_from_offset(document.lines.offset_from_byte(ByteOffset(node.start_byte)))
    return Problem(pair.name, at.line, at.column, "syntax", message)
