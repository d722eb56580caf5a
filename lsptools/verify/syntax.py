"""Rung 2, syntax: what Python could read it still can, by its own compiler and by tree-sitter.

The compiler is that of the Python which runs us: it also finds what the grammar alone does not (`return` outside of a function,
a name that is a parameter and global). `ast` is asked with the least version the project promises to run on, as far as it can
tell. A file that could not be read before is not held to this. Where a project asks for a Python newer than ours, our
compiler is no judge, and tree-sitter decides alone.
"""

from __future__ import annotations

import ast
import sys
import warnings

from lsptools.syntax.tree import first_error, parse
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset
from lsptools.verify.project import least_python
from lsptools.verify.verdict import Problem, Standing, Verdict, counted
from lsptools.verify.versions import Pair, Versions

NAME = "syntax"
PROVES_NOT = "that names mean something, or that it runs"


def check(versions: Versions) -> Verdict:
    """The verdict on a change."""
    least = least_python(versions.after)
    python = [pair for pair in versions.python if pair.after is not None]
    others = sum(pair.after is not None and not pair.is_python for pair in versions.pairs)
    rest = f"; {counted(others, 'other file')} without a grammar here" if others else ""
    covers = f"{counted(len(python), 'Python file')} as of Python {least[0]}.{least[1]}{rest}"
    if not python:
        return Verdict(NAME, Standing.NOT_RUN, "no Python file differs", PROVES_NOT, covers)
    problems: list[Problem] = []
    n_broken = 0
    for pair in python:
        found = _problem(pair, pair.after, least)
        if found is not None and _problem(pair, pair.before, least) is not None:
            n_broken += 1
        elif found is not None:
            problems.append(found)
    if problems:
        says = f"Python cannot read {len(problems)} of {counted(len(python), 'file')} any more"
        return Verdict(NAME, Standing.FAILED, says, PROVES_NOT, covers, tuple(problems))
    if n_broken == len(python):
        says = "Python could not read these files before either"
        return Verdict(NAME, Standing.NOT_RUN, says, PROVES_NOT, covers)
    broken = f"; {n_broken} could not be read before either" if n_broken else ""
    return Verdict(
        NAME,
        Standing.PASSED,
        f"Python reads {counted(len(python) - n_broken, 'file')}{broken}",
        PROVES_NOT,
        covers,
    )


def _problem(pair: Pair, document: Document | None, least: tuple[int, int]) -> Problem | None:
    """Why a text cannot be read, if it cannot."""
    if document is None:
        return None
    if least > sys.version_info[:2]:
        return _by_grammar(pair, document)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(document.text, pair.name, feature_version=least)
            compile(document.text, pair.name, "exec", dont_inherit=True)
            del tree
    except SyntaxError as error:
        return Problem(pair.name, error.lineno or 0, error.offset or 0, "syntax", error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(pair.name, 0, 0, "syntax", str(error) or type(error).__name__)
    return None


def _by_grammar(pair: Pair, document: Document) -> Problem | None:
    node = first_error(parse(document.utf8))
    if node is None:
        return None
    at = document.lines.user_from_offset(document.lines.offset_from_byte(ByteOffset(node.start_byte)))
    return Problem(pair.name, at.line, at.column, "syntax", "the grammar of Python does not know this")
