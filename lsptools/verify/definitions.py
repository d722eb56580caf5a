"""What a Python file defines, by qualified name, and what of it a change touches or takes away.

`lost_names` are the words by which others may have known what is gone: module-level names (imported ones, too, for they
can be imported from here), members of classes, parameters, and the module itself when its file goes. `touched_names` are the
definitions whose text differs, innermost first, before and after.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.syntax.quiet import quiet
from lsptools.text.document import Document
from lsptools.text.lines import Offset, Span
from lsptools.verify.versions import Pair

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
MODULE = "<module>"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a class, or the module itself."""

    qualified: str
    """`Class.method`; `MODULE` for what is outside of all definitions."""
    first_line: int
    """1-based, with decorators."""
    first_line_inside: int
    """That of the first statement of its body."""
    last_line: int
    is_class: bool = False

    @property
    def name(self) -> str:
        return self.qualified.rpartition(".")[2]


def tree_of(document: Document | None) -> ast.Module | None:
    """The tree of a text; `None` if there is none or Python cannot read it."""
    if document is None:
        return None
    try:
        with quiet():
            return ast.parse(document.text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def definitions(tree: ast.Module) -> list[Definition]:
    """Every function and class, parents before their children."""
    return list(_definitions(tree, ""))


def _definitions(node: ast.AST, inside: str) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTION, ast.ClassDef)):
            qualified = f"{inside}.{child.name}" if inside else child.name
            first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
            last = child.end_lineno or first
            yield Definition(qualified, first, child.body[0].lineno, last, isinstance(child, ast.ClassDef))
            yield from _definitions(child, qualified)
        else:
            yield from _definitions(child, inside)


def touched_names(pair: Pair) -> frozenset[str]:
    """The innermost definitions that differ, by qualified name, in the text before and in that after."""
    found: set[str] = set()
    if pair.before is not None:
        spans = [edit.span for edit in pair.edits] if pair.after is not None else None
        found |= _at(pair.before, spans)
    if pair.after is not None:
        spans = None
        if pair.before is not None:
            spans = [edit.span for edit in pair.edits.inverse(pair.before.text)]
        found |= _at(pair.after, spans)
    return frozenset(found)


def _at(document: Document, spans: list[Span] | None) -> set[str]:
    """The innermost definition at each span; all of them, where all of the text counts."""
    tree = tree_of(document)
    if tree is None:
        return {MODULE}
    known = definitions(tree)
    if spans is None:
        return {each.qualified for each in known} | {MODULE}
    found = set()
    for span in spans:
        first = document.lines.line_of(span.start) + 1
        last = document.lines.line_of(Offset(max(span.start, span.end - 1))) + 1
        inside = [each for each in known if each.first_line <= last and first <= each.last_line]
        around = [each for each in inside if each.first_line <= first and last <= each.last_line]
        if around:
            found.add(around[-1].qualified)
            found |= {each.qualified for each in inside if each.first_line >= around[-1].first_line}
        else:
            found |= {MODULE, *(each.qualified for each in inside)}
    return found


def lost_names(pair: Pair) -> frozenset[str]:
    """The words by which others may have known what is gone."""
    before, after = tree_of(pair.before), tree_of(pair.after)
    if pair.before is not None and before is None:
        return frozenset()
    if pair.after is not None and after is None:
        return frozenset()
    lost = _known(before) - _known(after)
    names = {name for _, name in lost}
    if pair.old is not None and pair.new != pair.old:
        parts = pair.old.rpartition(".")[0].split("/")
        names.add(parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1])
        names |= {name for _, name in _known(before)}
    return frozenset(names)


def _known(tree: ast.Module | None) -> set[tuple[str, str]]:
    """Each name with the definition that has it: module-level names, members, parameters."""
    return set() if tree is None else set(_names_in(tree, ""))


def _names_in(node: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTION, ast.ClassDef)):
            qualified = f"{inside}.{child.name}"
            yield inside, child.name
            if isinstance(child, ast.ClassDef):
                yield from _names_in(child, qualified)
            else:
                arguments = child.args
                for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    yield qualified, each.arg
                yield from _attributes_of_self(child, inside)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield from ((inside, alias.asname or alias.name.partition(".")[0]) for alias in child.names)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield inside, child.id
        elif not isinstance(child, ast.Lambda):
            yield from _names_in(child, inside)


def _attributes_of_self(function: ast.AST, inside: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield inside, node.attr
