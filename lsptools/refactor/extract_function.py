"""Make a function of what is selected: statements of a function, or an expression.

The function stands at the top of the module, right before what the selection is in. It takes the local names that the
selection reads and returns those that it sets and something else reads (`dataflow`).

What is refused: control flow that leaves the selection (`return` but at its end, `break` and `continue` of a loop around
it), `yield` and `await`, names that it declares or deletes, names that other functions share, and what means something
else outside of its class (`super()`, private names). Where it stops: code that looks at its own stack sees one frame more.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.errors import BadRequest, Refused
from lsptools.errors import Site as Place
from lsptools.languages.python.modules import Project
from lsptools.languages.python.scopes import Source
from lsptools.refactor.dataflow import Flow, Region, flow_of
from lsptools.refactor.extract_variable import between_words
from lsptools.refactor.places import line_end, line_start, newline_at, place_of
from lsptools.refactor.selection import (
    EXPRESSIONS,
    Selection,
    ancestors_of,
    change_of,
    check_free,
    check_plain_locals,
    expression_of,
    free_name,
    indent_of,
    nodes_in,
    selection_of,
    statements_of,
    text_between,
    text_of,
)
from lsptools.syntax.tree import Node
from lsptools.text.lines import Span, split_lines
from lsptools.workspace.change import Change

_OWN_FLOW = ("function_definition", "lambda", "class_definition")
_LOOPS = ("for_statement", "while_statement")
_SUSPENDS = ("await", "yield", "async")
_TARGETED = ("assignment", "augmented_assignment", "for_statement", "for_in_clause")
_NOT_EVALUATED = ("type", "case_pattern", "as_pattern_target", "delete_statement")


def plan_extract_function(project: Project, path: str, span: Span, name: str | None = None) -> Change:
    """The change that makes a function of the selection; without a name, one is chosen.

    Raises `BadRequest` (`invalid`) where neither an expression nor whole statements are selected, `Refused` (`undecided`,
    `name_clash`, `invalid`, `syntax`) with the place that stands against it.
    """
    selection = selection_of(project, path, span)
    source = selection.source
    if name is None:
        name = free_name(source, "_extracted")
    else:
        check_free(source, name)
    try:
        expression = expression_of(selection)
    except BadRequest:
        return _of_statements(selection, name)
    if expression.parent is not None and expression.parent.type == "expression_statement":
        return _of_statements(selection, name)
    return _of_expression(source, expression, name)


# ---------------------------------------------------------------------------------------------------- an expression


def _of_expression(source: Source, expression: Node, name: str) -> Change:
    region = _region(source, (expression,))
    check_plain_locals(source, region.scope)
    _check_expression(source, expression)
    _check_contents(region)
    inputs = ", ".join(flow_of(region).inputs)
    newline = newline_at(source, expression.start_byte)
    unit = _unit(source, expression)
    text = text_of(source, expression)
    body = f"({text})" if "\n" in text or "\r" in text else text
    top = _top_of(source, expression)
    function = f"def {name}({inputs}):{newline}{unit}return {body}{newline * 3}"
    call = between_words(source, expression, f"{name}({inputs})")
    return change_of(
        source,
        [(top, top, function), (expression.start_byte, expression.end_byte, call)],
        f"extract function {name}",
    )


def _check_expression(source: Source, expression: Node) -> None:
    """It is to be read, and to be evaluated where it stands."""
    node = expression
    for above in ancestors_of(expression):
        is_target = above.type in _TARGETED and above.child_by_field_name("left") == node
        if is_target or above.type in _NOT_EVALUATED:
            raise Refused(
                "invalid", "a target, a pattern or an annotation is no call", sites=_at(source, node)
            )
        if above.type == "interpolation" and any(child.type == "=" for child in above.children):
            raise Refused("undecided", "the text of the expression is shown", sites=_at(source, node))
        if above.type in ("block", "module"):
            return
        node = above


# ---------------------------------------------------------------------------------------------------- statements


def _of_statements(selection: Selection, name: str) -> Change:
    source = selection.source
    nodes = tuple(statements_of(selection))
    region = _region(source, nodes)
    if region.scope.kind != "function":
        raise Refused(
            "undecided",
            f"names set in a {region.scope.kind} can be used from elsewhere",
            hint="select an expression, or statements of a function",
            sites=_at(source, nodes[0]),
        )
    check_plain_locals(source, region.scope)
    _check_contents(region)
    _check_docstring(source, nodes[0])
    returns = _returns(region)
    return _change(region, flow_of(region, returns=returns), name, returns=returns)


def _check_docstring(source: Source, first: Node) -> None:
    is_string = first.type == "expression_statement" and first.named_children[0].type in (
        "string",
        "concatenated_string",
    )
    if is_string and first.prev_named_sibling is None:
        raise Refused("invalid", "the docstring would go", sites=_at(source, first))


def _change(region: Region, flow: Flow, name: str, *, returns: bool) -> Change:
    source, first = region.source, region.nodes[0]
    indent, unit = indent_of(source, first), _unit(source, first)
    end = line_end(source, region.end)
    rest = source.bytes[region.end : end].strip()
    if rest and not rest.startswith(b"#"):
        raise Refused(
            "invalid", "something else stands behind the selection on its line", sites=_at(source, first)
        )
    newline = newline_at(source, first.start_byte)
    start = line_start(source, first.start_byte)
    body = _moved(source, start, end, indent, unit)
    inputs, outputs = ", ".join(flow.inputs), ", ".join(flow.outputs)
    if outputs:
        body += f"{newline}{unit}return {outputs}"
    call = f"{name}({inputs})"
    if returns:
        call = f"return {call}"
    elif outputs:
        call = f"{outputs} = {call}"
    top = _top_of(source, first)
    function = f"def {name}({inputs}):{newline}{body}{newline * 3}"
    return change_of(
        source, [(top, top, function), (start, end, f"{indent}{call}")], f"extract function {name}"
    )


def _returns(region: Region) -> bool:
    """Does it end with a `return`? That may only be the last statement, so that all ways lead to it."""
    found = [node for node in _flow_nodes(region) if node.type == "return_statement"]
    if found and found != [region.nodes[-1]]:
        raise Refused("undecided", "it returns from the middle", sites=_at(region.source, found[0]))
    return bool(found)


def _flow_nodes(region: Region) -> Iterator[Node]:
    """The nodes that are executed as part of the region, not by functions that it defines."""
    waiting = list(reversed(region.nodes))
    while waiting:
        node = waiting.pop()
        yield node
        body = node.child_by_field_name("body") if node.type in _OWN_FLOW else None
        waiting.extend(child for child in reversed(node.children) if child != body)


def _moved(source: Source, start: int, end: int, indent: str, unit: str) -> str:
    """The lines with one level of indentation; what is inside of a string keeps every blank."""
    moved, at = [], start
    for line in split_lines(text_between(source, start, end)):
        in_string = _in_string(source, at) if at > start else False
        if not in_string and line.startswith(indent) and line.strip():
            moved.append(unit + line[len(indent) :])
        else:
            moved.append(line)
        at += len(line.encode("utf-8", "surrogatepass"))
    return "".join(moved)


def _in_string(source: Source, at: int) -> bool:
    node = source.tree.root_node.descendant_for_byte_range(at, at)
    while node is not None:
        if node.type == "string" and node.start_byte < at < node.end_byte:
            return True
        node = node.parent
    return False


# ---------------------------------------------------------------------------------------------------- both


def _region(source: Source, nodes: tuple[Node, ...]) -> Region:
    """The nodes, and the scope in which they stand: what begins with them opens scopes of its own."""
    _, scope = source.descend(nodes[0].start_byte)
    first = nodes[0]
    while scope.parent is not None and first.start_byte <= scope.start and scope.end <= first.end_byte:
        scope = scope.parent
    return Region(source, nodes, scope)


def _check_contents(region: Region) -> None:
    """Nothing in it may depend on being where it is."""
    source = region.source
    in_class = region.scope.enclosing_class() is not None
    for node in (each for top in region.nodes for each in nodes_in(top)):
        if node.type in ("global_statement", "nonlocal_statement"):
            raise Refused("undecided", "it declares whose a name is", sites=_at(source, node))
        if node.type == "wildcard_import":
            raise Refused("undecided", "it imports names that are not written", sites=_at(source, node))
        if in_class and node.type == "identifier":
            word = source.text(node)
            if word in ("super", "__class__") or (word.startswith("__") and not word.endswith("__")):
                raise Refused(
                    "undecided",
                    f"`{word}` means something else outside of its class",
                    sites=_at(source, node),
                )
    for node in _flow_nodes(region):
        if node.type in _SUSPENDS:
            raise Refused("undecided", "it waits or yields", sites=_at(source, node))
        if node.type in ("break_statement", "continue_statement") and not _loops_within(region, node):
            raise Refused("undecided", "it leaves or repeats a loop around it", sites=_at(source, node))
        if node.type == "named_expression" and region.nodes[0].type in EXPRESSIONS:
            raise Refused("undecided", "it sets a name", sites=_at(source, node))


def _loops_within(region: Region, node: Node) -> bool:
    """`break` in the `else` of a loop is the next loop's, which is rare enough to be refused with it."""
    loop = next((each for each in ancestors_of(node) if each.type in _LOOPS), None)
    if loop is None or not region.start <= loop.start_byte < region.end:
        return False
    body = loop.child_by_field_name("body")
    return body is not None and body.start_byte <= node.start_byte < body.end_byte


def _unit(source: Source, node: Node) -> str:
    """One level of indentation, as around the node."""
    start = line_start(source, node.start_byte)
    return "\t" if source.bytes[start : start + 1] == b"\t" else "    "


def _top_of(source: Source, node: Node) -> int:
    """Where the statement of the module begins that a node is in, with the comments right above it."""
    top = node
    for above in ancestors_of(node):
        if above.type != "module":
            top = above
    lines = source.document.lines
    line = lines.line_of(source.span(top.start_byte, top.start_byte).start)
    if line_start(source, top.start_byte) != top.start_byte:
        raise Refused("invalid", "something else stands before it on its line", sites=_at(source, top))
    above_it = line
    while above_it > 0 and lines.line_text(above_it - 1).startswith("#"):
        above_it -= 1
    if above_it >= 2:  # the first two lines may be comments that the system and Python read
        line = above_it
    return source.byte(lines.line_span(line).start)


def _at(source: Source, node: Node) -> tuple[Place, ...]:
    return (place_of(source, node, "stands against it"),)
