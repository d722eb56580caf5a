"""What each name in a file is bound to by Python's compiler, before and after a rename: two texts, one binding structure.

A rename may change spellings only. So both texts have the same tree; the nth name of one is owned by the same scope as
the nth name of the other; and in each scope two names that were one are one, two that were two are two. The witness is
`symtable` (read by `symtable_witness`), and shares nothing with the finding. It sees names; attributes, keywords and
what a star import brings it does not.

In the body of a class or module the compiler leaves to the run what a name is that is bound further down: until then it
is that of the scope around, or the builtin. So it is here.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from laws.symtable_witness import Seen, Walk, mangled_by, owner_of


@dataclass(frozen=True, slots=True)
class Bound:
    """One name in a file: how the compiler spells it, and which scope binds it (counted as they begin; -1: none here)."""

    name: str
    owner: int


class _Noting(Walk):
    """Keeps the names in the order in which they are met; values come before the targets that they are assigned to."""

    def __init__(self, table: symtable.SymbolTable) -> None:
        super().__init__(table)
        self.met: list[tuple[Seen, str, bool]] = []
        """Scope, name, and whether the scope binds it further down only."""
        self.bound: set[tuple[Seen, str]] = set()

    def note(self, name: str, use: str, scope: Seen | None = None) -> None:
        super().note(name, use, scope)
        here = scope or self.here
        key = (here, mangled_by(here, name))
        if use != "read":
            self.bound.add(key)
        is_early = use == "read" and here.kind in ("class", "module") and key not in self.bound
        self.met.append((*key, is_early))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            self.visit(node.value)
            self.visit_all(node.targets)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.visit(node.iter)
            self.visit(node.target)
            self.visit_all([*node.body, *node.orelse])
        else:
            super().visit(node)


@lru_cache(maxsize=2_000)
def bound_names(text: str) -> tuple[Bound, ...]:
    """Every name of a file. Raises what the compiler raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "?", "exec", dont_inherit=True)
        tree = ast.parse(text)
        walk = _Noting(symtable.symtable(text, "?", "exec"))
    walk.module(tree)
    owners: dict[tuple[Seen, str, bool], int] = {}
    for scope, name, is_early in walk.met:
        key = (scope, name, is_early)
        if key not in owners:
            owner = owner_of(scope, name)
            if is_early and owner is scope:
                owner = _around(scope, name)
            owners[key] = owner.order[2] if owner is not None else -1
    return tuple(Bound(key[1], owners[key]) for key in walk.met)


def _around(scope: Seen, name: str) -> Seen | None:
    """What binds the name for a scope that does not, or not yet."""
    while scope.parent is not None and scope.parent.kind == "class":
        scope = scope.parent
    return owner_of(scope.parent, name) if scope.parent is not None else None


def rebound(before: str, after: str) -> Iterator[str]:
    """What a rename did to the bindings of a file: nothing, if it is one."""
    try:
        was = bound_names(before)
    except SyntaxError:
        return  # there was nothing to keep
    try:
        now = bound_names(after)
    except SyntaxError as error:
        yield f"does not compile: {error}"
        return
    if len(was) != len(now):
        yield f"{len(was)} names are {len(now)}"
        return
    forth: dict[tuple[int, str], str] = {}
    back: dict[tuple[int, str], str] = {}
    for n, (one, other) in enumerate(zip(was, now, strict=True)):
        if one.owner != other.owner:
            yield f"name {n}, `{one.name}` of scope {one.owner}, is `{other.name}` of scope {other.owner}"
        elif forth.setdefault((one.owner, one.name), other.name) != other.name:
            yield f"name {n}, `{one.name}` of scope {one.owner}, is `{other.name}`, elsewhere it is not"
        elif back.setdefault((one.owner, other.name), one.name) != one.name:
            yield f"name {n}, `{one.name}` of scope {one.owner}, is one with another `{other.name}`"
