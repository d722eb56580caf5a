"""Whether the Python that runs us compiles a text: more than that it parses (`from __future__` too late, `return` in a class)."""

from __future__ import annotations

import warnings


def compiles(text: str) -> bool:
    """Would a file with this text be loaded, as far as compiling goes? Nothing is executed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text.lstrip("\ufeff"), "?", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
