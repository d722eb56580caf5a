"""Put a local variable's value where its name is read, and take its assignment away.

Two cases are known to change nothing:

- the value is *fixed* (a literal, or a local that is set once): it may be read anywhere behind the assignment, any number of times;
- the value is read once, by the very next statement, which evaluates it first (`evaluation`).

Comments stay: one behind the assignment gets a line of its own.
"""

from __future__ import annotations

from lsptools.errors import BadRequest, Refused
from lsptools.errors import Site as Place
from lsptools.languages.names import FilePosition
from lsptools.languages.python.candidates import word_at
from lsptools.languages.python.folding import folded
from lsptools.languages.python.modules import Project
from lsptools.languages.python.roles import BINDING, TEXT, Role
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.refactor.evaluation import LITERALS, evaluated_before, is_calm, is_fixed
from lsptools.refactor.places import line_end, line_start, next_line, place_of
from lsptools.refactor.selection import (
    ancestors_of,
    change_of,
    check_plain_locals,
    indent_of,
    nodes_in,
    source_of,
    statement_of,
    text_of,
)
from lsptools.syntax.tree import Node
from lsptools.workspace.change import Change

_ATOMS = frozenset(
    {
        *("identifier", "attribute", "subscript", "call", "string", "true", "false", "none", "ellipsis"),
        *("list", "tuple", "set", "dictionary", "parenthesized_expression", "list_comprehension"),
        *("set_comprehension", "dictionary_comprehension", "generator_expression", "float"),
    }
)
_ROOMY = frozenset({"argument_list", "parenthesized_expression", "expression_statement", "return_statement"})
"""Where an expression of any kind but a tuple without brackets can stand without brackets."""


def plan_inline_variable(project: Project, at: FilePosition) -> Change:
    """The change that inlines the variable at a place.

    Raises `BadRequest` (`not_a_symbol`) where no variable is, `Refused` (`undecided`, `name_capture`, `invalid`) with the place
    that stands against it.
    """
    source = source_of(project, at.path)
    site = _site_at(source, at)
    word, names = folded(source.text_of(site)), source.names(folded(source.text_of(site)))
    owner = names.scope_of(site.scope, site.spelling)
    if owner is None or owner.kind != "function":
        raise Refused(
            "undecided",
            f"`{word}` is no local variable of a function: it may be used from elsewhere",
            sites=(place_of(source, site.leaf, "is asked about"),),
        )
    mine = [
        each
        for each in source.sites(word)
        if each.role not in TEXT
        and names.scope_of(each.scope, each.spelling) is owner
        and (each.role in BINDING or each.role is Role.READ)
    ]
    assignment, value = _assignment(source, word, mine)
    if any(spelling == site.spelling for _, spelling in names.declared):
        raise Refused("undecided", f"`{word}` is shared with another function")
    check_plain_locals(source, owner)
    reads = [each for each in mine if each.role is Role.READ]
    _check_reads(source, word, assignment, value, reads, owner)
    edits = [(read.start, read.end, _inlined(source, value, read)) for read in reads]
    return change_of(source, [_removal(source, assignment), *edits], f"inline variable {word}")


def _site_at(source: Source, at: FilePosition) -> Site:
    start, end = word_at(source.document.text, at.offset)
    word = folded(source.document.text[start:end])
    found = (
        [site for site in source.sites(word) if source.span(site.start, site.end).start == start]
        if word
        else []
    )
    if not found or not (found[0].role in BINDING or found[0].role is Role.READ):
        raise BadRequest("not_a_symbol", "there is no variable at this place")
    return found[0]


def _assignment(source: Source, word: str, mine: list[Site]) -> tuple[Node, Node]:
    """The statement that sets the variable, and the value; refused if there is more to it than `name = value`."""
    bindings = [site for site in mine if site.role in BINDING]
    if len(bindings) != 1 or bindings[0].role is not Role.ASSIGN:
        raise Refused(
            "undecided",
            f"`{word}` is not set once, by an assignment",
            sites=tuple(place_of(source, site.leaf, "sets it") for site in bindings),
        )
    leaf = bindings[0].leaf
    above = leaf.parent
    value = above.child_by_field_name("right") if above is not None and above.type == "assignment" else None
    statement = statement_of(leaf)
    is_plain = (
        above is not None
        and above.child_by_field_name("left") == leaf
        and above.child_by_field_name("type") is None
        and statement.type == "expression_statement"
        and statement.named_children == [above]
    )
    if value is None or not is_plain or value.type in ("assignment", "yield"):
        raise Refused(
            "undecided",
            f"`{word}` is not set by a plain assignment",
            sites=(place_of(source, leaf, "sets it"),),
        )
    return statement, value


# ---------------------------------------------------------------------------------------------------- checks


def _check_reads(
    source: Source, word: str, assignment: Node, value: Node, reads: list[Site], owner: Scope
) -> None:
    block = assignment.parent
    if not reads:
        raise Refused("undecided", f"`{word}` is never read, and its value may be needed for what it does")
    for read in reads:
        if block is None or not assignment.end_byte <= read.start < block.end_byte:
            raise _undecided(source, read, f"`{word}` may be read before it is set, or without")
        _check_capture(source, value, read)
    makes_object = any(each.type == "list" for each in nodes_in(value))
    if is_fixed(source, value) and not makes_object:
        _check_unchanged(source, value, assignment, reads, owner)
        return
    read, following = reads[0], assignment.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    if len(reads) > 1:
        raise _undecided(
            source, reads[1], f"`{word}` is read more than once, and its value may be another then"
        )
    if following is None or not following.start_byte <= read.start < following.end_byte:
        raise _undecided(source, read, f"`{word}` is read later, when its value may be another")
    before = list(evaluated_before(source, read.leaf))
    kept = (is_calm(value) and all(is_calm(node) for node, _ in before)) or all(
        called or is_fixed(source, node) for node, called in before
    )
    if not kept or (before and any(each.type == "named_expression" for each in nodes_in(value))):
        raise _undecided(source, read, "something is evaluated before it there, and the order may matter")


def _check_capture(source: Source, value: Node, read: Site) -> None:
    """Every name in the value has to mean the same where it is read."""
    for name in (each for each in nodes_in(value) if each.type == "identifier"):
        word = source.text(name)
        site = source.site_at(name.start_byte, name.end_byte, word)
        if site.role is not Role.READ or value.start_byte <= site.scope.start:
            continue
        names = source.names(word)
        there = names.scope_of(read.scope, site.spelling)
        if there is not names.scope_of(site.scope, site.spelling):
            raise Refused(
                "name_capture",
                f"`{word}` means something else there",
                sites=(place_of(source, read.leaf, "is read here"), place_of(source, name, "is meant")),
            )


def _check_unchanged(source: Source, value: Node, assignment: Node, reads: list[Site], owner: Scope) -> None:
    """A local that is the value: nothing may bind it anew before the last read."""
    names = [each for each in nodes_in(value) if each.type == "identifier"]
    for name in names:
        word = source.text(name)
        known = source.names(word)
        site = source.site_at(name.start_byte, name.end_byte, word)
        bindings = known.bindings(owner, site.spelling)
        if len(bindings) != 1:
            raise _undecided(source, bindings[-1], f"`{word}` is set more than once")
        if assignment.end_byte <= bindings[0].start <= reads[-1].end:
            raise _undecided(source, bindings[0], f"`{word}` is set anew")
        later = next((read for read in reads if read.scope is not site.scope), None)
        if later is not None:
            raise _undecided(source, later, f"`{word}` is read by another function then")


def _undecided(source: Source, site: Site, says: str) -> Refused:
    sites: tuple[Place, ...] = (place_of(source, site.leaf, says),)
    return Refused("undecided", says, sites=sites)


# ---------------------------------------------------------------------------------------------------- the text


def _inlined(source: Source, value: Node, read: Site) -> str:
    text, above = text_of(source, value), read.leaf.parent
    in_string = any(each.type == "interpolation" for each in ancestors_of(read.leaf))
    if in_string and (value.type not in ("identifier", "attribute", *LITERALS) or _shows_text(read.leaf)):
        raise _undecided(source, read, "it is read inside of a string, where its value may not be written")
    kind = above.type if above is not None else ""
    is_right = kind == "assignment" and above is not None and above.child_by_field_name("right") == read.leaf
    spreads = "\n" in text or "\r" in text
    if value.type in _ATOMS and not (spreads and value.type in ("attribute", "subscript", "call", "string")):
        return text
    if value.type == "integer" and kind != "attribute":
        return text
    roomy = kind in _ROOMY or is_right
    bare = value.type in ("expression_list", "named_expression", "generator_expression") or spreads
    return text if roomy and not bare else f"({text})"


def _shows_text(leaf: Node) -> bool:
    return any(
        each.type == "interpolation" and any(child.type == "=" for child in each.children)
        for each in ancestors_of(leaf)
    )


def _removal(source: Source, statement: Node) -> tuple[int, int, str]:
    """The lines of the assignment; a comment behind it stays."""
    indent_of(source, statement)
    end = line_end(source, statement.end_byte)
    rest = source.bytes[statement.end_byte : end]
    comment = rest.find(b"#")
    if rest.strip() and not rest.lstrip().startswith(b"#"):
        raise Refused("invalid", "something else stands behind the assignment on its line")
    if any(each.type == "comment" for each in nodes_in(statement)):
        raise Refused("undecided", "a comment inside of the assignment would go")
    if comment >= 0:
        return statement.start_byte, statement.end_byte + comment, ""
    return line_start(source, statement.start_byte), next_line(source, end), ""
