"""Answers of the tools about calls and classes, on a workspace in memory: small, and with something in every member."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lsptools.tools import registry
from lsptools.tools.arguments import params_from_json
from lsptools.tools.base import Answer, Context
from lsptools.workspace.operations import MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

# `count` is an attribute of builtin types, so that nobody goes through all installed packages to see who else has it.
SHAPES = """\
from nowhere import Unknown


class Shape(Unknown):
    def count(self, unit=0, scale=1):
        return scale


class Square(Shape):
    def count(self, unit=0, scale=2):
        return scale


class Tile(Square):
    pass


def total(shape: Shape):
    return shape.count("m", scale=3) + len("x")
"""

CALLS = {
    "callers": {"place": "shapes.Shape.count"},
    "callees": {"place": "shapes.total"},
    "implementations": {"place": "shapes.Shape.count"},
    "hierarchy": {"place": "shapes.Square"},
    "unused": {},
    "signature": {
        "place": "shapes.Shape.count",
        "reorder": "scale,unit",
        "diff": True,
        "possible": "include",
    },
    "refs": {"place": "shapes.py:5:21", "calls": True},
}


@cache
def graph_answers() -> dict[str, Answer]:
    """One answer of each of these tools; that of `refs` with calls."""
    files = {"/shop/shapes.py": SHAPES.encode()}
    found: dict[str, Answer] = {}
    for name, arguments in CALLS.items():
        tool = registry.tool(name)
        snapshot = Snapshot(Root(Path("/shop")), MemoryOperations(files))
        context = Context(snapshot, lambda: None)  # type: ignore[arg-type, return-value]  # not asked for
        found["refs with calls" if name == "refs" else name] = tool.run(
            context, params_from_json(tool, arguments)
        )
    return found
