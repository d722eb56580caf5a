"""Scopes are Python's: on installed packages every name of every file, against `ast` and `symtable`.

The packages are those that `make` installs, found as imports are. LSPTOOLS_HYPOTHESIS_PROFILE=nightly adds all that is
installed beside them, and the standard library. A floor under the number of names keeps the law from being empty.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

import pytest
from laws.packages import files_of, nightly_packages
from laws.symtable_witness import compare

from lsptools.languages.python import roles, scopes
from lsptools.languages.python.roles import BINDING, DECLARING, Path, Role
from lsptools.languages.python.scopes import Names, Scope, Source
from lsptools.text.document import Document

FLOORS = {
    # How many names of scopes there must be at least; half of what there was when this was written.
    "click": 2_500,
    "packaging": 2_500,
    "rich": 5_000,
    "_pytest": 9_000,
    "hypothesis": 10_000,
    "hatchling": 2_000,
    "pathspec": 700,
    "platformdirs": 300,
}


@pytest.mark.parametrize("package", [*FLOORS, *nightly_packages(FLOORS)])
def test_scopes_are_those_of_the_compiler(
    package: str, record_property: Callable[[str, object], None]
) -> None:
    n_files = n_names = n_occurrences = 0
    wrong: list[str] = []
    for path in files_of(package):
        found = compare(path.read_bytes(), str(path))
        if found is not None:
            n_files += 1
            n_names += found.n_names
            n_occurrences += found.n_occurrences
            wrong.extend(found.wrong)
    figures = f"{package}: {n_names} names in scopes, {n_occurrences} occurrences, {n_files} files"
    record_property("law", figures)
    print(figures)
    assert not wrong, "\n".join([figures, *wrong[:40]])
    assert n_names >= FLOORS.get(package, 1), figures


TRICKY = {
    "a class body reads what is outside of it": """
x = 1
class A:
    x = x
    def f(self): return x
    y = [x for _ in range(x)]
""",
    "an attribute of a class is assigned, no type alias": """
class A:
    def f(self, value):
        type(self).count = value
        type(self)._cache[value] = value; type (value).x = 1
        if value: type(self).y: int = 2
""",
    "a name and a format": """
def f(x, width):
    return f"{x:=10}" + f"{x:=^{width}}" + f"{(x:=5)}" + f"{x=}"
""",
    "an annotation of a name in brackets binds nothing": """
x = 0
def f():
    (x): int
    return x
""",
    "the cell of a class": """
class A:
    __class__ = 1
    def f(self):
        def g(): return __class__
        return __class__, super().f
__class__ = 2
def h(): return __class__
class B: x = __class__
""",
    "global here, and unbound": """
def f():
    global x, y
    def g(): return x
    return x
def h(): return x, y
def k():
    global y
    y = 1
""",
    "nonlocal through functions": """
def f():
    x = 1
    class A:
        nonlocal x
        x = 2
        def g(self):
            nonlocal x
            x = 3
            return [x := 4 for _ in ()]
    return lambda x=x: x
""",
    "private names": """
class __A:
    def __f(self, __x): return self.__f(__x, __x=1)
    class _B:
        __y = __x = 1
        import __z, __z.__w
        def g(self): return __y, __z
class __:
    __x = 1
""",
    "comprehensions in each other": """
def f(a, b):
    return [[x for x in y if (z := x)] for y in a for a in y], {b: c for b, c in {b for b in b}}, z
class A:
    a = b = 1
    c = [a for a in a for b in b]
""",
    "patterns": """
def f(x):
    match x:
        case {"a": a, **rest}: return a, rest
        case [b, *others] | (b, others): return b
        case A(c=d) as e: return d, e
        case A.B | None | 1: return A
        case _: return x
""",
    "targets of all kinds": """
def f(v):
    for a, (b, *c) in v: pass
    with v as (d, e), v as g.h, v as i[j]: pass
    try: pass
    except A as k: del k
    import l.m, n.o as p
    from q import r, s as t
    u: int
    w: int = 1
    y += 1
    async def z(): pass
    del aa, (bb, cc.dd), ee[ff]
""",
    "letters that are folded": """
ﬁ = 1
def f(): return fi, ﬁ
עִברִית = 2
class A: x = עִברִית
""",
    "defaults, decorators and annotations are outside": """
a = b = c = d = 1
@a
def f(a=b, *b: c, c=lambda a=a: a, **d: d) -> a:
    return a, b, c, d
@b
class A(a, metaclass=b):
    a: c = a
    def f(self, a: a = a) -> a: return a
""",
    "annotations that are not evaluated": """
from __future__ import annotations
def f(x: [y for y in z], y: (lambda w: w)) -> f: return x
class A:
    A: A
    def f(self, y: f) -> A: return f
""",
}
TRICKY_3_12 = {
    "type parameters": """
T = 1
def f[T: (int, T), *Ts, **P](x: T = T, *y: Ts) -> P: return T
class A[T](B[T], metaclass=T):
    U = T
    def g[U](self, x: U = U) -> U: return U, T
    type X[V] = V | U | T
    type Y = U
type N[T] = (lambda: T, [T for _ in T])
class C:
    class D[__T, U](A[__T], __B): x = __T
type L[T: U] = list[T]
type M = list[M]
""",
    "strings in strings": """
def f(x): return f"{[x for x in f'{x}'] if (lambda y: f'{y}') else {x: x for x in x}}"
""",
}
TRICKY_3_13 = {
    "type parameters with defaults": """
U = 1
def f[T = U, *Ts = *U, **P = [U]](x: T): return T
def h[T: (U, int) = U, *Ts, **P = U, # [
      V = dict[T, U]](x: T, *Ts: *Ts): return V
class B[*Ts = U](A[*Ts]): pass
type X[*Ts, **P = U] = tuple[*Ts]
class A[T: U = U]:
    V = T
    def g[W = V](self): return W
""",
}
if sys.version_info >= (3, 12):
    TRICKY |= TRICKY_3_12
if sys.version_info >= (3, 13):
    TRICKY |= TRICKY_3_13


@pytest.mark.parametrize("code", TRICKY.values(), ids=TRICKY)
def test_scopes_of_tricky_code(code: str) -> None:
    found = compare(code.encode(), "tricky.py")
    assert found is not None
    assert not found.wrong, "\n".join(found.wrong)


def no_class_is_passed_over(self: Names, scope: Scope | None, spelling: str) -> Scope | None:
    while scope is not None and (scope, spelling) not in self.bound:
        scope = scope.parent
    return scope


def every_other(text: str, name: str) -> Iterator[int]:
    return (found.start() for found in [*re.finditer(rf"\b{name}\b", text)][1::2])


PLANTED: dict[str, tuple[object, str, object]] = {
    "functions see the names of their class": (Names, "scope_of", no_class_is_passed_over),
    "defaults are inside": (scopes, "_parameter_scope", lambda node, field, scope: scope),
    "the first iterable is inside": (scopes, "_is_first_clause", lambda node: False),
    "comprehensions are no scopes": (scopes, "_COMPREHENSIONS", frozenset()),
    "private names are not mangled": (scopes, "mangled", lambda name, scope: name),
    "global and nonlocal do nothing": (Names, "_move_declared", lambda self: None),
    "half of the bindings are overlooked": (scopes, "_may_bind", every_other),
}
ROLES_TO_MISS = sorted(
    BINDING - {Role.TYPE_PARAMETER, Role.TYPE_ALIAS} | DECLARING, key=lambda role: role.name
)


@pytest.mark.parametrize("where, attribute, planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_error_is_seen(
    where: object, attribute: str, planted: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, attribute, planted)
    assert any_is_wrong()


@pytest.mark.parametrize("missed", ROLES_TO_MISS)
def test_a_missed_role_is_seen(missed: Role, monkeypatch: pytest.MonkeyPatch) -> None:
    def role_of(path: Path) -> Role:
        role = roles.role_of(path)
        return Role.READ if role is missed else role

    monkeypatch.setattr(scopes, "role_of", role_of)
    assert any_is_wrong()


def any_is_wrong() -> bool:
    found = [compare(code.encode(), "tricky.py") for code in TRICKY.values()]
    return any(each is not None and each.wrong for each in found)


@pytest.mark.parametrize(
    "code, is_broken",
    [
        ("def f():\n    x = 1\n", False),
        ("def f(:\n    x = 1\n", True),
        ("x = [1, 2\n", True),
        ("def f[T = int](x: T): pass\n", False),
        ("def f():\n    (a.\nb)\n", True),  # Python parses it, the grammar loses its scopes
    ],
)
def test_a_file_that_does_not_parse_is_broken(code: str, is_broken: bool) -> None:
    assert Source("a.py", Document.decode(code.encode())).is_broken is is_broken
