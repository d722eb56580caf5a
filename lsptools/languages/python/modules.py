"""From the dotted name of an import to files, and from a name in a module to whatever binds it.

Nothing is executed: roots are folders, modules are files. The search order is Python's as far as files can tell it:
first the importing file's own surroundings (its package's parent, then each folder up to the workspace root), the
workspace root and its `src`, then installed packages (a virtual environment inside the workspace, the search path
given with the snapshot), then the standard library of the running interpreter. A regular package or module anywhere
wins over a namespace package (PEP 420). A stub (`.pyi`) beside a module belongs to it.

Where it stops: `sys.path` manipulation, import hooks, `.pth` files, names put into a module at run time.
"""

from __future__ import annotations

import os
import site as installation
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsptools.errors import BadRequest
from lsptools.languages.python.folding import folded
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.syntax.tree import Node
from lsptools.text.document import Document
from lsptools.workspace.snapshot import Snapshot

SUFFIXES = (".py", ".pyi")
_FILES = (*SUFFIXES, ".pyw")
SOURCE_FOLDERS = ("src", "lib", "python")
"""Folders in which packages may lie, beside the root."""
VIRTUAL_ENVIRONMENTS = (".venv", "venv", "env", ".env")


@dataclass(frozen=True, slots=True)
class Module:
    """A module or package: its files (the `.py` before the `.pyi`) and, for packages, the folders of its submodules."""

    name: str
    """The last part of its dotted name."""
    files: tuple[str, ...]
    folders: tuple[str, ...]
    external: bool
    link: str = ""
    """Where it is found, if that is a link: the files are those that it leads to."""

    @property
    def place(self) -> str:
        """What identifies it: its first file, or for a namespace package its first folder."""
        if self.link:
            return self.link
        return self.files[0] if self.files else self.folders[0]


@dataclass(frozen=True, slots=True)
class Variable:
    """A name bound in one scope of one file."""

    source: Source
    scope: Scope
    name: str
    """As bound, that is mangled where the scope is in a class and the name is private."""

    @property
    def sites(self) -> list[Site]:
        """Where it is bound, in order."""
        return self.source.names(self.plain).bindings(self.scope, self.name)

    @property
    def plain(self) -> str:
        """The name as it is written."""
        if self.name.startswith("_"):
            owner = self.scope.enclosing_class()
            bare = owner.name.lstrip("_") if owner is not None else ""
            if bare and self.name.startswith(f"_{bare}__"):
                return self.name[len(bare) + 1 :]
        return self.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        return self.source is other.source and self.scope is other.scope and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self.source), id(self.scope), self.name))


def _is_same(document: Document, other: Document) -> bool:
    return document is other or document == other


Found = list["Variable | Module"]
"""What a name in a module leads to: variables, or a submodule."""


class Project:
    """The workspace's Python files and what their imports lead to. Caches; one per snapshot. `whole`: see `Source`."""

    def __init__(self, snapshot: Snapshot, *, whole: bool = True) -> None:
        self.snapshot = snapshot
        self._whole = whole
        self._sources: dict[str, Source | None] = {}
        self._real: dict[str, str] = {}
        self._in_folder: dict[tuple[str, str], Module | None] = {}
        self._listings: dict[str, frozenset[str]] = {}
        self._tops: dict[tuple[str, str], Module | None] = {}
        self._surroundings: dict[str, tuple[str, ...]] = {}
        self._members: dict[tuple[str, str], Found] = {}
        self._exports: dict[str, frozenset[str] | None] = {}

    # ------------------------------------------------------------------ files

    def source(self, path: str) -> Source | None:
        """The file at a relative path, or an absolute one outside the workspace; None if it cannot be read as text."""
        self.snapshot.checkpoint()
        path = self.real(path)
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def real(self, path: str) -> str:
        """The file behind a path whose name or folder is a link inside the workspace: one file is one source."""
        known = self._real.get(path)
        if known is None:
            known = self._real[path] = self._behind_links(path)
        return known

    def _behind_links(self, path: str) -> str:
        if os.path.isabs(path) or not self.snapshot.operations.is_local:
            return path
        folder, _, name = path.rpartition("/")
        there = _join(self.real(folder), name) if folder else name
        absolute = self.snapshot.root.path / there
        if not absolute.is_symlink():
            return there
        real = os.path.realpath(absolute)
        if there in self.snapshot.overlays or not self.snapshot.root.spells(real):
            return there
        return Path(real).relative_to(self.snapshot.root.path).as_posix()

    def _read(self, path: str) -> Source | None:
        try:
            if os.path.isabs(path):
                return self._parsed(path, self.snapshot.external_document(Path(path)), external=True)
            return self._parsed(path, self.snapshot.document(path), external=self.is_external(path))
        except BadRequest:
            return None

    def _parsed(self, path: str, document: Document, *, external: bool) -> Source:
        """The file with its tree, which an earlier snapshot may have made of the same text."""
        derived = self.snapshot.derived
        known = derived.get(path) if derived is not None else None
        if isinstance(known, Source) and _is_same(known.document, document) and known.external == external:
            return known
        source = Source(path, document, external=external, whole=self._whole)
        if derived is not None:
            derived[path] = source
        return source

    def is_external(self, path: str) -> bool:
        """Is this file not ours to edit: outside the workspace, or installed into it?"""
        return os.path.isabs(path) or "site-packages" in path.split("/")[:-1]

    @cached_property
    def library_roots(self) -> tuple[str, ...]:
        """Folders of installed packages and of the standard library; relative ones lie in the workspace."""
        found: list[str] = []
        for folder in VIRTUAL_ENVIRONMENTS:
            if self.snapshot.is_file(f"{folder}/pyvenv.cfg"):
                for version in self.snapshot.list_dir(f"{folder}/lib"):
                    found.append(f"{folder}/lib/{version}/site-packages")
                found.append(f"{folder}/Lib/site-packages")
        found.extend(self.snapshot.search_path)
        if not found:
            found.extend(installation.getsitepackages())
        found.append(
            str(Path(os.__file__).parent)
        )  # `sysconfig` would take a hundredth of a second to say so
        return tuple(dict.fromkeys(root for root in found if self._is_folder(root)))

    def _is_folder(self, path: str) -> bool:
        return Path(path).is_dir() if os.path.isabs(path) else self.snapshot.is_dir(path)

    def _listing(self, folder: str) -> frozenset[str]:
        """The names in a folder; folders end in `/`."""
        known = self._listings.get(folder)
        if known is None:
            known = self._listings[folder] = frozenset(self._list(folder))
        return known

    def _list(self, folder: str) -> Iterator[str]:
        if not os.path.isabs(folder):
            for name, is_folder in self.snapshot.entries(folder or "."):
                yield name + "/" if is_folder else name
            return
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    yield entry.name + "/" if entry.is_dir() else entry.name
        except OSError:
            return

    # ------------------------------------------------------------------ imports

    def find(self, dotted: str, importer: str) -> Module | None:
        """The module an absolute import leads to from the file `importer`."""
        first, *rest = dotted.split(".")
        module = self._top(first, _folder_of(importer))
        for part in rest:
            if module is None:
                return None
            module = self.submodule(module, part)
        return module

    def find_relative(self, level: int, dotted: str, importer: str) -> Module | None:
        """The module of `from ..dotted import` with `level` dots."""
        folder = _folder_of(importer)
        for _ in range(level - 1):
            if not folder:
                return None
            folder = _folder_of(folder)
        module: Module | None = self._package(folder)
        for part in dotted.split(".") if dotted else ():
            if module is None:
                return None
            module = self.submodule(module, part)
        return module

    def submodule(self, package: Module, name: str) -> Module | None:
        """A module inside a package."""
        namespace: Module | None = None
        for folder in package.folders:
            found = self._module_in(folder, name)
            if found is not None and found.files:
                return found
            namespace = namespace or found
        return namespace

    def module_of(self, path: str) -> Module:
        """The module a file is."""
        stem, folder = path.rpartition("/")[2].rpartition(".")[0], _folder_of(path)
        if stem == "__init__":
            return self._package(folder)
        module = self._module_in(folder, stem)
        if module is None or path not in (*module.files, module.link):
            return Module(stem, (path,), (), self.is_external(path))
        return module

    def module_at(self, place: str) -> Module:
        """The module that a file or the folder of a package is, with files of its own or without."""
        return self.module_of(place) if place.endswith(_FILES) else self._package(place)

    def dotted_name(self, path: str) -> str:
        """The name under which the file is imported from its package's parent; of a folder without `__init__`, its path."""
        if not path.endswith(_FILES):
            top, _, rest = path.partition("/")
            return (rest if rest and top in SOURCE_FOLDERS else path).replace("/", ".")
        stem, folder = path.rpartition("/")[2].rpartition(".")[0], _folder_of(path)
        parts = [] if stem == "__init__" else [stem]
        while folder and "__init__.py" in self._listing(folder):
            parts.append(folder.rpartition("/")[2])
            folder = _folder_of(folder)
        return ".".join(reversed(parts)) or folder.rpartition("/")[2]

    def _package(self, folder: str) -> Module:
        files = tuple(
            _join(folder, name) for name in ("__init__.py", "__init__.pyi") if name in self._listing(folder)
        )
        external = self.is_external(_join(folder, "__init__.py"))
        return self._found(folder.rpartition("/")[2], files, (folder,), external)

    def _found(self, name: str, files: tuple[str, ...], folders: tuple[str, ...], external: bool) -> Module:
        """A module with the files behind its links."""
        real = tuple(map(self.real, files))
        external = self.is_external(real[0]) if real != files else external
        return Module(name, real, folders, external, files[0] if real != files else "")

    def _top(self, name: str, folder: str) -> Module | None:
        key = (name, folder)
        if key not in self._tops:
            self._tops[key] = self._search_top(name, folder)
        return self._tops[key]

    def _search_top(self, name: str, folder: str) -> Module | None:
        namespace: Module | None = None
        own = self._own_package(name)
        if own is not None:
            return own
        for root in (*self._roots_around(folder), *self.library_roots):
            found = self._module_in(root, name)
            if found is not None and found.files:
                return found
            namespace = namespace or found
        return namespace

    def _own_package(self, name: str) -> Module | None:
        """The workspace itself, when its root is a package: `import root_folder.module` from inside."""
        root = self.snapshot.root.path
        if name == root.name and "__init__.py" in self._listing(""):
            return Module(name, ("__init__.py",), ("",), False)
        return None

    def _roots_around(self, folder: str) -> tuple[str, ...]:
        """Where an absolute import of a file in `folder` looks first, nearest first."""
        known = self._surroundings.get(folder)
        if known is not None:
            return known
        start = folder
        while start and "__init__.py" in self._listing(start):
            start = _folder_of(start)
        roots = [start]
        if os.path.isabs(folder):
            self._surroundings[folder] = (start,)
            return (start,)
        while start:
            start = _folder_of(start)
            roots.extend((start, _join(start, "src")))
        roots.extend(SOURCE_FOLDERS)
        known = self._surroundings[folder] = tuple(dict.fromkeys(roots))
        return known

    def _module_in(self, folder: str, name: str) -> Module | None:
        key = (folder, name)
        if key not in self._in_folder:
            self._in_folder[key] = self._look_in(folder, name)
        return self._in_folder[key]

    def _look_in(self, folder: str, name: str) -> Module | None:
        listing = self._listing(folder)
        if f"{name}/" in listing:
            inner = _join(folder, name)
            package = self._package(inner)
            if package.files:
                return package
        files = tuple(_join(folder, name + suffix) for suffix in SUFFIXES if name + suffix in listing)
        if files:
            return self._found(name, files, (), self.is_external(files[0]))
        if f"{name}/" in listing and self._may_be_namespace(_join(folder, name)):
            return Module(name, (), (_join(folder, name),), self.is_external(_join(folder, f"{name}/x")))
        return None

    def _may_be_namespace(self, folder: str) -> bool:
        """A folder with Python files or folders in it: an importable namespace package."""
        return any(name.endswith((".py", ".pyi", "/")) for name in self._listing(folder))

    # ------------------------------------------------------------------ names in modules

    def imported(self, source: Source, site: Site) -> Found:
        """What the name bound by an import site (or named by it) leads to; empty: not found."""
        statement = site.ancestor("import_from_statement", "import_statement", "future_import_statement")
        if statement is None or statement.type == "future_import_statement":
            return []
        if statement.type == "import_statement":
            module = self._imported_module(source, site, statement)
            return [module] if module is not None else []
        module = self.module_of_import(source, statement)
        if module is None:
            return []
        aliased = site.leaf.parent if site.role is Role.IMPORT_ALIAS else None
        name = aliased.child_by_field_name("name") if aliased is not None else site.leaf
        return self.imported_from(source, module, source.text(name)) if name is not None else []

    def imported_from(self, source: Source, module: Module, name: str) -> Found:
        """What `from module import name` brings to a file. A package's `from . import name` means its own submodule."""
        submodule = self.submodule(module, name) if source.path in module.files else None
        return [submodule] if submodule is not None else self.member(module, name)

    def leads_outside(self, source: Source, site: Site, suspects: frozenset[str]) -> bool:
        """Does an import that was not found lead to nothing of the workspace? `suspects` are module names that count.

        A top-level package that is nowhere in the workspace is not ours, unless a part of its name is that of a module
        which the search path might reach in a way that files do not tell.
        """
        statement = site.ancestor("import_from_statement", "import_statement")
        if statement is None:
            return False
        node = statement.child_by_field_name("module_name")
        if statement.type == "import_statement":
            node = site.path[-2][0] if site.role is Role.IMPORT_MODULE else None
            if site.role is Role.IMPORT_ALIAS and site.leaf.parent is not None:
                node = site.leaf.parent.child_by_field_name("name")
        if node is None:
            return False
        parts = squeezed(source.text(node)).split(".")
        if not parts[0] or suspects.intersection(parts):
            return False
        return self.find(parts[0], source.path) is None

    def _imported_module(self, source: Source, site: Site, statement: Node) -> Module | None:
        if site.role is Role.IMPORT_ALIAS:
            aliased = site.leaf.parent
            dotted = aliased.child_by_field_name("name") if aliased is not None else None
            return self.find(squeezed(source.text(dotted)), source.path) if dotted is not None else None
        return self.find(self.dotted_up_to(source, site), source.path)

    def dotted_up_to(self, source: Source, site: Site) -> str:
        """The part of a dotted module name that ends at the site."""
        dotted = site.path[-2][0]
        return folded(squeezed(source.bytes[dotted.start_byte : site.end].decode("utf-8", "replace")))

    def module_of_import(self, source: Source, statement: Node) -> Module | None:
        """The module of a `from … import` statement."""
        node = statement.child_by_field_name("module_name")
        if node is None:
            return None
        return self.module_named(source, squeezed(source.text(node)))

    def module_named(self, source: Source, written: str) -> Module | None:
        """The module that `written` (dots first, if relative) means in a file."""
        dotted = written.lstrip(".")
        level = len(written) - len(dotted)
        if level:
            return self.find_relative(level, dotted, source.path)
        return self.find(dotted, source.path)

    def member(self, module: Module, name: str) -> Found:
        """What `module.name` leads to: variables of its files, names starred into it, or a submodule."""
        key = (module.place, name)
        if key not in self._members:
            self._members[key] = []  # a cycle of star imports ends here
            self._members[key] = self._find_member(module, name)
        return self._members[key]

    def _find_member(self, module: Module, name: str) -> Found:
        found: Found = []
        for path in module.files:
            source = self.source(path)
            if source is not None:
                found.extend(self.global_variable(source, name))
        if found:
            return found
        submodule = self.submodule(module, name)
        return [submodule] if submodule is not None else []

    def global_variable(self, source: Source, name: str) -> Found:
        """The module-level name in a file, what a star import brings under it, or, in a package, the submodule.

        A submodule is bound in its package by whoever imports it, which the package's own imports do most of the time.
        """
        names = source.names(name)
        if names.bindings(source.module_scope, name):
            return [Variable(source, source.module_scope, name)]
        found: Found = []
        for statement, module in reversed(self.star_imports(source)):
            brought = self.member(module, name) if module is not None and self.exports(module, name) else []
            found[:0] = brought
            if brought and _hides_what_is_above(source, statement, name):
                break
        if not found and source.path.rpartition("/")[2].partition(".")[0] == "__init__":
            submodule = self.submodule(self.module_of(source.path), name)
            found = [submodule] if submodule is not None and submodule.files else []
        return found

    def starred(self, source: Source) -> list[Module]:
        """The modules from which a file imports `*`."""
        return [module for _, module in self.star_imports(source) if module is not None]

    def star_imports(self, source: Source) -> list[tuple[Node, Module | None]]:
        """The `from … import *` statements of a file, and the modules they lead to."""
        # The statements are the file's own; where they lead may be another place in the next snapshot.
        statements = source.memo.get("star imports")
        if not isinstance(statements, list):
            statements = source.memo["star imports"] = list(_star_imports(source))
        return [(statement, self.module_of_import(source, statement)) for statement in statements]

    def exports(self, module: Module, name: str) -> bool:
        """Does `from module import *` bring the name?"""
        if module.place not in self._exports:
            self._exports[module.place] = self._listed_exports(module)
        listed = self._exports[module.place]
        return name in listed if listed is not None else not name.startswith("_")

    def _listed_exports(self, module: Module) -> frozenset[str] | None:
        """The strings of `__all__`; None if there is none or it is computed."""
        listed: set[str] = set()
        found = False
        for path in module.files[:1]:
            source = self.source(path)
            if source is None or b"__all__" not in source.bytes:
                continue
            for site in source.sites("__all__"):
                if site.role in (Role.ASSIGN, Role.AUGMENT):
                    statement = site.ancestor("assignment", "augmented_assignment")
                    value = statement.child_by_field_name("right") if statement is not None else None
                    strings = literal_strings(source, value) if value is not None else None
                    if strings is None:
                        return None
                    found = True
                    listed.update(strings)
                elif site.role is Role.READ and _extends(site):
                    return None
        return frozenset(listed) if found else None


def _extends(site: Site) -> bool:
    """Is a list given more entries here than its display shows, by a method such as `append`?"""
    attribute = site.leaf.parent
    if attribute is None or attribute.type != "attribute":
        return False
    name = attribute.child_by_field_name("attribute")
    return name is not None and name.text in (b"append", b"extend", b"insert", b"remove")


def literal_strings(source: Source, node: Node) -> list[str] | None:
    """The strings of a list or tuple display of plain strings; None for anything else."""
    if node.type not in ("list", "tuple", "set", "expression_list"):
        return None
    strings = []
    for child in node.named_children:
        if child.type == "comment":
            continue
        text = literal_string(source, child)
        if text is None:
            return None
        strings.append(text)
    return strings


def literal_string(source: Source, node: Node) -> str | None:
    """The value of a plain string literal without escapes or fields, else None."""
    if node.type != "string":
        return None
    parts = [child for child in node.named_children if child.type not in ("string_start", "string_end")]
    if any(part.type != "string_content" or part.named_child_count for part in parts):
        return None
    return "".join(source.text(part) for part in parts)


def _folder_of(path: str) -> str:
    folder = path.rpartition("/")[0]
    return folder or ("/" if path.startswith("/") else "")


def _star_imports(source: Source) -> Iterator[Node]:
    at = source.bytes.find(b"import")
    while at >= 0:
        rest = source.bytes[at + 6 : at + 40].lstrip(b" \t(\\\r\n")
        if rest.startswith(b"*"):
            path, _ = source.descend(at)
            for node, _field in reversed(path):
                if node.type == "import_from_statement":
                    yield node
        at = source.bytes.find(b"import", at + 6)


def _hides_what_is_above(source: Source, statement: Node, name: str) -> bool:
    """Does a star import always run, and only before anything that asks for the name?"""
    above = statement.parent
    if above is None or above.type != "module":
        return False
    return all(site.start > statement.start_byte for site in source.sites(name))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and folder != "/" else f"{folder}{name}"


def squeezed(dotted: str) -> str:
    """A dotted name without the blanks, line ends and backslashes that may stand around its dots."""
    return "".join(dotted.replace("\\", " ").split())
