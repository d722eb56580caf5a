"""What is to become of a function's parameters, as a caller writes it: checked, and applied to one list of parameters.

Names in `remove`, `reorder` and `arguments` are those after `rename`. `self` and `cls` are not named: they stay.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.languages.python.arguments import positional_parameters
from lsptools.languages.python.classes import Function, Parameter, function_of
from lsptools.languages.python.scopes import Source
from lsptools.refactor.separated import Element
from lsptools.syntax.tree import Node, parse
from lsptools.text.document import Document

_HINT = "write NAME, NAME=DEFAULT, NAME: TYPE = DEFAULT, or '*, NAME=DEFAULT' for one that is given by keyword only"


@dataclass(frozen=True, slots=True)
class Added:
    """A new parameter."""

    name: str
    annotation: str
    default: str
    """Its text; empty: it has none, and every call has to give it."""
    keyword_only: bool
    argument: str
    """What calls are to give; empty: nothing, the default serves."""

    def text(self, *, is_declaration: bool) -> str:
        """As it is written in the list; a declaration (a stub, an overload) says only that there is a default."""
        default = "..." if self.default and is_declaration else self.default
        if self.annotation:
            return f"{self.name}: {self.annotation}" + (f" = {default}" if default else "")
        return self.name + (f"={default}" if default else "")


@dataclass(frozen=True, slots=True)
class SignatureEdit:
    """Everything that happens to the parameters together."""

    added: tuple[Added, ...] = ()
    removed: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    """The positional parameters in their new order; empty: it stays."""

    @property
    def is_harmless(self) -> bool:
        """Does it only add what no call has to give, behind everything else?"""
        return (
            not self.removed
            and not self.order
            and all(each.default and not each.argument for each in self.added)
        )


def parse_edit(
    add: Sequence[str], remove: Sequence[str], order: str, arguments: Sequence[str]
) -> SignatureEdit:
    """The edit that these words mean. `BadRequest` (`invalid`) for words that mean none."""
    given = dict(_pair(each, "argument", "NAME=EXPRESSION") for each in arguments)
    added = [_added(spec, given) for spec in add]
    names = [each.name for each in added]
    for name in given:
        if name not in names:
            raise BadRequest(
                "invalid",
                f"an argument for `{name}`, which is not added",
                hint="--argument gives the value of a parameter that --add adds",
            )
    for expression in given.values():
        _check_expression(expression)
    wanted = tuple(each.strip() for each in order.split(",")) if order else ()
    if len(set(wanted)) < len(wanted) or len(set(names)) < len(names):
        raise BadRequest("invalid", "a name is there twice", hint="name each parameter once")
    return SignatureEdit(tuple(added), frozenset(remove), wanted)


def parse_renames(renames: Sequence[str]) -> list[tuple[str, str]]:
    """(old, new) of `old=new`."""
    return [_pair(each, "rename", "OLD=NEW") for each in renames]


def _pair(word: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.strip().isidentifier() or not value.strip():
        raise BadRequest("invalid", f"{word!r} is no {option}", hint=f"write --{option} {form}")
    return name.strip(), value.strip()


def _added(spec: str, arguments: dict[str, str]) -> Added:
    """The one parameter that a text is, as it would stand in a `def`."""
    source = Source(
        "parameter", Document.decode(f"def f({spec}\n): pass\n".encode("utf-8", "surrogateescape"))
    )
    root = source.tree.root_node
    function = root.named_children[0] if root.named_children else None
    if root.has_error or function is None or function.type != "function_definition" or "#" in spec:
        raise BadRequest("invalid", f"{spec!r} is no parameter", hint=_HINT)
    parameters = function_of(source, function).parameters
    if (
        len(parameters) != 1
        or parameters[0].kind not in ("either", "keyword")
        or len(root.named_children) != 1
    ):
        raise BadRequest("invalid", f"{spec!r} is not one plain parameter", hint=_HINT)
    parameter = parameters[0]
    if keyword.iskeyword(parameter.name):
        raise BadRequest("invalid", f"`{parameter.name}` is a keyword of Python", hint="choose another name")

    def text(node: Node | None) -> str:
        return source.text(node) if node is not None else ""

    return Added(
        parameter.name,
        text(parameter.annotation),
        text(parameter.default),
        parameter.kind == "keyword",
        arguments.get(parameter.name, ""),
    )


def expression_of(text: str) -> Node | None:
    """The one expression that a text is; None: it is none."""
    root = parse(f"({text}\n)".encode("utf-8", "surrogateescape")).root_node
    statement = root.named_children[0] if len(root.named_children) == 1 else None
    if root.has_error or statement is None or len(statement.named_children) != 1:
        return None
    inner = statement.named_children[0]
    return inner if inner.type == "parenthesized_expression" else None


def _check_expression(text: str) -> None:
    if expression_of(text) is None or "#" in text:
        raise BadRequest(
            "invalid", f"{text!r} is no expression", hint="put brackets around it where commas stand in it"
        )


# ---------------------------------------------------------------------------------------------------- one list


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a parameter list: a parameter, or a lone `*` or `/`."""

    name: str
    """`*` or `/` for a separator."""
    kind: str
    """As of `Parameter`; `separator`."""
    has_default: bool
    text: str
    origin: int | None


def entries_of(function: Function) -> list[tuple[Entry, Node]]:
    """The entries of a parameter list with their nodes, in order."""
    node = function.node.child_by_field_name("parameters")
    by_start: dict[int, Parameter] = {}
    for parameter in function.parameters:
        by_start[parameter.node.start_byte] = parameter
    found: list[tuple[Entry, Node]] = []
    for child in node.children if node is not None else ():
        if child.type in ("(", ")", ",", "comment"):
            continue
        text = function.source.bytes[child.start_byte : child.end_byte].decode("utf-8", "surrogateescape")
        inside = [start for start in by_start if child.start_byte <= start < child.end_byte]
        if child.type in ("positional_separator", "keyword_separator") or not inside:
            found.append((Entry(text, "separator", False, text, len(found)), child))
        else:
            parameter = by_start[inside[0]]
            has_default = parameter.default is not None
            found.append((Entry(parameter.name, parameter.kind, has_default, text, len(found)), child))
    return found


def n_bound(function: Function) -> int:
    """1 where the first parameter is the object or the class."""
    return (
        1
        if function.in_class and not function.is_static and positional_parameters(function.parameters)
        else 0
    )


def apply_edit(edit: SignatureEdit, function: Function) -> list[Entry]:
    """The entries of the function's list as they are to be.

    Raises `BadRequest` (`invalid`) where the order names other parameters than the function has, and where one without a
    default would stand behind one with it.
    """
    is_declaration = function.is_overload or function.source.is_stub
    entries = [entry for entry, _ in entries_of(function) if entry.name not in edit.removed]
    entries = _without_idle_separators(entries)
    for added in edit.added:
        text = added.text(is_declaration=is_declaration)
        kind = "keyword" if added.keyword_only else "either"
        _place(entries, Entry(added.name, kind, bool(added.default), text, None))
    if edit.order:
        entries = _ordered(entries, edit.order, n_bound(function))
    _check_defaults(entries)
    return entries


def elements(entries: Sequence[Entry]) -> list[Element]:
    """The same as elements of a list."""
    return [Element(entry.text if entry.origin is None else "", entry.origin) for entry in entries]


def _without_idle_separators(entries: list[Entry]) -> list[Entry]:
    """A lone `*` needs a keyword behind it, a `/` a parameter before it."""
    found = []
    for index, entry in enumerate(entries):
        if entry.kind == "separator":
            kinds = {each.kind for each in (entries[:index] if entry.text == "/" else entries[index:])}
            if not kinds & ({"positional"} if entry.text == "/" else {"keyword"}):
                continue
        found.append(entry)
    return found


def _place(entries: list[Entry], new: Entry) -> None:
    """Put a new parameter where it belongs: behind the others of its kind, before those with defaults if it has none."""
    if new.kind == "keyword":
        at = next((i for i, each in enumerate(entries) if each.kind == "kwargs"), len(entries))
        opened = any(
            each.kind == "args" or (each.kind == "separator" and each.text == "*") for each in entries
        )
        if not opened:
            entries.insert(at, Entry("*", "separator", False, "*", None))
            at += 1
        entries.insert(at, new)
        return
    at = 0
    for index, entry in enumerate(entries):
        is_positional = entry.kind in ("positional", "either") or entry.text == "/"
        if is_positional and (new.has_default or not entry.has_default):
            at = index + 1
    entries.insert(at, new)


def _ordered(entries: list[Entry], order: Sequence[str], n_first: int) -> list[Entry]:
    places = [i for i, each in enumerate(entries) if each.kind in ("positional", "either")][n_first:]
    by_name = {entries[i].name: entries[i] for i in places}
    if sorted(by_name) != sorted(order):
        raise BadRequest(
            "invalid",
            f"the order `{','.join(order)}` does not name the positional parameters, which are `{','.join(by_name)}`",
            hint="name each of them once, those that are added, too, and not `self`",
        )
    found = list(entries)
    for place, name in zip(places, order, strict=True):
        if entries[place].kind != by_name[name].kind:
            raise BadRequest(
                "invalid",
                f"`{name}` would move to the other side of `/`",
                hint="calls that give it by keyword, or by its place, would fail",
            )
        found[place] = by_name[name]
    return found


def _check_defaults(entries: Sequence[Entry]) -> None:
    defaulted = ""
    for entry in entries:
        if entry.kind in ("positional", "either"):
            if entry.has_default:
                defaulted = entry.name
            elif defaulted:
                raise BadRequest(
                    "invalid",
                    f"`{entry.name}` has no default and would stand behind `{defaulted}`, which has one",
                    hint="choose another order, or give it a default",
                )
