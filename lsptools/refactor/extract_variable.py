"""Give an expression a name: `name = expression` right before its statement, the name in its place.

Only the selected occurrence is replaced. What is checked: that the expression is evaluated once and may be evaluated first
(`evaluation`), that the name is free in the whole file, and that no class gets an attribute by it.
"""

from __future__ import annotations

from lsptools.errors import Refused
from lsptools.languages.python.modules import Project
from lsptools.languages.python.scopes import Source
from lsptools.refactor.evaluation import check_evaluated_first
from lsptools.refactor.places import line_start, newline_at
from lsptools.refactor.selection import (
    change_of,
    check_free,
    check_plain_locals,
    expression_of,
    free_name,
    indent_of,
    selection_of,
    statement_of,
    text_of,
)
from lsptools.syntax.tree import Node
from lsptools.text.lines import Span
from lsptools.workspace.change import Change

_BRACKETED = frozenset(
    {
        *("list", "tuple", "set", "dictionary", "parenthesized_expression", "list_comprehension"),
        *("set_comprehension", "dictionary_comprehension", "generator_expression"),
    }
)


def plan_extract_variable(project: Project, path: str, span: Span, name: str | None = None) -> Change:
    """The change that names the selected expression; without a name, one is chosen.

    Raises `BadRequest` (`invalid`) where no expression is selected, `Refused` (`undecided`: the order of evaluation or what is
    evaluated could change; `name_clash`, `invalid`, `syntax`).
    """
    selection = selection_of(project, path, span)
    source, expression = selection.source, expression_of(selection)
    statement = statement_of(expression)
    _, scope = source.descend(statement.start_byte)
    if scope.kind == "class":
        raise Refused("undecided", "the class would get one more attribute", hint="extract it in a method")
    check_plain_locals(source, scope)
    check_evaluated_first(source, expression)
    indent = indent_of(source, statement)
    if name is None:
        name = free_name(source, ("_" if scope.kind == "module" else "") + _suggested(source, expression))
    else:
        check_free(source, name)
    label = f"extract variable {name}"
    if _is_whole(expression, statement):
        return change_of(source, [(expression.start_byte, expression.start_byte, f"{name} = ")], label)
    newline = newline_at(source, statement.end_byte)
    line = f"{indent}{name} = {as_value(source, expression)}{newline}"
    at = line_start(source, statement.start_byte)
    replaced = (expression.start_byte, expression.end_byte, between_words(source, expression, name))
    return change_of(source, [(at, at, line), replaced], label)


def _is_whole(expression: Node, statement: Node) -> bool:
    """Is the expression all of its statement? A string alone is a docstring, which a name would end."""
    if statement.type != "expression_statement" or statement.named_children != [expression]:
        return False
    if expression.type in ("string", "concatenated_string", "yield"):
        raise Refused("invalid", "the whole statement is selected")
    return True


def _suggested(source: Source, expression: Node) -> str:
    """The last name of what is read, `name` for `order.name` and for `order["name"]`; otherwise `value`."""
    if expression.type == "attribute":
        last = expression.child_by_field_name("attribute")
        word = source.text(last) if last is not None else ""
        return word.strip("_") or "value"
    if expression.type == "subscript":
        keys = expression.children_by_field_name("subscript")
        word = text_of(source, keys[0]).strip("\"'") if len(keys) == 1 and keys[0].type == "string" else ""
        return word if word.isidentifier() and word.isascii() else "value"
    return "value"


def as_value(source: Source, expression: Node) -> str:
    """The expression as it stands to the right of `=`: in brackets where its lines or its kind need them."""
    text = text_of(source, expression)
    spreads = ("\n" in text or "\r" in text) and expression.type not in _BRACKETED
    return f"({text})" if spreads or expression.type == "named_expression" else text


def between_words(source: Source, replaced: Node, text: str) -> str:
    """The text with blanks where it would grow together with the words around it (`return(a)`)."""
    before = source.bytes[replaced.start_byte - 1 : replaced.start_byte]
    after = source.bytes[replaced.end_byte : replaced.end_byte + 1]
    head = (
        " " if (before.isalnum() or before == b"_" or before >= b"\x80") and text[:1].isidentifier() else ""
    )
    tail = (
        " "
        if (after.isalnum() or after == b"_" or after >= b"\x80") and f"a{text[-1:]}".isidentifier()
        else ""
    )
    return head + text + tail
