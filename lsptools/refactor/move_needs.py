"""What a definition that moves reads of its module, and how the other module gets it.

A name that the old module imports is imported by the new one in the same way; one that it defines is imported from it.
Whatever cannot be had in the same meaning is a conflict with its place. What is gained is checked afterwards by the proof:
every name in the moved lines must mean what it meant.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.errors import Conflict
from lsptools.languages.python import mentions
from lsptools.languages.python.meaning import Meanings
from lsptools.languages.python.modules import Module, Variable
from lsptools.languages.python.references import Finder
from lsptools.languages.python.roles import DECLARING, Role, access_of
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import ModuleValue
from lsptools.refactor.move_imports import is_for_checkers, manner_of, module_text, named_imports, spelled
from lsptools.refactor.moved_blocks import Block, whole_lines, words_in
from lsptools.refactor.origins import origins
from lsptools.refactor.places import place
from lsptools.syntax.tree import Node

_OF_THE_MODULE = frozenset(
    {"__name__", "__file__", "__doc__", "__package__", "__path__", "__spec__", "__loader__", "__all__"}
)
_IMPORTS = frozenset({Role.IMPORT_NAME, Role.IMPORT_ALIAS, Role.IMPORT_MODULE})


@dataclass(frozen=True, slots=True)
class Need:
    """A name of the module that the moved lines read."""

    name: str
    at: int
    """The first place at which it is read, in bytes."""
    at_import: bool
    """Is it read when the module is loaded (a base class, a decorator, a default)?"""
    lines: tuple[str, ...] = ()
    """Import statements that bring it to the other module; none, where it is there already."""
    for_checkers: bool = False
    copied: tuple[Node, ...] = ()
    """The imports of the old module that these are made from."""
    is_defined_there: bool = False
    """Does the other module define it?"""


@dataclass(frozen=True, slots=True)
class Needs:
    """Everything the moved lines of one file read, and what stands in the way."""

    needs: tuple[Need, ...]
    conflicts: tuple[Conflict, ...]


def needs_of(
    finder: Finder, blocks: list[Block], target: Source, name: str, old: Module, new: Module
) -> Needs:
    """The needs of the blocks of one file, for the file `target` of the module `new`."""
    looking = _Looking(finder, blocks, target, name, old, new)
    found: list[Need] = []
    for word in dict.fromkeys(word for block in blocks for word in words_in(block)):
        reads = list(looking.reads(word))
        if not reads or word == name:
            continue
        at_import = any(site.scope.enclosing_function() is None and not text for site, text in reads)
        need = looking.need(word, reads[0][0], at_import)
        if need is not None:
            found.append(need)
    return Needs(tuple(found), tuple(looking.conflicts))


class _Looking:
    def __init__(
        self, finder: Finder, blocks: list[Block], target: Source, name: str, old: Module, new: Module
    ) -> None:
        self.finder = finder
        self.meanings = finder.meanings
        self.project = finder.project
        self.blocks = blocks
        self.source = blocks[0].source
        self.target = target
        self.name = name
        self.old = old
        self.new = new
        self.conflicts: list[Conflict] = []

    def reads(self, word: str) -> Iterator[tuple[Site, bool]]:
        """Where the moved lines read the word as a name of their module; True: in text that is read as a type."""
        names = self.source.names(word)
        for site in self.source.sites(word):
            if not any(block.covers(site.start) for block in self.blocks):
                continue
            if site.role in DECLARING and site.role is Role.GLOBAL and word != self.name:
                self._conflict(f"the definition writes `{word}` of its module", site, "is written here")
            if site.role is Role.READ:
                owner = names.scope_at(site)
                if owner is None or owner.kind == "module":
                    yield site, False
            elif site.role in (Role.STRING, Role.COMMENT) and self._is_type(site):
                owner = names.scope_of(site.scope, word)
                if owner is None or owner.kind == "module":
                    yield site, True

    def _is_type(self, site: Site) -> bool:
        """Is it the first part of a name in an annotation's string or in a type comment?"""
        if self.source.bytes[site.start - 1 : site.start] == b".":
            return False
        found = mentions.in_python(self.meanings, self.source, site)
        return found.evidence is None and found.reason.startswith(("in an annotation", "in a type comment"))

    def need(self, word: str, site: Site, at_import: bool) -> Need | None:
        own = Variable(self.source, self.source.module_scope, word).sites
        there = Variable(self.target, self.target.module_scope, word)
        if not own:
            return self._starred(word, site, at_import) or self._unbound(word, site, there)
        if there.sites and self._is_same(word, there):
            is_defined = there.sites[0].role not in _IMPORTS
            statements = (each.ancestor("import_statement", "import_from_statement") for each in own)
            copied = tuple(each for each in statements if each is not None)
            return Need(word, site.start, at_import, copied=copied, is_defined_there=is_defined)
        if there.sites:
            self._clash(word, site, there.sites[0])
            return None
        if all(each.role in _IMPORTS for each in own):
            return self._imported(word, site, own, at_import)
        return self._defined(word, site, own, at_import)

    def _is_same(self, word: str, there: Variable) -> bool:
        own = self.meanings.variable(Variable(self.source, self.source.module_scope, word))
        other = self.meanings.variable(there)
        return bool(own.roots) and origins(self.meanings, own.roots) == origins(self.meanings, other.roots)

    # ------------------------------------------------------------------ names that are not bound there

    def _starred(self, word: str, site: Site, at_import: bool) -> Need | None:
        for statement, module in self.project.star_imports(self.source):
            if module is None or not self.project.exports(module, word):
                continue
            found = self.project.member(module, word)
            if found and found != self.project.global_variable(self.target, word):
                written = spelled(self.project, self.target, module, module_text(self.source, statement))
                if written is not None:
                    return Need(word, site.start, at_import, (f"from {written} import {word}",))
            if found:
                return Need(word, site.start, at_import)
        return None

    def _unbound(self, word: str, site: Site, there: Variable) -> Need | None:
        if word in _OF_THE_MODULE:
            self._conflict(f"`{word}` is another value in another module", site, "is read here")
        elif there.sites and hasattr(builtins, word):
            self._clash(word, site, there.sites[0])
        return None

    def _clash(self, word: str, site: Site, there: Site) -> None:
        says = f"`{word}` means something else in `{self.target.path}`"
        sites = (
            place(self.source, site.start, "this use in the definition"),
            place(self.target, there.start, "would mean what is bound here"),
        )
        self.conflicts.append(Conflict("name_capture", says, sites))

    def _conflict(self, says: str, site: Site, what: str) -> None:
        self.conflicts.append(Conflict("undecided", says, (place(self.source, site.start, what),)))

    # ------------------------------------------------------------------ names that the old module imports

    def _imported(self, word: str, site: Site, own: list[Site], at_import: bool) -> Need | None:
        statements = [each.ancestor("import_statement", "import_from_statement") for each in own]
        plain = [statement for statement in statements if statement is not None]
        several = len(own) > 1 and any(each.role is not Role.IMPORT_MODULE for each in own)
        for_checkers = all(is_for_checkers(self.source, each.path[0][0]) for each in own)
        nested = any(each.path[0][0] not in plain for each in own) and not for_checkers
        if several or nested or len(plain) < len(own):
            self._conflict(f"how `{word}` is imported depends on more", own[0], "is imported here")
            return None
        lines = tuple(filter(None, (self._line(each, word) for each in own)))
        if len(lines) < len(own):
            self._conflict(
                f"`{word}` cannot be imported into `{self.target.path}`", own[0], "is imported here"
            )
            return None
        return Need(word, site.start, at_import, lines, for_checkers, tuple(plain))

    def _line(self, site: Site, word: str) -> str | None:
        statement = site.ancestor("import_statement", "import_from_statement")
        if statement is None:
            return None
        named = next(
            each for each in named_imports(statement) if each.start_byte <= site.start < each.end_byte
        )
        text = self.source.text(named)
        if statement.type == "import_statement":
            found = self.project.imported(self.source, site)
            is_new = any(isinstance(each, Module) and each.place == self.new.place for each in found)
            return None if is_new else f"import {text}"
        module = self.project.module_of_import(self.source, statement)
        written: str | None = module_text(self.source, statement)
        if module is not None and module.place == self.new.place:
            return None  # under another name, or it would be there
        if module is not None and (written or "").startswith("."):
            written = spelled(self.project, self.target, module, written or "")
        elif (written or "").startswith("."):
            return None
        return f"from {written} import {text}" if written else None

    # ------------------------------------------------------------------ names that the old module defines

    def _defined(self, word: str, site: Site, own: list[Site], at_import: bool) -> Need | None:
        again = self._bound_again(word, own)
        if again is not None:
            says = f"`{word}` is bound more than once, and an import of it has one of the values"
            self._conflict(says, again, "is bound again here")
            return None
        outside = next(set_from_outside(self.finder, self.old, word), None)
        if outside is not None:
            says = f"`{word}` is set from outside, and an import of it has one of the values"
            self.conflicts.append(Conflict("undecided", says, (place(*outside, "is set here"),)))
            return None
        written = spelled(self.project, self.target, self.old, manner_of(self.target))
        if written is None:
            self._conflict(
                f"`{self.target.path}` cannot import `{self.old.place}`", own[0], "is defined here"
            )
            return None
        return Need(word, site.start, at_import, (f"from {written} import {word}",))

    def _bound_again(self, word: str, own: list[Site]) -> Site | None:
        """A second value of a variable; overloads, and definitions in branches, are one."""
        changing = [each for each in own if each.role in (Role.AUGMENT, Role.DELETE, Role.FOR, Role.WALRUS)]
        if changing:
            return changing[0]
        declared = [each for each in self.source.sites(word) if each.role is Role.GLOBAL]
        if declared:
            return declared[0]
        assigned = [each for each in own if each.role is Role.ASSIGN and each.path[0][0].type in _SIMPLE]
        return assigned[1] if len(assigned) > 1 else None


def set_from_outside(finder: Finder, module: Module, word: str) -> Iterator[tuple[Source, int]]:
    """Where a name of a module is set or deleted through the module (`module.word = …`): file and byte."""
    for source in finder.sources_with(word):
        for site in source.sites(word):
            if site.role is Role.ATTRIBUTE and access_of(site.path) is not Role.READ:
                values = finder.evaluator.receiver(source, site).values
                if any(
                    isinstance(each, ModuleValue) and each.module.place == module.place for each in values
                ):
                    yield source, site.start


def unneeded(
    meanings: Meanings, blocks: list[Block], need: Need, *, is_loaded: bool, sources: list[Source]
) -> bool:
    """Can the old module certainly do without an import that the moved lines have taken along?

    Nothing else in the file says the name, no other file takes it from there, and loading it has no effect that is missed:
    it is of the standard library, or loaded all the same (`is_loaded`). `sources` are the files that contain the name.
    """
    source = blocks[0].source
    if (
        len(need.copied) != 1
        or need.copied[0].parent != source.tree.root_node
        or source.path.endswith(("__init__.py", ".pyi"))
    ):
        return False
    statement = need.copied[0]
    lines = whole_lines(source, statement)
    if lines is None or b"#" in source.bytes[statement.end_byte : lines[1]]:
        return False
    for start, _ in source.find(need.name):
        inside = statement.start_byte <= start < statement.end_byte
        if not inside and not any(block.covers(start) for block in blocks):
            return False
    top = source.text(statement).split()[1].partition(".")[0]
    if not is_loaded and top not in sys.stdlib_module_names:
        return False
    module = meanings.project.module_of(source.path)
    return not any(_takes(meanings, other, module, need.name) for other in sources if other is not source)


def _takes(meanings: Meanings, other: Source, module: Module, name: str) -> bool:
    """Does a file take the name from the module: by an import, as an attribute, with a star?"""
    if any(
        starred is not None and starred.place == module.place
        for _, starred in meanings.project.star_imports(other)
    ):
        return True
    for site in other.sites(name):
        if site.role in (Role.IMPORT_NAME, Role.IMPORT_ORIGINAL):
            statement = site.ancestor("import_from_statement")
            found = meanings.project.module_of_import(other, statement) if statement is not None else None
            if found is not None and found.place == module.place:
                return True
        elif site.role in (Role.ATTRIBUTE, Role.STRING) and module.name in other.document.text:
            return True
    return False


_SIMPLE = frozenset({"expression_statement"})
