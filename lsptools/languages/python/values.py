"""What an expression may be: the few kinds of value that decide what stands behind a dot or takes a keyword."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsptools.languages.python.classes import Class, Function
from lsptools.languages.python.modules import Module


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module or package."""

    module: Module


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class itself."""

    cls: Class


@dataclass(frozen=True, slots=True)
class InstanceValue:
    """An instance of a class or of a subclass of it."""

    cls: Class


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function; `bound` if its first parameter is already filled (a method taken from an instance)."""

    function: Function
    bound: bool = False
    owner: Class | None = None
    """The class through which a method was reached."""


@dataclass(frozen=True, slots=True)
class SuperValue:
    """`super()`: what follows `cls` in the resolution order of `start`."""

    cls: Class


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something known that the workspace does not define: an instance of a builtin, perhaps with element types."""

    name: str
    elements: tuple[Types, ...] = ()


NOT_FOUND = "import"
"""The name of what comes from a module that was not found."""


@dataclass(frozen=True, slots=True)
class ForeignClass:
    """A builtin class or function, by name."""

    name: str


Value = ModuleValue | ClassValue | InstanceValue | FunctionValue | SuperValue | Foreign | ForeignClass


@dataclass(frozen=True, slots=True)
class Types:
    """What an expression may be; `complete` if it can be nothing else."""

    values: tuple[Value, ...]
    complete: bool

    def __or__(self, other: Types) -> Types:
        return union((self, other))


UNKNOWN = Types((), False)
NOTHING = Types((), True)


def just(*values: Value) -> Types:
    """Exactly these."""
    return Types(values, True)


def union(types: Iterable[Types]) -> Types:
    """One of several; complete if all of them are."""
    values: dict[Value, None] = {}
    complete = True
    for each in types:
        values.update(dict.fromkeys(each.values))
        complete = complete and each.complete
    return Types(tuple(values), complete)


def instances(types: Types) -> Types:
    """Instances of the classes among the values; a tuple of classes counts as each of them."""
    found: list[Types] = []
    for value in types.values:
        if isinstance(value, ClassValue):
            found.append(just(InstanceValue(value.cls)))
        elif isinstance(value, ForeignClass):
            found.append(just(Foreign(value.name)))
        elif isinstance(value, Foreign) and value.name == "tuple":
            found.extend(instances(each) for each in value.elements)
        else:
            found.append(UNKNOWN)
    return union(found) if types.complete and found else union([*found, UNKNOWN])
