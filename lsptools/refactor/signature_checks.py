"""Reasons not to change parameters that no call shows: in the definitions, their bodies, and who else holds them."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator

from lsptools.errors import Conflict
from lsptools.errors import Site as Place
from lsptools.languages.python.arguments import positional_parameters
from lsptools.languages.python.callables import CONSTRUCTORS, Callee
from lsptools.languages.python.classes import Function, class_in
from lsptools.languages.python.decorators import CALLED_AS_WRITTEN
from lsptools.languages.python.references import Finder
from lsptools.languages.python.roles import BINDING, DECLARING, TEXT, Role
from lsptools.languages.python.scopes import Scope, Site, Source, mangled, word_pattern
from lsptools.refactor.places import place, place_in
from lsptools.refactor.signature_request import SignatureEdit, expression_of, n_bound
from lsptools.text.lines import Offset, Span


def opaque_decorators(function: Function) -> Iterator[str]:
    """The decorators of which it is not known how they call the function."""
    return (name for name in function.decorator_names if name not in CALLED_AS_WRITTEN)


def is_pass_through(function: Function, main: Function) -> bool:
    """Does a definition of the family take whatever comes, by `*args` and `**kwargs`?"""
    kinds = {parameter.kind for parameter in function.parameters}
    named = [each.name for each in positional_parameters(function.parameters)][n_bound(function) :]
    return function is not main and not named and {"args", "kwargs"} <= kinds


# ---------------------------------------------------------------------------------------------------- the family


def family_conflicts(
    finder: Finder, callee: Callee, main: Function, edit: SignatureEdit
) -> Iterator[Conflict]:
    """Definitions that cannot follow: a library's, one that is no `def`, one with other parameters, a second constructor."""
    for root in callee.external:
        where = root.name if root.kind == "builtin" else root.path
        says = f"`{main.name}` overrides or stands for what `{where}` defines, which does not follow"
        yield Conflict("library_symbol", says, (_place_of(main, says),))
    for symbol in callee.others:
        says = f"`{symbol.name}` is bound here otherwise than by `def`"
        yield Conflict("undecided", says, (_place(finder, symbol.path, symbol.span, says),))
    for function in callee.functions:
        if (
            function is not main
            and not is_pass_through(function, main)
            and not _follows(function, main, edit)
        ):
            says = "a definition of the same family has its parameters otherwise"
            yield Conflict("undecided", says, (_place_of(function, says),))
    yield from _other_constructor(finder, callee, main)


def _follows(function: Function, main: Function, edit: SignatureEdit) -> bool:
    """Do the two lists have the same parameters in the places that change?"""
    theirs, ours = _positional(function), _positional(main)
    moves = edit.order or any(not each.keyword_only for each in edit.added)
    if theirs == ours:
        return True
    if moves:
        return False
    if not edit.removed & set(ours):
        return True
    last = max(ours.index(name) for name in edit.removed if name in ours)
    # An overload may have fewer parameters; none may stand in another place.
    return theirs[: last + 1] == ours[: min(last + 1, len(theirs))]


def _positional(function: Function) -> list[str]:
    return [each.name for each in positional_parameters(function.parameters)][n_bound(function) :]


def _other_constructor(finder: Finder, callee: Callee, main: Function) -> Iterator[Conflict]:
    """`__new__` beside `__init__`, or a metaclass that is called first: each gets the same arguments."""
    if callee.cls is None:
        return
    found = [finder.evaluator.method(callee.cls, name) for name in CONSTRUCTORS if name != main.name]
    metaclass = finder.evaluator.metaclass(callee.cls)
    if metaclass is not None:
        found.append(finder.evaluator.method(metaclass, "__call__"))
    for other in found:
        if other is None or class_in(other.source, other.outer).name == "object" or other.source.external:
            continue
        if not is_pass_through(other, main):
            says = f"`{other.name}` gets the same arguments"
            yield Conflict("undecided", says, (_place_of(other, says),))


# ---------------------------------------------------------------------------------------------------- the bodies


def body_conflicts(
    finder: Finder, callee: Callee, edit: SignatureEdit, deleted: Collection[tuple[str, tuple[int, int]]]
) -> Iterator[Conflict]:
    """Uses of what goes, outside of the bytes that are `deleted`; names that are taken or captured by what is new."""
    for function in callee.functions:
        for name in sorted(edit.removed):
            if function.parameter(name) is not None:
                yield from _in_use(function, name, deleted)
        for added in edit.added:
            yield from _taken(function, added.name)


def _in_use(
    function: Function, name: str, deleted: Collection[tuple[str, tuple[int, int]]]
) -> Iterator[Conflict]:
    source = function.source
    gone = [span for path, span in deleted if path == source.path]
    for site in _inside(function, name):
        if site.role is Role.PARAMETER or not _belongs(source, function, site):
            continue
        if any(start <= site.start < end for start, end in gone):
            continue
        says = f"`{name}` is used in the body of `{function.name}`"
        yield Conflict("in_use", says, (place(source, site.start, says),))


def _taken(function: Function, name: str) -> Iterator[Conflict]:
    """The new name is bound in the function already, or a use in it would mean the parameter."""
    source = function.source
    names = source.names(name)
    for site in _inside(function, name):
        spelling = mangled(name, function.scope)
        if (function.scope, spelling) in names.bound or (function.scope, spelling) in names.declared:
            says = f"`{name}` is a name of `{function.name}` already"
            yield Conflict("name_clash", says, (place(source, site.start, says),))
            return
        owner = names.scope_of(site.scope, site.spelling)
        within = owner is not None and function.start <= owner.start and owner.end <= function.end
        if site.role is Role.READ and not within and _sees(site, function):
            says = f"`{name}` would mean the new parameter here, and means something else now"
            yield Conflict("name_capture", says, (place(source, site.start, says),))


def _sees(site: Site, function: Function) -> bool:
    """Is a name looked up through the function's own scope?"""
    scope: Scope | None = site.scope
    while scope is not None and scope is not function.scope:
        scope = scope.parent
    return scope is not None


def _inside(function: Function, name: str) -> Iterator[Site]:
    for site in function.source.sites(name):
        if function.start <= site.start < function.end and site.role not in TEXT:
            is_name = site.role in BINDING or site.role in DECLARING or site.role is Role.READ
            if is_name:
                yield site


def _belongs(source: Source, function: Function, site: Site) -> bool:
    return source.names(source.text_of(site)).scope_of(site.scope, site.spelling) is function.scope


# ---------------------------------------------------------------------------------------------------- arguments, prose


def unbound_names(source: Source, at: int, text: str) -> list[str]:
    """The names in an expression that mean nothing at a byte of a file."""
    root = expression_of(text)
    waiting = [root] if root is not None else []
    found: list[str] = []
    _, scope = source.descend(at)
    own: set[str] = set()
    data = f"({text}\n)".encode("utf-8", "surrogateescape")
    while waiting:
        node = waiting.pop()
        if node.type in ("lambda", "for_in_clause", "named_expression"):
            inner = node.child_by_field_name("parameters") or node.child_by_field_name("left")
            own |= set(_words(data[inner.start_byte : inner.end_byte].decode()) if inner is not None else ())
        if node.type == "identifier":
            name = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
            parent = node.parent
            is_attribute = parent is not None and (
                (parent.type == "attribute" and parent.child_by_field_name("object") != node)
                or (parent.type == "keyword_argument" and parent.child_by_field_name("name") == node)
            )
            if not is_attribute:
                found.append(name)
        waiting.extend(node.named_children)
    return [
        name
        for name in dict.fromkeys(found)
        if name not in own
        and source.names(name).scope_of(scope, mangled(name, scope)) is None
        and not hasattr(builtins, name)
    ]


def _words(text: str) -> list[str]:
    return [word for word in text.replace(",", " ").split() if word.isidentifier()]


def mentions_of(callee: Callee, edit: SignatureEdit) -> Iterator[tuple[str, Span, str]]:
    """Where docstrings of the definitions speak of parameters that go."""
    for function in callee.functions:
        body = function.node.child_by_field_name("body")
        first = body.named_children[0] if body is not None and body.named_children else None
        if first is None or not (first.text or b"").lstrip(b"rRuU").startswith((b"'", b'"')):
            continue
        span = function.source.span(first.start_byte, first.end_byte)
        text = function.source.document.text
        for name in sorted(edit.removed):
            for found in word_pattern(name).finditer(text, span.start, span.end):
                at = Span(Offset(found.start()), Offset(found.end()))
                yield function.source.path, at, f"the docstring speaks of `{name}`"


# ---------------------------------------------------------------------------------------------------- places


def _place_of(function: Function, says: str) -> Place:
    return place_in(function.source, function.source.path, function.name_span.start, says)


def _place(finder: Finder, path: str, span: Span, says: str) -> Place:
    return place_in(finder.project.source(path), path, span.start, says)
