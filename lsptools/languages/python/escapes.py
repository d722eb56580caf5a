"""Where functions get out of sight: handed over as values, or called with mappings of which nothing is known.

    def call(fn): fn(evt=1)         # may be `handler`, once that was handed over: `call(handler)`
    handler(**settings.options)     # a key "evt", wherever it is written, may be a keyword of `handler`

Asked for the parameters (and fields) of one family, and only where a keyword or a key is met that nothing else explains.
A function that nobody gets hold of is called by its name alone; one that only a library gets hold of is called by the
library. Where it stops: a value is not followed from where it is handed over to where it is called, so every call that the
function could take (`given.fits`) counts; a mapping is not followed either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lsptools.languages.names import Evidence
from lsptools.languages.python import closure, detours, mentions
from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    class_of,
    function_in,
    last_name,
)
from lsptools.languages.python.decorators import REGISTERS_NOTHING
from lsptools.languages.python.given import Given, fits
from lsptools.languages.python.meaning import Root, by_place, member_root
from lsptools.languages.python.roles import BINDING, Role, access_of
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.uses import PARTIAL, VALUE, classified
from lsptools.languages.python.values import (
    ClassValue,
    Foreign,
    ForeignClass,
    FunctionValue,
    InstanceValue,
    Types,
)
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.references import Finder


@dataclass(frozen=True, slots=True)
class _Escape:
    """A place where somebody gets hold of a function."""

    function: Function
    n_filled: int | None
    """So many parameters are filled when it is called (`self`); None: that is not known."""
    where: str
    """`path:line`."""


class Escapes:
    """What happens to the functions whose parameter `name` is in a family, and to the classes whose field it is."""

    def __init__(self, finder: Finder, name: str, family: frozenset[Root]) -> None:
        self._finder = finder
        self._name = name
        self._family = family
        self._stored: dict[str, bool] = {}
        found = (closure.function_at(finder.project, root) for root in sorted(family, key=by_place))
        self._functions = [
            function
            for function in found
            if function is not None and (taken := function.parameter(name)) and taken.takes_keyword
        ]
        owners = (closure.class_at(finder.project, root) for root in sorted(family, key=by_place))
        self._records = [cls for cls in owners if cls is not None and finder.meanings.makes_constructor(cls)]

    # ------------------------------------------------------------------ what is asked

    def called_as(self, given: Given) -> str:
        """Why a call of something unknown that gives this may be one of the family's functions; empty: it is none."""
        fitting = (each for each in self._escapes if fits(each.function, self._name, given, each.n_filled))
        escape = next(fitting, None)
        if escape is None or (given.attribute and not self._is_stored(given.attribute)):
            return ""
        return f"it may be `{_shown(escape.function)}`, which is handed over at {escape.where}"

    def could_take(self, given: Given) -> bool:
        """Is there one of the family's functions that could be called like this?"""
        return any(
            fits(function, self._name, given, n_filled)
            for function in self._functions
            for n_filled in _filled(function)
        )

    def unpacked_from(self, given: Given) -> str:
        """Why a mapping with these keys may be unpacked into a call of one of the family; empty: it is not."""
        if not any(self._takes(given)) or not self._unpacked:
            return ""
        return f"a key of a mapping; one of which nothing is known is unpacked at {self._unpacked}"

    def _takes(self, given: Given) -> Iterator[bool]:
        for function in self._functions:
            yield fits(function, self._name, given, 0)
        for cls in self._records:
            yield all(self._finder.evaluator.lookup(cls, name) for name in given.names)

    # ------------------------------------------------------------------ handed over

    @cached_property
    def _escapes(self) -> tuple[_Escape, ...]:
        found = (each for function in self._functions for each in self._escapes_of(function))
        return tuple({(each.function, each.n_filled): each for each in found}.values())

    def _escapes_of(self, function: Function) -> Iterator[_Escape]:
        if function.node.type == "lambda":
            if self._gets_away(function.source, function.node):
                yield _Escape(function, 0, _where(function.source, function.start))
            return
        if function.in_class and function.name == "__call__":
            yield _Escape(function, 1, _where(function.source, function.start))
        if self._is_registered(function):
            for n_filled in (0, 1) if function.in_class and not function.is_static else (0,):
                yield _Escape(function, n_filled, _where(function.source, function.decorators[0].start_byte))
        constructs = _constructs(function)
        for word, roots in self._called(function):
            for computed in self._finder.computed(word, roots):
                for n_filled in {0, int(function.in_class)}:
                    yield _Escape(function, n_filled, _where(computed.source, computed.start))
            for source in self._sources(function, word):
                for site in source.sites(word):
                    yield from self._escape_at(source, site, function, roots, is_class=constructs)

    def _escape_at(
        self, source: Source, site: Site, function: Function, roots: frozenset[Root], *, is_class: bool
    ) -> Iterator[_Escape]:
        where = _where(source, site.start)
        if site.role is Role.STRING:
            text = mentions.in_python(self._finder.meanings, source, site)
            known = text.receiver is not None and text.receiver.complete
            if (
                text.evidence is Evidence.POSSIBLE
                and not known
                and text.reason.startswith(mentions.LOOKED_UP)
            ):
                for n_filled in {0, int(function.in_class)}:
                    yield _Escape(function, n_filled, where)
            return
        kind, _ = classified(source, site, is_class=is_class)
        if kind not in (VALUE, PARTIAL) or not self._may_mean(source, site, roots):
            return
        if kind == PARTIAL:
            yield _Escape(function, None, where)
        elif self._gets_away(source, _whole(site)):
            for n_filled in _filled(function):
                yield _Escape(function, n_filled, where)

    def _may_mean(self, source: Source, site: Site, roots: frozenset[Root]) -> bool:
        meaning = self._finder.meanings.of(source, site)
        if meaning.roots & roots:
            return True
        return site.role is Role.ATTRIBUTE and not meaning.roots and not meaning.complete

    def _is_registered(self, function: Function) -> bool:
        """May a decorator of the workspace keep the function, or hand it on?"""
        for decorator in function.decorators:
            if last_name(function.source, decorator) in REGISTERS_NOTHING:
                continue
            types = self._finder.evaluator.at(function.source, _callee_of(decorator))
            if not _is_of_library(types):
                return True
        return False

    def _gets_away(self, source: Source, node: Node) -> bool:
        """Does somebody get hold of the value who may call it with keywords of ours?"""
        call, _ = _taker(node)
        function = call.child_by_field_name("function") if call is not None else None
        if call is None or function is None or not _is_let_out(source, node):
            return _is_let_out(source, node)
        is_statement = call.parent is not None and call.parent.type in ("expression_statement", "await")
        return not (is_statement and _is_of_library(self._finder.evaluator.at(source, function)))

    # ------------------------------------------------------------------ under which names

    def _called(self, function: Function) -> Iterator[tuple[str, frozenset[Root]]]:
        """The words by which a function is named, each with the declarations that it then means."""
        if not function.in_class:
            start = -1 if function.outer.kind == "module" else function.outer.start
            yield function.name, frozenset({Root("variable", function.source.path, start, function.name)})
            return
        owner = class_in(function.source, function.outer)
        if not _constructs(function):
            yield function.name, frozenset({member_root(owner, owner.spelled(function.name))})
            return
        for cls in self._below(owner):
            yield cls.name, frozenset({_class_root(cls)})

    def _below(self, cls: Class) -> list[Class]:
        """The class and those below it whose calls run its constructor."""
        found = [cls]
        for each in found:
            for source in self._finder.sources_with(each.name):
                if len(found) >= _MOST:
                    return found
                for site in source.sites(each.name):
                    below = _subclass_at(source, site)
                    if (
                        below is not None
                        and below not in found
                        and each in self._finder.evaluator.order(below)
                    ):
                        found.append(below)
        return found

    def _sources(self, function: Function, word: str) -> list[Source]:
        if function.outer.kind not in ("module", "class"):
            return [function.source]
        return self._finder.sources_with(word)

    def _is_stored(self, name: str) -> bool:
        """Is an attribute of this name given a value that could be a function?"""
        if name not in self._stored:
            written = _written_pattern(name)
            self._stored[name] = any(
                self._stores(source, site)
                for source in self._finder.sources_with(name)
                if written.search(source.bytes) is not None
                for site in source.sites(name)
            )
        return self._stored[name]

    def _stores(self, source: Source, site: Site) -> bool:
        in_class = site.scope.kind == "class"
        if site.role is Role.FUNCTION:
            return in_class and function_in(source, source.scope_inside(site.path[-2][0])).is_property
        if not (site.role is Role.ATTRIBUTE and access_of(site.path) in BINDING) and not (
            in_class and site.role in (Role.ASSIGN, Role.ANNOTATE)
        ):
            return False
        statement = site.ancestor("assignment")
        value = statement.child_by_field_name("right") if statement is not None else None
        if value is None:
            return True
        types = self._finder.evaluator.at(source, value)
        return not types.complete or any(self._is_callable(each) for each in types.values)

    def _is_callable(self, value: object) -> bool:
        if isinstance(value, InstanceValue):
            return self._finder.evaluator.method(value.cls, "__call__") is not None
        return isinstance(value, (FunctionValue, ClassValue)) or value == Foreign("Callable")

    # ------------------------------------------------------------------ unpacked

    @cached_property
    def _unpacked(self) -> str:
        """Where a mapping of which nothing is known is unpacked into a call of one of the family; empty: nowhere."""
        waiting = [word for function in self._functions for word, _ in self._called(function)]
        waiting += [each.name for cls in self._records for each in self._below(cls)]
        done: set[str] = set()
        seen: set[tuple[str, int]] = set()
        while waiting and len(done) < _MOST:
            word = waiting.pop(0)
            if word in done or not word.isidentifier():
                continue
            done.add(word)
            for source in self._finder.sources_with(word):
                for call, splat in _unpacking(source):
                    if (source.path, splat.start_byte) in seen or not self._reaches(source, call, word):
                        continue
                    seen.add((source.path, splat.start_byte))
                    through = detours.taken_by(source, splat)
                    if through is not None:
                        waiting += [name for name, _ in self._called(through)]
                    elif not _is_written_out(source, splat):
                        return _where(source, splat.start_byte)
        return ""

    def _reaches(self, source: Source, call: Node, word: str) -> bool:
        """Would the parameter get a keyword of the call?"""
        function = call.child_by_field_name("function")
        if function is None:
            return False
        last = last_name(source, function)
        if last != word and last not in _ANY_CLASS and word not in source.text(call):
            return False
        meaning = self._finder.meanings.keyword_of(source, call, function, self._name, 0)
        if meaning.roots & self._family:
            return True
        return last == word and not meaning.complete and not meaning.roots


def is_let_out(function: Function) -> bool:
    """May code elsewhere call a function of which nobody elsewhere knows the name: a lambda, a function inside of another?"""
    source = function.source
    if function.node.type == "lambda":
        return _is_let_out(source, function.node)
    if any(name not in REGISTERS_NOTHING for name in function.decorator_names):
        return True
    names = source.names(function.name)
    for site in source.sites(function.name):
        owner = names.scope_of(site.scope, function.name) if site.role is Role.READ else None
        is_value = owner is function.outer and classified(source, site, is_class=False)[0] in (VALUE, PARTIAL)
        if is_value and _is_let_out(source, site.leaf):
            return True
    return False


def _is_let_out(source: Source, node: Node) -> bool:
    """Does a value go to somebody who may call it with keywords?"""
    call, is_bare = _taker(node)
    function = call.child_by_field_name("function") if call is not None else None
    return last_name(source, function) not in _KEPT if function is not None else not is_bare


def _taker(node: Node) -> tuple[Node | None, bool]:
    """The call that gets a value as an argument; without one, whether the value is dropped."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "conditional_expression"):
        parent = parent.parent
    if parent is not None and parent.type == "keyword_argument":
        parent = parent.parent
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    if call is None or call.type != "call":
        return None, parent is None or parent.type in ("expression_statement", "assert_statement")
    return call, False


def _where(source: Source, at: int) -> str:
    position = source.document.lines.user_from_offset(source.span(at, at).start)
    return f"{source.path}:{position.line}"


def _shown(function: Function) -> str:
    if function.node.type == "lambda":
        return "lambda"
    return class_in(function.source, function.outer).name if _constructs(function) else function.name


def _constructs(function: Function) -> bool:
    return function.in_class and function.name in ("__init__", "__new__")


def _filled(function: Function) -> tuple[int, ...]:
    """How many parameters may be filled when a value is called: `self`, or nothing in `Class.method`."""
    if not function.in_class or function.is_static:
        return (0,)
    return (1,) if _constructs(function) or function.is_class_method else (1, 0)


def _class_root(cls: Class) -> Root:
    outer = cls.outer
    if outer.kind == "class":
        return member_root(class_in(cls.source, outer), cls.name)
    return Root("variable", cls.source.path, -1 if outer.kind == "module" else outer.start, cls.name)


def _subclass_at(source: Source, site: Site) -> Class | None:
    """The class in whose header a name stands as a base."""
    for index in range(len(site.path) - 1, 0, -1):
        if site.path[index][1] == "superclasses":
            return class_of(source, site.path[index - 1][0])
    return None


def _whole(site: Site) -> Node:
    """The expression that ends in a name: with what stands before the dot."""
    parent = site.path[-2][0] if len(site.path) > 1 else site.leaf
    return parent if site.role is Role.ATTRIBUTE and parent.type == "attribute" else site.leaf


def _callee_of(decorator: Node) -> Node:
    function = decorator.child_by_field_name("function") if decorator.type == "call" else None
    return function if function is not None else decorator


def _is_of_library(types: Types) -> bool:
    """Is everything that is called code of others, which has no keywords of ours?"""
    return bool(types.values) and types.complete and all(map(_is_foreign, types.values))


def _is_foreign(value: object) -> bool:
    if isinstance(value, FunctionValue):
        return value.function.source.external
    if isinstance(value, (ClassValue, InstanceValue)):
        return value.cls.source.external
    return isinstance(value, ForeignClass) or (isinstance(value, Foreign) and value.name != "Callable")


def _unpacking(source: Source) -> tuple[tuple[Node, Node], ...]:
    """The calls of a file that unpack a mapping, each with what it unpacks."""
    known = source.memo.get("unpacking")
    if not isinstance(known, tuple):
        known = source.memo["unpacking"] = tuple(_find_unpacking(source))
    return known


def _find_unpacking(source: Source) -> Iterator[tuple[Node, Node]]:
    for found in _STARS.finditer(source.bytes):
        path, _ = source.descend(found.start())
        kinds = [node.type for node, _ in path]
        if kinds[-1:] != ["**"] or kinds[-2:-1] != ["dictionary_splat"] or len(path) < 4:
            continue
        call, splat = path[-4][0], path[-2][0]
        if call.type == "call" and path[-3][0].type == "argument_list" and splat.named_children:
            yield call, splat.named_children[0]


def _is_written_out(source: Source, value: Node) -> bool:
    """Is the mapping written out, here or where the name is bound that stands here? Then its keys are followed (`detours`)."""
    if value.type == "dictionary":
        return not any(
            child.type == "dictionary_splat" and not _is_written_out(source, child.named_children[0])
            for child in value.named_children
            if child.type != "dictionary_splat" or child.named_children
        )
    if value.type == "call":
        function = value.child_by_field_name("function")
        return function is not None and source.text(function) == "dict" and b"**" not in (value.text or b"")
    if value.type != "identifier":
        return False
    statements = [
        site.ancestor("assignment") if site.role is Role.ASSIGN else None
        for site in source.bindings_of(value)
    ]
    values = [each.child_by_field_name("right") if each is not None else None for each in statements]
    return bool(values) and all(
        each is not None and each.type != "identifier" and _is_written_out(source, each) for each in values
    )


def _written_pattern(name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    return re.compile(
        rb"\.\s*" + word + rb"\b\s*(?::[^=\n]*)?=(?!=)"
        rb"|^[ \t]+" + word + rb"\s*(?::|=(?!=))"
        rb"|\bdef\s+" + word + rb"\b|\.\s*" + word + rb"\s*,",
        re.MULTILINE,
    )


_MOST = 40
"""So many names are looked up for one question."""
_STARS = re.compile(rb"\*\*")
_ANY_CLASS = frozenset({"cls", "type", "__class__", "super", "__init__", "__new__"})
_KEPT = frozenset(
    {"sorted", "min", "max", "sort", "nlargest", "nsmallest", "groupby", "map", "filter", "filterfalse"}
    | {"takewhile", "dropwhile", "starmap", "reduce", "accumulate", "any", "all", "callable", "isinstance"}
    | {"issubclass", "hasattr", "getattr", "id", "hash", "repr", "str", "print", "len", "super"}
    | {"getsource", "getdoc", "Thread", "Timer", "Process", "assertRaises", "raises", "warns", "sub"}
    | {"cached_property", "register_at_fork", "isfunction", "iscoroutinefunction", "signature"}
)
"""Callees that call what they are given by position, if at all, or with keywords that are followed (`detours`)."""
