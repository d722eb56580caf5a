"""Grammars of further languages, as far as they are installed: for saying what an edit broke, not for meaning.

Each is a package of its own (`tree-sitter-json`, …), which is imported when a file of its language is checked and never
installed by us. A language without a grammar has no tree; nothing fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from tree_sitter import Language, Node, Parser, Tree

_PACKAGES = {
    ".py": ("tree_sitter_python", "language"),
    ".pyi": ("tree_sitter_python", "language"),
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".h": ("tree_sitter_c", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
    ".cs": ("tree_sitter_c_sharp", "language"),
    ".rb": ("tree_sitter_ruby", "language"),
    ".php": ("tree_sitter_php", "language_php"),
    ".sh": ("tree_sitter_bash", "language"),
    ".css": ("tree_sitter_css", "language"),
    ".html": ("tree_sitter_html", "language"),
    ".json": ("tree_sitter_json", "language"),
    ".toml": ("tree_sitter_toml", "language"),
    ".yaml": ("tree_sitter_yaml", "language"),
    ".yml": ("tree_sitter_yaml", "language"),
}


def tree_of(suffix: str, source: bytes) -> Tree | None:
    """The tree of a file with this suffix (`.json`), given as UTF-8; `None` without a grammar."""
    parser = _parser(suffix.lower())
    return None if parser is None else parser.parse(source)


def errors(tree: Tree) -> Iterator[Node]:
    """The error and missing nodes, outermost first, in the order of the source."""
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            waiting += reversed(node.children)


@cache
def _parser(suffix: str) -> Parser | None:
    if suffix not in _PACKAGES:
        return None
    package, function = _PACKAGES[suffix]
    try:
        module = import_module(package)
    except ImportError:
        return None
    return Parser(Language(getattr(module, function)()))
