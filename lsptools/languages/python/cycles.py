"""Imports in a circle: which module cannot be loaded, found by loading them in the mind.

The statements of a module are gone through as Python would: names are bound one after the other, an import loads its module
first, and one that is being loaded has only the names bound so far. `from m import name` of a name that is not there
yet is what fails at run time with "partially initialized module", and so does `m.name` in what is evaluated while the
module that says it is loaded: decorators, bases, defaults, class bodies.

Both branches of an `if` are gone through, but not those for type checkers and `__main__`; what stands in a function is not reached; an
import in a `try` may fail without harm. Where it stops: names that are bound at run time (`globals()`, `setattr`), and modules
with a `__getattr__` of their own, are given the benefit of the doubt; a function that is called while a module is loaded
is not gone into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lsptools.languages.python.modules import Module, Project
from lsptools.languages.python.scopes import Source
from lsptools.syntax.quiet import quiet

MOST_MODULES = 3_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An import, or a look into a module, that fails because that module is still being loaded."""

    path: str
    line: int
    name: str
    says: str


@dataclass(slots=True)
class Loadable:
    """The modules of a project as what they do when they are loaded, each gone through once."""

    project: Project
    _steps: dict[str, tuple[_Step, ...]] = field(default_factory=dict)
    _around: dict[str, _Loading] = field(default_factory=dict)

    def steps(self, source: Source) -> tuple[_Step, ...]:
        """What loading a file does; nothing if it does not parse."""
        if source.path not in self._steps:
            self._steps[source.path] = tuple(_steps_of(source))
        return self._steps[source.path]

    def inside(self, folder: str) -> _Loading:
        """What is loaded before anything in a folder is: the packages around it and itself."""
        if folder not in self._around:
            above, _, name = folder.rpartition("/")
            loading = self.inside(above).copy() if name else _Loading(self)
            if name:
                _load(loading, self.project.module_at(folder))
            self._around[folder] = loading
        return self._around[folder]


@dataclass(frozen=True, slots=True)
class _Step:
    """A statement that is carried out when its module is loaded."""

    statement: ast.stmt
    is_guarded: bool
    """Is an import that fails caught?"""
    bound: tuple[str, ...]
    looks: tuple[tuple[int, tuple[str, ...]], ...]
    """Line and parts of the dotted names that it evaluates."""


@dataclass(slots=True)
class _Loading:
    """The modules loaded so far, and those under way."""

    modules: Loadable
    bound: dict[str, set[str]] = field(default_factory=dict)
    """The names of each module, by its place."""
    asked: dict[str, set[str]] = field(default_factory=dict)
    """The places of the modules that each module needs to be loaded, by its place."""
    under_way: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def copy(self) -> _Loading:
        """To go on from here; nothing is under way."""
        return _Loading(self.modules, dict(self.bound), dict(self.asked), [], list(self.failures))


def circular_imports(modules: Loadable, path: str) -> tuple[Failure, ...]:
    """What fails when the module of a file is the first to be imported; the packages around it are loaded before it."""
    return tuple(_loaded(modules, path).failures)


def circle_of(modules: Loadable, path: str) -> tuple[str, ...]:
    """The files of the modules that a file's module needs and that need it, itself included, sorted."""
    asked = _loaded(modules, path).asked
    needing: dict[str, set[str]] = {}
    for place, needed in asked.items():
        for each in needed:
            needing.setdefault(each, set()).add(place)
    found, waiting = set(), [modules.project.module_of(path).place]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting.extend(needing.get(place, ()))
    files = (modules.project.module_at(place).files[:1] for place in found)
    return tuple(sorted({path, *(each for first in files for each in first)}))


def _loaded(modules: Loadable, path: str) -> _Loading:
    if modules.project.source(path) is None:
        return _Loading(modules)
    folder = path.rpartition("/")[0] if not path.startswith("/") else ""
    loading = modules.inside(folder).copy()
    _load(loading, modules.project.module_of(path))
    return loading


def _packages_around(project: Project, module: Module) -> Iterator[str]:
    """The places of the packages in which a module of the workspace lies."""
    above = module.place.rpartition("/")[0]
    while above:
        yield project.module_at(above).place
        above = above.rpartition("/")[0]


def _load(loading: _Loading, module: Module) -> None:
    place = module.place
    if place in loading.bound or not module.files or module.external or len(loading.bound) > MOST_MODULES:
        return
    names = loading.bound[place] = set()
    source = loading.modules.project.source(module.files[0])
    if source is None:
        return
    loading.asked[place] = set(_packages_around(loading.modules.project, module))
    loading.under_way.append(place)
    imported: dict[str, Module] = {}
    for step in loading.modules.steps(source):
        if isinstance(step.statement, ast.Import):
            for alias in step.statement.names:
                _import(loading, source, alias, imported)
        elif isinstance(step.statement, ast.ImportFrom):
            _import_from(loading, source, step, imported)
        else:
            _look(loading, source, step, imported)
            for name in step.bound:
                imported.pop(name, None)
        names.update(step.bound)
    loading.under_way.pop()


def _ask(loading: _Loading, module: Module) -> None:
    if not module.external:
        loading.asked[loading.under_way[-1]].add(module.place)
    _load(loading, module)


def _import(loading: _Loading, source: Source, alias: ast.alias, imported: dict[str, Module]) -> None:
    first, last = _load_dotted(loading, source, alias.name)
    bound = last if alias.asname else first
    if bound is not None:
        imported[alias.asname or alias.name.partition(".")[0]] = bound


def _load_dotted(loading: _Loading, source: Source, dotted: str) -> tuple[Module | None, Module | None]:
    """A package is loaded before what is in it. The first and the last of them."""
    parts = dotted.split(".")
    found: list[Module | None] = []
    for n_parts in range(1, len(parts) + 1):
        module = loading.modules.project.module_named(source, ".".join(parts[:n_parts]))
        if module is not None:
            _ask(loading, module)
        found.append(module)
    return found[0], found[-1]


def _import_from(loading: _Loading, source: Source, step: _Step, imported: dict[str, Module]) -> None:
    statement = step.statement
    assert isinstance(statement, ast.ImportFrom), "the caller asked"
    project = loading.modules.project
    written = "." * statement.level + (statement.module or "")
    if not statement.level:
        _load_dotted(loading, source, written)
    module = project.module_named(source, written)
    names = loading.bound[loading.under_way[-1]]
    if module is None or module.external:
        if any(alias.name == "*" for alias in statement.names):
            names.add("__getattr__")  # nobody knows what it brings
        return
    for place in reversed(list(_packages_around(project, module))):
        _ask(loading, project.module_at(place))
    _ask(loading, module)
    bound = loading.bound.get(module.place, set())
    for alias in statement.names:
        imported.pop(alias.asname or alias.name, None)
        if alias.name == "*":
            names |= bound
        elif alias.name not in bound:
            submodule = project.submodule(module, alias.name)
            if submodule is not None:
                _ask(loading, submodule)
                imported[alias.asname or alias.name] = submodule
            elif not step.is_guarded:
                _fail(loading, source, statement.lineno, module, alias.name)


def _look(loading: _Loading, source: Source, step: _Step, imported: dict[str, Module]) -> None:
    """Look into modules as an expression does: `a.b.name`."""
    for line, (root, *parts) in step.looks if not step.is_guarded else ():
        module = imported.get(root)
        for part in parts:
            if module is None or module.external or part in loading.bound.get(module.place, ()):
                break
            submodule = loading.modules.project.submodule(module, part)
            if submodule is None:
                _fail(loading, source, line, module, part)
            module = submodule


def _fail(loading: _Loading, source: Source, line: int, module: Module, name: str) -> None:
    """A name is asked for that is not bound: a failure, if it would be later."""
    if module.place not in loading.under_way or "__getattr__" in loading.bound[module.place]:
        return
    if loading.modules.project.member(module, name):
        chain = loading.under_way[loading.under_way.index(module.place) :]
        circle = " -> ".join([*chain, module.place])
        says = f"`{name}` is not bound yet while {module.place} is being imported: {circle}"
        loading.failures.append(Failure(source.path, line, name, says))


# ---------------------------------------------------------------------------------------------------- statements


def _steps_of(source: Source) -> Iterator[_Step]:
    try:
        with quiet():
            tree = ast.parse(source.document.text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for statement, is_guarded in _statements(tree.body):
        looks = tuple((node.lineno, parts) for node, parts in _looks_of(statement))
        yield _Step(statement, is_guarded, tuple(_bound_names(statement)), looks)


def _statements(body: Sequence[ast.stmt], is_guarded: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements of a module in order, those in blocks included; and whether a failing import is caught."""
    for statement in body:
        if isinstance(statement, ast.If) and _is_not_for_imports(statement.test):
            yield from _statements(statement.orelse, is_guarded)
            continue
        yield statement, is_guarded
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        caught = is_guarded or (isinstance(statement, ast.Try) and bool(statement.handlers))
        for name in ("body", "handlers", "orelse", "finalbody"):
            for inner in getattr(statement, name, ()):
                block = inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
                yield from _statements(block, caught)


def _is_not_for_imports(test: ast.expr) -> bool:
    """Is it only so for type checkers, or for a program?"""
    if isinstance(test, ast.Compare):
        return getattr(test.left, "id", "") == "__name__" and isinstance(test.ops[0], ast.Eq)
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds by itself; blocks come as statements of their own."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    else:
        heads = [each for name, each in ast.iter_fields(statement) if name not in _BLOCKS]
        for head in heads:
            for each in head if isinstance(head, list) else [head]:
                if isinstance(each, ast.AST):
                    yield from (node.id for node in ast.walk(each) if isinstance(node, ast.Name))


def _looks_of(statement: ast.stmt) -> Iterator[tuple[ast.Attribute, tuple[str, ...]]]:
    """The dotted names that a statement evaluates by itself; blocks come as statements of their own."""
    waiting: list[ast.AST] = [
        each
        for name, value in ast.iter_fields(statement)
        if name not in _BLOCKS or isinstance(statement, ast.ClassDef)
        for each in (value if isinstance(value, list) else [value])
        if isinstance(each, ast.AST)
    ]
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign):
        waiting = list(_evaluated(statement))
    while waiting:
        node = waiting.pop(0)
        parts = _dotted(node)
        if isinstance(node, ast.Attribute) and parts:
            yield node, parts
        else:
            waiting[:0] = _evaluated(node)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node and is evaluated with it: no bodies of functions, no annotations."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
    elif isinstance(node, ast.Lambda):
        yield from (*node.args.defaults, *filter(None, node.args.kw_defaults))
    elif isinstance(node, ast.GeneratorExp):
        yield node.generators[0].iter
    elif isinstance(node, ast.AnnAssign):
        yield from filter(None, (node.value, node.target))
    else:
        yield from ast.iter_child_nodes(node)


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """The parts of `a.b.c`; nothing for other expressions."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return (*before, node.attr) if before else ()
    return (node.id,) if isinstance(node, ast.Name) else ()


_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers"})
