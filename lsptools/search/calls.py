"""Who calls a function or class, and what it calls, grouped by the definitions in which the calls stand.

A call at the level of a module is the module's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lsptools.languages.names import Evidence, FilePosition, Symbol
from lsptools.languages.python.callables import Callee, callee_at, calls_in, uses_of
from lsptools.languages.python.classes import Class, Function, last_name
from lsptools.languages.python.closure import qualified_scope
from lsptools.languages.python.meaning import Root, by_place
from lsptools.languages.python.references import Finder
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.uses import TEXT, Use
from lsptools.languages.python.values import ClassValue, FunctionValue
from lsptools.search.definitions import CALLABLE, Definitions
from lsptools.syntax.tree import Node
from lsptools.text.lines import Offset, Span
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Caller:
    """A definition, or a module, with the uses that stand in it."""

    symbol: Symbol
    span: Span
    """Of the whole definition; of a module empty, at its start."""
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Callers:
    """Who calls something."""

    callee: Symbol
    callers: tuple[Caller, ...]
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One call in a body: what is called, as far as that is known."""

    path: str
    span: Span
    """The last name of what is called."""
    text: str
    """The expression that is called, on one line."""
    evidence: Evidence
    """`certain`: these and nothing else; `likely`: these, perhaps others; `possible`: nothing is known."""
    reason: str
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Callees:
    """What the body of a definition calls, in the order of the text."""

    caller: Symbol
    calls: tuple[Call, ...]

    @property
    def complete(self) -> bool:
        """Whether it is known of each call what it reaches."""
        return all(call.symbols for call in self.calls)

    @property
    def incomplete_because(self) -> tuple[str, ...]:
        """Why it is not complete."""
        n_unknown = sum(not call.symbols for call in self.calls)
        said = "a call" if n_unknown == 1 else f"{n_unknown} calls"
        return (f"nothing is known of {said}",) if n_unknown else ()


def callers(snapshot: Snapshot, place: FilePosition) -> Callers:
    """Who calls the function, method or class at a place.

    Raises `BadRequest`: `not_a_symbol`, `not_found`.
    """
    finder = Finder(snapshot)
    return callers_of(finder, callee_at(finder, place))


def callers_of(finder: Finder, callee: Callee, *, only_python: bool = False) -> Callers:
    """As `callers`, for a face that keeps a finder; `only_python` leaves out other files."""
    uses = uses_of(finder, callee, only_python=only_python)
    definitions = Definitions(finder)
    grouped: dict[tuple[str, Offset], tuple[Symbol, Span, list[Use]]] = {}
    for use in uses.uses:
        symbol, span = _around(definitions, use)
        key = (symbol.path, symbol.span.start if span.length else Offset(-1))
        grouped.setdefault(key, (symbol, span, []))[2].append(use)
    found = tuple(Caller(symbol, span, tuple(inside)) for symbol, span, inside in grouped.values())
    return Callers(callee.symbol, found, uses.complete, uses.incomplete_because)


def _around(definitions: Definitions, use: Use) -> tuple[Symbol, Span]:
    start = Span(Offset(0), Offset(0))
    if use.kind == TEXT and not use.path.endswith(".py"):
        return Symbol(use.path, "file", use.path, start, use.path), start
    found = definitions.around(use.path, use.span.start)
    return found if found is not None else (definitions.module(use.path), start)


def callees(snapshot: Snapshot, place: FilePosition) -> Callees:
    """What the function, method or class at a place calls.

    Raises `BadRequest`: `not_a_symbol`, `not_found`.
    """
    finder = Finder(snapshot)
    callee = callee_at(finder, place)
    return callees_of(finder, callee.symbol, callee.main or callee.cls)


def callees_of(finder: Finder, symbol: Symbol, definition: Class | Function | None) -> Callees:
    """The calls in the body of one definition."""
    if definition is None or definition.source.external:
        return Callees(symbol, ())
    body = definition.node.child_by_field_name("body")
    start, end = (body.start_byte, body.end_byte) if body is not None else (definition.start, definition.end)
    return Callees(symbol, tuple(calls_between(finder, definition.source, start, end)))


def calls_between(finder: Finder, source: Source, start: int, end: int) -> Iterator[Call]:
    """The calls between two bytes of a file, in order."""
    for node in calls_in(source, start, end):
        function = node.child_by_field_name("function")
        leaf = _last(function) if function is not None else None
        if function is not None and leaf is not None:
            yield _call(finder, source, function, leaf)


def _behind_alias(finder: Finder, root: Root) -> frozenset[Root]:
    """What `g` is for `from m import f as g`; anything else is itself."""
    source, sites = finder.declaring(root)
    if source is None or len(sites) != 1 or sites[0].role is not Role.IMPORT_ALIAS:
        return frozenset({root})
    return finder.meanings.found(finder.project.imported(source, sites[0]), "").roots or frozenset({root})


def _last(function: Node) -> Node | None:
    last = function.child_by_field_name("attribute") if function.type == "attribute" else function
    return last if last is not None and last.type == "identifier" else None


def _call(finder: Finder, source: Source, function: Node, leaf: Node) -> Call:
    site = source.site_at(leaf.start_byte, leaf.end_byte, source.text(leaf))
    meaning = finder.meanings.of(source, site)
    named = frozenset[Root]().union(*(_behind_alias(finder, root) for root in meaning.roots))
    symbols = _symbols(finder, named, site.spelling)
    text = " ".join(source.text(function).split())
    span = source.span(leaf.start_byte, leaf.end_byte)
    if symbols and not any(symbol.kind in _DEFINED for symbol in symbols):
        return _held(
            finder, source, function, symbols[0], Call(source.path, span, text, Evidence.POSSIBLE, "", ())
        )
    evidence = Evidence.CERTAIN if meaning.complete and symbols else Evidence.LIKELY
    if not symbols and not (meaning.complete and meaning.says):
        evidence = Evidence.POSSIBLE
    reason = meaning.says if meaning.complete else meaning.unknown
    reason = reason or f"nothing is known of `{last_name(source, function)}`"
    return Call(source.path, span, text, evidence, reason, symbols)


_DEFINED = frozenset({*CALLABLE, "builtin", "fixture", "module"})
"""Kinds of symbols that are what is called; others hold it."""


def _symbols(finder: Finder, roots: Iterable[Root], name: str) -> tuple[Symbol, ...]:
    ordered = sorted(roots, key=by_place)
    return tuple(finder.symbol_of(root, name) for root in ordered)


def _held(finder: Finder, source: Source, function: Node, holder: Symbol, call: Call) -> Call:
    """A call of what a variable, a parameter or an attribute holds, as far as its value is derived."""
    types = finder.evaluator.at(source, function)
    found: dict[Symbol, None] = {}
    for value in types.values:
        if isinstance(value, (ClassValue, FunctionValue)):
            definition = value.cls if isinstance(value, ClassValue) else value.function
            if definition.name and definition.node.type != "lambda":
                found[symbol_of_definition(finder, definition)] = None
    if not found:
        return replace(call, reason=f"what the {holder.kind} `{call.text}` holds is not known")
    is_exact = types.complete and not any(isinstance(value, ClassValue) for value in types.values)
    evidence = Evidence.CERTAIN if is_exact else Evidence.LIKELY
    return replace(call, evidence=evidence, reason=f"what the {holder.kind} holds", symbols=tuple(found))


def symbol_of_definition(finder: Finder, definition: Class | Function) -> Symbol:
    """A `class` or `def` statement as a symbol."""
    source = definition.source
    names = [name for _, name in qualified_scope(source, definition.start)]
    kind = "class" if isinstance(definition, Class) else "method" if definition.in_class else "function"
    qualified = ".".join([finder.project.dotted_name(source.path), *(names or [definition.name])])
    return Symbol(definition.name, kind, source.path, definition.name_span, qualified)
