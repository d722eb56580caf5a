"""Names that reach the run time in another form than they are written in: options of a command, values of an enum."""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.languages.python.classes import Class, Function, last_name
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.references import Finder
from lsptools.syntax.tree import Node

_STRING_ENUMS = frozenset({"StrEnum", "LowercaseStrEnum"})


def options_like(function: Function, name: str) -> Iterator[int]:
    """Where a decorator of the function has a string that is the parameter's name with dashes (`"--out-dir"`). Bytes."""
    if "_" not in name.strip("_") or function.statement.start_byte == function.node.start_byte:
        return
    wanted = name.replace("_", "-")
    for node in _strings(function.statement, function.node.start_byte):
        text = literal_string(function.source, node)
        if text is not None and wanted in (part.lstrip("-") for part in text.split("/")):
            yield node.start_byte


def _strings(node: Node, end: int) -> Iterator[Node]:
    for child in node.named_children:
        if child.start_byte >= end:
            return
        if child.type == "string":
            yield child
        else:
            yield from _strings(child, end)


def is_valued_by_name(finder: Finder, cls: Class, name: str) -> bool:
    """Is it a member of an enum of strings whose value is `auto()`?"""
    evaluator = finder.evaluator
    if not evaluator.is_enum(cls):
        return False
    order = evaluator.order(cls)
    bases = {last_name(each.source, node) for each in order for node in each.base_nodes}
    makes = any(
        each.own_function("_generate_next_value_") is not None for each in order if not each.source.external
    )
    if not bases & _STRING_ENUMS and not makes:
        return False
    for site in evaluator.members(cls, name):
        statement = site.ancestor("assignment")
        value = statement.child_by_field_name("right") if statement is not None else None
        if value is not None and value.type == "call" and last_name(cls.source, value) == "auto":
            return True
    return False
