"""Classes above and below a class, and what implements a method or class further down.

Above goes as far as bases are found, also into libraries; a base that leads nowhere is named. Below are the classes of the
workspace that name the class, or one below it, as a base. Where it stops: classes that are made by calls of `type`, and
classes that satisfy a protocol without naming it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.languages.names import FilePosition, References, Symbol
from lsptools.languages.python.callables import classes_of, position_of, subclasses
from lsptools.languages.python.classes import Class, Function, function_of, last_name
from lsptools.languages.python.closure import class_at
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.references import Finder, Target
from lsptools.languages.python.roles import Role
from lsptools.languages.python.values import Foreign
from lsptools.search.calls import symbol_of_definition
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Related:
    """A class above or below another one."""

    symbol: Symbol
    depth: int
    """1 for a direct base or subclass."""
    via: str
    """The class whose base it is, or which is its base: the step before."""
    unknown_bases: tuple[str, ...] = ()
    """Its base expressions that lead nowhere."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A class with what is above and below it, nearest first."""

    symbol: Symbol
    order: tuple[Symbol, ...]
    """In the order in which attributes are looked up, itself first, as far as bases were found."""
    unknown_bases: tuple[str, ...]
    above: tuple[Related, ...]
    below: tuple[Related, ...]
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Implementation:
    """One declaration of a family: of a method, or a subclass of a class."""

    symbol: Symbol
    relation: str
    """`overrides` (below), `overridden` (above), `sibling` (beside: another branch of the same family), `subclass`, `twin`."""
    is_abstract: bool
    """Does it only say that it is to be overridden?"""


@dataclass(frozen=True, slots=True)
class Implementations:
    """The other declarations of a family."""

    symbol: Symbol
    found: tuple[Implementation, ...]
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


def hierarchy(snapshot: Snapshot, place: FilePosition) -> Hierarchy:
    """The classes above and below the class at a place.

    Raises `BadRequest`: `not_a_symbol` (no class), `not_found`.
    """
    finder = Finder(snapshot)
    cls = classes_of(finder, finder.target(place))[0]
    below, searches = _below(finder, cls)
    reasons = tuple(dict.fromkeys(why for each in searches for why in each.incomplete_because))
    return Hierarchy(
        symbol_of_definition(finder, cls),
        tuple(symbol_of_definition(finder, each) for each in finder.evaluator.order(cls)),
        unknown_bases(finder, cls),
        tuple(_above(finder, cls)),
        below,
        not reasons,
        reasons,
    )


def supertypes(finder: Finder, target: Target) -> list[Class]:
    """The direct bases of the classes that a target is."""
    found = (base for cls in classes_of(finder, target) for base in finder.evaluator.base_classes(cls))
    return list(dict.fromkeys(found))


def subtypes(finder: Finder, target: Target) -> list[Class]:
    """The classes that name the target's class as a base."""
    classes_of(finder, target)
    return list(dict.fromkeys(subclasses(finder, finder.account(target, only_python=True).references)))


def _above(finder: Finder, cls: Class) -> Iterator[Related]:
    seen = {cls}
    level = [cls]
    depth = 0
    while level:
        depth += 1
        nearer, level = level, []
        for each in nearer:
            for base in finder.evaluator.base_classes(each):
                if base not in seen:
                    seen.add(base)
                    level.append(base)
                    yield Related(
                        symbol_of_definition(finder, base), depth, each.name, unknown_bases(finder, base)
                    )


def _below(finder: Finder, cls: Class) -> tuple[tuple[Related, ...], list[References]]:
    found: dict[Class, Related] = {}
    searches: list[References] = []
    level, depth = [cls], 0
    while level:
        depth += 1
        nearer, level = level, []
        for each in nearer:
            if each.source.external:
                continue
            named = finder.account(finder.target(position_of(each)), only_python=True).references
            searches.append(named)
            for inner in subclasses(finder, named):
                if inner not in found and inner is not cls:
                    found[inner] = Related(
                        symbol_of_definition(finder, inner), depth, each.name, unknown_bases(finder, inner)
                    )
                    level.append(inner)
    return tuple(found.values()), searches


def unknown_bases(finder: Finder, cls: Class) -> tuple[str, ...]:
    """The class's own bases of which nothing was found, as they are written."""
    found = []
    for node, types in zip(cls.base_nodes, finder.evaluator.bases(cls), strict=False):
        is_known = any(not isinstance(value, Foreign) for value in types.values)
        named = node.child_by_field_name("value") if node.type == "subscript" else node
        if not is_known and named is not None and last_name(cls.source, named) not in _SPECIAL_BASES:
            found.append(" ".join(cls.source.text(node).split()))
    return tuple(found)


_SPECIAL_BASES = frozenset({"NamedTuple", "TypedDict", "Protocol", "Generic", "object"})
"""Bases that the typing rules know, found or not."""


# ---------------------------------------------------------------------------------------------------- implementations


def implementations(snapshot: Snapshot, place: FilePosition) -> Implementations:
    """The overrides of a method up and down, or the subclasses of a class, direct ones and below.

    Raises `BadRequest`: `not_a_symbol` (neither), `not_found`.
    """
    finder = Finder(snapshot)
    return implementations_of(finder, finder.target(place))


def implementations_of(finder: Finder, target: Target) -> Implementations:
    """As `implementations`, for a face that keeps a finder."""
    symbol = finder.symbol_of(min(target.roots, key=by_place), target.name)
    if symbol.kind == "class":
        cls = classes_of(finder, target)[0]
        below, searches = _below(finder, cls)
        reasons = tuple(dict.fromkeys(why for each in searches for why in each.incomplete_because))
        found = tuple(Implementation(each.symbol, "subclass", False) for each in below)
        return Implementations(symbol, found, not reasons, reasons)
    account = finder.account(target, only_python=True)
    owners = [each for root in target.roots if (each := class_at(finder.project, root)) is not None]
    if not owners:
        raise BadRequest(
            "not_a_symbol",
            f"`{symbol.name}` is a {symbol.kind}, which nothing implements",
            hint="name a place of a method or class",
        )
    others = sorted(account.family - target.roots, key=by_place)
    found_members: list[Implementation] = []
    for root in others:
        if root.kind != "member" or finder.project.is_external(root.path):
            found_members.append(Implementation(finder.symbol_of(root, root.name), "overridden", False))
            continue
        owner = class_at(finder.project, root)
        relation = _relation(finder, owner, owners) if owner is not None else "twin"
        is_abstract = owner is not None and _is_abstract(finder, root.name, owner)
        found_members.append(Implementation(finder.symbol_of(root, root.name), relation, is_abstract))
    references = account.references
    return Implementations(symbol, tuple(found_members), references.complete, references.incomplete_because)


def _relation(finder: Finder, owner: Class, asked: list[Class]) -> str:
    order = finder.evaluator.order
    if any(each in order(owner) for each in asked):
        return "overrides"
    if any(owner in order(each) for each in asked):
        return "overridden"
    is_twin = any(owner.name == each.name and owner.source.is_stub != each.source.is_stub for each in asked)
    return "twin" if is_twin else "sibling"


def _is_abstract(finder: Finder, name: str, owner: Class) -> bool:
    """Does the method only say that it is to be overridden? A stub says nothing of bodies."""
    if owner.source.is_stub:
        return False
    sites = finder.evaluator.members(owner, name)
    functions = [function_of(owner.source, site.path[-2][0]) for site in sites if site.role is Role.FUNCTION]
    return bool(functions) and all(map(_has_no_body, functions))


def _has_no_body(function: Function) -> bool:
    if any(name.startswith("abstract") for name in function.decorator_names):
        return True
    body = function.node.child_by_field_name("body")
    statements = (
        [child for child in body.named_children if child.type != "comment"] if body is not None else []
    )
    if len(statements) > 1 and (statements[0].text or b"").lstrip(b"rRuU")[:1] in (b"'", b'"'):
        del statements[0]
    return all(each.type == "raise_statement" or each.text == b"..." for each in statements)
