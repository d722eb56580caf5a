"""Every occurrence of one symbol's name, each in exactly one class of evidence.

The order of work: the symbol under the cursor gives roots; the closure of its declarations comes before the search;
ripgrep names the files; each occurrence in them is given a meaning; meanings are compared with the closure. What no
meaning was found for is likely or possible by the rules at `_unknown`.

Invariant (conservation): the occurrences returned are those that a word search counts in the symbol's reach, each
once. Units: bytes inside, code points in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from lsptools.errors import BadRequest
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Step, Symbol
from lsptools.languages.python import closure, mentions
from lsptools.languages.python.candidates import PYTHON_SUFFIXES, Candidates
from lsptools.languages.python.classes import Class, class_in, last_name
from lsptools.languages.python.closure import Groups
from lsptools.languages.python.library import library_owner
from lsptools.languages.python.meaning import Meaning, Meanings, Root, member_root
from lsptools.languages.python.modules import Project
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.roles import BINDING, DECLARING, TEXT, Role, access_of, receiver_before
from lsptools.languages.python.scopes import Site, Source, word_pattern
from lsptools.languages.python.values import InstanceValue
from lsptools.text.lines import Offset, Span
from lsptools.workspace.snapshot import Snapshot


@dataclass(slots=True)
class Record:
    """One occurrence in code while it is being judged."""

    source: Source
    site: Site
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Target:
    """The symbol asked for: the occurrence it was found at and what that is bound to."""

    source: Source
    site: Site
    name: str
    """As written where it is declared, without mangling."""
    roots: frozenset[Root]


@dataclass(frozen=True, slots=True)
class Account:
    """All that was found for a symbol."""

    target: Target
    family: frozenset[Root]
    """The closure: declarations that form one name."""
    references: References
    meanings: Meanings
    external: tuple[Root, ...]
    """Those of the family that are not ours to edit."""
    records: tuple[Record, ...] = field(repr=False, default=())


def account(snapshot: Snapshot, at: FilePosition) -> Account:
    """Everything about the symbol at a place. `BadRequest("not_a_symbol")` if there is none."""
    finder = Finder(snapshot)
    return finder.account(finder.target(at))


class Finder:
    """The state of one search: project, evaluator, and what was found so far."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.project = Project(snapshot)
        self.evaluator = Evaluator(self.project)
        self.meanings = Meanings(self.project, self.evaluator)
        self.groups = Groups()
        self.incomplete: list[str] = []
        self.candidates = Candidates(snapshot)

    # ------------------------------------------------------------------ the target

    def target(self, at: FilePosition) -> Target:
        """The symbol whose name stands at (or ends at) a position."""
        source = self.project.source(at.path)
        if source is None or not at.path.endswith(PYTHON_SUFFIXES):
            self.snapshot.document(at.path)
            raise BadRequest(
                "not_a_symbol", f"{at.path} is not a Python file", hint="name a place in a .py or .pyi file"
            )
        start, end = _word_at(source.document.text, at.offset)
        word = source.document.text[start:end]
        where = f"{at.path}:{source.document.lines.user_from_offset(at.offset)}"
        if not word.isidentifier():
            raise BadRequest(
                "not_a_symbol",
                f"there is no name at {where}",
                hint=f"`lsptools outline {at.path}` lists the names of the file",
            )
        site = source.site_at(source.byte(Offset(start)), source.byte(Offset(end)), word)
        return self._target_of(source, site, word, where)

    def _target_of(self, source: Source, site: Site, word: str, where: str) -> Target:
        meaning = self._any_meaning(source, site)
        if meaning is None or (not meaning.roots and site.role in TEXT):
            what = {Role.COMMENT: "in a comment", Role.STRING: "in a string"}.get(
                site.role, "no name in code"
            )
            raise BadRequest(
                "not_a_symbol",
                f"`{word}` at {where} is {what}",
                hint=f"place the cursor on the definition or on a use in code; `lsptools symbols {word}` finds them",
            )
        if not meaning.roots:
            why = meaning.unknown or meaning.says or "it is bound nowhere"
            raise BadRequest(
                "not_found",
                f"what `{word}` at {where} is bound to cannot be derived: {why}",
                hint=f"start at the definition; `lsptools symbols {word}` lists definitions of that name",
            )
        return Target(source, site, self._written(meaning.roots, word), meaning.roots)

    def _any_meaning(self, source: Source, site: Site) -> Meaning | None:
        if site.role in (Role.STRING, Role.COMMENT):
            text = mentions.in_python(self.meanings, source, site)
            return text.meaning if text.evidence is None else None
        return None if site.role is Role.TOKEN else self.meanings.of(source, site)

    def _written(self, roots: frozenset[Root], word: str) -> str:
        for root in roots:
            cls = closure.class_at(self.project, root)
            if cls is not None:
                bare = cls.name.lstrip("_")
                if bare and root.name.startswith(f"_{bare}__"):
                    return root.name[len(bare) + 1 :]
        return word

    # ------------------------------------------------------------------ the search

    def account(self, target: Target) -> Account:
        """All occurrences of the target's name in its reach, classified."""
        reach = self._reach(target)
        if reach == "workspace":
            self.candidates.start_others(self._words(target))
        sources = list(self._sources(target, reach))
        self._close(target, sources)
        home = {root.path for root in self._family(target)} | {target.source.path}
        records: list[Record] = []
        texts: list[tuple[Source, Site]] = []
        for source in sources:
            for site in self._sites(source, target.name):
                if site.role in TEXT:
                    texts.append((source, site))
                elif reach != "keywords" or source.path in home or site.role is Role.KEYWORD:
                    records.append(Record(source, site, self.meanings.of(source, site)))
        self._join_records(records, target)
        family = self._family(target)
        judge = Judge(self, target, family, records)
        occurrences = [judge.code(record) for record in records]
        for source, site in texts:
            if reach != "keywords" or source.path in home:
                occurrences.append(judge.text(source, site))
        if reach == "workspace":
            occurrences.extend(judge.other_files(self.candidates.others(self._words(target))))
        occurrences.sort(key=lambda occurrence: (occurrence.path, occurrence.span))
        external = tuple(sorted((r for r in family if self._is_external(r)), key=lambda r: (r.path, r.start)))
        incomplete = tuple(dict.fromkeys([*self.incomplete, *self.candidates.incomplete]))
        references = References(
            symbol=self._symbol(target, family),
            declarations=tuple(self._declarations(family)),
            occurrences=tuple(occurrences),
            complete=not incomplete,
            incomplete_because=incomplete,
            n_files=len({occurrence.path for occurrence in occurrences}),
        )
        return Account(target, family, references, self.meanings, external, tuple(records))

    def _reach(self, target: Target) -> str:
        """How far the name can be used: `file` (locals), `keywords` (parameters), or the `workspace`.

        A parameter reaches all of the files in which it or its namesakes in overrides are declared, and elsewhere the
        keywords of calls.
        """
        reach = "file"
        for root in target.roots:
            if root.kind != "variable" or root.start == -1:
                return "workspace"
            function = closure.function_at(self.project, root)
            if function is None or function.node.type == "lambda":
                continue
            if closure.is_parameter(self.project, root) and function.outer.kind in ("module", "class"):
                reach = "keywords"
        return reach

    def _words(self, target: Target) -> list[str]:
        """The spellings to search: the name, and for a private member the mangled one."""
        mangled = {root.name for root in target.roots if root.kind == "member" and root.name != target.name}
        return [target.name, *sorted(mangled)]

    def _sites(self, source: Source, name: str) -> list[Site]:
        sites = source.sites(name)
        for spelling in self._mangled_spellings:
            if spelling in source.document.text:
                sites = sorted([*sites, *source.sites(spelling)], key=lambda site: site.start)
        return sites

    _mangled_spellings: tuple[str, ...] = ()

    def _sources(self, target: Target, reach: str) -> Iterator[Source]:
        self._mangled_spellings = tuple(self._words(target)[1:])
        if reach == "file":
            yield target.source
            return
        yielded = False
        for path in self._python_files(self._words(target)):
            source = self.project.source(path)
            if source is None:
                self.incomplete.append(f"{path} could not be read")
                continue
            yielded = yielded or source is target.source
            yield source
        if not yielded:
            yield target.source

    def _python_files(self, words: list[str]) -> Iterator[str]:
        files = self.candidates.python(words)
        yield from files
        seen = set(files)
        for path in self._files_with_odd_letters(words[0]):
            if path not in seen:
                yield path

    def _files_with_odd_letters(self, name: str) -> tuple[str, ...]:
        """Python files with letters that Python folds into others (NFKC), so that a word search misses the name."""
        return ()

    def sources_with(self, word: str) -> list[Source]:
        """The Python files that contain a word."""
        found = (self.project.source(path) for path in self.candidates.python([word]))
        return [source for source in found if source is not None]

    # ------------------------------------------------------------------ the closure

    def _close(self, target: Target, sources: list[Source]) -> None:
        """Join the declarations that form one name with the target's, to a fixpoint."""
        self.groups.join(target.roots)
        self.definers: list[Class] = []
        if any(root.kind in ("member", "module") or root.start == -1 for root in target.roots):
            self.definers = list(closure.definers(self.evaluator, sources, target.name))
            closure.join_overrides(self.groups, self.evaluator, self.definers, target.name)
        self._note_outside_writes(target, sources)
        self._grow(target)

    def _grow(self, target: Target) -> None:
        """Follow the edges that start at members of the group until there are no new ones."""
        done: set[Root] = set()
        while True:
            waiting = self._family(target) - done
            if not waiting:
                return
            for root in waiting:
                done.add(root)
                for twin in closure.twins(self.project, root):
                    self.groups.join((root, twin))
                function = closure.function_at(self.project, root)
                if function is not None and closure.is_parameter(self.project, root):
                    closure.join_parameters(
                        self.groups,
                        self.meanings,
                        function,
                        target.name,
                        self._sources_of_name(function.name),
                    )

    def _sources_of_name(self, name: str) -> list[Source]:
        return self.sources_with(name) if name and name != "<lambda>" else []

    def _note_outside_writes(self, target: Target, sources: list[Source]) -> None:
        """`thing.name = …` from outside defines a member, if the class has no other definition of it."""
        if not any(root.kind == "member" for root in target.roots):
            return
        from lsptools.languages.python.receivers import write_sites

        for source in sources:
            for site in write_sites(source, target.name):
                if access_of(site.path) in (Role.READ, Role.DELETE):
                    continue
                for value in self.evaluator.receiver(source, site).values:
                    if isinstance(value, InstanceValue) and not self.evaluator.lookup(value.cls, target.name):
                        written = self.meanings.outside.setdefault(site.spelling, {})
                        written[member_root(value.cls, site.spelling)] = value.cls

    def _family(self, target: Target) -> frozenset[Root]:
        return frozenset().union(*(self.groups.members(root) for root in target.roots))

    def _join_records(self, records: list[Record], target: Target) -> None:
        """Names with several origins, and members that a subclass or mixture supplies, join their roots."""
        for record in records:
            meaning = record.meaning
            for cls in meaning.unbound:
                suppliers = [d for d in self.definers if d is not cls and cls in self.evaluator.order(d)]
                if suppliers:
                    roots = {member_root(d, d.spelled(target.name)) for d in suppliers}
                    says = f"supplied by its subclass `{suppliers[0].name}`"
                    record.meaning = Meaning(frozenset(roots), says, steps=meaning.steps)
            if len(record.meaning.roots) > 1 and record.meaning.complete:
                self.groups.join(record.meaning.roots)
        self._grow(target)

    # ------------------------------------------------------------------ symbols

    def _is_external(self, root: Root) -> bool:
        return root.kind == "builtin" or self.project.is_external(root.path)

    def _symbol(self, target: Target, family: frozenset[Root]) -> Symbol:
        own = [root for root in family if root in target.roots] or list(family)
        own.sort(
            key=lambda root: (self._is_external(root), root.path.endswith(".pyi"), root.path, root.start)
        )
        return self.symbol_of(own[0], target.name)

    def _declarations(self, family: frozenset[Root]) -> Iterator[Symbol]:
        for root in sorted(family, key=lambda root: (root.path, root.start, root.name)):
            yield self.symbol_of(root, root.name)

    def symbol_of(self, root: Root, name: str) -> Symbol:
        """How a root is shown: kind, place and qualified name."""
        if root.kind == "builtin":
            return Symbol(name, "builtin", "builtins", Span(Offset(0), Offset(0)), f"builtins.{root.name}")
        if root.kind == "module":
            dotted = self.project.dotted_name(root.path) if root.path.endswith(PYTHON_SUFFIXES) else root.name
            return Symbol(root.name, "module", root.path, Span(Offset(0), Offset(0)), dotted)
        sites, source, owner, kind = self._declaring(root)
        first = sites[0] if sites else None
        if source is None or first is None:
            return Symbol(name, kind, root.path, Span(Offset(0), Offset(0)), f"{owner}.{root.name}")
        span = source.span(first.start, first.end)
        shown = source.text(first.leaf)
        return Symbol(shown, kind, root.path, span, f"{owner}.{shown}")

    def _declaring(self, root: Root) -> tuple[list[Site], Source | None, str, str]:
        """(declaring sites, their file, the qualified name of what they stand in, the symbol's kind)."""
        source = self.project.source(root.path)
        if source is None:
            return [], None, root.path, root.kind
        module = self.project.dotted_name(root.path)
        cls = closure.class_at(self.project, root)
        if cls is not None:
            name = root.name
            bare = cls.name.lstrip("_")
            if bare and name.startswith(f"_{bare}__"):
                name = name[len(bare) + 1 :]
            sites = self.evaluator.members(cls, name)
            owner = ".".join([module, *(n for _, n in closure.qualified_scope(source, cls.start))])
            method = bool(sites) and sites[0].role is Role.FUNCTION
            return sites, source, owner, "method" if method else _kind(sites, "attribute")
        variable = closure.variable_at(self.project, root)
        if variable is None:
            sites = [site for site in source.sites(root.name) if site.role in BINDING]
            return sites, source, module, "local"
        names = closure.qualified_scope(source, root.start) if root.start >= 0 else []
        owner = ".".join([module, *(name for _, name in names)])
        return (
            variable.sites,
            source,
            owner,
            _kind(variable.sites, "variable" if root.start == -1 else "local"),
        )


class Judge:
    """Gives each occurrence its class."""

    def __init__(
        self, finder: Finder, target: Target, family: frozenset[Root], records: list[Record]
    ) -> None:
        self.finder = finder
        self.target = target
        self.family = family
        self.records = records
        self.has_members = any(root.kind == "member" for root in family)
        self.has_globals = any(root.kind == "variable" and root.start == -1 for root in family)
        self.has_modules = any(root.kind == "module" for root in family)
        self.parameters = [root for root in family if closure.is_parameter(finder.project, root)]
        self.n_unknown = 0

    def code(self, record: Record) -> Occurrence:
        """The occurrence of a record."""
        evidence, reason = self._judge(record.source, record.site, record.meaning)
        if evidence in (Evidence.CERTAIN, Evidence.LIKELY) and record.source.is_broken:
            evidence, reason = Evidence.POSSIBLE, f"the file does not parse; {reason}"
        return self._occurrence(record.source, record.site, evidence, reason, record.meaning.steps)

    def _judge(self, source: Source, site: Site, meaning: Meaning) -> tuple[Evidence, str]:
        if meaning.roots & self.family:
            if meaning.complete:
                return Evidence.CERTAIN, self._says(site, meaning)
            return Evidence.LIKELY, f"{meaning.says}; {meaning.unknown}"
        if meaning.roots:
            return Evidence.UNRELATED, meaning.says or meaning.unknown
        if meaning.complete:
            return Evidence.UNRELATED, meaning.says or "not a name of this symbol"
        return self._unknown(source, site, meaning)

    def _says(self, site: Site, meaning: Meaning) -> str:
        if site.role in (Role.FUNCTION, Role.CLASS):
            return "the definition" if not meaning.steps or "inherited" not in meaning.says else meaning.says
        return meaning.says or site.role.value

    def _unknown(self, source: Source, site: Site, meaning: Meaning) -> tuple[Evidence, str]:
        """Occurrences whose meaning could not be derived: what could they be?"""
        why = meaning.unknown
        if site.role is Role.ATTRIBUTE:
            if self.has_members:
                return self._likely_or_possible(why)
            if (self.has_globals or self.has_modules) and self._may_be_module(source, site):
                return Evidence.POSSIBLE, f"{why}; it may be the module"
            return Evidence.UNRELATED, f"{why}; nothing shows that it is a module"
        if site.role in (Role.KEYWORD, Role.PATTERN_KEYWORD):
            return self._unknown_keyword(source, site, why)
        if site.role in (Role.IMPORT_ORIGINAL, Role.IMPORT_NAME, Role.MODULE_PART):
            if self._same_module_tail(source, site):
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
        for record in self.records:
            site = record.site
            if site.role not in BINDING or record.meaning.roots & self.family:
                continue
            if site.scope.kind == "class":
                return f"class `{site.scope.name}`"
            if site.scope.kind == "module" and site.role not in (Role.IMPORT_NAME, Role.IMPORT_MODULE):
                return f"`{record.source.path}`"
        for cls in self.finder.definers:
            if member_root(cls, cls.spelled(self.target.name)) not in self.family:
                return f"class `{cls.name}`"
        return library_owner(self.finder.project, self.target.name)

    def _may_be_module(self, source: Source, site: Site) -> bool:
        receiver = receiver_before(site.leaf)
        if receiver is None:
            return False
        last = last_name(source, receiver)
        if last in self._module_names or last in ("module", "mod", "import_module", "__import__", "reload"):
            return True
        text = source.text(receiver)
        return "import_module" in text or "sys.modules" in text

    @cached_property
    def _module_names(self) -> frozenset[str]:
        return frozenset(
            self.finder.project.module_of(root.path).name for root in self.family if root.kind == "variable"
        )

    def _unknown_keyword(self, source: Source, site: Site, why: str) -> tuple[Evidence, str]:
        callees = self._callee_names
        if not callees:
            return Evidence.UNRELATED, f"{why}; the symbol is no parameter"
        call = site.ancestor("call", "class_definition", "class_pattern")
        function = call.child_by_field_name("function") if call is not None else None
        last = last_name(source, function) if function is not None else ""
        if last in callees or last in (
            "cls",
            "type",
            "__class__",
            "super",
            "__init__",
            "_replace",
            "replace",
        ):
            return Evidence.POSSIBLE, why
        return Evidence.UNRELATED, f"{why}, and it is not called `{'` or `'.join(sorted(callees))}`"

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

    def _same_module_tail(self, source: Source, site: Site) -> bool:
        """Could an import that was not found lead to one of the family's modules all the same?"""
        statement = site.ancestor("import_from_statement", "import_statement")
        module = statement.child_by_field_name("module_name") if statement is not None else None
        if module is None:
            return False
        last = source.text(module).rpartition(".")[2]
        return bool(last) and last in self._module_names

    # ------------------------------------------------------------------ text

    def text(self, source: Source, site: Site) -> Occurrence:
        """An occurrence in a string or comment, or in a token that is no name."""
        if site.role is Role.TOKEN:
            return self._occurrence(source, site, Evidence.UNRELATED, "no name: a keyword, prefix or number")
        found = mentions.in_python(self.finder.meanings, source, site)
        evidence, reason = self._judge_text(source, site, found)
        if evidence is Evidence.CERTAIN and source.is_broken:
            evidence, reason = Evidence.POSSIBLE, f"the file does not parse; {reason}"
        if evidence is Evidence.MENTION and not self._in_reach(source, site):
            evidence, reason = Evidence.UNRELATED, "text outside the function"
        return self._occurrence(source, site, evidence, reason, found.meaning.steps)

    def _judge_text(self, source: Source, site: Site, found: mentions.TextMeaning) -> tuple[Evidence, str]:
        if found.evidence is None:
            if found.meaning.roots & self.family:
                return Evidence.CERTAIN, found.reason
            if found.meaning.roots:
                return Evidence.UNRELATED, found.meaning.says
            return Evidence.MENTION, found.meaning.unknown or found.reason
        if found.evidence is Evidence.POSSIBLE:
            return self._possible_text(found)
        return found.evidence, found.reason

    def _possible_text(self, found: mentions.TextMeaning) -> tuple[Evidence, str]:
        if not (self.has_members or self.has_globals or self.has_modules):
            return Evidence.MENTION, found.reason
        if found.meaning.roots and not found.meaning.roots & self.family:
            return Evidence.UNRELATED, found.reason
        if found.receiver is not None and found.receiver.complete and found.receiver.values:
            roots: set[Root] = set()
            for value in found.receiver.values:
                roots |= self.finder.meanings.on_value(value, self.target.name, "the receiver").roots
            if roots and not roots & self.family:
                return Evidence.UNRELATED, f"{found.reason} on something else"
        return Evidence.POSSIBLE, found.reason

    def _in_reach(self, source: Source, site: Site) -> bool:
        """Prose about a local is prose inside its function."""
        if self.has_members or self.has_globals or self.has_modules:
            return True
        for root in self.family:
            function = closure.function_at(self.finder.project, root)
            if function is None or root.path != source.path:
                continue
            if function.statement.start_byte <= site.start < function.statement.end_byte:
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
            for found in pattern.finditer(text):
                evidence, reason = mentions.in_other_file(path, text, found.start(), found.end(), dotted)
                span = Span(Offset(found.start()), Offset(found.end()))
                yield Occurrence(path, span, evidence, "text", reason)

    @cached_property
    def _dotted_module(self) -> str:
        for root in self.target.roots:
            if root.path.endswith(PYTHON_SUFFIXES):
                return self.finder.project.dotted_name(root.path)
        return ""

    def _occurrence(
        self, source: Source, site: Site, evidence: Evidence, reason: str, steps: tuple[Step, ...] = ()
    ) -> Occurrence:
        span = source.span(site.start, site.end)
        last = Step(f"{evidence.value}: {reason}", source.path, span)
        written = source.bytes[site.start : site.end].decode("utf-8", "replace")
        replacement = None
        if written != self.target.name and written.endswith(self.target.name):
            replacement = written[: -len(self.target.name)] + "{}"
        return Occurrence(source.path, span, evidence, _role_name(site), reason, (*steps, last), replacement)


def _kind(sites: list[Site], otherwise: str) -> str:
    if not sites:
        return otherwise
    kinds = {
        Role.FUNCTION: "function",
        Role.CLASS: "class",
        Role.PARAMETER: "parameter",
        Role.TYPE_PARAMETER: "type parameter",
        Role.TYPE_ALIAS: "type alias",
        Role.IMPORT_NAME: "import",
        Role.IMPORT_ALIAS: "import",
        Role.IMPORT_MODULE: "import",
    }
    return kinds.get(sites[0].role, otherwise)


def _role_name(site: Site) -> str:
    role = site.role
    if role in (Role.FUNCTION, Role.CLASS):
        return "definition"
    if role is Role.ATTRIBUTE:
        access = access_of(site.path)
        if access in BINDING:
            return "write"
        return "call" if _is_called(site, -2) else "attribute"
    if role is Role.READ:
        return "call" if _is_called(site, -1) else "read"
    return _ROLE_NAMES[role]


def _is_called(site: Site, index: int) -> bool:
    if len(site.path) < 1 - index:
        return False
    return site.path[index][1] == "function" and site.path[index - 1][0].type == "call"


_ROLE_NAMES: dict[Role, str] = {
    **dict.fromkeys(BINDING, "write"),
    **dict.fromkeys(DECLARING, "declaration"),
    Role.PARAMETER: "parameter",
    Role.TYPE_PARAMETER: "definition",
    Role.TYPE_ALIAS: "definition",
    Role.IMPORT_NAME: "import",
    Role.IMPORT_ALIAS: "import",
    Role.IMPORT_MODULE: "import",
    Role.IMPORT_ORIGINAL: "import",
    Role.MODULE_PART: "import",
    Role.KEYWORD: "keyword",
    Role.PATTERN_KEYWORD: "keyword",
    Role.STRING: "string",
    Role.COMMENT: "comment",
    Role.TOKEN: "token",
    Role.READ: "read",
    Role.ATTRIBUTE: "attribute",
}


def _word_at(text: str, at: int) -> tuple[int, int]:
    """The word that covers a position or ends there; an empty span if there is none."""
    start = end = at
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end
