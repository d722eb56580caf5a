"""Every occurrence of one symbol's name, each in exactly one class of evidence.

The order of work: the symbol under the cursor gives roots; the closure of its declarations comes before the search;
ripgrep names the files; each occurrence in them is given a meaning; meanings are compared with the closure. What no
meaning was found for is likely or possible by the rules at `_unknown`.

Invariant (conservation): the occurrences returned are those that a word search counts in the symbol's reach, each
once. Units: bytes inside, code points in the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from lsptools.errors import BadRequest
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Step, Symbol
from lsptools.languages.python import closure, fixtures, mentions
from lsptools.languages.python.calls import is_left_to_subclasses
from lsptools.languages.python.candidates import PYTHON_SUFFIXES, Candidates, searching, word_at
from lsptools.languages.python.classes import Class
from lsptools.languages.python.closure import Groups
from lsptools.languages.python.computed import COMPUTED, Computed, computed_in
from lsptools.languages.python.escapes import is_let_out
from lsptools.languages.python.facts import Definer, Fact, FileFacts, Wanted, all_facts, facts_of
from lsptools.languages.python.folding import folded
from lsptools.languages.python.judge import Judge
from lsptools.languages.python.library import LibraryOwner
from lsptools.languages.python.meaning import Meaning, Meanings, Root, by_place, member_root, module_root
from lsptools.languages.python.modules import Project
from lsptools.languages.python.parallel import facts_of_all
from lsptools.languages.python.private import class_named_by, prefix_of
from lsptools.languages.python.protocols import StandingParameters, standing_for
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.roles import BINDING, TEXT, Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.subclasses import Descent
from lsptools.languages.python.values import ClassValue, InstanceValue, ModuleValue
from lsptools.text.lines import Offset, Span
from lsptools.workspace.snapshot import Snapshot

KEPT_BYTES = 3 << 20
"""So much source keeps its trees while a search goes through the files."""


@dataclass(frozen=True, slots=True)
class Target:
    """The symbol asked for: the occurrence it was found at and what that is bound to."""

    source: Source
    site: Site
    name: str
    """As written where it is declared, without mangling."""
    roots: frozenset[Root]
    is_module: bool = False
    """Is it a module that was named by its file? Then `site` is the start of a file of it, where its name does not stand."""


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
    files: tuple[FileFacts, ...] = field(repr=False, default=())
    by_library: tuple[Computed, ...] = field(repr=False, default=())
    """Where a library looks a member up by a name that is put together at run time (`visit_…`)."""


def account(snapshot: Snapshot, at: FilePosition, candidates: Candidates | None = None) -> Account:
    """Everything about the symbol at a place. `BadRequest("not_a_symbol")` if there is none."""
    finder = Finder(snapshot, candidates or searching(snapshot, at), whole=False)
    with closing(finder):
        return finder.account(finder.target(at))


class Finder:
    """The state of one search: project, evaluator, and what was found so far.

    `candidates` may be at work already. `whole`: parse all of each file, and so find errors anywhere in it (see `Source`).
    """

    def __init__(
        self, snapshot: Snapshot, candidates: Candidates | None = None, *, whole: bool = True
    ) -> None:
        self.snapshot = snapshot
        self.project = Project(snapshot, whole=whole)
        self.evaluator = Evaluator(self.project)
        self.meanings = Meanings(self.project, self.evaluator)
        self.groups = Groups()
        self.incomplete: list[str] = []
        self.candidates = candidates or Candidates(snapshot)
        self._library_owners: dict[str, LibraryOwner] = {}
        self._standing = StandingParameters(self.meanings, self._sources_of_name)
        self._descent = Descent(self.candidates, self.evaluator)

    def close(self) -> None:
        """End the searches that are still under way. More may be asked all the same."""
        self.candidates.close()
        for owner in self._library_owners.values():
            owner.cancel()

    # ------------------------------------------------------------------ the target

    def target(self, at: FilePosition) -> Target:
        """The symbol whose name stands at (or ends at) a position, or the module that a file or folder is."""
        if at.is_module:
            return self._module_target(at.path)
        source = self.project.source(at.path)
        if source is None or not at.path.endswith(PYTHON_SUFFIXES):
            self.snapshot.document(at.path)
            raise BadRequest(
                "not_a_symbol", f"{at.path} is not a Python file", hint="name a place in a .py or .pyi file"
            )
        start, end = word_at(source.document.text, at.offset)
        word = folded(source.document.text[start:end])
        where = f"{at.path}:{source.document.lines.user_from_offset(at.offset)}"
        if not word.isidentifier():
            raise BadRequest(
                "not_a_symbol",
                f"there is no name at {where}",
                hint=f"`lsptools outline {at.path}` lists the names of the file",
            )
        site = source.site_at(source.byte(Offset(start)), source.byte(Offset(end)), word)
        return self._target_of(source, site, word, where)

    def _module_target(self, path: str) -> Target:
        module = self.project.module_at(path)
        inside = (path for folder in module.folders for path in self.candidates.below(folder))
        sources = (self.project.source(path) for path in (*module.files, *inside))
        source = next((source for source in sources if source is not None), None)
        if source is None:
            raise BadRequest(
                "not_a_symbol",
                f"{path} is no module: no Python file is in it",
                hint="name a .py or .pyi file, or the folder of a package",
            )
        root = module_root(module)
        site = Site(0, 0, Role.TOKEN, source.module_scope, (), root.name)
        return Target(source, site, root.name, frozenset({root}), is_module=True)

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
        if not meaning.roots and meaning.unbound:
            meaning = self._supplied_elsewhere(word, meaning) or meaning
        if not meaning.roots:
            why = meaning.unknown or meaning.says or "it is bound nowhere"
            raise BadRequest(
                "not_found",
                f"what `{word}` at {where} is bound to cannot be derived: {why}",
                hint=f"start at the definition; `lsptools symbols {word}` lists definitions of that name",
            )
        return Target(source, site, self._written(meaning.roots, word), meaning.roots)

    def _supplied_elsewhere(self, word: str, meaning: Meaning) -> Meaning | None:
        """The member that a subclass or code outside of the receiver's class supplies."""
        wanted = Wanted(word, (), members=True, keywords_only_outside=None)
        files = [facts_of(self.meanings, source, wanted) for source in self.sources_with(word)]
        return _supplied(meaning, _all_definers(files), _set_outside(files))

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

    def account(self, target: Target, *, only_python: bool = False) -> Account:
        """All occurrences of the target's name in its reach, classified.

        `only_python` leaves out all other files: nothing in them is ever certain or likely, and most of the time goes there
        once the Python files are known.
        """
        with closing(self):
            return self._account(target, only_python=only_python)

    def _account(self, target: Target, *, only_python: bool) -> Account:
        reach = self._reach(target)
        words = self._words(target)
        self.groups.join(target.roots)
        self._grow(target)
        with_others = reach == "workspace" and not only_python
        while True:
            homes = self._homes(target)
            files = self._facts(target, reach, words, with_others=with_others)
            self._join_overrides(files)
            self._grow(target)
            self._join_below(target, files)
            possible = self._join_protocols(files, target)
            fixed = self._join_facts(files, target, self._through_overrides(files, target))
            if reach != "keywords" or self._homes(target) <= homes:
                break  # else a call has led to a parameter in a file of which only keywords were looked at
        family = self._family(target)
        possible |= {root: says for root, says in self._standing.possible.items() if root not in family}
        judge = Judge(
            self, target, family, files, possible, self._homes(target) if reach == "keywords" else None
        )
        occurrences = list(judge.occurrences(fixed))
        if with_others:
            occurrences.extend(judge.other_files(self.candidates.others(words)))
        computed = self.computed(target.name, family)
        occurrences.extend(_as_occurrence(each) for each in computed if not each.source.external)
        occurrences.sort(key=lambda occurrence: (occurrence.path, occurrence.span))
        external = tuple(sorted((r for r in family if self._is_external(r)), key=by_place))
        incomplete = tuple(dict.fromkeys([*self.incomplete, *self.candidates.incomplete]))
        references = References(
            symbol=self._symbol(target, family),
            declarations=tuple(self._declarations(family)),
            occurrences=tuple(occurrences),
            complete=not incomplete,
            incomplete_because=incomplete,
            n_files=len({occurrence.path for occurrence in occurrences}),
        )
        by_library = tuple(each for each in computed if each.source.external)
        return Account(target, family, references, self.meanings, external, tuple(files), by_library)

    def _facts(self, target: Target, reach: str, words: list[str], *, with_others: bool) -> list[FileFacts]:
        """The facts of every Python file in reach."""
        self.evaluator.suspect(
            part for root in target.roots for part in self.project.dotted_name(root.path).split(".")
        )
        homes = self._homes(target)
        wanted = Wanted(
            target.name,
            tuple(words[1:]),
            any(root.kind == "member" for root in target.roots),
            homes if reach == "keywords" else None,
            self._private(target),
        )
        paths = [target.source.path] if reach == "file" else list(self.candidates.python(words))
        if wanted.private and reach != "file":
            paths.extend(set(self.candidates.python_parts(wanted.private)).difference(paths))
        if target.source.path not in paths:
            paths.append(target.source.path)
        keep = Keep(KEPT_BYTES)

        def facts(path: str) -> FileFacts | None:
            n_read = self.snapshot.n_read
            source = self.project.source(path)
            if source is None:
                return None
            found = facts_of(self.meanings, source, wanted)
            keep.add(source)
            return replace(found, read=self.snapshot.read_since(n_read))

        def meanwhile() -> None:
            if with_others:
                self.candidates.start_others(words)
            if wanted.members:
                self._library_owner(target).begin()

        files = facts_of_all(paths, facts, meanwhile)
        read = {file.path for file in files}
        self.incomplete += [f"{path} could not be read" for path in paths if path not in read]
        return files

    def _homes(self, target: Target) -> frozenset[str]:
        """The files with declarations of the symbol."""
        return frozenset({root.path for root in self._family(target)} | {target.source.path})

    def _private(self, target: Target) -> str:
        """What private names begin with that are spelled out with the target, if that is a class that has such names."""
        classes = (class_named_by(self.meanings, root) for root in target.roots)
        return next((prefix for cls in classes if cls is not None and (prefix := prefix_of(cls))), "")

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
            if function is None or not closure.is_parameter(self.project, root):
                continue
            if function.outer.kind in ("module", "class") or is_let_out(function):
                reach = "keywords"
        return reach

    def _words(self, target: Target) -> list[str]:
        """The spellings to search: the name, and for a private member the mangled one."""
        mangled = {root.name for root in target.roots if root.kind == "member" and root.name != target.name}
        return [target.name, *sorted(mangled)]

    def sources_with(self, word: str) -> list[Source]:
        """The Python files that contain a word."""
        found = (self.project.source(path) for path in self.candidates.python([word]))
        return [source for source in found if source is not None]

    # ------------------------------------------------------------------ the closure

    def _join_overrides(self, files: list[FileFacts]) -> None:
        """Join the members of classes with those of their ancestors."""
        for file in files:
            for definer in file.definers:
                self.groups.join((definer.root, *definer.overridden))

    def _join_below(self, target: Target, files: list[FileFacts]) -> None:
        """Join members that meet in a class with several bases, whether that mentions the name or not.

        Two hierarchies can meet only if there is a second one: a class that defines the name outside of the family, one
        on which it is used without being defined, one of a library. Listing the subclasses of a class is dear and is
        spared otherwise.
        """
        while True:
            family = self._family(target)
            apart = any(each.root not in family for file in files for each in file.definers)
            open_ended = apart or any(fact.meaning.unbound for fact in all_facts(files))
            has_members = any(root.kind == "member" for root in family)
            if not open_ended and not (has_members and self.library_owner(target) is not None):
                return
            for cls in self.meeting_below(family):
                members = [
                    member_root(each, each.spelled(target.name))
                    for each in self.evaluator.order(cls)
                    if self.evaluator.members(each, target.name)
                ]
                if family.intersection(members):
                    self.groups.join((*members, *closure.builtin_roots(self.evaluator, cls, target.name)))
            if self._family(target) == family:
                return
            self._grow(target)

    def _join_protocols(self, files: list[FileFacts], target: Target) -> dict[Root, str]:
        """Join the members of classes that stand for a protocol; those that may are returned, with the reason."""
        definers = _all_definers(files)
        if len(definers) < 2 or not any(definer.kind for definer in definers):
            return {}
        while True:
            family = self._family(target)
            standing = standing_for(
                self.meanings,
                self.sources_with,
                definers,
                lambda root: closure.class_at(self.project, root),
                family,
            )
            for pair in standing.joined:
                self.groups.join(pair)
            if self._family(target) == family:
                return standing.possible
            self._grow(target)

    def library_owner(self, target: Target) -> str | None:
        """Something outside the workspace that has an attribute of the target's name."""
        return self._library_owner(target).found

    def _library_owner(self, target: Target) -> LibraryOwner:
        owner = self._library_owners.get(target.name)
        if owner is None:
            dotted = (self.project.dotted_name(root.path) for root in target.roots if root.path)
            own = frozenset(name.partition(".")[0] for name in dotted)
            owner = self._library_owners[target.name] = LibraryOwner(self.project, target.name, own)
        return owner

    def meeting_below(self, family: frozenset[Root]) -> tuple[Class, ...]:
        """The classes with several bases below the classes of which a family has members."""
        found = (closure.class_at(self.project, root) for root in family if not self._is_external(root))
        tops = [cls for cls in found if cls is not None]
        return self._descent.meeting(tops) if tops else ()

    def _grow(self, target: Target) -> None:
        """Follow the edges that start at members of the group until there are no new ones."""
        done: set[Root] = set()
        while True:
            waiting = self._family(target) - done
            if not waiting:
                return
            for root in waiting:
                done.add(root)
                self._join_fixtures(root, target.name)
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
                    self.groups.join((root, *self._standing.joined(function, target.name)))

    def _join_fixtures(self, root: Root, name: str) -> None:
        """Join fixtures that replace one another for a third one."""
        source = self.project.source(root.path) if root.kind in ("variable", "member", "fixture") else None
        if source is None or b"fixture" not in source.bytes:
            return
        own = [fixture for fixture in fixtures.all_fixtures(source) if fixtures.name_of(fixture) == name]
        if not any(root in self.meanings.fixture(fixture).roots for fixture in own):
            return
        sources = self.sources_with(name)
        for inner in (each for near in sources for each in fixtures.all_fixtures(near)):
            if fixtures.name_of(inner) != name:
                continue
            outer = fixtures.replaced_for_others(
                self.evaluator, inner, sources, lambda word: self.candidates.python([word])
            )
            if outer is not None:
                self.groups.join((*self.meanings.fixture(inner).roots, *self.meanings.fixture(outer).roots))

    def _sources_of_name(self, name: str) -> list[Source]:
        return self.sources_with(name) if name and name != "<lambda>" else []

    def _family(self, target: Target) -> frozenset[Root]:
        return frozenset().union(*(self.groups.members(root) for root in target.roots))

    def _through_overrides(self, files: list[FileFacts], target: Target) -> dict[Fact, Meaning]:
        """The meanings that change because a subclass overrides what was looked up on `self` on the way to them.

        `self.make().draw()` may draw whatever the `make` of a subclass makes; `cls(size=1)` may construct a subclass. For an
        attribute that matters only if another class has one of this name.
        """
        family = self._family(target)
        apart = any(each.root not in family for file in files for each in file.definers)
        through = [fact for fact in all_facts(files) if fact.through and (apart or fact.role is Role.KEYWORD)]
        facts = [fact for fact in through if self._may_be_otherwise(fact)]
        looked_up = {
            (cls, root.name)
            for root in {root for fact in facts for root in fact.through}
            if (cls := closure.class_at(self.project, root)) is not None
        }
        overriding = self._descent.overriding(looked_up) if looked_up else {}
        if not overriding:
            return {}
        changed = {member_root(cls, name) for cls, name in overriding}
        fixed: dict[Fact, Meaning] = {}
        with self.evaluator.overridden(overriding):
            for fact in facts:
                source = self.project.source(fact.path) if not changed.isdisjoint(fact.through) else None
                if source is not None:
                    site = source.site_at(fact.start, fact.end, fact.written)
                    fixed[fact] = self.meanings.of(source, site)
        return fixed

    def computed(self, name: str, family: frozenset[Root]) -> list[Computed]:
        """Look-ups by a name that is put together at run time, in the hierarchy and the modules of the symbol."""
        classes = [cls for root in family if (cls := closure.class_at(self.project, root)) is not None]
        hierarchy = {each for cls in classes for each in self.evaluator.order(cls)}
        modules = {root.path for root in family if root.kind == "variable" and root.start == -1}
        sources = {cls.source.path: cls.source for cls in hierarchy}
        sources.update(
            (path, source) for path in modules if (source := self.project.source(path)) is not None
        )
        return [
            each
            for path in sorted(sources)
            for each in computed_in(sources[path], name)
            if self._may_look_up(each, hierarchy, path in modules)
        ]

    def _may_look_up(self, computed: Computed, hierarchy: set[Class], is_module: bool) -> bool:
        """May the look-up come to a member of these classes, or to a name of its own module?"""
        if computed.receiver is None:
            return is_module
        types = self.evaluator.at(computed.source, computed.receiver)
        if not types.complete:
            return True
        return any(
            isinstance(value, (InstanceValue, ClassValue))
            and not hierarchy.isdisjoint(self.evaluator.order(value.cls))
            for value in types.values
        ) or (is_module and any(isinstance(value, ModuleValue) for value in types.values))

    def _may_be_otherwise(self, fact: Fact) -> bool:
        """Is it decided what the occurrence means, so that a subclass may make it wrong, or left to subclasses to decide?"""
        if fact.meaning.roots or fact.meaning.complete:
            return True
        for root in fact.through:
            cls = closure.class_at(self.project, root)
            function = cls.own_function(root.name) if cls is not None else None
            if function is not None and is_left_to_subclasses(function):
                return True
        return False

    def _join_facts(
        self, files: list[FileFacts], target: Target, fixed: dict[Fact, Meaning]
    ) -> dict[Fact, Meaning]:
        """Names with several origins join them; members that only others supply get their meaning.

        A receiver's class may have no such member of its own: a subclass of it may (a mixture), or code outside may
        write it (`thing.name = …`), which makes it a member.
        """
        definers, outside = _all_definers(files), _set_outside(files)
        for fact in all_facts(files):
            meaning = fixed.get(fact, fact.meaning) if fixed else fact.meaning
            if meaning.unbound and not meaning.roots:
                supplied = _supplied(meaning, definers, outside)
                if supplied is not None:
                    meaning = fixed[fact] = supplied
            if len(meaning.roots) > 1:
                self.groups.join(meaning.roots)
        self._grow(target)
        return fixed

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
        for root in sorted(family, key=by_place):
            yield self.symbol_of(root, root.name)

    def symbol_of(self, root: Root, name: str) -> Symbol:
        """How a root is shown: kind, place and qualified name."""
        if root.kind == "builtin":
            return Symbol(name, "builtin", root.path, Span(Offset(0), Offset(0)), f"{root.path}.{root.name}")
        if root.kind == "module":
            dotted = self.project.dotted_name(root.path)
            return Symbol(root.name, "module", root.path, Span(Offset(0), Offset(0)), dotted)
        if root.kind == "fixture":
            return self._named_fixture(root)
        sites, source, owner, kind = self._declaring(root)
        first = sites[0] if sites else None
        if source is None or first is None:
            return Symbol(name, kind, root.path, Span(Offset(0), Offset(0)), f"{owner}.{root.name}")
        span = source.span(first.start, first.end)
        shown = source.text_of(first)
        return Symbol(shown, kind, root.path, span, f"{owner}.{shown}")

    def declaring(self, root: Root) -> tuple[Source | None, list[Site]]:
        """The file of a root and the occurrences that declare it; nothing for modules and builtins."""
        if root.kind not in ("variable", "member"):
            return None, []
        sites, source, _, _ = self._declaring(root)
        return source, sites

    def _named_fixture(self, root: Root) -> Symbol:
        """A fixture whose name stands in a string: `@fixture(name="…")`."""
        source = self.project.source(root.path)
        sites = source.sites(root.name) if source is not None else []
        before = [site for site in sites if site.role is Role.STRING and site.start < root.start]
        span = source.span(before[-1].start, before[-1].end) if source is not None and before else None
        qualified = f"{self.project.dotted_name(root.path)}.{root.name}"
        return Symbol(root.name, "fixture", root.path, span or Span(Offset(0), Offset(0)), qualified)

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


def _as_occurrence(computed: Computed) -> Occurrence:
    path, span = computed.source.path, computed.source.span(computed.start, computed.end)
    step = Step(f"possible: {computed.says}", path, span)
    return Occurrence(path, span, Evidence.POSSIBLE, COMPUTED, computed.says, (step,))


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


def _all_definers(files: list[FileFacts]) -> list[Definer]:
    return [definer for file in files for definer in file.definers]


def _set_outside(files: list[FileFacts]) -> set[Root]:
    """The members that are set on objects of a class which does not define them."""
    return {lineage[0] for fact in all_facts(files) if fact.writes for lineage in fact.meaning.unbound}


def _supplied(meaning: Meaning, definers: list[Definer], outside: set[Root]) -> Meaning | None:
    """The meaning of a member that the receiver's class lacks, from those who supply it; None: nobody does."""
    for lineage in meaning.unbound:
        suppliers = [definer for definer in definers if lineage[0] in definer.lineage]
        if suppliers:
            roots = frozenset(definer.root for definer in suppliers)
            return Meaning(roots, f"supplied by class `{suppliers[0].name}`", steps=meaning.steps)
        written = next((root for root in lineage if root in outside), None)
        if written is not None:
            return Meaning(frozenset({written}), "set from outside the class", steps=meaning.steps)
    return None


class Keep:
    """Lets the files just read keep their trees, up to so many bytes of source; the oldest give theirs up."""

    def __init__(self, n_bytes: int) -> None:
        self._left = n_bytes
        self._kept: deque[Source] = deque()

    def add(self, source: Source) -> None:
        """Note a file that was worked on."""
        self._kept.append(source)
        self._left -= len(source.bytes)
        while self._left < 0 and len(self._kept) > 1:
            oldest = self._kept.popleft()
            self._left += len(oldest.bytes)
            oldest.release()
