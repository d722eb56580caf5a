"""Move a definition to another module: cut it out, put it in, and lead everyone who names it to its new place.

The plan is a `Change` that nothing has been written of, checked before (`move_needs`, `move_users`: every reason why not) and
after (`move_proof`: the same search on the result, and the imports gone through as Python would). Units: bytes of the
UTF-8 source inside, code points in the plan.

Where it stops: only what stands by itself at the top of a module moves; `__module__` and `__qualname__` of what moved are
others, which pickles and registries may keep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

from lsptools.errors import BadRequest, Conflict, Refused
from lsptools.errors import Site as Place
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Symbol
from lsptools.languages.python import fixtures
from lsptools.languages.python.candidates import PYTHON_SUFFIXES, searching
from lsptools.languages.python.facts import Fact
from lsptools.languages.python.modules import Module, Project, Variable
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import TEXT, Role
from lsptools.languages.python.scopes import Source
from lsptools.refactor.conflicts import external_conflicts
from lsptools.refactor.edited_files import EditedFiles
from lsptools.refactor.move_exports import move_export
from lsptools.refactor.move_imports import (
    checkers_block,
    end_of_header,
    has_future,
    indent_of_lines,
    manner_of,
    put_future_in_at,
    spelled,
)
from lsptools.refactor.move_needs import Need, needs_of, set_from_outside, unneeded
from lsptools.refactor.move_place import put_in_at
from lsptools.refactor.move_proof import Moved, new_cycles, prove_move
from lsptools.refactor.move_strings import Strings
from lsptools.refactor.move_users import Users
from lsptools.refactor.moved_blocks import Block, blocks_of
from lsptools.refactor.places import next_line, place, place_at
from lsptools.refactor.proof import BOUND, ProofLine
from lsptools.refactor.readings import readings
from lsptools.refactor.rename import REFUSE, Policy
from lsptools.workspace.change import Change
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class MovePlan:
    """A move that may be done: what moves where, what that changes, and the proof."""

    symbol: Symbol
    module: str
    """The module it goes to, as its path."""
    references: References
    change: Change
    proof: tuple[ProofLine, ...]
    undecided: tuple[Occurrence, ...]
    """What may name the symbol by its old module and is left as it is."""


def plan_move(snapshot: Snapshot, at: FilePosition, module: str, policy: Policy | None = None) -> MovePlan:
    """Plan and prove the move of the definition at a place to a module (a dotted name or a path).

    Raises `Refused` with all conflicts (`name_clash`, `name_capture`, `library_symbol`, `undecided`), `BadRequest`
    (`not_a_symbol`, `not_found`, `no_change`). `Refused.details` holds the `References` found before the refusal.
    """
    finder = Finder(snapshot, searching(snapshot, at))
    with closing(finder):
        new = _module_named(finder.project, module)
        account = finder.account(finder.target(at))
        return _Move(finder, account, new, policy or Policy()).plan()


def _module_named(project: Project, written: str) -> Module:
    """The module of the workspace that a caller names."""
    path = written.removesuffix("::")
    if path.endswith(PYTHON_SUFFIXES) or "/" in path:
        path = project.snapshot.root.relative(path)
        there = project.snapshot.exists(path)
        found = project.module_at(path) if there else None
    else:
        found = project.find(path, "")
    if found is None or not found.files:
        raise BadRequest(
            "not_found",
            f"there is no module `{written}` in the workspace",
            hint="name a module that exists, as package.module or path/to/module.py; `lsptools write` makes a new file",
        )
    if found.external:
        raise Refused(
            "library_symbol", f"`{written}` is not ours to edit", hint="name a module of the workspace"
        )
    return found


class _Move:
    def __init__(self, finder: Finder, account: Account, new: Module, policy: Policy) -> None:
        self.finder = finder
        self.account = account
        self.policy = policy
        self.name = account.target.name
        self.new = new
        self.old = self._old_module()
        self.edited = EditedFiles(account.target.source)
        self.conflicts: list[Conflict] = []
        self.moved: list[Moved] = []
        self.users = Users(finder, self.name, self.old, new, self.edited)
        self.strings = Strings(finder, account, self.old, new, self.edited)
        self.notes: list[str] = []
        self._needed: dict[str, tuple[Need, ...]] = {}

    def plan(self) -> MovePlan:
        pairs = [(old, new, *blocks_of(old, self.name)) for old, new in self._pairs()]
        undecided = self.strings.rewrite(self.policy, [block for pair in pairs for block in pair[2]])
        for old, new, blocks, conflicts in pairs:
            self.conflicts += conflicts
            self._check_files(old, new)
            if blocks and not conflicts:
                self._move_file(old, new, blocks)
        self._lead_users()
        self.conflicts += self.users.conflicts
        if undecided and self.policy.possible == REFUSE:
            says = f"{len(undecided)} occurrences may name it by its old module and cannot be known to"
            self.conflicts.append(Conflict("undecided", says, tuple(map(self._site, undecided))))
        self._refuse(self.conflicts)
        label = f"move {self.account.references.symbol.qualified} to {self.new.place}"
        change = Change(
            edits=(*self.edited.file_edits(), *self.strings.file_edits()),
            notes=tuple(self.notes),
            label=label,
        )
        after = Finder(change.after(self.finder.snapshot))
        self._refuse(self._cycles(change, after))
        proof = prove_move(self.finder, after, self.account, change, self.moved, self.users.bound)
        wrong = [line.says for line in proof if not line.ok]
        self._refuse([Conflict("name_capture", says) for says in wrong])
        change = replace(change, read=readings(self.finder.snapshot, change, self.account.files))
        symbol = self.account.references.symbol
        return MovePlan(symbol, self.new.place, self.account.references, change, proof, tuple(undecided))

    # ------------------------------------------------------------------ refusals

    def _cycles(self, change: Change, after: Finder) -> list[Conflict]:
        """Imports that the move would close to a circle, with what needs the one module and the other."""
        paths = [path for moved in self.moved for path in (moved.old.path, moved.new.path)]
        failures = new_cycles(self.finder, after, [*paths, *(file.path for file in change.edits)])
        sites = []
        for moved in self.moved if failures else ():
            needed = self._needed.get(moved.old.path, ())
            sites += [place(moved.old, need.at, f"needs `{need.name}` of its module") for need in needed]
            outside = self._uses_outside(moved.old, list(moved.blocks))
            sites += [place(moved.old, at, f"still uses `{self.name}`") for at in list(outside)[:1]]
        says = "; ".join(dict.fromkeys(each.says for each in failures[:3]))
        return (
            [Conflict("import_cycle", f"an import would go in a circle: {says}", tuple(sites))]
            if says
            else []
        )

    def _old_module(self) -> Module:
        """The module whose name the symbol is."""
        roots = self.account.family
        if self.account.external:
            raise Refused(
                "library_symbol",
                f"`{self.name}` belongs to a library or to the language",
                hint="move only what the workspace defines",
                conflicts=external_conflicts(self.account, self.finder),
                details=self.account.references,
            )
        modules = {self.finder.project.module_of(root.path).place for root in roots if root.start == -1}
        if len(modules) != 1 or any(root.kind != "variable" or root.start != -1 for root in roots):
            what = self.account.references.symbol.kind
            if any(root.kind == "variable" and root.start == -1 for root in roots):
                raise Refused(
                    "undecided",
                    f"`{self.name}` is one name with others, which would have to move, too",
                    hint=f"`lsptools refs` lists what `{self.name}` is joined with",
                    details=self.account.references,
                )
            raise BadRequest(
                "not_a_symbol",
                f"{what} `{self.name}` is no name of a single module",
                hint="name a function, class or variable at the top of a module; `rename` moves a module",
            )
        old = self.finder.project.module_at(modules.pop())
        if old.place == self.new.place:
            raise BadRequest(
                "no_change", f"`{self.name}` is in `{old.place}` already", hint="name another module"
            )
        return old

    def _refuse(self, found: list[Conflict]) -> None:
        if not found:
            return
        conflicts = tuple(dict.fromkeys(found))
        only_undecided = all(each.message.endswith("cannot be known to") for each in conflicts)
        hint = "look at the places named, and change them first"
        if only_undecided:
            hint = "look at them, then pass `--possible include` to rewrite them or `--possible skip` to leave them"
        raise Refused(
            conflicts[0].kind,
            f"`{self.name}` cannot move to `{self.new.place}`: {conflicts[0].message}",
            hint=hint,
            conflicts=conflicts,
            details=self.account.references,
        )

    # ------------------------------------------------------------------ the lines that move

    def _pairs(self) -> Iterator[tuple[Source, Source]]:
        """Each file of the old module with the file of the new one that its definition goes to: module and stub."""
        project = self.finder.project
        declaring = [
            source for path in self.old.files if (source := project.source(path)) and self._has(source)
        ]
        self._refuse_fixtures(declaring)
        targets = {path.rpartition(".")[2]: path for path in self.new.files}
        homes = {source.path.rpartition(".")[2] for source in declaring}
        for suffix in sorted(homes ^ set(targets)):
            lacking = self.new if suffix in homes else self.old
            says = f"only one of the modules has a `.{suffix}` with `{self.name}`, and a stub goes with its module"
            sites = tuple(place(source, 0, f"`{lacking.name}` has no such file") for source in declaring[:1])
            self.conflicts.append(Conflict("undecided", says, sites))
        for old in declaring:
            path = targets.get(old.path.rpartition(".")[2])
            new = project.source(path) if path is not None else None
            if new is not None:
                yield old, new

    def _has(self, source: Source) -> bool:
        return bool(Variable(source, source.module_scope, self.name).sites)

    def _refuse_fixtures(self, sources: list[Source]) -> None:
        for source in sources:
            for fixture in fixtures.all_fixtures(source):
                if fixture.name == self.name:
                    says = "pytest looks for a fixture where it is, and would not find it elsewhere"
                    sites = (place(source, fixture.name_start, "is a fixture"),)
                    self.conflicts.append(Conflict("undecided", says, sites))

    def _check_files(self, old: Source, new: Source) -> None:
        for source in (old, new):
            if source.is_broken:
                says = f"{source.path} does not parse"
                self.conflicts.append(Conflict("undecided", says, (place(source, 0, "does not parse"),)))
        self._check_target(new)

    def _move_file(self, old: Source, new: Source, blocks: list[Block]) -> None:
        needs = needs_of(self.finder, blocks, new, self.name, self.old, self.new)
        self.conflicts += needs.conflicts
        self._needed[old.path] = tuple(need for need in needs.needs if need.lines and not need.copied)
        inner = sorted([*self._inner_imports(blocks, new), *self.strings.inner.get(old, ())])
        moved = Moved(old, new, tuple(blocks), tuple(inner))
        for block in blocks:
            self.edited.replace(old, *block.removal(), "")
        self._check_future(old, new, blocks)
        self._bring(new, needs.needs)
        is_begun = bool(self.edited.put_in_at(new, len(new.bytes)))
        at, text = put_in_at(self.finder, moved, needs.needs, self._uses_in(new), is_begun=is_begun)
        self.edited.put_in(new, at, text)
        self.moved.append(replace(moved, at=at))
        for need in needs.needs:
            self._drop(old, blocks, need)
        if any(self._uses_outside(old, blocks)):
            self.conflicts += [
                Conflict(
                    "undecided",
                    f"`{self.name}` is set from outside, and an import of it has one of the values",
                    (place(source, at, "is set here"),),
                )
                for source, at in set_from_outside(self.finder, self.old, self.name)
            ]
            self._import_back(old)
        self.conflicts += move_export(old, new, self.name, self.edited)

    def _check_target(self, new: Source) -> None:
        """What the new module calls so already has to be the symbol itself, imported."""
        there = Variable(new, new.module_scope, self.name)
        foreign = [site for site in there.sites if site.role is not Role.IMPORT_NAME]
        meaning = self.finder.meanings.variable(there) if there.sites else None
        if foreign or (meaning is not None and not meaning.roots <= self.account.family):
            says = f"`{new.path}` has a `{self.name}` already"
            sites = (place(new, (foreign or there.sites)[0].start, "is bound here"),)
            self.conflicts.append(Conflict("name_clash", says, sites))
        submodule = self.finder.project.submodule(self.new, self.name)
        if submodule is not None:
            says = f"package `{self.new.name}` has a submodule `{self.name}`"
            self.conflicts.append(Conflict("name_clash", says, (Place(submodule.place, 1, 1, "is there"),)))

    def _inner_imports(self, blocks: list[Block], new: Source) -> tuple[tuple[int, int, str], ...]:
        """Relative imports inside of the moved lines, as the new file has to write them."""
        found = []
        for block in blocks:
            for match in _RELATIVE.finditer(block.source.bytes, block.start, block.end):
                path, _ = block.source.descend(match.start(1))
                statement = next((node for node, _ in path if node.type == "import_from_statement"), None)
                node = statement.child_by_field_name("module_name") if statement is not None else None
                if statement is None or node is None:
                    continue
                module = self.finder.project.module_of_import(block.source, statement)
                text = block.source.text(node)
                written = spelled(self.finder.project, new, module, text) if module is not None else None
                if written is None:
                    says = f"a relative import in the definition means nothing in `{new.path}`"
                    sites = (place(block.source, node.start_byte, "is imported here"),)
                    self.conflicts.append(Conflict("undecided", says, sites))
                elif written != text:
                    found.append((node.start_byte, node.end_byte, written))
        return tuple(found)

    def _check_future(self, old: Source, new: Source, blocks: list[Block]) -> None:
        """Annotations are strings under the future import, and are evaluated without it."""
        if has_future(old) == has_future(new) or not any(_ANNOTATION.search(block.text) for block in blocks):
            return
        if has_future(new):
            self.notes.append(
                f"annotations are not evaluated in {new.path}, which has the future import for them"
            )
            return
        there = put_future_in_at(new) if _ANNOTATION.search(new.document.text) is None else None
        if there is not None:
            self.edited.put_in(new, *there)
            return
        says = f"{old.path} has `from __future__ import annotations`, and {new.path} evaluates them"
        sites = (place(new, 0, "has no such import"),)
        self.conflicts.append(Conflict("undecided", says, sites))

    # ------------------------------------------------------------------ imports of the two modules

    def _bring(self, new: Source, needs: tuple[Need, ...]) -> None:
        """The imports that the moved lines need."""
        plain = [line for need in needs if not need.for_checkers for line in need.lines]
        typing = [line for need in needs if need.for_checkers for line in need.lines]
        block = checkers_block(new)
        body = block if block is not None and indent_of_lines(new, block) else None
        if typing and block is None and not Variable(new, new.module_scope, "TYPE_CHECKING").sites:
            plain.append("from typing import TYPE_CHECKING")
        self._import(new, plain)
        if typing and body is not None:
            indent = indent_of_lines(new, body)
            self.edited.put_in(
                new, next_line(new, body.end_byte), "".join(f"{indent}{line}\n" for line in typing)
            )
        elif typing:
            lines = "".join(f"    {line}\n" for line in typing)
            self.edited.put_in(new, end_of_header(new), f"\nif TYPE_CHECKING:\n{lines}")

    def _import(self, source: Source, lines: list[str]) -> None:
        """New imports behind those of a file, set apart from what is no import."""
        at = end_of_header(source)
        before, below = (
            source.bytes[:at] + self.edited.put_in_at(source, at).encode(),
            source.bytes[at : at + 1],
        )
        above = before.rstrip(b"\r\n").replace(b"\r", b"\n").rpartition(b"\n")[2]
        is_apart = (
            not above
            or before.endswith(b"\n\n")
            or (above.startswith((b"import ", b"from ", b")")) and b"__future__" not in above)
        )
        text = "".join(f"{line}\n" for line in dict.fromkeys(lines))
        if text:
            is_followed = below not in (b"", b"\n", b"\r", b")") and (
                at == 0 or not above.startswith((b"import ", b"from "))
            )
            self.edited.put_in(source, at, ("" if is_apart else "\n") + text + ("\n" if is_followed else ""))

    def _import_back(self, old: Source) -> None:
        """The old module still uses the name: it imports it."""
        written = spelled(self.finder.project, old, self.new, manner_of(old))
        if written is None:
            says = f"`{old.path}` cannot import `{self.new.place}`"
            self.conflicts.append(Conflict("undecided", says, (place(old, 0, "uses it"),)))
        else:
            self._import(old, [f"from {written} import {self.name}"])

    def _drop(self, old: Source, blocks: list[Block], need: Need) -> None:
        """An import that only the moved lines used."""
        is_loaded = any(self._uses_outside(old, blocks))
        sources = self.finder.sources_with(need.name) if need.copied else []
        if need.copied and unneeded(self.finder.meanings, blocks, need, is_loaded=is_loaded, sources=sources):
            self.users.drop_name(old, need.copied[0], need.name)

    def _uses_outside(self, source: Source, blocks: list[Block]) -> Iterator[int]:
        """Where the old module itself uses the name, beside its definition."""
        for fact in self._facts(source.path):
            is_text = fact.role in TEXT and not fact.reason.startswith(
                ("in an annotation", "in a type comment")
            )
            if (
                not is_text
                and fact.role is not Role.ATTRIBUTE
                and not any(b.covers(fact.start) for b in blocks)
            ):
                yield fact.start

    def _uses_in(self, source: Source) -> list[int]:
        return [fact.start for fact in self._facts(source.path) if fact.role is not Role.IMPORT_NAME]

    def _facts(self, path: str) -> Iterator[Fact]:
        """The occurrences in a file that are the symbol."""
        for file in self.account.files:
            for fact in file.facts if file.path == path else ():
                if self._evidence.get((fact.path, fact.span.start)) in BOUND:
                    yield fact

    @cached_property
    def _evidence(self) -> dict[tuple[str, int], Evidence]:
        return {(each.path, each.span.start): each.evidence for each in self.account.references.occurrences}

    # ------------------------------------------------------------------ everyone else

    def _lead_users(self) -> None:
        blocks = [block for moved in self.moved for block in moved.blocks]
        for file in self.account.files:
            source = self.finder.project.source(file.path)
            for fact in self._facts(file.path) if source is not None else ():
                if source is not None and not any(
                    b.source is source and b.covers(fact.start) for b in blocks
                ):
                    self.users.add(source, fact)
        self.users.finish()
        near = {*self.finder.sources_with(self.name), *self.finder.sources_with(self.old.name)}
        if self.old.folders:
            below = self.finder.candidates.below(self.old.folders[0])
            near |= {source for path in below if (source := self.finder.project.source(path)) is not None}
        self.users.starred(sorted(near, key=lambda source: source.path))

    def _site(self, occurrence: Occurrence) -> Place:
        lines = self.finder.snapshot.document(occurrence.path).lines
        return place_at(occurrence.path, lines, occurrence.span.start, occurrence.reason)


_RELATIVE = re.compile(rb"(?m)^[ \t]+(from)\s+\.")
_ANNOTATION = re.compile(r"(?m)^\s*(?:async\s+)?def\s[^\n]*[:>]\s*\w[^\n]*:|^\s*\w+\s*:\s*\w|->")
