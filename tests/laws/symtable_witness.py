"""Scopes as the standard library's `symtable` sees them, against ours, on one file.

symtable answers per scope and name: local, global, free. Ours answers per occurrence: which scope binds it. Both are
brought to the same form: for each scope that contains an occurrence looked up or bound there, the kind of the owner.
"""

from __future__ import annotations

import re
import symtable
import sys
import warnings
from collections.abc import Iterator

from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Scope, Source
from lsptools.text.document import Document

WORD = re.compile(r"[^\W\d]\w*")
USES = frozenset({Role.READ, *BINDING, *DECLARING})
COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}


def disagreements(data: bytes, path: str) -> list[str] | None:
    """What the two say differently; None when this Python does not compile the file."""
    document = Document.decode(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(document.text, path, "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    source = Source(path, document)
    theirs = dict(_their_answers(table))
    ours = _our_answers(source)
    wrong = []
    for key, answer in sorted(ours.items()):
        expected = theirs.get(key)
        if expected not in (None, "ambiguous", answer) and key[3] != "__class__":
            wrong.append(f"{path}: {key}: symtable says {expected}, we say {answer}")
    return wrong


def _their_answers(table: symtable.SymbolTable) -> Iterator[tuple[tuple[str, int, str, str], str]]:
    """((kind, line, scope's name, name), 'local' | 'global' | 'free')."""
    seen: dict[tuple[str, int, str], int] = {}
    stack = [table]
    while stack:
        here = stack.pop()
        stack.extend(here.get_children())
        kind, name = _their_kind(here)
        if not kind or (kind == "function" and name == "top"):  # symtable takes that name for the module's
            continue
        scope_key = (kind, here.get_lineno() if kind != "module" else 0, name)
        seen[scope_key] = seen.get(scope_key, 0) + 1
        for symbol in here.get_symbols():
            answer = (
                "free"
                if symbol.is_free()
                else "global"
                if symbol.is_global() and kind != "module"
                else "local"
                if symbol.is_local()
                else "global"
            )
            if kind == "module":
                answer = (
                    "local"
                    if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
                    else "global"
                )
            key = (*scope_key, symbol.get_name())
            yield key, answer if seen[scope_key] == 1 else "ambiguous"


def _their_kind(table: symtable.SymbolTable) -> tuple[str, str]:
    kind, name = str(table.get_type()), table.get_name()
    if kind == "function" and name in COMPREHENSIONS:
        return "comprehension", ""
    if kind == "function" and name == "lambda":
        return "lambda", ""
    return (kind, "" if kind == "module" else name) if kind in ("module", "class", "function") else ("", "")


def _our_answers(source: Source) -> dict[tuple[str, int, str, str], str]:
    answers: dict[tuple[str, int, str, str], str] = {}
    clashing: dict[tuple[str, int, str], Scope] = {}
    for name in sorted(set(WORD.findall(source.document.text))):
        names = source.names(name)
        for site in source.sites(name):
            if site.role not in USES:
                continue
            scope = site.scope
            if scope.kind == "types":
                continue
            key = _our_key(source, scope)
            if clashing.setdefault(key, scope) is not scope:
                answers[(*key, site.spelling)] = "ambiguous"
                continue
            owner = names.scope_of(scope, site.spelling)
            answers[(*key, site.spelling)] = _word(scope, owner)
    return {key: answer for key, answer in answers.items() if answer != "ambiguous"}


def _our_key(source: Source, scope: Scope) -> tuple[str, int, str]:
    if scope.kind == "module":
        return ("module", 0, "")
    line = scope.node.start_point[0] + 1
    parent = scope.node.parent
    if parent is not None and parent.type == "decorated_definition" and sys.version_info < (3, 8):
        line = parent.start_point[0] + 1
    return (scope.kind, line, scope.name if scope.kind in ("class", "function") else "")


def _word(scope: Scope, owner: Scope | None) -> str:
    if owner is None or (owner.kind == "module" and scope.kind != "module"):
        return "global"
    return "local" if owner is scope else "free"
