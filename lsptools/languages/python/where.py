"""Where an expression stands, for who derives its values."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.languages.python.folding import folded
from lsptools.languages.python.scopes import NAMES, Scope, Source
from lsptools.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Where:
    """Where an expression stands: the file and scope for its names, and the bytes its nodes count in.

    For code inside a string (`"list[Node]"`) the bytes are the string's own and `at` is where the string stands.
    """

    source: Source
    scope: Scope
    text: bytes
    at: int | None = None

    def read(self, node: Node) -> str:
        text = self.text[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
        return folded(text) if node.type in NAMES else text

    def inside(self, at: int) -> Where:
        """For code in the string that stands at this byte."""
        return Where(self.source, self.scope, self.text, at)

    def position(self, node: Node) -> int:
        return node.start_byte if self.at is None else self.at
