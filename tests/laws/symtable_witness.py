"""Every name of a file as Python's own compiler scopes it, against ours: two views brought to one form and compared.

Python's view: `ast` says which identifiers there are and in which scope each stands, `symtable` says what binds a name
there. Ours: the sites of every word and `Names.scope_of`. They are compared in three ways, each exact:

1. the scopes are the same: kind, name, the byte they begin at, nesting;
2. each scope has the same occurrences: how often a name is bound, read and declared in it;
3. each name of each scope has the same owner: which scope binds it, or none in the file.

What the standard library cannot show, this module works out by its own reading of the rules: comprehensions that
Python 3.12 merges into the scope around them, annotations under `from __future__ import annotations` and those of
Python 3.14, which have no table of their own (`Seen.table` is None).
"""

from __future__ import annotations

import _symtable
import ast
import re
import symtable
import unicodedata
import warnings
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

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
    """Both views of one file; None when this Python does not compile it, or we do not claim to read it."""
    document = Document.decode(data)
    text = document.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, path)
            table = symtable.symtable(text, path, "exec")
    except UNFIT:
        return None
    theirs = Walk(table)
    theirs.module(tree)
    source = Source(path, document)
    if source.is_broken:
        return None
    ours = _our_scopes(source)
    wrong = [f"{path}:{line}" for line in ours.wrong]
    pairs, differing = _paired(source, ours, theirs)
    wrong.extend(f"{path}:{line}" for line in differing)
    n_names = n_occurrences = 0
    if not differing:
        counterpart: dict[Seen | None, Scope] = {
            view: mine for mine, seen in pairs for view in (seen, *seen.lent)
        }
        for mine, seen in pairs:
            n_names += len({name for name, _ in ours.names[mine]})
            n_occurrences += sum(ours.names[mine].values())
            wrong.extend(f"{path}:{line}" for line in _compared(ours, mine, seen, counterpart))
    return Comparison(n_names, n_occurrences, tuple(wrong))


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
            ours.wrong.append(f"1: not all that binds `{word}` was found: {_as_starts(names)}")
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
    if text.isascii():
        return (word for word in set(WORD.findall(text)) if not word[0].isdigit())
    # An identifier may have characters that are not `\\w`, such as the points of Hebrew.
    between = {ord(each): " " for each in set(text) if not f"a{each}".isidentifier()}
    folded = (unicodedata.normalize("NFKC", word) for word in set(text.translate(between).split()))
    return {word for word in folded if word.isidentifier()}


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
class Seen:
    """One scope in Python's view."""

    kind: str
    name: str
    parent: Seen | None
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
    inner: list[Seen] = field(default_factory=list)
    lent: list[Seen] = field(default_factory=list)
    """Scopes that are one with this in our view: the bound of a type variable, the value of a type alias."""
    private: str = ""
    """The class whose private names are mangled here."""
    type_parameters: frozenset[str] | None = None
    """In the scope of a class's type parameters: their names, the only ones that are mangled with the class's."""
    globals: dict[str, bool] = field(default_factory=dict)
    """Of the module: which names were found to be bound in it, and which not."""

    def is_empty(self) -> bool:
        return not self.names and all(scope.is_empty() for scope in (*self.inner, *self.lent))

    def below(self) -> Iterator[Seen]:
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


class Walk:
    """Follows the syntax tree in the order in which the compiler enters scopes."""

    def __init__(self, table: symtable.SymbolTable) -> None:
        top = _Table(table)
        self.module_scope = Seen("module", "", None, (0, 0), (0, 0, 0), table=top, holder=top)
        self.here = self.module_scope
        self.n_scopes = 0
        self.string: Any = None
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

    def note(self, name: str, use: str, scope: Seen | None = None) -> None:
        scope = scope or self.here
        scope.names[mangled_by(scope, name), use] += 1

    # ------------------------------------------------------------------ scopes

    def scope(self, kind: str, node: ast.AST, name: str) -> Seen:
        """A new scope inside the one we are in, still without its table."""
        self.n_scopes += 1
        place = (node.lineno, node.col_offset)  # type: ignore[attr-defined] # only nodes that have a place make scopes
        at = place if self.string is None else (self.string.lineno, self.string.col_offset)
        made = Seen(kind, name, self.here, place, (*at, self.n_scopes), self.string is None)
        made.private = name if kind == "class" else self.here.private
        return made

    def enter(self, scope: Seen, table_kind: str, table_name: str, *, lent: bool = False) -> None:
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


def mangled_by(scope: Seen, name: str) -> str:
    """A name as it is bound in a scope: the private ones of a class with its name in front."""
    private = scope.private
    if scope.type_parameters is not None and name not in scope.type_parameters:
        private = scope.parent.private if scope.parent is not None else ""
    return _mangled(name, private)


def _mangled(name: str, private: str) -> str:
    bare = private.lstrip("_")
    return f"_{bare}{name}" if bare and name.startswith("__") and not name.endswith("__") else name


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(kind._fields)


_LAZY_ANNOTATIONS = hasattr(ast, "TemplateStr")  # Python 3.14
_TRUSTED_STRINGS = hasattr(ast, "TypeAlias")  # Python 3.12: f-strings are parsed like all else


def _name(walk: Walk, node: ast.Name) -> None:
    walk.note(node.id, "read" if isinstance(node.ctx, ast.Load) else "bind")


def _function(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
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


def _type_parameters(walk: Walk, node: Any, name: str) -> bool:
    """Enter the scope of a definition's type parameters, if it has any."""
    parameters: list[Any] = getattr(node, "type_params", [])
    if not parameters:
        return False
    scope = walk.scope("types", node, "")
    if isinstance(node, ast.ClassDef):
        scope.private = node.name
        scope.type_parameters = frozenset(parameter.name for parameter in parameters)
    walk.enter(scope, "types", name)
    for parameter in parameters:
        walk.note(parameter.name, "bind")
        for value in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
            if value is not None:
                walk.enter(walk.scope("types", parameter, ""), "types", parameter.name, lent=True)
                walk.visit(value)
                walk.leave()
    return True


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _class(walk: Walk, node: ast.ClassDef) -> None:
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


def _lambda(walk: Walk, node: ast.Lambda) -> None:
    scope = walk.scope("lambda", node, "<lambda>")
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    walk.enter(scope, "function", "lambda")
    for argument in _arguments(node.args):
        walk.note(argument.arg, "bind")
    walk.visit(node.body)
    walk.leave()


def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
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


def _walrus(walk: Walk, node: ast.NamedExpr) -> None:
    scope = walk.here
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    walk.note(node.target.id, "bind", scope)
    walk.visit(node.value)


def _type_alias(walk: Walk, node: Any) -> None:
    walk.visit(node.name)
    name: str = node.name.id
    has_types = _type_parameters(walk, node, name)
    walk.enter(walk.scope("types", node, ""), "types", name, lent=has_types)
    walk.visit(node.value)
    walk.leave()
    if has_types:
        walk.leave()


def _annotated(walk: Walk, node: ast.AnnAssign) -> None:
    if isinstance(node.target, ast.Name) and not node.simple and node.value is None:
        walk.note(node.target.id, "read")  # in brackets; it is neither bound nor read
    else:
        walk.visit(node.target)
    walk.annotation([node.annotation])
    if node.value is not None:
        walk.visit(node.value)


def _import(walk: Walk, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
        if bound != "*":
            walk.note(bound, "bind")


def _declaration(walk: Walk, node: ast.Global | ast.Nonlocal) -> None:
    for name in node.names:
        walk.note(name, "declare")


def _named(attribute: str) -> Callable[[Walk, ast.AST], None]:
    def handler(walk: Walk, node: ast.AST) -> None:
        name: str | None = getattr(node, attribute)
        if name is not None:
            walk.note(name, "bind")
        walk.inside(node)

    return handler


def _string(walk: Walk, node: ast.AST) -> None:
    if _TRUSTED_STRINGS or walk.string is not None:
        walk.inside(node)
        return
    walk.string = node
    walk.inside(node)
    walk.string = None


# `Any`: each handler takes the one class of nodes that it stands under.
_HANDLERS: dict[type[ast.AST], Callable[[Walk, Any], None]] = {
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
}
if hasattr(ast, "TypeAlias"):
    _HANDLERS[ast.TypeAlias] = _type_alias


# ---------------------------------------------------------------------------------------------------- owners


def owner_of(scope: Seen, name: str) -> Seen | None:
    """The scope whose binding a name in a scope means; None: the file does not bind it there."""
    if scope.kind == "module":
        return _module_of(scope, name)
    kind = _kind_in(scope, name)
    if kind == 0:
        return _read_outwards(scope, name)
    if kind in _BOUND_HERE:
        return scope
    if kind == _symtable.FREE:
        return _cell(scope, name)
    if kind == _symtable.GLOBAL_IMPLICIT:
        around = _class_seen_from(scope)
        if around is not None and _kind_in(around, name) in _BOUND_HERE:
            return around
    return _module_of(scope, name)


_BOUND_HERE = frozenset({_symtable.LOCAL, _symtable.CELL})


def _kind_in(scope: Seen, name: str) -> int:
    """`LOCAL`, `CELL`, `FREE`, … by the table of a scope; 0: it does not say."""
    flags = scope.table.flags.get(name, 0) if scope.table is not None else 0
    kind: int = (flags >> _symtable.SCOPE_OFF) & _symtable.SCOPE_MASK
    return kind


def _owns(scope: Seen, name: str) -> bool:
    """Does a scope bind a name for the scopes inside of it? A merged comprehension leaves its own in the table around."""
    if (name, "bind") not in scope.names:
        return False
    return scope.table is None or _kind_in(scope, name) in _BOUND_HERE


def _cell(scope: Seen, name: str) -> Seen | None:
    """The function around in which a free name lives. That of `__class__` is a class, and not bound by any text."""
    here = scope.parent
    while here is not None and not (here.kind == "class" and name == "__class__"):
        if here.kind not in ("class", "module") and _owns(here, name):
            return here
        here = here.parent
    return None


def _read_outwards(scope: Seen, name: str) -> Seen | None:
    """What a name means where there is no table: what it would mean in the scope around, unless it is bound here."""
    here = scope
    while here.parent is not None:
        if here.kind != "class" or here is scope or _class_seen_from(scope) is here:
            if _owns(here, name):
                return here
            if (_kind_in(here, name) and (name, "read") in here.names) or (name, "declare") in here.names:
                return owner_of(here, name)
        elif name == "__class__":
            return None
        here = here.parent
    return _module_of(here, name)


def _class_seen_from(scope: Seen) -> Seen | None:
    """The class whose names an annotation scope in its body sees."""
    here: Seen | None = scope
    while here is not None and here.kind == "types":
        here = here.parent
    return here if here is not None and here.kind == "class" and here is not scope else None


def _module_of(scope: Seen, name: str) -> Seen | None:
    """The module's scope if the file binds the name in it, or says here that somebody does (`global`)."""
    first, is_declared = scope, False
    while scope.parent is not None:
        if scope is first or scope.kind != "class":
            is_declared |= (name, "declare") in scope.names
        scope = scope.parent
    if name not in scope.globals:
        scope.globals[name] = _binds_globally(scope, name)
    return scope if is_declared or scope.globals[name] else None


def _binds_globally(scope: Seen, name: str) -> bool:
    if (name, "bind") in scope.names and (
        scope.parent is None or _kind_in(scope, name) == _symtable.GLOBAL_EXPLICIT
    ):
        return True
    return any(_binds_globally(inner, name) for inner in (*scope.inner, *scope.lent))


# ---------------------------------------------------------------------------------------------------- comparing


def _paired(source: Source, ours: _Ours, theirs: Walk) -> tuple[list[tuple[Scope, Seen]], list[str]]:
    """The scopes of both views, each with its counterpart, and what is wrong with them."""
    mine = sorted(ours.names, key=lambda scope: (scope.start, -scope.end, _depth(scope)))
    mine.remove(source.module_scope)
    mine.insert(0, source.module_scope)
    seen = sorted(theirs.module_scope.below(), key=lambda scope: scope.order)
    starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", source.bytes))]
    wrong: list[str] = []
    host = {lent: scope for scope in seen for lent in scope.lent}
    counterpart: dict[Seen, Scope] = {}
    for one, other in zip(mine, seen, strict=False):
        counterpart[other] = one
        line = bisect_right(starts, one.start)
        parent = host.get(other.parent, other.parent) if other.parent is not None else None
        if (one.kind, one.name) != (other.kind, other.name):
            wrong.append(f"{line}: {other.kind} {other.name} in line {other.place[0]} is {one} to us")
        elif parent is not None and counterpart[parent] is not one.parent:
            wrong.append(f"{line}: {one} is not in {one.parent} but in {counterpart[parent]}")
        elif other.is_exact and parent and starts[other.place[0] - 1] + other.place[1] != one.start:
            wrong.append(f"{line}: {one} begins at {other.place[0]}:{other.place[1]}")
        if wrong:
            break
    if not wrong and len(mine) != len(seen):
        wrong.append(f"1: {len(seen)} scopes are {len(mine)} to us")
    return list(zip(mine, seen, strict=False)), wrong


def _depth(scope: Scope) -> int:
    return 0 if scope.parent is None else 1 + _depth(scope.parent)


def _compared(ours: _Ours, mine: Scope, seen: Seen, counterpart: dict[Seen | None, Scope]) -> Iterator[str]:
    """What differs in one scope: occurrences, then owners."""
    line = seen.place[0] or 1
    expected = seen.names.copy()
    for lent in seen.lent:
        expected += lent.names
    found = ours.names[mine]
    if found != expected:
        for (name, use), n in sorted((expected - found).items()):
            yield f"{line}: {mine} should {use} `{name}` {n} times more"
        for (name, use), n in sorted((found - expected).items()):
            yield f"{line}: {mine} should {use} `{name}` {n} times less"
    for view in (seen, *seen.lent):
        for name in sorted({name for name, _ in view.names}):
            if name not in ours.by_spelling:
                continue  # said above
            owner = counterpart.get(owner_of(view, name))
            answer = ours.owner(mine, name)
            if owner is not answer:
                yield f"{line}: `{name}` in {mine} is bound by {owner}, to us by {answer}"
