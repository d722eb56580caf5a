"""Who names a definition that moves, and what becomes of each: imports, attributes of modules, star imports, `__all__`.

Units: bytes of the UTF-8 source, half-open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lsptools.errors import Conflict
from lsptools.languages.python.facts import Fact
from lsptools.languages.python.modules import Module, squeezed
from lsptools.languages.python.references import Finder
from lsptools.languages.python.roles import Role, receiver_before
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import ModuleValue
from lsptools.refactor.edited_files import EditedFiles
from lsptools.refactor.move_imports import absolute, named_imports, spelled
from lsptools.refactor.moved_blocks import plain_lines, whole_lines
from lsptools.refactor.places import line_end, line_start, next_line, place
from lsptools.refactor.separated import edits_without
from lsptools.syntax.tree import Node


@dataclass(slots=True)
class Users:
    """The rewriting of everyone who names the symbol as a member of its old module."""

    finder: Finder
    name: str
    old: Module
    new: Module
    edited: EditedFiles
    conflicts: list[Conflict] = field(default_factory=list)
    bound: dict[Source, set[str]] = field(default_factory=dict)
    """The names that new imports bind, by file: none of them may have been something else."""
    moved_imports: dict[tuple[Source, int], list[Node]] = field(default_factory=dict)
    dropped: dict[tuple[Source, int], list[Node]] = field(default_factory=dict)
    """Names that import statements lose, by file and first byte of the statement."""
    statements: dict[tuple[Source, int], Node] = field(default_factory=dict)

    def add(self, source: Source, fact: Fact) -> None:
        """Rewrite one occurrence, if it goes through the old module."""
        site = source.site_at(fact.start, fact.end, fact.written)
        if site.role in (Role.IMPORT_NAME, Role.IMPORT_ORIGINAL):
            self._import(source, site)
        elif site.role is Role.ATTRIBUTE:
            self._attribute(source, site)

    def finish(self) -> None:
        """Rewrite the import statements that were gathered."""
        for key, names in self.moved_imports.items():
            self._rewrite_import(key[0], self.statements[key], names)
        for key, names in self.dropped.items():
            self._drop_names(key[0], self.statements[key], names)

    # ------------------------------------------------------------------ imports

    def _is_old(self, module: object) -> bool:
        return isinstance(module, Module) and module.place == self.old.place

    def _import(self, source: Source, site: Site) -> None:
        statement = site.ancestor("import_from_statement")
        if statement is None or not self._is_old(self.finder.project.module_of_import(source, statement)):
            return
        named = next(
            each for each in named_imports(statement) if each.start_byte <= site.start < each.end_byte
        )
        key = (source, statement.start_byte)
        self.statements[key] = statement
        moved = self.moved_imports.setdefault(key, [])
        if named not in moved:
            moved.append(named)

    def _rewrite_import(self, source: Source, statement: Node, moved: list[Node]) -> None:
        module = statement.child_by_field_name("module_name")
        if module is None:
            return
        scope = source.descend(statement.start_byte)[1]
        if source.path in self.new.files and scope.kind == "module":
            self._drop_import(source, statement, moved)
            return
        if source.path in self.new.files and scope.enclosing_function() is None:
            self._cannot(source, statement.start_byte)
            return
        written = spelled(self.finder.project, source, self.new, source.text(module))
        if written is None:
            self._cannot(source, statement.start_byte)
            return
        names = list(named_imports(statement))
        if len(names) == len(moved):
            self.edited.replace(source, module.start_byte, module.end_byte, written)
            return
        text = ", ".join(source.text(each) for each in moved)
        self._remove_names(source, names, moved)
        self._after_statement(source, statement, f"from {written} import {text}")

    def _drop_import(self, source: Source, statement: Node, moved: list[Node]) -> None:
        """The new module itself has the name now."""
        for named in moved:
            if named.type == "aliased_import" and self._alias(source, named) != self.name:
                says = f"`{source.path}` imports it under another name"
                sites = (place(source, named.start_byte, "is imported here"),)
                self.conflicts.append(Conflict("undecided", says, sites))
                return
        names = list(named_imports(statement))
        lines = whole_lines(source, statement)
        if len(names) > len(moved):
            self._remove_names(source, names, moved)
        elif lines is None or source.bytes[lines[0] : statement.start_byte]:
            self.edited.replace(source, statement.start_byte, statement.end_byte, "pass")
        else:
            self.edited.replace(source, lines[0], lines[1], "")

    def drop_name(self, source: Source, statement: Node, name: str) -> None:
        """Take a name out of an import statement, and the statement with its last name, in the end."""
        key = (source, statement.start_byte)
        self.statements[key] = statement
        dropped = self.dropped.setdefault(key, [])
        for each in named_imports(statement):
            if self._alias(source, each).partition(".")[0] == name and each not in dropped:
                dropped.append(each)

    def _drop_names(self, source: Source, statement: Node, dropped: list[Node]) -> None:
        names = list(named_imports(statement))
        lines = whole_lines(source, statement)
        if len(dropped) < len(names):
            self._remove_names(source, names, dropped)
        elif lines is not None:
            before = plain_lines(source.bytes[: lines[0]].decode("utf-8", "replace"))
            is_followed = bool(self.edited.put_in_at(source, lines[1]))
            is_alone = not is_followed and (not before or before.endswith("\n\n"))
            behind = _EMPTY_LINE.match(source.bytes, lines[1]) if is_alone else None
            self.edited.replace(source, lines[0], behind.end() if behind is not None else lines[1], "")

    def _alias(self, source: Source, named: Node) -> str:
        alias = named.child_by_field_name("alias")
        return source.text(alias) if alias is not None else source.text(named)

    def _remove_names(self, source: Source, names: list[Node], moved: list[Node]) -> None:
        """Take some names out of an import statement."""
        spans = [source.span(each.start_byte, each.end_byte) for each in names]
        gone = (index for index, named in enumerate(names) if named in moved)
        self.edited.add(source, edits_without(source.document.text, spans, gone))

    def _after_statement(self, source: Source, statement: Node, text: str) -> None:
        lines = whole_lines(source, statement)
        indent = source.bytes[line_start(source, statement.start_byte) : statement.start_byte]
        if not indent.strip() and (lines is not None or self._ends_its_line(source, statement)):
            end = next_line(source, statement.end_byte)
            self.edited.put_in(source, end, f"{indent.decode()}{text}\n")
        else:
            self.edited.put_in(source, statement.end_byte, f"; {text}")

    def _ends_its_line(self, source: Source, statement: Node) -> bool:
        rest = source.bytes[statement.end_byte : line_end(source, statement.end_byte)].strip()
        return not rest or rest.startswith(b"#")

    # ------------------------------------------------------------------ attributes

    def _attribute(self, source: Source, site: Site) -> None:
        types = self.finder.evaluator.receiver(source, site)
        modules = [each.module for each in types.values if isinstance(each, ModuleValue)]
        if not any(self._is_old(module) for module in modules):
            return
        receiver = receiver_before(site.path)
        if receiver is None or len(types.values) > 1:
            self._cannot(source, site.start)
        elif source.path in self.new.files:
            self.edited.replace(source, receiver.start_byte, site.start, "")
            self._binds(source, self.name)
        else:
            self._through_module(source, site, receiver)

    def _through_module(self, source: Source, site: Site, receiver: Node) -> None:
        """`old.name` becomes `new.name`; the new module is imported where the old one is."""
        text = squeezed(source.text(receiver))
        root = text.partition(".")[0]
        names = source.names(root)
        owner = names.scope_at(
            Site(receiver.start_byte, receiver.start_byte, Role.READ, site.scope, site.path, root)
        )
        bindings = names.bindings(owner, root) if owner is not None else []
        for binding in bindings:
            written = self._imported_beside(source, binding, text)
            if written is None:
                continue
            line, expression = written
            statement = binding.ancestor("import_statement", "import_from_statement")
            if statement is not None:
                self._after_statement(source, statement, line)
                self.edited.replace(source, receiver.start_byte, receiver.end_byte, expression)
                self._binds(source, expression.partition(".")[0])
                return
        self._cannot(source, site.start)

    def _imported_beside(self, source: Source, binding: Site, receiver: str) -> tuple[str, str] | None:
        """(the import of the new module, how it is named) in the manner of the import that binds the old one."""
        statement = binding.ancestor("import_statement", "import_from_statement")
        if statement is None:
            return None
        if statement.type == "import_from_statement":
            module = statement.child_by_field_name("module_name")
            if module is None or "." in receiver:
                return None
            package = self._package_of_new(source, source.text(module))
            return (f"from {package} import {self.new.name}", self.new.name) if package else None
        dotted = source.text(binding.path[-2][0]) if binding.role is Role.IMPORT_MODULE else ""
        written = absolute(self.finder.project, source, self.new, dotted or receiver)
        if written is None:
            return None
        if binding.role is Role.IMPORT_ALIAS and "." in written:
            package, _, last = written.rpartition(".")
            return f"from {package} import {last}", last
        return f"import {written}", written

    def _package_of_new(self, source: Source, like: str) -> str | None:
        written = spelled(self.finder.project, source, self.new, like)
        if written is None:
            return None
        package, _, last = written.rpartition(".")
        if written.startswith(".") and not package.strip("."):
            return "." * (len(written) - len(written.lstrip("."))) if last else None
        return package or None

    # ------------------------------------------------------------------ star imports

    def starred(self, sources: Iterable[Source]) -> None:
        """Files that got the name by a star from the old module import it from the new one."""
        if not self.finder.project.exports(self.old, self.name):
            return
        for source in sources:
            if source.path in self.new.files or b"*" not in source.bytes or source.external:
                continue
            for statement, module in self.finder.project.star_imports(source):
                node = statement.child_by_field_name("module_name")
                if not self._is_old(module) or node is None:
                    continue
                written = spelled(self.finder.project, source, self.new, source.text(node))
                if written is None:
                    self._cannot(source, statement.start_byte)
                else:
                    self._after_statement(source, statement, f"from {written} import {self.name}")
                    self._binds(source, self.name)

    # ------------------------------------------------------------------ below

    def _binds(self, source: Source, name: str) -> None:
        self.bound.setdefault(source, set()).add(name)

    def _cannot(self, source: Source, at: int) -> None:
        says = f"how `{self.name}` is reached here cannot be rewritten"
        self.conflicts.append(Conflict("undecided", says, (place(source, at, "is reached here"),)))


def listed_in_all(source: Source, name: str) -> Iterator[Site]:
    """The strings `name` in the `__all__` of a file."""
    for site in source.sites(name):
        if site.role is not Role.STRING:
            continue
        assigned = site.path[0][0].named_children[:1]
        left = assigned[0].child_by_field_name("left") if assigned else None
        if left is not None and source.text(left) == "__all__":
            yield site


_EMPTY_LINE = re.compile(rb"[ \t]*(?:\r\n|\n|\r)")
