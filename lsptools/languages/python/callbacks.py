"""What a builtin hands to the function it is given: `sorted(rows, key=lambda row: …)` hands over elements of `rows`.

Only calls whose meaning is fixed by the library are known here; whatever else takes a lambda is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsptools.languages.python.classes import last_name
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.values import UNKNOWN, Types, union
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator

_KEYED = frozenset({"sorted", "min", "max", "sort", "nlargest", "nsmallest", "groupby"})
_MAPPED = frozenset({"map", "filter", "filterfalse", "takewhile", "dropwhile"})


def handed_to(evaluator: Evaluator, source: Source, function: Node, index: int) -> Types:
    """What the parameter at `index` of a lambda gets from the call in which the lambda stands."""
    above = function.parent
    keyword = above if above is not None and above.type == "keyword_argument" else None
    arguments = keyword.parent if keyword is not None else above
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    if call is None or call.type != "call" or arguments is None:
        return UNKNOWN
    callee = call.child_by_field_name("function")
    name = last_name(source, callee) if callee is not None else ""
    given = [child for child in arguments.named_children if child.type not in ("keyword_argument", "comment")]
    if keyword is not None:
        key = keyword.child_by_field_name("name")
        if key is None or source.text(key) != "key" or name not in _KEYED or index:
            return UNKNOWN
        receiver = callee.child_by_field_name("object") if callee is not None and name == "sort" else None
        several = name in ("min", "max") and len(given) > 1
        first = receiver or (
            given[1] if name.startswith("n") and len(given) > 1 else given[0] if given else None
        )
        if several:
            return union(evaluator.at(source, each) for each in given)
        return evaluator.iterated(evaluator.at(source, first)) if first is not None else UNKNOWN
    if name not in _MAPPED or not given or given[0].id != function.id:
        return UNKNOWN
    iterable = given[index + 1] if index + 1 < len(given) else None
    return evaluator.iterated(evaluator.at(source, iterable)) if iterable is not None else UNKNOWN
