"""Which local names a region of a function takes from outside, and which it leaves behind for outside.

Everything is decided from the occurrences of one name at a time. A binding *settles* a read if it is always executed before it,
because both stand in one block, the binding first. What is not settled is taken for possible, so an answer errs towards more
inputs and outputs, or is a refusal. Units: bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.errors import Refused
from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Names, Scope, Site, Source
from lsptools.refactor.places import place_of
from lsptools.refactor.selection import BLOCKS, ancestors_of, nodes_in
from lsptools.syntax.tree import Node

_LOOPS = ("for_statement", "while_statement")
_HEADED = {Role.FOR: "for_statement", Role.EXCEPT: "except_clause", Role.CAPTURE: "case_clause"}
"""Bindings that hold in the body of what they stand in, and where that is."""


@dataclass(frozen=True, slots=True)
class Region:
    """Neighbouring nodes of one scope: statements of one block, or one expression."""

    source: Source
    nodes: tuple[Node, ...]
    scope: Scope

    @property
    def start(self) -> int:
        return self.nodes[0].start_byte

    @property
    def end(self) -> int:
        return self.nodes[-1].end_byte

    def holds(self, site: Site) -> bool:
        return self.start <= site.start < self.end

    def words(self) -> list[str]:
        """The names in it, each once, in order."""
        found = (each for node in self.nodes for each in nodes_in(node) if each.type == "identifier")
        return list(dict.fromkeys(self.source.text(each) for each in found))


@dataclass(frozen=True, slots=True)
class Flow:
    """The names that go in and out, in the order in which they first stand in the region."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def flow_of(region: Region, *, returns: bool = False) -> Flow:
    """What goes in and out; `undecided` where it cannot be known or cannot be had.

    If the region `returns` from its function, nothing goes out of it but what it returns.
    """
    inputs, outputs = [], []
    for word in region.words():
        names = _Local.of(region, word)
        if names is None:
            continue
        goes_out = not returns and names.goes_out()
        if names.comes_in(goes_out=goes_out):
            inputs.append(word)
        if goes_out:
            outputs.append(word)
    return Flow(tuple(inputs), tuple(outputs))


@dataclass(frozen=True, slots=True)
class _Local:
    """One name of the function (or of one around it) that stands in the region."""

    region: Region
    word: str
    owner: Scope
    names: Names
    inside: tuple[Site, ...]
    """The occurrences in the region."""
    outside: tuple[Site, ...]

    @classmethod
    def of(cls, region: Region, word: str) -> _Local | None:
        """None: what the word means in the region is not a local from around it."""
        source = region.source
        names = source.names(word)
        used = [site for site in source.sites(word) if site.role in BINDING or site.role is Role.READ]
        here = [site for site in used if region.holds(site)]
        owners = {_owner(names, site) for site in here}
        for site in here:
            owner = _owner(names, site)
            if site.role in BINDING and (owner is None or owner.kind == "module"):
                raise _undecided(source, site, f"`{word}` is a name of the module")
        foreign = {owner for owner in owners if owner is not None and _is_around(owner, region)}
        if not foreign:
            return None
        if len(foreign) > 1 or any(
            site.role in DECLARING for site in source.sites(word) if region.holds(site)
        ):
            raise _undecided(source, here[0], f"`{word}` means more than one thing")
        (owner,) = foreign
        if owner.kind == "types":
            raise _undecided(source, here[0], f"`{word}` is a type parameter")
        mine = [site for site in used if _owner(names, site) is owner]
        local = cls(
            region,
            word,
            owner,
            names,
            tuple(site for site in mine if region.holds(site)),
            tuple(site for site in mine if not region.holds(site)),
        )
        local._check_shared()
        return local

    # What is shared with other functions cannot become a parameter

    def _check_shared(self) -> None:
        for (scope, spelling), declaration in self.names.declared.items():
            if spelling == self.inside[0].spelling and self.names.scope_of(scope, spelling) is self.owner:
                raise _undecided(self.region.source, declaration, f"`{self.word}` is shared with it")
        binds = [site for site in self.inside if site.role in BINDING]
        later = [site for site in self.inside if _runs_later(site, self.region.scope)]
        if later and not all(site in self.inside for site in self._bindings) and not self._is_set_once:
            raise _undecided(
                self.region.source, later[0], f"`{self.word}` is read there when it may have changed"
            )
        others = [site for site in self.outside if _runs_later(site, self.owner)]
        if binds and others:
            raise _undecided(self.region.source, others[0], f"`{self.word}` is seen by it")
        if binds and self.owner is not self.region.scope:
            raise _undecided(self.region.source, binds[0], f"`{self.word}` belongs to what is around it")

    @property
    def _bindings(self) -> list[Site]:
        return [site for site in (*self.outside, *self.inside) if site.role in BINDING]

    @property
    def _is_set_once(self) -> bool:
        bindings = self._bindings
        if self.owner.kind == "comprehension":
            return False
        return len(bindings) == 1 and not any(
            node.type in _LOOPS
            for node in ancestors_of(bindings[0].leaf)
            if node.start_byte >= self.owner.start
        )

    # In

    def comes_in(self, *, goes_out: bool) -> bool:
        """Does the region need the name's value from before?"""
        bound = [site for site in self.inside if site.role in BINDING]
        needing = [
            site
            for site in self.inside
            if site.role in (Role.READ, Role.AUGMENT, Role.DELETE)
            and not any(settles(binding, site) for binding in bound if binding is not site)
        ]
        deleted = next((site for site in self.inside if site.role is Role.DELETE), None)
        if deleted is not None and (self.outside or needing):
            raise _undecided(self.region.source, deleted, f"`{self.word}` is deleted")
        maybe = goes_out and not any(_always(binding, self.region) for binding in bound)
        if not needing and not maybe:
            return False
        if not self._is_set_before():
            site = (needing or bound)[0]
            raise _undecided(self.region.source, site, f"`{self.word}` may not be set here")
        return True

    def _is_set_before(self) -> bool:
        before = [site for site in self.outside if site.role in BINDING and site.role is not Role.DELETE]
        if any(site.role is Role.DELETE for site in self.outside):
            return False
        if self.owner.kind in ("comprehension", "lambda"):
            return True
        first = self.inside[0]
        return any(site.role is Role.PARAMETER or settles(site, first) for site in before)

    # Out

    def goes_out(self) -> bool:
        """May something outside read what the region sets?"""
        bound = [site for site in self.inside if site.role in BINDING and site.role is not Role.ANNOTATE]
        if not bound:
            return False
        self._check_handlers()
        if not any(site.role in BINDING for site in self.outside) and self.outside:
            return True  # it has to stay a local of the function
        return any(
            self._may_see(site)
            for site in self.outside
            if site.role in (Role.READ, Role.AUGMENT, Role.DELETE)
        )

    def _check_handlers(self) -> None:
        """What the region has set before it fails is not there any more if it is a function: nobody may look at it then."""
        child = self.region.nodes[0]
        for around in ancestors_of(child):
            if around.start_byte < self.owner.start:
                return
            if around.type in ("try_statement", "with_statement"):
                for read in self.outside:
                    if read.role in (Role.READ, Role.AUGMENT, Role.DELETE) and read.start >= child.end_byte:
                        says = f"`{self.word}` may be read after the selection has failed"
                        raise _undecided(self.region.source, read, says)
            child = around

    def _may_see(self, read: Site) -> bool:
        start = self.region.start
        if read.start < start and not self._is_repeated():
            return False
        between = (
            site
            for site in self.outside
            if site.role in BINDING and site is not read and not site.start < start <= read.start
        )
        return not any(settles(site, read) for site in between)

    def _is_repeated(self) -> bool:
        nodes = ancestors_of(self.region.nodes[0])
        return any(node.type in _LOOPS and node.start_byte >= self.owner.start for node in nodes)


def settles(binding: Site, read: Site) -> bool:
    """Is the binding always executed before the read, in the same run of their block?"""
    if (
        binding.role in (Role.PARAMETER, Role.WALRUS, Role.DELETE, Role.ANNOTATE)
        or read.start < binding.takes_effect()
    ):
        return False
    node = binding.leaf
    if binding.role in _HEADED:
        headed = binding.ancestor(_HEADED[binding.role])
        body = headed.child_by_field_name("body") if headed is not None else None
        if headed is not None and body is None:
            body = next((child for child in headed.named_children if child.type == "block"), None)
        return body is not None and body.start_byte <= read.start < body.end_byte
    block = next((each for each in ancestors_of(node) if each.type in BLOCKS), None)
    return block is not None and block.start_byte <= read.start < block.end_byte


def _always(binding: Site, region: Region) -> bool:
    """Is it set whenever the region has been executed to its end?"""
    if binding.role in (Role.FOR, Role.EXCEPT, Role.CAPTURE, Role.WALRUS, Role.DELETE, Role.ANNOTATE):
        return False
    block = next((each for each in ancestors_of(binding.leaf) if each.type in BLOCKS), None)
    return block is not None and block == region.nodes[0].parent


def _owner(names: Names, site: Site) -> Scope | None:
    return names.scope_of(site.scope, site.spelling)


def _is_around(owner: Scope, region: Region) -> bool:
    """Is it a scope around the region whose names are not seen from the top of the module?"""
    if owner.kind == "module":
        return False
    here: Scope | None = region.scope
    while here is not None and here is not owner:
        here = here.parent
    return here is not None


def _runs_later(site: Site, scope: Scope) -> bool:
    """Does the occurrence stand in a function, lambda or generator inside of the scope, which may run at another time?"""
    here: Scope | None = site.scope
    while here is not None and here is not scope:
        if here.kind in ("function", "lambda", "class"):
            return True
        if here.kind == "comprehension" and site.ancestor("generator_expression") is not None:
            return True
        here = here.parent
    return False


def _undecided(source: Source, site: Site, says: str) -> Refused:
    return Refused("undecided", says, sites=(place_of(source, site.leaf, says),))
