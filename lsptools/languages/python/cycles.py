"""Imports in a circle: which module cannot be loaded, found by loading them in the mind.

The statements of a module are gone through as Python would: names are bound one after the other, an import loads its module
first, and one that is being loaded has only the names bound so far. `from m import name` of a name that is not there
yet is what fails at run time with "partially initialized module".

Both branches of an `if` are gone through, but not those for type checkers; imports that stand in a function are not reached; an
import in a `try` may fail without harm. Where it stops: names that are bound at run time (`globals()`, `setattr`), and modules
with a `__getattr__` of their own, are given the benefit of the doubt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lsptools.languages.python.modules import Module, Project
from lsptools.languages.python.scopes import Source

MOST_MODULES = 3_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An import that fails because its module is still being loaded."""

    path: str
    line: int
    name: str
    says: str


@dataclass(slots=True)
class Loadable:
    """The modules of a project as statements, each parsed once."""

    project: Project
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)

    def tree(self, source: Source) -> ast.Module | None:
        """The statements of a file; None if it does not parse."""
        if source.path not in self._trees:
            self._trees[source.path] = _parsed(source)
        return self._trees[source.path]


@dataclass(slots=True)
class _Loading:
    """The modules loaded so far, and those under way."""

    modules: Loadable
    bound: dict[str, set[str]] = field(default_factory=dict)
    """The names of each module, by its place."""
    under_way: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def circular_imports(modules: Loadable, path: str) -> tuple[Failure, ...]:
    """What fails when the module of a file is the first to be imported; the packages around it are loaded before it."""
    loading = _Loading(modules)
    project = modules.project
    source = project.source(path)
    if source is not None:
        for folder in _packages_around(path):
            _load(loading, project.module_at(folder))
        _load(loading, project.module_of(path))
    return tuple(loading.failures)


def _packages_around(path: str) -> list[str]:
    """The folders in which a file lies, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:n]) for n in range(1, len(parts) + 1)] if not path.startswith("/") else []


def _load(loading: _Loading, module: Module) -> None:
    place = module.place
    if place in loading.bound or not module.files or module.external or len(loading.bound) > MOST_MODULES:
        return
    names = loading.bound[place] = set()
    source = loading.modules.project.source(module.files[0]) if module.files else None
    tree = loading.modules.tree(source) if source is not None else None
    if source is None or tree is None:
        return
    loading.under_way.append(place)
    for statement, is_guarded in _statements(tree.body):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                _load_dotted(loading, source, alias.name)
        elif isinstance(statement, ast.ImportFrom):
            _import_from(loading, source, statement, is_guarded)
        names |= set(_bound_names(statement))
    loading.under_way.pop()


def _load_dotted(loading: _Loading, source: Source, dotted: str) -> None:
    """A package is loaded before what is in it."""
    parts = dotted.split(".")
    for n_parts in range(1, len(parts) + 1):
        module = loading.modules.project.module_named(source, ".".join(parts[:n_parts]))
        if module is not None:
            _load(loading, module)


def _import_from(loading: _Loading, source: Source, statement: ast.ImportFrom, is_guarded: bool) -> None:
    written = "." * statement.level + (statement.module or "")
    if not statement.level:
        _load_dotted(loading, source, written)
    module = loading.modules.project.module_named(source, written)
    if module is None or module.external:
        return
    _load(loading, module)
    bound = loading.bound.get(module.place, set())
    for alias in statement.names:
        if alias.name == "*" or alias.name in bound:
            continue
        submodule = loading.modules.project.submodule(module, alias.name)
        if submodule is not None:
            _load(loading, submodule)
        elif module.place in loading.under_way and not is_guarded and "__getattr__" not in bound:
            if not loading.modules.project.member(module, alias.name):
                continue  # it is never bound there, which is another matter
            chain = loading.under_way[loading.under_way.index(module.place) :]
            says = f"`{alias.name}` is not bound yet while {module.place} is being imported: {' -> '.join([*chain, module.place])}"
            loading.failures.append(Failure(source.path, statement.lineno, alias.name, says))


def _parsed(source: Source) -> ast.Module | None:
    try:
        return ast.parse(source.document.text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _statements(body: Sequence[ast.stmt], is_guarded: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements of a module in order, those in blocks included; and whether a failing import is caught."""
    for statement in body:
        if isinstance(statement, ast.If) and _is_for_checkers(statement.test):
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


def _is_for_checkers(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds by itself; blocks come as statements of their own."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    else:
        heads = [
            each
            for name, each in ast.iter_fields(statement)
            if name not in ("body", "orelse", "finalbody", "handlers")
        ]
        for head in heads:
            for each in head if isinstance(head, list) else [head]:
                if isinstance(each, ast.AST):
                    yield from (node.id for node in ast.walk(each) if isinstance(node, ast.Name))
