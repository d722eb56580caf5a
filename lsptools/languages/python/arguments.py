"""Which argument of a call reaches which parameter.

Python's own rules (language reference 6.3.4), read off the text: positional arguments fill parameters in order, keywords
by name, what is left goes to `*args` and `**kwargs`. Unpacked arguments (`*rest`, `**options`) have no number and no names
in the text; a binding says from where on they may fill parameters (`open_from`, `open_keywords`), and nothing is guessed.

Units: bytes of the UTF-8 source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsptools.languages.python.classes import Parameter
from lsptools.languages.python.scopes import Source
from lsptools.syntax.tree import Node

POSITIONAL, KEYWORD, STAR, DOUBLE_STAR = "positional", "keyword", "star", "double star"
"""How an argument is written: `x`, `name=x`, `*x`, `**x`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as it is written."""

    kind: str
    name: str
    """Of a keyword; else empty."""
    start: int
    end: int
    """With the keyword or the stars."""
    value_start: int
    value_end: int
    text: str
    """Of the value."""
    written: str
    """Of the whole."""
    has_effects: bool
    """Does evaluating it do something, as far as is known? See `has_effects`."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call, each with the parameter it reaches."""

    arguments: tuple[Argument, ...]
    by_parameter: Mapping[str, tuple[Argument, ...]]
    """`*args` and `**kwargs` may have several, or none."""
    open_from: int | None = None
    """The first positional parameter (by its number among them) that an unpacked sequence may fill; None: there is none."""
    open_keywords: bool = False
    """May unpacked keywords fill parameters?"""
    left_over: tuple[Argument, ...] = ()
    """Arguments that no parameter takes: the call fails."""
    missing: tuple[str, ...] = ()
    """Parameters that need an argument and certainly get none: the call fails."""

    def of(self, name: str) -> Argument | None:
        """The argument that a parameter gets for itself."""
        return next(iter(self.by_parameter.get(name, ())), None)

    def may_be_filled(self, parameters: Sequence[Parameter], name: str) -> bool:
        """May something unpacked reach the parameter?"""
        if self.by_parameter.get(name):
            return False
        parameter = next((each for each in parameters if each.name == name), None)
        if parameter is None:
            return False
        if parameter.kind in ("args", "kwargs"):
            return self.open_from is not None if parameter.kind == "args" else self.open_keywords
        if self.open_keywords and parameter.takes_keyword:
            return True
        positional = [each.name for each in positional_parameters(parameters)]
        return self.open_from is not None and name in positional[self.open_from :]


def arguments_of(source: Source, call: Node) -> tuple[Argument, ...]:
    """The arguments of a call, in the order of the text."""
    node = call.child_by_field_name("arguments")
    if node is None:
        return ()
    if node.type == "generator_expression":  # `f(x for x in y)` has no brackets of its own
        return (_argument(source, node, POSITIONAL, node),)
    return tuple(_arguments(source, node))


def call_parts(source: Source, call: Node, *, is_partial: bool) -> tuple[Argument, ...]:
    """What a call gives to the callable: all arguments, or those behind it in `partial(f, …)`."""
    return arguments_of(source, call)[1 if is_partial else 0 :]


def _arguments(source: Source, arguments: Node) -> Iterator[Argument]:
    for child in arguments.named_children:
        if child.type == "comment":
            continue
        if child.type == "keyword_argument":
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is not None and value is not None:
                yield _argument(source, child, KEYWORD, value, source.text(name))
        elif child.type in ("list_splat", "dictionary_splat"):
            value = child.named_children[0] if child.named_children else child
            yield _argument(source, child, STAR if child.type == "list_splat" else DOUBLE_STAR, value)
        else:
            yield _argument(source, child, POSITIONAL, child)


def _argument(source: Source, node: Node, kind: str, value: Node, name: str = "") -> Argument:
    return Argument(
        kind,
        name,
        node.start_byte,
        node.end_byte,
        value.start_byte,
        value.end_byte,
        source.bytes[value.start_byte : value.end_byte].decode("utf-8", "surrogateescape"),
        source.bytes[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape"),
        has_effects(value),
    )


def has_effects(node: Node) -> bool:
    """May evaluating the expression do something beside giving a value?

    Calls, `await`, `yield` and `:=` may. Attributes, subscripts and operators are taken for plain, although properties and
    `__getitem__` can do anything; so is the body of a lambda, which does not run here.
    """
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type in ("call", "await", "yield", "named_expression"):
            return True
        if each.type != "lambda":
            waiting.extend(each.named_children)
    return False


def positional_parameters(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Those that positional arguments fill, in order."""
    return [each for each in parameters if each.kind in ("positional", "either")]


def bind(
    parameters: Sequence[Parameter],
    arguments: Sequence[Argument],
    n_filled: int = 0,
    *,
    more_follow: bool = False,
) -> Bound:
    """Bind arguments to parameters, of which the first `n_filled` are filled already (`self`).

    `more_follow`: further arguments will be given later, as to `functools.partial`.
    """
    positional = positional_parameters(parameters)
    rest = next((each.name for each in parameters if each.kind == "args"), None)
    others = next((each.name for each in parameters if each.kind == "kwargs"), None)
    found: dict[str, list[Argument]] = {}
    left_over: list[Argument] = []
    at, open_from = n_filled, None
    for argument in arguments:
        if argument.kind == STAR:
            open_from = at if open_from is None else open_from
        elif argument.kind == POSITIONAL and open_from is None:
            name = positional[at].name if at < len(positional) else rest
            at += 1
            (found.setdefault(name, []) if name is not None else left_over).append(argument)
    for argument in arguments:
        if argument.kind == KEYWORD:
            taker = next((p.name for p in parameters if p.name == argument.name and p.takes_keyword), others)
            taken = taker in found and taker != others
            fits = taker is not None and not taken
            (found.setdefault(taker or "", []) if fits else left_over).append(argument)
    if more_follow and open_from is None:
        open_from = at
    open_keywords = more_follow or any(argument.kind == DOUBLE_STAR for argument in arguments)
    bound = Bound(
        tuple(arguments), {name: tuple(each) for name, each in found.items()}, open_from, open_keywords
    )
    filled = {each.name for each in positional[:n_filled]}
    missing = (
        each.name
        for each in parameters
        if each.kind not in ("args", "kwargs")
        and each.default is None
        and each.name not in found
        and each.name not in filled
        and not bound.may_be_filled(parameters, each.name)
    )
    return Bound(
        bound.arguments, bound.by_parameter, open_from, open_keywords, tuple(left_over), tuple(missing)
    )
