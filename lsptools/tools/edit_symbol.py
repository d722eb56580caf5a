"""`edit-symbol`: a whole definition replaced, or one put beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.definition import PLACE
from lsptools.tools.writing import FileEditing


@dataclass(frozen=True, slots=True)
class Params(FileEditing):
    place: str = arg(PLACE, positional=True, kind="place")
    text: str = arg(
        "the new definition, indented in any way; on the command line a FILE with it, or - for standard input",
        positional=True,
        kind="content",
        metavar="FILE",
    )
    action: Literal["replace", "before", "after"] = arg(
        "replace the definition with its decorators, or put the new one before or after it",
        default="replace",
        group="Text",
    )


def run(context: Context, params: Params) -> ChangeAnswer:
    """Find the definition, plan and do it."""
    from lsptools.edit.symbol import plan_symbol
    from lsptools.search.places import locate
    from lsptools.search.positions import position

    snapshot = context.snapshot
    at = locate(snapshot, params.place)
    if at.is_module:
        raise BadRequest(
            "not_a_symbol",
            f"`{params.place}` is a whole module",
            hint="name a definition in it, or use `write` for the whole file",
        )
    return change(
        context,
        [at.path],
        lambda: plan_symbol(
            snapshot,
            context.session,
            at.path,
            at.offset,
            params.action,
            params.text,
            is_name=position(snapshot, params.place) is None,
            expect=params.expect,
            allow_broken=params.allow_broken,
        ),
        params,
    )


TOOL = Tool(
    name="edit-symbol",
    summary="Replace a whole class, function or variable, or put a definition before or after it.",
    guide=(
        "Nothing has to be quoted: the symbol is named by its place. Its decorators are part of it; comments above it stay. "
        "The new text may be indented in any way and is moved to where it belongs, in the file's own steps of indentation, "
        "with as many empty lines around it as the file has elsewhere. A variable or an attribute (`self.x`) is its "
        "assignment, if that assigns to nothing else; a parameter, an import, the target of a loop, or a place where the name "
        "is only used is `not_a_symbol`. A name with several definitions is `ambiguous`, and the places are told: FILE:LINE:COL "
        "means one of them. Overloads with what implements them, and the functions of a property, are one thing to put "
        "something before or after. The file must have been read, and be what was read. Python only."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("edit-symbol app/cart.py::Cart.total total.py --session work", "replace a method"),
        Example(
            "edit-symbol app.cart.Cart.total - --action after --expect 3f0c9a1b7d24",
            "put another one after it",
        ),
    ),
    found="done, or with --diff or --check: it would be",
    not_found="refused, or the file is not what was read, and nothing was written",
    session=True,
)
