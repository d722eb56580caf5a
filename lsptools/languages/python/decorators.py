"""Decorators that are known by their names alone, the last part of what is written behind the `@`, and what is known of them.

Where it stops: a decorator of the workspace that has one of these names is taken to do the same.
"""

from __future__ import annotations

MARKS = frozenset({"staticmethod", "classmethod", "abstractmethod", "override", "final"})
"""A function stays what it is."""

_READ = frozenset({"property", "cached_property"})
_KEEPS = frozenset({"lru_cache", "cache"})
MANAGES = frozenset({"contextmanager", "asynccontextmanager"})
"""A generator becomes what `with` takes."""

_USUAL = MARKS | _READ | _KEEPS

PROPERTIES = _READ | {"abstractproperty", "classproperty", "hybrid_property"}
"""A method is read like an attribute."""

TRANSPARENT = _USUAL | {"abstractproperty", "callback"}
"""What comes of it is what the function returns."""

CALLED_AS_WRITTEN = (
    MARKS | _KEEPS | MANAGES | {"overload", "deprecated", "no_type_check", "wraps", "coroutine", "unique"}
)
"""The result is called as the function is."""

REGISTERS_NOTHING = (
    _USUAL
    | MANAGES
    | {"overload", "dataclass", "deprecated", "wraps", "total_ordering", "unique"}
    | {"runtime_checkable", "no_type_check"}
)
"""Nobody gets hold of the function or class but by its name."""

OF_THE_LIBRARY = (
    _USUAL
    | MANAGES
    | {"abstractproperty", "setter", "getter", "deleter", "overload", "wraps", "fixture", "parametrize"}
    | {"singledispatch", "total_ordering", "dataclass", "runtime_checkable", "unique"}
)
"""What it makes is known otherwise, or is the function or class for all that is asked of it."""
