"""Every name of a file as Python's own compiler scopes it, against ours: two views brought to one form and compared.

Python's view: `ast` says which identifiers there are and in which scope each stands, `symtable` says what binds a name
there. Ours: the sites of every word and `Names.scope_of`. They are compared in three ways, each exact:

1. the scopes are the same: kind, name, the byte they begin at, nesting;
2. each scope has the same occurrences: how often a name is bound, read and declared in it;
3. each name of each scope has the same owner: which scope binds it, or none in the file.

What the standard library cannot show, this module works out by its own reading of the rules: comprehensions that
Python 3.12 merges into the scope around them, annotations under `from __future__ import annotations` and those of
Python 3.14, which have no table of their own (`_Seen.table` is None).
"""

from __future__ import annotations

import ast
import re
import symtable
import unicodedata
import warnings
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import _symtable
from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Names, Scope, Source
from lsptools.text.document import Document

WORD = re.compile(r"\w+")
TYPE_TABLES = frozenset({"type parameter", "type parameters", "TypeVar bound", "type variable", "type alias"})
UNFIT = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast` and `symtable` raise for a file that this Python does not compile."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of one file: how many names of scopes and how many occurrences were compared, and what differs."""

    n_names: int
    n_occurrences: int
    wrong: tuple[str, ...]


def compare(data: bytes, path: str) -> Comparison | None:
    """Both views of one file; None when this Python does not compile it."""
    document = Document.decode(data)
    text = document.text.lstrip("\ufeff")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, path)
            table = symtable.symtable(text, path, "exec")
    except UNFIT:
        return None
    theirs = _Walk(table)
    theirs.module(tree)
    source = Source(path, document)
    ours = _our_scopes(source)
    wrong = [f"{path}:{line}" for line in ours.wrong]
    paired, differing = _paired(source, ours, theirs)
    wrong.extend(f"{path}:{line}" for line in differing)
    n_names = 0
    if not differing:
        for mine, seen in paired:
            n_names += len(ours.names[mine])
            wrong.extend(f"{path}:{line}" for line in _compared(ours, mine, seen, dict(paired)))
    return Comparison(n_names, sum(theirs.module_scope.all_names().values()), tuple(wrong))


# ---------------------------------------------------------------------------------------------------- ours


@dataclass(slots=True)
class _Ours:
    """Our view: the occurrences of each scope, and how to ask for a name's owner."""

    source: Source
    names: dict[Scope, Counter[tuple[str, str]]] = field(default_factory=dict)
    """For each scope: (name as bound, `bind` | `read` | `declare`) and how often."""
    by_spelling: dict[str, Names] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def owner(self, scope: Scope, spelling: str) -> Scope | None:
        return self.by_spelling[spelling].scope_of(scope, spelling)


def _our_scopes(source: Source) -> _Ours:
    ours = _Ours(source, {source.module_scope: Counter()})
    for word in sorted(_words(source.document.text)):
        names = source.names(word)  # asked for before the sites are known, it reads only those that can bind
        sites = source.sites(word)
        if _as_starts(names) != _as_starts(Names(sites)):
            ours.wrong.append(f" the bindings of {word} are incomplete: {_as_starts(names)}")
        for site in sites:
            use = _USES.get(site.role)
            if use is None:
                continue
            ours.by_spelling[site.spelling] = names
            scope: Scope | None = site.scope
            while scope is not None and scope not in ours.names:
                ours.names[scope] = Counter()
                scope = scope.parent
            ours.names[site.scope][site.spelling, use] += 1
    return ours


def _words(text: str) -> Iterable[str]:
    words = set(WORD.findall(text))
    if text.isascii():
        return (word for word in words if not word[0].isdigit())
    return {folded for word in words if (folded := unicodedata.normalize("NFKC", word)).isidentifier()}


def _as_starts(names: Names) -> dict[tuple[Scope, str], list[int]]:
    bound = {key: [site.start for site in sites] for key, sites in names.bound.items()}
    return bound | {key: [-site.start] for key, site in names.declared.items() if key not in bound}


_USES: dict[Role, str] = {
    Role.READ: "read",
    **dict.fromkeys(BINDING, "bind"),
    **dict.fromkeys(DECLARING, "declare"),
}


# ---------------------------------------------------------------------------------------------------- Python's


@dataclass(eq=False, slots=True)
class _Seen:
    """One scope in Python's view."""

    kind: str
    name: str
    parent: _Seen | None
    place: tuple[int, int]
    """Line and column in bytes, as `ast` has them."""
    order: tuple[int, int, int]
    """Where it stands among the scopes of the file; inside an f-string before Python 3.12 that of the string, then counted."""
    is_exact: bool = True
    """Does `place` say where it begins?"""
    table: _Table | None = None
    holder: _Table | None = None
    """The table among whose children those of inner scopes are looked for."""
    names: Counter[tuple[str, str]] = field(default_factory=Counter)
    inner: list[_Seen] = field(default_factory=list)
    lent: list[_Seen] = field(default_factory=list)
    """Scopes that are one with this in our view: the bound of a type variable, the value of a type alias."""
    private: str = ""
    """The class whose private names are mangled here."""

    def all_names(self) -> Counter[tuple[str, str]]:
        found = self.names.copy()
        for scope in (*self.inner, *self.lent):
            found += scope.all_names()
        return found

    def is_empty(self) -> bool:
        return not self.names and all(scope.is_empty() for scope in (*self.inner, *self.lent))

    def below(self) -> Iterator[_Seen]:
        """All scopes in this one that our view knows, itself included, unless nothing is in them."""
        if not self.is_empty() or self.kind == "module":
            yield self
            for scope in (*self.inner, *(each for lent in self.lent for each in lent.inner)):
                yield from scope.below()


class _Table:
    """A table of `symtable`, with its children by what they are."""

    def __init__(self, table: symtable.SymbolTable) -> None:
        raw = table._table  # type: ignore[attr-defined] # flags as they are; the public class misreads functions called `top`
        self.flags: dict[str, int] = raw.symbols
        self.children: dict[tuple[str, str, int], deque[_Table]] = {}
        for child in table.get_children():
            kind = str(getattr(child.get_type(), "value", child.get_type()))
            key = ("types" if kind in TYPE_TABLES else kind, child.get_name(), child.get_lineno())
            self.children.setdefault(key, deque()).append(_Table(child))

    def take(self, kind: str, name: str, line: int) -> _Table | None:
        waiting = self.children.get((kind, name, line))
        return waiting.popleft() if waiting else None


class _Walk:
    """Follows the syntax tree in the order in which the compiler enters scopes."""

    def __init__(self, table: symtable.SymbolTable) -> None:
        top = _Table(table)
        self.module_scope = _Seen("module", "", None, (0, 0), (0, 0, 0), table=top, holder=top)
        self.here = self.module_scope
        self.n_scopes = 0
        self.string: ast.AST | None = None
        """The outermost f-string around, where positions inside of one are not to be trusted."""
        self.is_future = False

    def module(self, tree: ast.Module) -> None:
        self.is_future = any(
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and any(alias.name == "annotations" for alias in statement.names)
            for statement in tree.body
        )
        self.visit_all(tree.body)

    def visit(self, node: ast.AST) -> None:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node)
        else:
            self.inside(node)

    def inside(self, node: ast.AST) -> None:
        for name in _fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self.visit(value)
            elif isinstance(value, list):
                self.visit_all(value)

    def visit_all(self, nodes: Sequence[ast.AST | None]) -> None:
        for node in nodes:
            if isinstance(node, ast.AST):
                self.visit(node)

    def note(self, name: str, use: str, scope: _Seen | None = None) -> None:
        scope = scope or self.here
        scope.names[_mangled(name, scope.private), use] += 1

    # ------------------------------------------------------------------ scopes

    def scope(self, kind: str, node: ast.AST, name: str) -> _Seen:
        """A new scope inside the one we are in, still without its table."""
        self.n_scopes += 1
        place = (node.lineno, node.col_offset)  # type: ignore[attr-defined] # only nodes that have a place make scopes
        at = place if self.string is None else (self.string.lineno, self.string.col_offset)  # type: ignore[attr-defined]
        made = _Seen(kind, name, self.here, place, (*at, self.n_scopes), self.string is None)
        made.private = name if kind == "class" else self.here.private
        return made

    def enter(self, scope: _Seen, table_kind: str, table_name: str, *, lent: bool = False) -> None:
        """Find its table, and go in. A comprehension without one was merged into the table around it."""
        outer = self.here
        (outer.lent if lent else outer.inner).append(scope)
        if outer.holder is not None:
            scope.table = outer.holder.take(table_kind, table_name, scope.place[0])
        scope.holder = scope.table or (outer.holder if scope.kind == "comprehension" else None)
        self.here = scope

    def leave(self) -> None:
        assert self.here.parent is not None
        self.here = self.here.parent

    def annotation(self, nodes: Iterable[ast.AST | None]) -> None:
        """Annotations, which have no table when they are not evaluated, or are so later."""
        if not (self.is_future or _LAZY_ANNOTATIONS):
            self.visit_all(list(nodes))
            return
        # The names count where they stand; scopes inside have no tables either.
        holder, self.here.holder = self.here.holder, None
        self.visit_all(list(nodes))
        self.here.holder = holder


def _mangled(name: str, private: str) -> str:
    bare = private.lstrip("_")
    return f"_{bare}{name}" if bare and name.startswith("__") and not name.endswith("__") else name


@lru_cache(maxsize=None)
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(kind._fields)


_LAZY_ANNOTATIONS = not hasattr(ast, "Num") and hasattr(ast, "TemplateStr")  # Python 3.14
_TRUSTED_STRINGS = hasattr(ast, "TypeAlias")  # Python 3.12: f-strings are parsed like all else


def _name(walk: _Walk, node: ast.Name) -> None:
    walk.note(node.id, "read" if isinstance(node.ctx, ast.Load) else "bind")


def _function(walk: _Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    walk.note(node.name, "bind")
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    walk.visit_all(node.decorator_list)
    has_types = _type_parameters(walk, node, node.name)
    arguments = _arguments(node.args)
    walk.annotation([*(argument.annotation for argument in arguments), node.returns])
    walk.enter(walk.scope("function", node, node.name), "function", node.name)
    for argument in arguments:
        walk.note(argument.arg, "bind")
    walk.visit_all(node.body)
    walk.leave()
    if has_types:
        walk.leave()


def _type_parameters(walk: _Walk, node: ast.AST, name: str) -> bool:
    """Enter the scope of a definition's type parameters, if it has any."""
    parameters: list[ast.AST] = getattr(node, "type_params", [])
    if not parameters:
        return False
    scope = walk.scope("types", node, "")
    if isinstance(node, ast.ClassDef):
        scope.private = node.name
    walk.enter(scope, "types", name)
    for parameter in parameters:
        walk.note(parameter.name, "bind")  # type: ignore[attr-defined] # Python 3.12's nodes
        for value in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
            if value is not None:
                walk.enter(walk.scope("types", parameter, ""), "types", parameter.name, lent=True)  # type: ignore[attr-defined]
                walk.visit(value)
                walk.leave()
    return True


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _class(walk: _Walk, node: ast.ClassDef) -> None:
    walk.note(node.name, "bind")
    walk.visit_all(node.decorator_list)
    has_types = _type_parameters(walk, node, node.name)
    walk.visit_all(node.bases)
    walk.visit_all(node.keywords)
    walk.enter(walk.scope("class", node, node.name), "class", node.name)
    walk.visit_all(node.body)
    walk.leave()
    if has_types:
        walk.leave()


def _lambda(walk: _Walk, node: ast.Lambda) -> None:
    scope = walk.scope("lambda", node, "<lambda>")
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    walk.enter(scope, "function", "lambda")
    for argument in _arguments(node.args):
        walk.note(argument.arg, "bind")
    walk.visit(node.body)
    walk.leave()


def _comprehension(walk: _Walk, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
    scope = walk.scope("comprehension", node, "<comprehension>")
    first, *others = node.generators
    walk.visit(first.iter)
    walk.enter(scope, "function", _COMPREHENSIONS[type(node)])
    walk.visit(first.target)
    walk.visit_all(first.ifs)
    walk.visit_all(others)
    if isinstance(node, ast.DictComp):
        walk.visit_all([node.value, node.key])
    else:
        walk.visit(node.elt)
    walk.leave()


_COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


def _walrus(walk: _Walk, node: ast.NamedExpr) -> None:
    scope = walk.here
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    walk.note(node.target.id, "bind", scope)
    walk.visit(node.value)


def _type_alias(walk: _Walk, node: ast.AST) -> None:
    walk.visit(node.name)  # type: ignore[attr-defined] # Python 3.12's node
    name: str = node.name.id  # type: ignore[attr-defined]
    has_types = _type_parameters(walk, node, name)
    walk.enter(walk.scope("types", node, ""), "types", name, lent=has_types)
    walk.visit(node.value)  # type: ignore[attr-defined]
    walk.leave()
    if has_types:
        walk.leave()


def _annotated(walk: _Walk, node: ast.AnnAssign) -> None:
    walk.visit(node.target)
    walk.annotation([node.annotation])
    if node.value is not None:
        walk.visit(node.value)


def _import(walk: _Walk, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
        if bound != "*":
            walk.note(bound, "bind")


def _declaration(walk: _Walk, node: ast.Global | ast.Nonlocal) -> None:
    for name in node.names:
        walk.note(name, "declare")


def _named(attribute: str) -> Callable[[_Walk, ast.AST], None]:
    def handler(walk: _Walk, node: ast.AST) -> None:
        name: str | None = getattr(node, attribute)
        if name is not None:
            walk.note(name, "bind")
        walk.inside(node)

    return handler


def _string(walk: _Walk, node: ast.AST) -> None:
    if _TRUSTED_STRINGS or walk.string is not None:
        walk.inside(node)
        return
    walk.string = node
    walk.inside(node)
    walk.string = None


# Typed loosely: each handler takes the one class of nodes that it stands under.
_HANDLERS: dict[type[ast.AST], Callable[[_Walk, ast.AST], None]] = {
    ast.Name: _name,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Lambda: _lambda,
    **dict.fromkeys(_COMPREHENSIONS, _comprehension),
    ast.NamedExpr: _walrus,
    ast.AnnAssign: _annotated,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _declaration,
    ast.Nonlocal: _declaration,
    ast.ExceptHandler: _named("name"),
    ast.MatchAs: _named("name"),
    ast.MatchStar: _named("name"),
    ast.MatchMapping: _named("rest"),
    ast.JoinedStr: _string,
}  # type: ignore[assignment]
if hasattr(ast, "TypeAlias"):
    _HANDLERS[ast.TypeAlias] = _type_alias


# ---------------------------------------------------------------------------------------------------- owners


def _owner(walked: _Seen, name: str) -> _Seen | None:
    """The scope whose binding a name in a scope means; None: the file does not bind it there."""
    here: _Seen | None = walked
    is_first = True
    sees_class = True
    while here is not None:
        if here.table is None and here.kind != "class":
            if (name, "bind") in here.names:
                return here
        elif here.table is not None and (here.kind != "class" or sees_class):
            answer = _answer(here, name, is_first)
            if answer == "here":
                return here
            if answer == "module":
                return _module_of(here, name)
            if answer == "implicit":
                return None
        elif here.kind == "class" and name == "__class__":
            return None
        is_first = False
        sees_class = sees_class and here.kind == "types"
        here = here.parent
    return _module_of(walked, name)


def _answer(here: _Seen, name: str, is_first: bool) -> str:
    """What the table of a scope says: `here`, `module`, or empty: look further out."""
    assert here.table is not None
    flags = here.table.flags.get(name, 0)
    scope = (flags >> _symtable.SCOPE_OFF) & _symtable.SCOPE_MASK
    if here.kind == "module":
        return "module"
    if scope in (_symtable.LOCAL, _symtable.CELL):
        # Merged comprehensions leave their variables in the table around them.
        is_merged = not any((name, use) in here.names for use in ("bind", "declare"))
        return "" if is_merged and not is_first else "here"
    if scope == _symtable.GLOBAL_EXPLICIT:
        return "module"
    return ""


def _module_of(scope: _Seen, name: str) -> _Seen | None:
    """The module's scope, if the file binds the name in it, from a function by `global` too."""
    while scope.parent is not None:
        scope = scope.parent
    return scope if _binds_globally(scope, name) else None


def _binds_globally(scope: _Seen, name: str) -> bool:
    if (name, "bind") in scope.names and (scope.parent is None or _declares_global(scope, name)):
        return True
    return any(_binds_globally(inner, name) for inner in (*scope.inner, *scope.lent))


def _declares_global(scope: _Seen, name: str) -> bool:
    if scope.table is None or (name, "declare") not in scope.names:
        return False
    flags = scope.table.flags.get(name, 0)
    return (flags >> _symtable.SCOPE_OFF) & _symtable.SCOPE_MASK == _symtable.GLOBAL_EXPLICIT
