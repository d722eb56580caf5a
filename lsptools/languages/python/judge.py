"""The class of evidence of each occurrence, from its facts and the closure of the symbol.

What no meaning could be derived for is decided here, by rules that are stated in `docs/guarantees.md`:

- an attribute of an unknown receiver is likely if nothing else anywhere has an attribute of that name, else possible;
  if the symbol is a module's name it is possible where something shows that a module is meant, else unrelated;
- a keyword of an unknown callee is possible if the callee is called as one whose parameter or field the symbol is,
  else unrelated;
- an import from a module that was not found is possible if that module is called like the symbol's, else unrelated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lsptools.errors import BadRequest
from lsptools.languages.names import Evidence, Occurrence, Step
from lsptools.languages.python import closure, mentions
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import class_in
from lsptools.languages.python.columns import Columns
from lsptools.languages.python.escapes import Escapes
from lsptools.languages.python.facts import Fact, FileFacts, all_facts
from lsptools.languages.python.meaning import CALLED_ON_MOCK, MISSING, SETS_BY_NAME, Meaning, Root
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import word_pattern
from lsptools.text.lines import Offset, Span

if TYPE_CHECKING:
    from lsptools.languages.python.references import Finder, Target


class Judge:
    """Gives each occurrence its class."""

    def __init__(
        self,
        finder: Finder,
        target: Target,
        family: frozenset[Root],
        files: list[FileFacts],
        possible: Mapping[Root, str],
        homes: frozenset[str] | None = None,
    ) -> None:
        self.finder = finder
        self.target = target
        self.family = family
        self.files = files
        self.homes = homes
        """If not None: outside of these files a string counts only if it may be a keyword."""
        self.possible = {root: why for root, why in possible.items() if root not in family}
        """Declarations that may form one name with the family, and why."""
        self.has_members = any(root.kind == "member" for root in family)
        self.has_globals = any(
            (root.kind == "variable" and root.start == -1) or root.kind == "fixture" for root in family
        )
        self.has_modules = any(root.kind == "module" for root in family)
        self.parameters = [root for root in family if closure.is_parameter(finder.project, root)]

    def occurrences(self, fixed: dict[Fact, Meaning]) -> Iterator[Occurrence]:
        """Every fact as an occurrence; `fixed` has meanings that were found only after all files were read."""
        for file in self.files:
            for fact in file.facts:
                meaning = fixed.get(fact, fact.meaning) if fixed else fact.meaning
                evidence, reason = self._text(fact) if fact.reason else self._code(fact, meaning)
                if fact.role is Role.STRING and evidence in _ASIDE and self._is_out_of_reach(fact):
                    continue
                if evidence in (Evidence.CERTAIN, Evidence.LIKELY) and file.is_broken:
                    evidence, reason = Evidence.POSSIBLE, f"the file does not parse; {reason}"
                yield self._occurrence(fact, evidence, reason, meaning.steps)

    def _is_out_of_reach(self, fact: Fact) -> bool:
        """Is it in a file of which only keywords count, and nothing shows that it becomes one?"""
        if self.homes is None or fact.path in self.homes or fact.reason.startswith(mentions.TEMPLATE_KEYWORD):
            return False
        return not fact.meaning.roots

    def _code(self, fact: Fact, meaning: Meaning) -> tuple[Evidence, str]:
        evidence, reason = self._by_meaning(fact, meaning)
        if evidence is Evidence.UNRELATED and fact.keys is not None and not _is_ours(meaning):
            unpacked = self._escapes.unpacked_from(fact.keys)
            return (Evidence.POSSIBLE, unpacked) if unpacked else (evidence, reason)
        return evidence, reason

    def _by_meaning(self, fact: Fact, meaning: Meaning) -> tuple[Evidence, str]:
        if meaning.perhaps & self.family and not meaning.roots & self.family:
            return Evidence.POSSIBLE, f"it may be handed on; {meaning.unknown or meaning.says}"
        reaches_far = self.has_members or self.has_globals or self.has_modules
        if meaning.on_demand and reaches_far and not meaning.roots & self.family:
            return Evidence.POSSIBLE, "its module has a `__getattr__`, which makes names on demand"
        if meaning.roots & self.family:
            if meaning.complete:
                return Evidence.CERTAIN, _says(fact, meaning)
            return Evidence.LIKELY, f"{meaning.says}; {meaning.unknown}"
        if fact.role is Role.KEYWORD and self._is_in_decorator(fact):
            return Evidence.POSSIBLE, _GIVEN
        if self.possible and not meaning.roots.isdisjoint(self.possible):
            return Evidence.POSSIBLE, next(
                self.possible[root] for root in meaning.roots if root in self.possible
            )
        if meaning.roots and meaning.complete:
            return Evidence.UNRELATED, meaning.says
        if meaning.roots:
            return self._something_else_or_this(fact, meaning)
        if meaning.complete:
            return Evidence.UNRELATED, meaning.says or "not a name of this symbol"
        return self._unknown(fact, meaning.unknown)

    def _something_else_or_this(self, fact: Fact, meaning: Meaning) -> tuple[Evidence, str]:
        """One alternative is known, and is something else; the others are not known and may be the symbol."""
        if fact.role is Role.ATTRIBUTE and self.has_members:
            return Evidence.POSSIBLE, f"{meaning.says}; {meaning.unknown}"
        if fact.role in (Role.KEYWORD, Role.PATTERN_KEYWORD):
            return self._unknown_keyword(fact, meaning.unknown)
        return Evidence.UNRELATED, meaning.says or meaning.unknown

    def _unknown(self, fact: Fact, why: str) -> tuple[Evidence, str]:
        """Occurrences whose meaning could not be derived: what could they be?"""
        if fact.role is Role.ATTRIBUTE:
            if self.has_members:
                return self._likely_or_possible(why)
            if self.has_globals and why.endswith(MISSING):
                return Evidence.POSSIBLE, why
            may_be = fact.may_be_module or fact.beside in self._module_names
            if (self.has_globals or self.has_modules) and may_be:
                return Evidence.POSSIBLE, f"{why}; it may be the module"
            return Evidence.UNRELATED, f"{why}; nothing shows that it is a module"
        if fact.role in (Role.KEYWORD, Role.PATTERN_KEYWORD):
            return self._unknown_keyword(fact, why)
        if fact.role in (Role.IMPORT_ORIGINAL, Role.IMPORT_NAME, Role.MODULE_PART):
            if fact.beside and fact.beside in self._module_names:
                return Evidence.POSSIBLE, why
            return Evidence.UNRELATED, why
        if self.has_globals and "star import" in why:
            return Evidence.POSSIBLE, why
        return Evidence.UNRELATED, why

    def _likely_or_possible(self, why: str) -> tuple[Evidence, str]:
        other = self.other_owner
        if other is None:
            return Evidence.LIKELY, f"{why}, and nothing else has an attribute `{self.target.name}`"
        return Evidence.POSSIBLE, f"{why}; {other} has one of this name, too"

    @cached_property
    def other_owner(self) -> str | None:
        """Something else that has an attribute of the name, in the workspace or outside; None: nothing has."""
        for fact in all_facts(self.files):
            if fact.binds and not fact.meaning.roots & self.family:
                return fact.binds
        for file in self.files:
            for definer in file.definers:
                if definer.root not in self.family:
                    return f"class `{definer.name}`"
        return self.finder.library_owner(self.target)

    @cached_property
    def _module_names(self) -> frozenset[str]:
        return frozenset(
            self.finder.project.module_of(root.path).name for root in self.family if root.kind == "variable"
        )

    def _unknown_keyword(self, fact: Fact, why: str) -> tuple[Evidence, str]:
        if self.has_members and SETS_BY_NAME in why:
            return Evidence.POSSIBLE, why
        if fact.beside == _PATCHES and (self.has_members or self.has_globals):
            return Evidence.POSSIBLE, "patched by its name, perhaps"
        callees = self._callee_names
        if fact.beside and (fact.beside in callees or fact.beside in self._any_callees):
            return Evidence.POSSIBLE, why
        if CALLED_ON_MOCK in why:
            told = fact.given is not None and self._escapes.could_take(fact.given)
            return (Evidence.POSSIBLE if told else Evidence.UNRELATED), why
        column = self._columns.by_keyword(fact.given, fact.beside) if fact.given is not None else ""
        if column:
            return Evidence.POSSIBLE, f"{why}; {column}"
        escaped = self._escapes.called_as(fact.given) if fact.given is not None else ""
        if escaped:
            return Evidence.POSSIBLE, f"{why}; {escaped}"
        if not callees:
            return Evidence.UNRELATED, f"{why}; the symbol is no parameter"
        return Evidence.UNRELATED, f"{why}, and it is not called `{'` or `'.join(sorted(callees))}`"

    @cached_property
    def _columns(self) -> Columns:
        """What names a field to which a base from elsewhere gives a meaning."""
        return Columns(self.finder, self.target.name, self.family)

    @cached_property
    def _escapes(self) -> Escapes:
        return Escapes(self.finder, self.target.name, self.family)

    @cached_property
    def _callee_names(self) -> frozenset[str]:
        """The names under which a call may reach a parameter or field of the family."""
        names = set()
        for root in self.parameters:
            function = closure.function_at(self.finder.project, root)
            if function is not None:
                names.add(function.name)
                if function.in_class and function.name in closure.NOT_POLYMORPHIC:
                    names.add(class_in(function.source, function.outer).name)
        for root in self.family:
            cls = closure.class_at(self.finder.project, root)
            if cls is not None and self.finder.meanings.makes_constructor(cls):
                names.add(cls.name)
        return frozenset(names)

    @cached_property
    def _any_callees(self) -> frozenset[str]:
        """Callees that may be any class, or copy any record: where the symbol is a constructor's parameter, or a field."""
        project, found = self.finder.project, set[str]()
        for root in self.family:
            function, cls = closure.function_at(project, root), closure.class_at(project, root)
            if function is not None and function.in_class:
                constructs = function.name in closure.NOT_POLYMORPHIC or function.name == "__call__"
                found |= _ANY_CLASS if constructs else {"super"}
            if cls is not None and self.finder.meanings.makes_constructor(cls):
                found |= _ANY_CLASS | _ANY_RECORD
        return frozenset(found)

    # ------------------------------------------------------------------ decorators

    @cached_property
    def _decorators(self) -> Mapping[str, list[tuple[int, int]]]:
        """By file, where the decorators are of the functions whose parameter the symbol is. Bytes."""
        found: dict[str, list[tuple[int, int]]] = {}
        for root in self.parameters:
            function = closure.function_at(self.finder.project, root)
            for node in function.decorators if function is not None else ():
                found.setdefault(root.path, []).append((node.start_byte, node.end_byte))
        return found

    def _is_in_decorator(self, fact: Fact) -> bool:
        return any(start <= fact.start < end for start, end in self._decorators.get(fact.path, ()))

    def _is_given_to_decorator(self, fact: Fact) -> bool:
        """Is the word all of a string that a decorator of the function gets, all but the dashes of an option, or in brackets?"""
        if fact.role is not Role.STRING or not self._is_in_decorator(fact):
            return False
        source = self.finder.project.source(fact.path)
        if source is None:
            return False
        if _ALONE.search(source.bytes[fact.start - 3 : fact.end + 1]) is not None:
            return True
        around = source.bytes[max(0, fact.start - 40) : fact.start], source.bytes[fact.end : fact.end + 40]
        return any(before.search(around[0]) and behind.match(around[1]) for before, behind in _IN_BRACKETS)

    # ------------------------------------------------------------------ text

    def _text(self, fact: Fact) -> tuple[Evidence, str]:
        """An occurrence in a string or comment, or in a token that is no name."""
        evidence, reason = self._judge_text(fact)
        if evidence is Evidence.MENTION and not self._in_reach(fact):
            return Evidence.UNRELATED, "text outside the function"
        return evidence, reason

    def _judge_text(self, fact: Fact) -> tuple[Evidence, str]:
        roots = fact.meaning.roots
        if fact.evidence is None:
            if roots & self.family:
                return Evidence.CERTAIN, fact.reason
            if roots:
                return Evidence.UNRELATED, fact.meaning.says
            return Evidence.MENTION, fact.meaning.unknown or fact.reason
        if fact.evidence is Evidence.MENTION and self._is_given_to_decorator(fact):
            return Evidence.POSSIBLE, _GIVEN
        if fact.evidence is Evidence.MENTION and fact.role is Role.STRING:
            column = self._columns.by_string(fact.path, fact.start, fact.end)
            if column:
                return Evidence.POSSIBLE, column
        if fact.evidence is Evidence.MENTION and fact.keys is not None:
            unpacked = self._escapes.unpacked_from(fact.keys)
            return (Evidence.POSSIBLE, unpacked) if unpacked else (fact.evidence, fact.reason)
        if fact.evidence is not Evidence.POSSIBLE:
            return fact.evidence, fact.reason
        if roots & self.family:
            return Evidence.POSSIBLE, fact.reason
        if fact.reason == mentions.TEMPLATE_KEYWORD:
            # Templates call filters by the end of the function's name: `int` is `do_int`.
            is_called = fact.beside and any(name.endswith(fact.beside) for name in self._callee_names)
            return Evidence.POSSIBLE if is_called else Evidence.MENTION, fact.reason
        if fact.reason == mentions.OF_SIGNATURE:
            is_ours = bool(self.parameters) and not roots
            return (Evidence.POSSIBLE if is_ours else Evidence.MENTION), fact.reason
        if not (self.has_members or self.has_globals or self.has_modules):
            is_local = fact.reason == mentions.IN_LOCALS and self._in_reach(fact)
            return Evidence.POSSIBLE if is_local else Evidence.MENTION, fact.reason
        if roots:
            return Evidence.UNRELATED, fact.reason
        if fact.receiver and not fact.receiver & self.family:
            return Evidence.UNRELATED, f"{fact.reason} on something else"
        return Evidence.POSSIBLE, fact.reason

    def _in_reach(self, fact: Fact) -> bool:
        """Prose about a local is prose inside its function."""
        if self.has_members or self.has_globals or self.has_modules:
            return True
        for root in self.family:
            function = closure.function_at(self.finder.project, root)
            if function is None or root.path != fact.path:
                continue
            if function.statement.start_byte <= fact.start < function.statement.end_byte:
                return True
        return not any(closure.function_at(self.finder.project, root) for root in self.family)

    def other_files(self, paths: Iterable[str]) -> Iterator[Occurrence]:
        """Occurrences in files that are not Python."""
        dotted = self._dotted_module
        pattern = word_pattern(self.target.name)
        for path in paths:
            try:
                text = self.finder.snapshot.document(path).text
            except BadRequest:
                continue
            file = mentions.OtherFile(path, text, dotted, self._has_inside)
            for found in pattern.finditer(text):
                evidence, reason = file.meaning(found.start(), found.end())
                span = Span(Offset(found.start()), Offset(found.end()))
                yield Occurrence(path, span, evidence, "text", reason)

    def _has_inside(self, name: str) -> bool:
        """Is the symbol a module of the top that has something of this name?"""
        modules = [root for root in self.target.roots if root.kind == "module"]
        project = self.finder.project
        found = (project.module_at(root.path) for root in modules)
        return not self._dotted_module and any(project.member(module, name) for module in found)

    @cached_property
    def _dotted_module(self) -> str:
        for root in self.target.roots:
            if root.kind == "module":
                return self.finder.symbol_of(root, root.name).qualified.rpartition(".")[0]
            if root.path.endswith(PYTHON_SUFFIXES):
                return self.finder.project.dotted_name(root.path)
        return ""

    def _occurrence(self, fact: Fact, evidence: Evidence, reason: str, steps: tuple[Step, ...]) -> Occurrence:
        last = Step(f"{evidence.value}: {reason}", fact.path, fact.span)
        name = self.target.name
        replacement = None
        if fact.written != name and fact.written.endswith(name):
            replacement = fact.written[: -len(name)] + "{}"
        return Occurrence(fact.path, fact.span, evidence, fact.shown, reason, (*steps, last), replacement)


def _is_ours(meaning: Meaning) -> bool:
    """Is it bound to something that the workspace defines?"""
    return any(root.kind != "builtin" for root in meaning.roots)


def _says(fact: Fact, meaning: Meaning) -> str:
    if fact.role in (Role.FUNCTION, Role.CLASS):
        return "the definition" if not meaning.steps or "inherited" not in meaning.says else meaning.says
    return meaning.says or fact.role.value


_ASIDE = (Evidence.MENTION, Evidence.UNRELATED)
_GIVEN = "given to a decorator of the function, which may call it by its parameter's name"
_ALONE = re.compile(rb"[\"']-{0,2}\w+[\"'/]$")
_IN_BRACKETS = (
    (re.compile(rb"<(?:\w+(?:\([^()<>]*\))?:)?$"), re.compile(rb">")),
    (re.compile(rb"\{$"), re.compile(rb"(?::\w+)?\}")),
)
"""`"/<int:name>"` and `"/{name:path}"`, what stands before the word and what behind it."""
_PATCHES = "multiple"
"""`mock.patch.multiple("module", name=…)` replaces what is called like its keywords."""
_ANY_CLASS = frozenset({"cls", "type", "__class__", "super", "__init__"})
"""Callees that may be any class."""
_ANY_RECORD = frozenset({"_replace", "replace", "evolve"})
"""Callees that copy a value with other fields."""
