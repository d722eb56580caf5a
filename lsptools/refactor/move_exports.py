"""`__all__` of the two modules: the name leaves one list and enters the other."""

from __future__ import annotations

from itertools import groupby

from lsptools.errors import Conflict
from lsptools.languages.python.scopes import Site, Source
from lsptools.refactor.edited_files import EditedFiles
from lsptools.refactor.move_users import listed_in_all
from lsptools.refactor.places import place
from lsptools.refactor.separated import Element, edits_of_list, edits_without
from lsptools.syntax.tree import Node

_LISTS = frozenset({"list", "tuple", "set"})


def move_export(old: Source, new: Source, name: str, edited: EditedFiles) -> list[Conflict]:
    """Take the name out of the old list and put it into the new one, if there is one. Conflicts: lists that are computed."""
    listed = list(listed_in_all(old, name))
    if not listed:
        return []
    wrong = []
    for display, sites in groupby(listed, key=_display_of):
        own = list(sites)
        wrong += [] if _take_out(old, display, own, edited) else own
    if any(listed_in_all(new, name)):
        return _computed(old, wrong, name)
    lists = [node for node in (_value(statement) for statement in _assigned(new)) if node is not None]
    if lists and lists[-1].type in _LISTS:
        _put_in(new, lists[-1], name, edited)
    return _computed(old, wrong, name)


def _computed(source: Source, wrong: list[Site], name: str) -> list[Conflict]:
    says = f"`{name}` cannot be taken out of `__all__`"
    return [Conflict("undecided", says, (place(source, site.start, "is listed here"),)) for site in wrong]


def _display_of(site: Site) -> Node:
    """The list, or whatever else it is, that a string stands in."""
    index = next((i for i, (node, _) in enumerate(site.path) if node.type == "string"), 0)
    return site.path[index - 1][0]


def _take_out(source: Source, display: Node, sites: list[Site], edited: EditedFiles) -> bool:
    if display.type not in _LISTS:
        return False
    items = [each for each in display.named_children if each.type != "comment"]
    gone = [
        i for i, each in enumerate(items) if any(each.start_byte <= s.start < each.end_byte for s in sites)
    ]
    kept = [each for i, each in enumerate(items) if i not in gone]
    if kept:
        spans = [source.span(each.start_byte, each.end_byte) for each in items]
        edited.add(source, edits_without(source.document.text, spans, gone))
        if display.type == "tuple" and len(kept) == 1 and not _has_last_comma(display, items):
            edited.put_in(source, kept[0].end_byte, ",")
    elif display.type == "list":
        edited.replace(source, display.start_byte, display.end_byte, "[]")
    else:
        return False
    return True


def _has_last_comma(display: Node, items: list[Node]) -> bool:
    return any(each.type == "," and each.start_byte >= items[-1].end_byte for each in display.children)


def _assigned(source: Source) -> list[Node]:
    """The statements `__all__ = …` of a file."""
    found = []
    for statement in source.tree.root_node.named_children:
        first = statement.named_children[0] if statement.type == "expression_statement" else None
        left = first.child_by_field_name("left") if first is not None else None
        if (
            first is not None
            and first.type == "assignment"
            and left is not None
            and source.text(left) == "__all__"
        ):
            found.append(first)
    return found


def _value(assignment: Node) -> Node | None:
    return assignment.child_by_field_name("right")


def _put_in(source: Source, display: Node, name: str, edited: EditedFiles) -> None:
    """At the end of a list, in the manner of what stands there: quotes, a line of its own, a last comma."""
    items = [each for each in display.named_children if each.type != "comment"]
    if not items:
        text = f'["{name}"]' if display.type == "list" else f'("{name}",)'
        edited.replace(source, display.start_byte, display.end_byte, text)
        return
    quote = source.text(items[-1])[-1:]
    spans = [source.span(each.start_byte, each.end_byte) for each in items]
    new = [*(Element("", index) for index in range(len(items))), Element(f"{quote}{name}{quote}")]
    brackets = source.span(display.start_byte, display.end_byte)
    edited.add(source, edits_of_list(source.document.text, brackets, spans, new))
