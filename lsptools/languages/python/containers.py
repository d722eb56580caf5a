"""What builtin containers and functions give back, as far as their element types are known.

Only facts that hold for every program: the element of a list, the values of a dictionary, the result of `sorted`.
Whatever is not in these tables is unknown, never guessed.
"""

from __future__ import annotations

import builtins

from lsptools.languages.python.values import NOTHING, UNKNOWN, Foreign, ForeignClass, Types, just, union

SEQUENCES = frozenset(
    {
        "list",
        "set",
        "frozenset",
        "deque",
        "Sequence",
        "MutableSequence",
        "Iterable",
        "Iterator",
        "Collection",
        "Container",
        "Set",
        "AbstractSet",
        "MutableSet",
        "Generator",
        "AsyncGenerator",
        "AsyncIterator",
        "AsyncIterable",
        "KeysView",
        "ValuesView",
        "Reversible",
        "tuple*",
    }
)
MAPPINGS = frozenset(
    {"dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "ChainMap", "MappingProxyType"}
)
_SCALARS = frozenset(
    {
        "str",
        "bytes",
        "bytearray",
        "int",
        "float",
        "complex",
        "bool",
        "None",
        "builtin",
        "range",
        "slice",
        "file",
        "ellipsis",
    }
)
_COPIES = frozenset({"list", "set", "frozenset", "tuple", "sorted", "reversed", "iter", "deque", "filter"})
_COPIED_AS = {
    "sorted": "list",
    "tuple": "list",
    "reversed": "Iterator",
    "iter": "Iterator",
    "filter": "Iterator",
}
_NOT_FOLLOWED = frozenset(
    {"getattr", "eval", "exec", "vars", "__import__", "sum", "map", "globals", "locals"}
)
_SCALAR_RESULTS = frozenset(
    name for name, value in vars(builtins).items() if callable(value) and not isinstance(value, type)
) - {*_COPIES, *_NOT_FOLLOWED, "next", "max", "min", "anext", "aiter"}


def item_of(value: Foreign) -> Types:
    """`value[…]`."""
    if value.name in MAPPINGS:
        return value.elements[1] if len(value.elements) > 1 else UNKNOWN
    if value.name == "tuple":
        return union(value.elements) if value.elements else UNKNOWN
    if value.name in SEQUENCES:
        return value.elements[0] if value.elements else UNKNOWN
    return just(Foreign("builtin")) if value.name in _SCALARS else UNKNOWN


def iteration_of(types: Types) -> Types:
    """What a loop over a builtin gives."""
    found = []
    for value in types.values:
        if not isinstance(value, Foreign):
            found.append(UNKNOWN)
        elif value.name == "tuple":
            found.append(union(value.elements) if value.elements else NOTHING)
        elif value.name in SEQUENCES or value.name in MAPPINGS:
            found.append(value.elements[0] if value.elements else UNKNOWN)
        else:
            found.append(just(Foreign("builtin")) if value.name in _SCALARS else UNKNOWN)
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def element_at(types: Types, index: int, n: int) -> Types:
    """The element at `index` when a value is unpacked into `n` names."""
    found = []
    for value in types.values:
        if isinstance(value, Foreign) and value.name == "tuple":
            found.append(value.elements[index] if len(value.elements) == n else UNKNOWN)
        else:
            found.append(iteration_of(just(value)))
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def elements_of(types: Types, names: tuple[str, ...], index: int) -> Types:
    """The element type at `index` of the values with one of these names; anything else is unknown."""
    found = []
    for value in types.values:
        if isinstance(value, Foreign) and value.name in names and value.elements:
            found.append(value.elements[index])
        else:
            found.append(UNKNOWN)
    return union(found) if types.complete and found else union([*found, UNKNOWN])


def foreign_attribute(value: Foreign, name: str) -> Types:
    """`value.name`: a method that remembers its receiver, in the form `dict.get`."""
    if value.name in _SCALARS:
        return just(Foreign("builtin"))
    if value.name in MAPPINGS or value.name in SEQUENCES or value.name == "tuple":
        kind = "dict" if value.name in MAPPINGS else "list"
        return just(Foreign(f"{kind}.{name}", value.elements))
    return UNKNOWN


def foreign_result(value: Foreign) -> Types:
    """What calling a builtin's method gives."""
    if value.name == "Callable":
        return value.elements[-1] if value.elements else UNKNOWN
    kind, _, method = value.name.partition(".")
    if not method:
        return just(Foreign("builtin")) if value.name in _SCALARS else UNKNOWN
    if kind == "dict" and len(value.elements) == 2:
        key, element = value.elements
        results = {
            "get": element | just(Foreign("None")),
            "pop": element,
            "setdefault": element,
            "values": just(Foreign("Iterable", (element,))),
            "keys": just(Foreign("Iterable", (key,))),
            "items": just(Foreign("Iterable", (just(Foreign("tuple", (key, element))),))),
            "popitem": just(Foreign("tuple", (key, element))),
            "copy": just(Foreign("dict", value.elements)),
        }
        return results.get(method, UNKNOWN)
    if kind == "list" and value.elements:
        if method in ("pop", "popleft"):
            return value.elements[0]
        if method in ("copy", "union", "difference", "intersection"):
            return just(Foreign("list", value.elements[:1]))
    return UNKNOWN


def foreign_call(value: ForeignClass, arguments: list[Types]) -> Types:
    """What calling a builtin function or class gives."""
    name = value.name
    if name in _COPIES:
        source = arguments[-1] if name == "filter" and arguments else arguments[0] if arguments else UNKNOWN
        return just(Foreign(_COPIED_AS.get(name, name), (iteration_of(source),)))
    if name in ("next", "max", "min", "anext"):
        if name in ("max", "min") and len(arguments) > 1:
            return union(arguments)
        return iteration_of(arguments[0]) if arguments else UNKNOWN
    if name == "enumerate" and arguments:
        pair = just(Foreign("tuple", (just(Foreign("int")), iteration_of(arguments[0]))))
        return just(Foreign("Iterable", (pair,)))
    if name == "zip":
        return just(Foreign("Iterable", (just(Foreign("tuple", tuple(map(iteration_of, arguments)))),)))
    if name == "dict":
        return just(Foreign("dict"))
    if name in _SCALAR_RESULTS:
        return just(Foreign("file" if name == "open" else "builtin"))
    if isinstance(getattr(builtins, name, None), type):
        return just(Foreign(name))
    return UNKNOWN
