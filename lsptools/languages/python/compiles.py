"""What the Python that runs us takes: what parses, and what compiles, which is more (`from __future__` too late, `return` in a class)."""

from __future__ import annotations

from lsptools.syntax.quiet import quiet

ONLY_PARSE = 0x400 | 0x2000
"""`ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT`, without `ast`, which takes its time to load."""


def parses(text: str) -> bool:
    """Does Python read a file with this text?"""
    return _is_taken(text, ONLY_PARSE)


def compiles(text: str) -> bool:
    """Would a file with this text be loaded, as far as compiling goes? Nothing is executed."""
    return _is_taken(text, 0)


def _is_taken(text: str, flags: int) -> bool:
    try:
        with quiet():
            compile(text.lstrip("\ufeff"), "?", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
