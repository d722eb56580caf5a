"""May a symbol get this name? Every reason why not, sorted by where the name lives.

- the name itself: an identifier, no keyword, no name that the language calls by itself;
- scopes: the new name is bound in the same scope already; an inner binding would capture a use; the new binding would
  capture a use of something else, a builtin among them;
- classes: the class, a base or a subclass has a member of that name;
- calls: the keyword is given already;
- files: a module of that name exists.

The scope checks are one simulation: the bindings of the new name as they would be after the rename, then every use of
it, old and new, is looked up again. A use whose owner changes is a conflict, and the binding responsible is named.
The order and the three places of each conflict follow gopls (`internal/golang/rename_check.go`).
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsptools.errors import BadRequest, Conflict, Refused
from lsptools.errors import Site as Place
from lsptools.languages.python import closure, detours
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import Class
from lsptools.languages.python.folding import folded
from lsptools.languages.python.library import LibraryOwner
from lsptools.languages.python.meaning import Root
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Names, Scope, Site, Source, mangled
from lsptools.refactor.places import place, place_in
from lsptools.refactor.private_names import private_conflicts
from lsptools.refactor.reserved import reserved


def check_name(new_name: str, old_name: str) -> None:
    """Refuse what can be no name at all."""
    normal = folded(new_name)
    if not normal.isidentifier():
        raise Refused(
            "invalid",
            f"{new_name!r} is not an identifier",
            hint="a name has letters, digits and underscores, and no digit first",
        )
    if keyword.iskeyword(normal):
        raise Refused(
            "keyword", f"`{new_name}` is a keyword of Python", hint=f"`{new_name}_` would be a legal name"
        )
    if _is_dunder(normal):
        raise Refused(
            "keyword",
            f"names like `{new_name}` are reserved for the language",
            hint="choose a name without two underscores on both sides",
        )
    if _is_dunder(old_name):
        raise Refused(
            "library_symbol",
            f"`{old_name}` is called by the language under this name",
            hint="rename something else, or edit the call sites by hand",
        )
    if normal == old_name:
        raise BadRequest(
            "no_change", f"the symbol is called `{new_name}` already", hint="choose another name"
        )


def _is_dunder(name: str) -> bool:
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


@dataclass(frozen=True, slots=True)
class Renaming:
    """What is to be renamed: the account of the symbol, the sites that will change, the new name."""

    finder: Finder
    account: Account
    new_name: str
    sites: tuple[tuple[Source, Site], ...]
    """The occurrences in code that will have the new name."""


def conflicts(renaming: Renaming) -> tuple[Conflict, ...]:
    """Every conflict, each once."""
    found: list[Conflict] = []
    for check in (_scopes, _members, _reserved, _keywords, _star_importers, _modules):
        found.extend(check(renaming))
    found.extend(private_conflicts(renaming.finder, renaming.account, renaming.new_name))
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------------------------------------------- scopes


def _scopes(renaming: Renaming) -> Iterator[Conflict]:
    by_source: dict[Source, list[Site]] = {}
    for source, site in renaming.sites:
        if site.role in BINDING or site.role in DECLARING or site.role is Role.READ:
            by_source.setdefault(source, []).append(site)
    for source, sites in by_source.items():
        yield from _scopes_of_file(renaming, source, sites)


def _scopes_of_file(renaming: Renaming, source: Source, sites: list[Site]) -> Iterator[Conflict]:
    new = renaming.new_name
    old_names = source.names(renaming.account.target.name)
    before = source.names(new)
    owned = [(site, _owner(old_names, site)) for site in sites]
    yield from _same_scope(renaming, source, owned, before)
    clashing = {scope for _, scope in owned if scope is not None and (scope, new) in before.bound}
    after = _simulated(source, new, sites)
    seen: set[tuple[str, int]] = set()
    for site, owner in owned:
        if site.role is not Role.READ or owner is None or owner in clashing:
            continue
        now = after.scope_at(_renamed(site, new))
        if now is not None and now is not owner:
            key = ("captured", now.start)
            if key not in seen:
                seen.add(key)
                yield _captured(renaming, source, site, now, after)
    yield from _rebound_in_comprehensions(renaming, source, sites, after)
    old_sites = [site for site in source.sites(new) if site.role is Role.READ or site.role in DECLARING]
    for site in old_sites:
        was, now = _owner(before, site), _owner(after, site)
        if now is was or now is None or now in clashing:
            continue
        key = ("captures", now.start)
        if key not in seen:
            seen.add(key)
            yield _captures(renaming, source, site, was, now, after)


def _owner(names: Names, site: Site) -> Scope | None:
    """The scope whose binding an occurrence means: a read looks the name up where it stands."""
    return names.scope_at(site) if site.role is Role.READ else names.scope_of(site.scope, site.spelling)


def _renamed(site: Site, new: str) -> Site:
    spelling = mangled(new, site.scope) if new.startswith("__") else new
    return Site(site.start, site.end, site.role, site.scope, site.path, spelling)


def _rebound_in_comprehensions(
    renaming: Renaming, source: Source, sites: list[Site], after: Names
) -> Iterator[Conflict]:
    """An assignment expression may not have the name of a variable of the comprehension in which it stands."""
    new = renaming.new_name
    for site in [*sites, *source.sites(new)]:
        if site.role is not Role.WALRUS:
            continue
        _, scope = source.descend(site.start)
        while scope.kind == "comprehension" and scope.parent is not None:
            loop = next((each for each in after.bindings(scope, new) if each.role is Role.FOR), None)
            if loop is not None:
                yield Conflict(
                    "name_clash",
                    f"an assignment expression would rebind `{new}` of its own comprehension",
                    (
                        place(source, site.start, "this assignment"),
                        place(source, loop.start, "would rebind the variable here"),
                    ),
                )
                break
            scope = scope.parent


def _simulated(source: Source, new: str, sites: list[Site]) -> Names:
    """The bindings of the new name in the file once these sites have it."""
    moved = [_renamed(site, new) for site in sites]
    return Names(sorted([*source.sites(new), *moved], key=lambda site: site.start))


def _same_scope(
    renaming: Renaming, source: Source, owned: list[tuple[Site, Scope | None]], before: Names
) -> Iterator[Conflict]:
    seen: set[Scope] = set()
    for site, scope in owned:
        if scope is None or scope in seen or scope.kind == "class":
            continue
        there = before.bound.get((scope, renaming.new_name))
        if there:
            seen.add(scope)
            what = _kind_of(there[0])
            where = f"in `{scope.name}`" if scope.name else "in this module"
            yield Conflict(
                "name_clash",
                f"`{renaming.new_name}` is bound {where} already",
                (
                    place(source, site.start, f"renaming this to `{renaming.new_name}`"),
                    place(source, there[0].start, f"would merge it with the {what} here"),
                ),
            )


def _captured(renaming: Renaming, source: Source, site: Site, now: Scope, after: Names) -> Conflict:
    culprit = after.bound[now, renaming.new_name][0]
    return Conflict(
        "name_capture",
        f"a use would be captured by another `{renaming.new_name}`",
        (
            _declaration(renaming),
            place(source, site.start, f"this use, renamed to `{renaming.new_name}`,"),
            place(source, culprit.start, f"would mean the {_kind_of(culprit)} here"),
        ),
    )


def _captures(
    renaming: Renaming, source: Source, site: Site, was: Scope | None, now: Scope, after: Names
) -> Conflict:
    new = renaming.new_name
    culprits = after.bound[now, new]
    builtin = was is None and hasattr(builtins, new)
    means = "the builtin" if builtin else "something else" if was is None else "another name"
    return Conflict(
        "shadows_builtin" if builtin else "name_capture",
        f"uses of `{new}` would mean the renamed symbol",
        (
            _declaration(renaming),
            place(source, site.start, f"this is {means} `{new}` now and"),
            place(source, culprits[0].start, "would mean the symbol bound here"),
        ),
    )


def _declaration(renaming: Renaming) -> Place:
    symbol = renaming.account.references.symbol
    source = renaming.finder.project.source(symbol.path)
    says = f"renaming {symbol.kind} `{symbol.name}` to `{renaming.new_name}`"
    return place_in(source, symbol.path, symbol.span.start, says)


def _kind_of(site: Site) -> str:
    return site.role.value


# ---------------------------------------------------------------------------------------------------- classes


def _members(renaming: Renaming) -> Iterator[Conflict]:
    finder, new = renaming.finder, renaming.new_name
    classes = [
        cls for root in renaming.account.family if (cls := closure.class_at(finder.project, root)) is not None
    ]
    if not classes:
        return
    seen: set[Class] = set()
    for spelling in dict.fromkeys([new, *(cls.spelled(new) for cls in classes)]):
        yield from _members_named(renaming, classes, spelling, seen)
    for cls in classes:
        for builtin in finder.evaluator.builtin_owners(cls, new):
            yield Conflict(
                "name_clash",
                f"`{cls.name}` inherits `{new}` from the builtin `{builtin}`",
                (_declaration(renaming),),
            )
    for below in finder.meeting_below(renaming.account.family) if _may_meet(finder, classes, new) else ():
        for other in finder.evaluator.order(below):
            there = finder.evaluator.members(other, new) if other not in seen else []
            if there:
                seen.add(other)
                yield _meeting_conflict(renaming, below, other, there[0])


def _members_named(
    renaming: Renaming, classes: Sequence[Class], new: str, seen: set[Class]
) -> Iterator[Conflict]:
    """Members of the classes, their ancestors and their subclasses that are spelled like this."""
    finder = renaming.finder
    for cls in classes:
        for ancestor in finder.evaluator.order(cls):
            there = finder.evaluator.members(ancestor, new) if _same_name(cls, ancestor, new) else []
            if there and ancestor not in seen:
                seen.add(ancestor)
                yield _member_conflict(renaming, cls, ancestor, there[0])
    family = set(classes)
    for definer in closure.definers(finder.evaluator, finder.sources_with(new), new):
        if definer in seen or definer in family:
            continue
        if family & set(finder.evaluator.order(definer)):
            seen.add(definer)
            base = next(cls for cls in finder.evaluator.order(definer) if cls in family)
            there = finder.evaluator.members(definer, new) if _same_name(base, definer, new) else []
            if there:
                yield _member_conflict(renaming, base, definer, there[0])


def _may_meet(finder: Finder, classes: list[Class], new: str) -> bool:
    """Can a class anywhere have a member of this name? To list all classes below the symbol's may be dear."""
    if new.startswith("__"):
        return False  # then no other class has this member
    if any(source.sites(new) for source in finder.sources_with(new)):
        return True
    if len(finder.candidates.python(cls.name for cls in classes)) < _MANY_FILES:
        return True  # to list them is cheaper than to ask the libraries
    return LibraryOwner(finder.project, new, frozenset()).found is not None


_MANY_FILES = 200


def _same_name(one: Class, other: Class, new: str) -> bool:
    """Private names of two classes are two names, even if they are spelled alike."""
    return one.spelled(new) == other.spelled(new)


def _meeting_conflict(renaming: Renaming, below: Class, other: Class, there: Site) -> Conflict:
    return Conflict(
        "name_clash",
        f"class `{below.name}` has a member `{renaming.new_name}` from its base `{other.name}`",
        (
            _declaration(renaming),
            place(other.source, there.start, f"would meet the member here in the subclass `{below.name}`"),
        ),
    )


def _member_conflict(renaming: Renaming, cls: Class, other: Class, there: Site) -> Conflict:
    if other is cls:
        message = f"class `{cls.name}` has a member `{renaming.new_name}` already"
        says = "would merge it with the member here"
    elif other in renaming.finder.evaluator.order(cls):
        message = f"base class `{other.name}` has a member `{renaming.new_name}`"
        says = "would override the member of the base here"
    else:
        message = f"subclass `{other.name}` has a member `{renaming.new_name}`"
        says = "would be overridden by the member of the subclass here"
    return Conflict("name_clash", message, (_declaration(renaming), place(other.source, there.start, says)))


def _reserved(renaming: Renaming) -> Iterator[Conflict]:
    for kind, says, cls in reserved(renaming.finder, renaming.account, renaming.new_name):
        at = place(cls.source, cls.start, f"cannot be, for in this class {says}")
        yield Conflict(kind, says, (_declaration(renaming), at))


# ---------------------------------------------------------------------------------------------------- calls


def _reaching_already(renaming: Renaming) -> Iterator[Conflict]:
    """Keywords of the new name that land in `**rest` now, and would fill the renamed parameter."""
    finder, family = renaming.finder, renaming.account.family
    if not any(closure.is_parameter(finder.project, root) for root in family):
        return
    for source in finder.sources_with(renaming.new_name):
        for site in source.sites(renaming.new_name):
            if site.role is not Role.KEYWORD and not detours.may_be_key(site):
                continue
            old = detours.reached(finder.meanings, source, site, renaming.account.target.name)
            if old & family:
                says = f"a call gives `{renaming.new_name}` already, which would fill the renamed parameter"
                sites = (_declaration(renaming), place(source, site.start, "this keyword would reach it"))
                yield Conflict("name_clash", says, sites)


def _keywords(renaming: Renaming) -> Iterator[Conflict]:
    """A call that gives the new keyword already would give it twice, or to another parameter."""
    yield from _reaching_already(renaming)
    for source, site in renaming.sites:
        if site.role not in (Role.KEYWORD, Role.PATTERN_KEYWORD) or len(site.path) < 3:
            continue
        for sibling in site.path[-3][0].named_children:
            name = sibling.child_by_field_name("name") if sibling.type == "keyword_argument" else None
            if name is not None and source.text(name) == renaming.new_name:
                yield Conflict(
                    "name_clash",
                    f"a call gives `{renaming.new_name}` already",
                    (
                        _declaration(renaming),
                        place(source, site.start, f"this call would give `{renaming.new_name}` twice"),
                    ),
                )


# ---------------------------------------------------------------------------------------------------- modules


def _star_importers(renaming: Renaming) -> Iterator[Conflict]:
    """Files that import `*` from a module whose name changes, and use the new name for something else."""
    finder, new = renaming.finder, renaming.new_name
    paths = {root.path for root in renaming.account.family if root.kind == "variable" and root.start == -1}
    if not paths or new.startswith("_"):
        return
    for source in finder.sources_with(new):
        starred = finder.project.starred(source)
        if not any(set(module.files) & paths for module in starred):
            continue
        names = source.names(new)
        own = names.bindings(source.module_scope, new)
        starts = [
            node.start_byte
            for node, module in finder.project.star_imports(source)
            if module is not None and set(module.files) & paths
        ]
        if own and starts and own[0].start < max(starts):
            says = f"a star import after it would bind `{new}` again"
            yield Conflict(
                "name_clash",
                f"a star import would overwrite another `{new}`",
                (_declaration(renaming), place(source, own[0].start, says)),
            )
            continue
        for site in source.sites(new):
            if site.role is Role.READ and names.scope_of(site.scope, new) is None:
                if finder.project.global_variable(source, new):
                    continue
                builtin = hasattr(builtins, new)
                yield Conflict(
                    "shadows_builtin" if builtin else "name_capture",
                    f"a star import would bring the symbol to where `{new}` means something else",
                    (
                        _declaration(renaming),
                        place(source, site.start, f"this use of `{new}` would mean the symbol"),
                    ),
                )
                break


def _modules(renaming: Renaming) -> Iterator[Conflict]:
    """A submodule and another name of its package, of which one gets the name of the other."""
    finder, new = renaming.finder, renaming.new_name
    for root in renaming.account.family:
        if root.kind == "module":
            yield from _in_package(renaming, root)
    for path in dict.fromkeys(_packages(renaming)):
        module = finder.project.module_of(path)
        submodule = finder.project.submodule(module, new)
        if submodule is not None:
            yield Conflict(
                "name_clash",
                f"package `{module.name}` has a submodule `{new}`",
                (_declaration(renaming), Place(submodule.place, 1, 1, "is the submodule")),
            )


def _packages(renaming: Renaming) -> Iterator[str]:
    """The files of packages of which the symbol is a name: defined, imported or starred there."""
    finder, family = renaming.finder, renaming.account.family
    project, old = finder.project, renaming.account.target.name
    for root in family:
        if root.kind != "variable" or root.start != -1:
            continue
        yield root.path
        package = project.source("".join(root.path.rpartition("/")[:2]) + "__init__.py")
        starred = project.starred(package) if package is not None else ()
        if package is not None and any(
            root.path in module.files and project.exports(module, old) for module in starred
        ):
            yield package.path
    for file in renaming.account.files:
        source = project.source(file.path) if file.path.rpartition("/")[2].startswith("__init__.") else None
        if source is None:
            continue
        bindings = source.names(old).bindings(source.module_scope, old)
        if any(finder.meanings.of(source, site).roots & family for site in bindings):
            yield file.path


def _in_package(renaming: Renaming, root: Root) -> Iterator[Conflict]:
    """A name of the package, which would hide the module there, or be hidden by it, as the imports come."""
    finder, new = renaming.finder, renaming.new_name
    folder = finder.project.module_at(root.path).place.rpartition("/")[0]
    if not any(finder.snapshot.is_file(f"{folder}/__init__{suffix}") for suffix in PYTHON_SUFFIXES):
        return
    package = finder.project.module_at(folder)
    for other in finder.project.member(package, new):
        if isinstance(other, Variable) and other.sites:
            says = f"is another `{new}` of the package"
            there = place(other.source, other.sites[0].start, says)
            message = f"package `{package.name}` has a name `{new}`"
            yield Conflict("name_clash", message, (_declaration(renaming), there))


def external_conflicts(account: Account, finder: Finder) -> tuple[Conflict, ...]:
    """Declarations of the family that are not ours to edit."""
    return tuple(_external(account, finder, root) for root in account.external)


def _external(account: Account, finder: Finder, root: Root) -> Conflict:
    symbol = finder.symbol_of(root, root.name)
    if root.kind == "builtin":
        what = "a builtin" if root.path == "builtins" else f"a fixture of {root.path} or of a plugin"
        return Conflict("library_symbol", f"`{root.name}` is {what}", ())
    source = finder.project.source(root.path)
    own = account.target.name
    return Conflict(
        "library_symbol",
        f"`{own}` is `{symbol.qualified}` of the library",
        (place_in(source, root.path, symbol.span.start, "is declared here, outside of what may be edited"),),
    )


def sites_of(
    account: Account, finder: Finder, new_name: str, spans: Iterable[tuple[str, int]]
) -> tuple[tuple[Source, Site], ...]:
    """The code sites of an account that start at these (path, byte) places, in files where anything can conflict.

    Whatever clashes with the new name, captures it or is captured contains its text: files without it need no look.
    """
    chosen = set(spans)
    found = []
    for file in account.files:
        source = finder.project.source(file.path)
        if source is None or new_name not in source.document.text:
            continue
        found += [
            (source, source.site_at(fact.start, fact.end, fact.written))
            for fact in file.facts
            if (fact.path, fact.start) in chosen
        ]
    return tuple(found)
