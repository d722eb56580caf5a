"""Names that a base class reads, or forbids, in the classes below it: named tuples, enums, structures of `ctypes`.

Nothing in the workspace says so, for these bases look at the class body themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsptools.languages.python import closure
from lsptools.languages.python.classes import Class, last_name
from lsptools.languages.python.modules import literal_string
from lsptools.languages.python.records import Record
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.roles import Role

_STRUCTURES = frozenset(
    f"{order}{kind}" for order in ("", "BigEndian", "LittleEndian") for kind in ("Structure", "Union")
)
_CTYPES = frozenset({*_STRUCTURES, "Array", "_SimpleCData", "_Pointer", "_CFuncPtr", "_CData"})
_READ_BY_CTYPES = frozenset(
    {"_fields_", "_pack_", "_anonymous_", "_align_", "_layout_", "_swappedbytes_", "_type_", "_length_"}
    | {"_argtypes_", "_restype_", "_flags_", "_b_base_", "_b_needsfree_", "_objects"}
)
_READ_BY_ENUM = frozenset(
    {
        "_ignore_",
        "_order_",
        "_missing_",
        "_generate_next_value_",
        "_name_",
        "_value_",
        "_numeric_repr_",
        "_boundary_",
    }
    | {"_add_alias_", "_add_value_alias_", "__order__"}
)
_OF_NAMED_TUPLE = frozenset(
    {"count", "index", "_fields", "_field_defaults", "_asdict", "_make", "_replace", "_source"}
)
_OF_ENUM = frozenset({"name", "value", "mro"})


def reserved(finder: Finder, account: Account, new: str) -> Iterator[tuple[str, str, Class]]:
    """(kind, reason, class) for each class of the family whose base has its own idea of the old or of the new name."""
    old = account.target.name
    for root in account.family:
        cls = closure.class_at(finder.project, root)
        if cls is None:
            continue
        says = _old_name(finder, cls, old)
        if says:
            yield "library_symbol", says, cls
        says = _new_name(finder, cls, old, new)
        if says:
            yield "name_clash", says, cls


def _old_name(finder: Finder, cls: Class, old: str) -> str:
    if old in _READ_BY_ENUM and finder.evaluator.is_enum(cls):
        return f"the enum is made from `{old}`"
    if old in _READ_BY_CTYPES and _bases(finder, cls) & _CTYPES:
        return f"`ctypes` reads `{old}` under this name"
    return ""


def _new_name(finder: Finder, cls: Class, old: str, new: str) -> str:
    if _is_named_tuple(finder, cls):
        if new in _OF_NAMED_TUPLE:
            return f"`{new}` is what a named tuple has of its own"
        if new.startswith("_") and _is_field(finder, cls, old):
            return "a field of a named tuple may not begin with an underscore"
    if finder.evaluator.is_enum(cls):
        if new in _OF_ENUM or (len(new) > 2 and new.startswith("_") and new.endswith("_")):
            return f"`{new}` is reserved in an enum"
        if new.startswith("__") and _is_field(finder, cls, old):
            return "a private name is no member of an enum"
    bases = _bases(finder, cls)
    if bases & _CTYPES:
        if new in _READ_BY_CTYPES:
            return f"`ctypes` reads `{new}`"
        if new in _structure_fields(cls):
            return f"`_fields_` lists `{new}`"
    return ""


def _bases(finder: Finder, cls: Class) -> frozenset[str]:
    """The last names of all base classes, above it, too."""
    return frozenset(
        last_name(each.source, node)
        for each in finder.evaluator.order(cls)
        if not isinstance(each, Record)
        for node in each.base_nodes
    )


def _is_named_tuple(finder: Finder, cls: Class) -> bool:
    if isinstance(cls, Record):
        return cls.maker in ("namedtuple", "NamedTuple")
    if any(
        isinstance(each, Record) and each.maker in ("namedtuple", "NamedTuple")
        for each in finder.evaluator.order(cls)
    ):
        return True
    return "NamedTuple" in _bases(finder, cls)


def _is_field(finder: Finder, cls: Class, name: str) -> bool:
    if isinstance(cls, Record):
        return True
    own = [site for site in finder.evaluator.members(cls, name) if site.scope.kind == "class"]
    return any(site.role in (Role.ANNOTATE, Role.ASSIGN) for site in own)


def _structure_fields(cls: Class) -> frozenset[str]:
    """The names in `_fields_ = [("x", c_int), …]`."""
    found: set[str] = set()
    for site in cls.body_sites("_fields_") if not isinstance(cls, Record) else ():
        statement = site.ancestor("assignment", "augmented_assignment")
        value = statement.child_by_field_name("right") if statement is not None else None
        for each in value.named_children if value is not None else ():
            first = each.named_children[0] if each.type == "tuple" and each.named_children else None
            text = literal_string(cls.source, first) if first is not None else None
            found.update([text] if text else [])
    return frozenset(found)
