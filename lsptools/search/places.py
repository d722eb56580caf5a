"""From what a caller writes to a place in a file.

A place is `path:line:col` (1-based, code points), `path::Qualified.name`, `package.module.Class.method`, or a name that
is defined once; `path::` (also of a folder) and `package.module` are the module itself, whether it is imported or not. What the tools print is understood here, so that an answer can be pasted into the next call.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from lsptools.errors import BadRequest
from lsptools.errors import Site as Place
from lsptools.languages.names import FilePosition
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import class_in
from lsptools.languages.python.modules import Module, Project, Variable
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.roles import BINDING, Role
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.search.positions import position
from lsptools.syntax.outline import flat, outline
from lsptools.text.lines import Offset
from lsptools.workspace.snapshot import Snapshot

_IMPORTS = frozenset({Role.IMPORT_NAME, Role.IMPORT_ALIAS, Role.IMPORT_MODULE})


def locate(snapshot: Snapshot, place: str) -> FilePosition:
    """The position a place names.

    Raises `BadRequest`: `not_found` (with the nearest names), `ambiguous` (with every candidate), `invalid`,
    `is_directory`, `binary`, `outside_workspace`.
    """
    if "::" in place:
        path, _, name = place.partition("::")
        return _named_in(snapshot, path, name)
    at = position(snapshot, place)
    if at is not None:
        return at
    if not place or not all(part.isidentifier() for part in place.split(".")):
        raise BadRequest(
            "invalid",
            f"{place!r} is no place",
            hint="write path:line:col, path::Qualified.name, package.module.name, or a name defined once",
        )
    return _dotted(snapshot, place) if "." in place else _unique(snapshot, place)


def _named_in(snapshot: Snapshot, path: str, name: str) -> FilePosition:
    path = snapshot.root.relative(path)
    project = Project(snapshot)
    if snapshot.is_dir(path):
        package = project.module_at(path)
        if not name:
            return _module_place(package)
        path = package.place
    document = snapshot.document(path)
    source = project.source(path)
    if source is None or not path.endswith(PYTHON_SUFFIXES):
        raise BadRequest("not_a_symbol", f"{path} is not a Python file", hint="name a .py or .pyi file")
    if not name:
        return _module_place(project.module_of(path))
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise BadRequest(
            "invalid",
            f"`{name}` behind `{path}::` is no qualified name",
            hint=f"`lsptools outline {path}` lists the names to write there; without a name it is the module itself",
        )
    site = _walk(project, source, parts)
    if site is None:
        names = [qualified for qualified, _ in flat(outline(document))]
        raise BadRequest(
            "not_found",
            f"{path} defines no `{name}`",
            hint=_nearest(name, names) or f"`lsptools outline {path}` lists what it defines",
        )
    return _position(source, site)


def _walk(project: Project, source: Source, parts: list[str]) -> Site | None:
    """The binding that a qualified name leads to, from the module inwards."""
    evaluator = Evaluator(project)
    scope: Scope = source.module_scope
    site: Site | None = None
    for index, part in enumerate(parts):
        sites = source.names(part).bindings(scope, part)
        if scope.kind == "class":
            sites = [
                each
                for each in evaluator.members(class_in(source, scope), part)
                if each.scope is scope or index == len(parts) - 1
            ]
        if not sites:
            return None
        site = next((each for each in sites if each.role in (Role.CLASS, Role.FUNCTION)), sites[0])
        if index < len(parts) - 1:
            if site.role not in (Role.CLASS, Role.FUNCTION):
                return None
            scope = source.scope_inside(site.path[-2][0])
    return site


def _dotted(snapshot: Snapshot, place: str) -> FilePosition:
    project = Project(snapshot)
    parts = place.split(".")
    known: list[str] = []
    for n_module in range(len(parts) - 1, 0, -1):
        module = project.find(".".join(parts[:n_module]), "")
        if module is None or module.external:
            continue
        for path in module.files:
            source = project.source(path)
            if source is None:
                continue
            site = _walk(project, source, parts[n_module:])
            if site is not None:
                return _followed(project, source, site)
            prefix = ".".join(parts[:n_module])
            known.extend(f"{prefix}.{qualified}" for qualified, _ in flat(outline(source.document)))
        break
    module = project.find(place, "")
    if module is not None and not module.external:
        return _module_place(module)
    if not known and len(parts) == 2:
        return _member_by_class(snapshot, project, parts[0], parts[1])
    raise BadRequest(
        "not_found",
        f"nothing in the workspace is called `{place}`",
        hint=_nearest(place, known) or f"`lsptools symbols {parts[-1]}` finds definitions by name",
    )


def _module_place(module: Module) -> FilePosition:
    """A place that names a module itself: nothing in its own file does."""
    return FilePosition(module.place, Offset(0), is_module=True)


def _followed(project: Project, source: Source, site: Site) -> FilePosition:
    """Through imports to the definition, when it is the workspace's."""
    for _ in range(20):
        if site.role not in (Role.IMPORT_NAME, Role.IMPORT_ALIAS):
            break
        found = [each for each in project.imported(source, site) if isinstance(each, Variable)]
        if not found or found[0].source.external or not found[0].sites:
            break
        source, site = found[0].source, found[0].sites[0]
    return _position(source, site)


def _member_by_class(snapshot: Snapshot, project: Project, owner: str, name: str) -> FilePosition:
    """`Class.method` without its module, if only one class of that name has it."""
    found: dict[tuple[str, int], tuple[Source, Site]] = {}
    for source, site in _definitions(snapshot, project, owner):
        if site.role is Role.CLASS:
            inner = _walk(project, source, [*_path_to(source, site), name])
            if inner is not None:
                found[source.path, inner.start] = (source, inner)
    return _only(f"{owner}.{name}", list(found.values()), snapshot)


def _path_to(source: Source, site: Site) -> list[str]:
    names = [site.spelling]
    scope: Scope | None = site.scope
    while scope is not None and scope.kind != "module":
        if scope.kind in ("class", "function"):
            names.append(scope.name)
        scope = scope.parent
    return names[::-1]


def _unique(snapshot: Snapshot, name: str) -> FilePosition:
    """What modules and classes define under this name; if nothing is, the module that is imported by it."""
    project = Project(snapshot)
    found = list(_definitions(snapshot, project, name))
    module = project.find(name, "") if not found else None
    if module is not None and not module.external:
        return _module_place(module)
    return _only(name, found, snapshot)


def _definitions(snapshot: Snapshot, project: Project, name: str) -> Iterator[tuple[Source, Site]]:
    """Where modules and classes define a name: the first binding of each scope; a stub gives way to its module."""
    files = [path for path in snapshot.files_with([name]).files if path.endswith(PYTHON_SUFFIXES)]
    for path in files:
        if path.endswith(".pyi") and path[:-1] in files:
            continue
        source = project.source(path)
        if source is None or source.external:
            continue
        for (scope, _), sites in source.names(name).bound.items():
            if scope.kind in ("module", "class") and sites[0].role in BINDING - _IMPORTS:
                yield source, sites[0]


def _only(name: str, found: list[tuple[Source, Site]], snapshot: Snapshot) -> FilePosition:
    if len(found) == 1:
        return _position(*found[0])
    if not found:
        raise BadRequest(
            "not_found",
            f"no module or class of the workspace defines `{name}`",
            hint=_nearest(name, _all_names(snapshot, name)) or f"`lsptools search {name}` looks in all text",
        )
    sites = tuple(_site(source, site) for source, site in found[:20])
    raise BadRequest(
        "ambiguous",
        f"`{name}` is defined {len(found)} times",
        hint=f"name one of them by its place, for example {sites[0].path}:{sites[0].line}:{sites[0].column}",
        sites=sites,
    )


def _all_names(snapshot: Snapshot, name: str) -> list[str]:
    """Names that the workspace defines, for a suggestion; only those that begin alike are looked at."""
    from lsptools.workspace.found import Query

    start = re.escape(name.rpartition(".")[2][:2])
    query = Query(rf"(def|class)\s+{start}\w*", globs=("*.py", "*.pyi"), limit=2000)
    hits = snapshot.rg.search(snapshot.root, query)
    found = (line.text[start:end].split()[-1] for line in hits.lines for start, end in line.spans)
    return list(dict.fromkeys(found))


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return "did you mean " + " or ".join(f"`{each}`" for each in close) + "?" if close else ""


def _position(source: Source, site: Site) -> FilePosition:
    return FilePosition(source.path, source.span(site.start, site.end).start)


def _site(source: Source, site: Site) -> Place:
    at = source.document.lines.user_from_offset(source.span(site.start, site.end).start)
    return Place(source.path, at.line, at.column, "defined here")
