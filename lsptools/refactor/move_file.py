"""Move a module's file to another folder: whoever imports it imports it from there, and what it imports relatively it still finds.

Rewritten are `from a.m import x`, `from a import m` and `import a.m as n`, in absolute or relative spelling. What is certain or likely to
be the module and is none of these (`import a.m` with its uses) is refused with its places; nothing is half done. Strings that may
name it are left, and told in the notes of the change. The proof: on the result, every import of every file touched leads to where it led before.

Where it stops: packages are not moved; `__name__`, and files that are found by `__file__`, are others afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from lsptools.errors import BadRequest, Conflict, Refused
from lsptools.languages.names import Evidence, FilePosition, Occurrence
from lsptools.languages.python.candidates import searching
from lsptools.languages.python.modules import Module, Project, squeezed
from lsptools.languages.python.references import Finder
from lsptools.languages.python.scopes import Source
from lsptools.refactor.edited_files import EditedFiles
from lsptools.refactor.move_imports import spelled
from lsptools.refactor.places import place_of
from lsptools.refactor.proof import BOUND
from lsptools.refactor.readings import readings
from lsptools.refactor.selection import ancestors_of, indent_of, nodes_in, text_of
from lsptools.refactor.separated import edits_without
from lsptools.syntax.tree import Node
from lsptools.text.lines import Offset
from lsptools.workspace.change import Change, Move
from lsptools.workspace.snapshot import Snapshot

_IMPORTS = ("import_from_statement", "import_statement")


def plan_move_file(snapshot: Snapshot, old: str, new: str) -> Change:
    """The edits and the move. Paths are relative, of files with the same suffix; `new` does not exist yet.

    Raises `Refused` (`undecided`, `exists`, `name_capture`) with all places that stand against it.
    """
    if snapshot.exists(new):
        raise Refused("exists", f"{new} exists", hint="choose a name that is free")
    beside = [path for path in Project(snapshot).module_of(old).files if path != old]
    if beside:
        raise Refused(
            "undecided",
            f"{old} is not moved: {beside[0]} is the same module",
            hint=f"move both by hand, or remove {beside[0]} first",
        )
    at = FilePosition(old, Offset(0), is_module=True)
    finder = Finder(snapshot, searching(snapshot, at))
    move = Move(old, new)
    after = Project(Change(moves=(move,)).after(snapshot))
    with closing(finder):
        return _FileMove(finder, after, move).plan()


class _FileMove:
    def __init__(self, finder: Finder, after: Project, move: Move) -> None:
        self.finder = finder
        self.before = finder.project
        self.after = after
        self.move = move
        self.new = after.module_of(move.new)
        self.edited = EditedFiles()
        self.done: set[tuple[str, int, int]] = set()
        """The nodes that were rewritten: path, first and last byte."""
        self.conflicts: list[Conflict] = []

    def plan(self) -> Change:
        account = self.finder.account(
            self.finder.target(FilePosition(self.move.old, Offset(0), is_module=True))
        )
        found = [each for each in account.references.occurrences if each.evidence in BOUND]
        sources = {each.path: self.before.source(each.path) for each in found}
        for source in (each for each in sources.values() if each is not None):
            for statement in _imports(source):
                self._lead(source, statement)
        self._own_imports()
        self.conflicts += [conflict for each in found for conflict in self._left(each)]
        if self.conflicts:
            raise Refused(
                "undecided",
                f"{self.move.old} is not moved: {self.conflicts[0].message}",
                hint="change these places first",
                conflicts=tuple(self.conflicts),
            )
        label = f"move {self.move.old} to {self.move.new}"
        possible = [each for each in account.references.occurrences if each.evidence is Evidence.POSSIBLE]
        notes = tuple(f"left as it is: {self._told(each)}" for each in possible)
        change = Change(edits=self.edited.file_edits(), moves=(self.move,), notes=notes, label=label)
        self._prove(change)
        return replace(change, read=readings(self.finder.snapshot, change, account.files))

    def _told(self, occurrence: Occurrence) -> str:
        lines = self.finder.snapshot.document(occurrence.path).lines
        return f"{occurrence.path}:{lines.user_from_offset(occurrence.span.start)} ({occurrence.reason})"

    # ------------------------------------------------------------------ who imports it

    def _lead(self, source: Source, statement: Node) -> None:
        """Lead an import of the module to its new place."""
        if source.path == self.move.old:
            return
        if statement.type == "import_statement":
            for aliased in statement.children_by_field_name("name"):
                dotted = aliased.child_by_field_name("name") if aliased.type == "aliased_import" else None
                if dotted is not None and self._is_old(
                    self.before.module_named(source, squeezed(source.text(dotted)))
                ):
                    self._respell(source, dotted)
            return
        origin = statement.child_by_field_name("module_name")
        package = self.before.module_of_import(source, statement)
        if origin is None or package is None:
            return
        if self._is_old(package):
            self._respell(source, origin)
            return
        names = statement.children_by_field_name("name")
        for named in names:
            if self._is_submodule(source, package, named):
                self._lead_name(source, statement, origin, names, named)

    def _is_old(self, module: Module | None) -> bool:
        return module is not None and self.move.old in module.files

    def _is_submodule(self, source: Source, package: Module, named: Node) -> bool:
        name = named.child_by_field_name("name") if named.type == "aliased_import" else named
        if name is None:
            return False
        found = self.before.member(package, source.text(name))
        return len(found) == 1 and isinstance(found[0], Module) and self._is_old(found[0])

    def _respell(self, source: Source, written: Node) -> None:
        new = spelled(self.after, source, self.new, squeezed(source.text(written)))
        if new is None:
            self._conflict(source, written, "cannot import it from there")
            return
        self._replace(source, written, new)

    def _lead_name(
        self, source: Source, statement: Node, origin: Node, names: list[Node], named: Node
    ) -> None:
        """`from a import m`: alone it is led to the new package, among others it gets a statement of its own."""
        dotted = spelled(self.after, source, self.new, squeezed(source.text(origin)))
        head, dot, stem = (dotted or "").rpartition(".")
        package = (
            f"{head}." if dotted is not None and dotted.startswith(".") and not head.strip(".") else head
        )
        alias = named.child_by_field_name("alias")
        bound = source.text(alias if alias is not None else named)
        new_name = stem if stem == bound else f"{stem} as {bound}"
        if not dot or dotted is None:
            line = f"import {new_name}"
        else:
            line = f"from {package} import {new_name}"
        if dotted is None:
            self._conflict(source, named, "cannot import it from there")
        elif len(names) == 1:
            self._replace(source, statement, line, named)
        else:
            self._split(source, statement, names, named, line)

    def _split(self, source: Source, statement: Node, names: list[Node], named: Node, line: str) -> None:
        if any((source.path, each.start_byte, each.end_byte) in self.done for each in names):
            self._conflict(source, named, "is imported twice in one statement")
            return
        spans = [source.span(each.start_byte, each.end_byte) for each in names]
        self.edited.add(source, edits_without(source.document.text, spans, [names.index(named)]))
        self.done.add((source.path, named.start_byte, named.end_byte))
        self.edited.put_in(source, statement.start_byte, f"{line}\n{indent_of(source, statement)}")

    def _replace(self, source: Source, node: Node, text: str, covers: Node | None = None) -> None:
        self.done.add((source.path, (covers or node).start_byte, (covers or node).end_byte))
        if text_of(source, node) != text:
            self.edited.replace(source, node.start_byte, node.end_byte, text)

    def _left(self, occurrence: Occurrence) -> Iterator[Conflict]:
        """What is the module, surely or likely, and has not been rewritten."""
        source = self.before.source(occurrence.path)
        if source is None:
            yield Conflict("undecided", f"{occurrence.path} names it")
            return
        start = source.byte(occurrence.span.start)
        if any(path == source.path and a <= start < b for path, a, b in self.done):
            return
        leaf = source.tree.root_node.descendant_for_byte_range(start, start)
        statement = (
            next((each for each in ancestors_of(leaf) if each.type in _IMPORTS), None) if leaf else None
        )
        if leaf is None or self._is_use_of_binding(source, leaf, statement):
            return
        place = place_of(source, leaf, "names it in a way that is not rewritten")
        yield Conflict("undecided", f"{occurrence.path} names it in a way that is not rewritten", (place,))

    def _is_use_of_binding(self, source: Source, leaf: Node, statement: Node | None) -> bool:
        """A read of the name that a rewritten import binds, as before."""
        if statement is not None or leaf.type != "identifier":
            return False
        above = leaf.parent
        if above is not None and above.type == "attribute" and above.child_by_field_name("object") != leaf:
            return False
        word = source.text(leaf)
        names = source.names(word)
        site = source.site_at(leaf.start_byte, leaf.end_byte, word)
        owner = names.scope_of(site.scope, site.spelling)
        bindings = names.bindings(owner, site.spelling) if owner is not None else []
        spans = [(path, a, b) for path, a, b in self.done if path == source.path]
        return bool(bindings) and all(any(a <= each.start < b for _, a, b in spans) for each in bindings)

    def _conflict(self, source: Source, node: Node, says: str) -> None:
        self.conflicts.append(Conflict("undecided", f"{source.path} {says}", (place_of(source, node, says),)))

    # ------------------------------------------------------------------ what it imports

    def _own_imports(self) -> None:
        """Relative imports of the file count from its folder."""
        source, there = self.before.source(self.move.old), self.after.source(self.move.new)
        if source is None or there is None:
            raise BadRequest("invalid", f"{self.move.old} is no Python file of the workspace")
        for statement in _imports(source):
            origin = statement.child_by_field_name("module_name")
            if origin is None or not squeezed(source.text(origin)).startswith("."):
                continue
            module = self.before.module_of_import(source, statement)
            if module is None:
                self._conflict(source, origin, "imports something relatively that is not there")
                continue
            place = self.move.new if self._is_old(module) else module.place
            new = spelled(self.after, there, self.after.module_at(place), ".")
            if new is None:
                self._conflict(source, origin, "cannot import this from there")
            else:
                self._replace(source, origin, new)

    # ------------------------------------------------------------------ proof

    def _prove(self, change: Change) -> None:
        after = Project(change.after(self.finder.snapshot))
        for file in (*(each.path for each in change.edits), self.move.old):
            source, then = self.before.source(file), after.source(change.path_after(file))
            if source is None or then is None:
                continue
            was = {change.path_after(place) for place in _places(self.before, source)}
            now = set(_places(after, then))
            if was - now:
                raise Refused(
                    "name_capture",
                    f"{file} would not import {sorted(was - now)[0]} any more",
                    hint="move it by hand",
                )


def _places(project: Project, source: Source) -> Iterator[str]:
    """The files of the workspace that a file's imports lead to."""
    for statement in _imports(source):
        found: list[Module | None] = []
        if statement.type == "import_statement":
            for each in statement.children_by_field_name("name"):
                dotted = each.child_by_field_name("name") if each.type == "aliased_import" else each
                if dotted is not None:
                    found.append(project.module_named(source, squeezed(source.text(dotted))))
        else:
            package = project.module_of_import(source, statement)
            for each in statement.children_by_field_name("name"):
                name = each.child_by_field_name("name") if each.type == "aliased_import" else each
                members = project.member(package, source.text(name)) if package is not None and name else []
                modules = [member for member in members if isinstance(member, Module)]
                found += modules or [package]
        yield from (each.place for each in found if each is not None and not each.external)


def _imports(source: Source) -> list[Node]:
    return [each for each in nodes_in(source.tree.root_node) if each.type in _IMPORTS]
