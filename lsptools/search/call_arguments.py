"""The calls of a function, each with its arguments bound to the function's parameters: what one looks at before an edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.languages.names import FilePosition, Symbol
from lsptools.languages.python.arguments import DOUBLE_STAR, STAR, Argument, Bound, bind, call_parts
from lsptools.languages.python.callables import Callee, callee_at, uses_of
from lsptools.languages.python.classes import Function, Parameter
from lsptools.languages.python.references import KEPT_BYTES, Finder, Keep
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.uses import CALLING, PARTIAL, RAISE, Use
from lsptools.text.lines import Span
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Given:
    """What one parameter gets in one call, or what an argument without a parameter is."""

    parameter: str
    """Empty for an argument that no parameter is known to take."""
    how: str
    """`positional`, `keyword`, `unpacked` (perhaps), `later` (of a `partial`), `default`, `object` (before the dot), `missing`, `unbound` (no parameter is known)."""
    text: str
    """The argument as it is written, or the default; empty where there is neither."""
    span: Span | None
    """Of the argument."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One use of the function; what is no call has no arguments."""

    use: Use
    given: tuple[Given, ...]
    selected: Given | None
    """What reaches the parameter that was asked for."""


@dataclass(frozen=True, slots=True)
class BoundCalls:
    """All uses of a function, by place."""

    callee: Symbol
    signature: str
    """The parameters as they are written; empty where no `def` is known."""
    parameter: str
    """The parameter that was asked for, or nothing."""
    calls: tuple[BoundCall, ...]
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


def bound_calls(snapshot: Snapshot, place: FilePosition) -> BoundCalls:
    """The calls of the function, method or class at a place; a parameter stands for its function.

    Raises `BadRequest`: `not_a_symbol`, `not_found`.
    """
    return bound_calls_of(Finder(snapshot), place)


def bound_calls_of(finder: Finder, place: FilePosition) -> BoundCalls:
    """As `bound_calls`, for who has asked the finder already."""
    callee = callee_at(finder, place)
    uses = uses_of(finder, callee)
    keep = Keep(KEPT_BYTES)
    found = []
    for use in uses.uses:
        source = finder.project.source(use.path) if use.kind in CALLING else None
        found.append(_bound(source, use, callee))
        if source is not None:
            keep.add(source)
    return BoundCalls(
        callee.symbol,
        _signature(callee.main),
        callee.parameter,
        tuple(found),
        uses.complete,
        uses.incomplete_because,
    )


def _signature(function: Function | None) -> str:
    node = function.node.child_by_field_name("parameters") if function is not None else None
    return " ".join(function.source.text(node).split()) if function is not None and node is not None else ""


def _bound(source: Source | None, use: Use, callee: Callee) -> BoundCall:
    if source is None or (use.call is None and use.kind != RAISE):
        return BoundCall(use, (), None)
    main = callee.main
    call = source.node_at(*use.call) if use.call is not None else None
    arguments = call_parts(source, call, is_partial=use.kind == PARTIAL) if call is not None else ()
    if main is None:
        given = tuple(_unbound(source, argument) for argument in arguments)
    else:
        bound = bind(main.parameters, arguments, use.n_filled, more_follow=use.kind == PARTIAL)
        given = tuple(_given(source, main, bound, use))
    selected = next((each for each in given if callee.parameter and each.parameter == callee.parameter), None)
    return BoundCall(use, given, selected)


def _given(source: Source, function: Function, bound: Bound, use: Use) -> Iterator[Given]:
    filled = [each.name for each in function.parameters if each.kind in ("positional", "either")]
    for parameter in function.parameters:
        if parameter.name in filled[: use.n_filled]:
            yield Given(parameter.name, "object", "", None)
            continue
        taken = bound.by_parameter.get(parameter.name, ())
        yield from (_taken(source, parameter, argument) for argument in taken)
        if bound.may_be_filled(function.parameters, parameter.name):
            yield Given(parameter.name, "later" if use.kind == PARTIAL else "unpacked", "", None)
        elif not taken and parameter.default is not None:
            yield Given(parameter.name, "default", function.source.text(parameter.default), None)
        elif parameter.name in bound.missing:
            yield Given(parameter.name, "missing", "", None)
    yield from (_unbound(source, argument) for argument in bound.left_over)


def _taken(source: Source, parameter: Parameter, argument: Argument) -> Given:
    text = argument.text
    if parameter.kind == "kwargs":
        text = f"{argument.name}={text}"
    return Given(parameter.name, argument.kind, text, source.span(argument.start, argument.end))


def _unbound(source: Source, argument: Argument) -> Given:
    stars = {STAR: "*", DOUBLE_STAR: "**"}.get(argument.kind, "")
    name = f"{argument.name}=" if argument.name else stars
    return Given("", "unbound", name + argument.text, source.span(argument.start, argument.end))
