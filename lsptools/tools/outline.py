"""`outline`: what one file defines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg

if TYPE_CHECKING:
    from lsptools.syntax.outline import Item


@dataclass(frozen=True, slots=True)
class Params:
    path: str = arg("the Python file", positional=True, kind="path", metavar="FILE")


@dataclass(frozen=True, slots=True)
class OutlineAnswer:
    """The definitions of a file, nested."""

    path: str
    items: tuple[Item, ...]
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.items)

    def to_json(self) -> dict[str, object]:
        return {"path": self.path, "items": [self._item_json(item, "") for item in self.items]}

    def _item_json(self, item: Item, inside: str) -> dict[str, object]:
        qualified = f"{inside}.{item.name}" if inside else item.name
        lines = self.positions.lines(self.path)
        return {
            **self.positions.located(self.path, item.name_span),
            "name": item.name,
            "kind": item.kind,
            "qualified": qualified,
            "signature": item.signature,
            "first_line": lines.line_of(item.span.start) + 1,
            "last_line": lines.line_of(item.span.end) + 1,
            "children": [self._item_json(child, qualified) for child in item.children],
        }


def run(context: Context, params: Params) -> OutlineAnswer:
    """Parse the file."""
    from lsptools.syntax.outline import outline

    path = context.snapshot.root.relative(params.path)
    return OutlineAnswer(path, outline(context.snapshot.document(path)), context.positions)


TOOL = Tool(
    name="outline",
    summary="Show the classes, functions, methods, variables and type aliases of a file, nested.",
    guide="Works on broken files as far as they can be parsed. `FILE::Qualified.name` is then a place for `refs` and `rename`.",
    params=Params,
    run=run,
    writes=False,
    examples=(Example("outline app/models.py", "what is in this file, with lines and signatures"),),
    found="the file defines something",
    not_found="it defines nothing",
)
