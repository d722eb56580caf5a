"""Classes among each other: bases, resolution order, who defines a member, on which instance a method writes.

What a base expression means is asked from the evaluator, which is this class too (`receivers.Evaluator`): the two need each
other, as a base may be any expression and the value of an attribute depends on the bases.
"""

from __future__ import annotations

import builtins
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    function_in,
    last_name,
    linearise,
    positional_arguments,
)
from lsptools.languages.python.records import MAKERS, Record
from lsptools.languages.python.roles import Role, access_of, receiver_before
from lsptools.languages.python.scopes import Scope, Site, Source, mangled
from lsptools.languages.python.values import (
    NOT_FOUND,
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    Types,
    just,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node


class Hierarchy(ABC):
    """The part of the evaluator that knows classes; caches per snapshot."""

    def __init__(self) -> None:
        self._orders: dict[Class, tuple[Class, ...]] = {}
        self._makers: dict[Class, tuple[Function, ...]] = {}
        self._bases: dict[Class, tuple[Types, ...]] = {}
        self._selves: dict[tuple[Scope, str], tuple[Class, bool] | None] = {}
        self._depth = 0

    @abstractmethod
    def at(self, source: Source, node: Node) -> Types:
        """The values of an expression of a file."""

    @abstractmethod
    def evaluate(self, where: Where, node: Node) -> Types:
        """The values of an expression whose names are looked up at `where`."""

    @abstractmethod
    def record(self, source: Source, call: Node) -> Record | None:
        """The class that a call of the library makes (`namedtuple(…)`), if it is one."""

    def bases(self, cls: Class) -> tuple[Types, ...]:
        """The values of each base expression."""
        known = self._bases.get(cls)
        if known is None:
            scope = cls.scope.parent or cls.source.module_scope
            where = Where(cls.source, scope, cls.source.bytes)
            self._bases[cls] = ()
            known = self._bases[cls] = tuple(self._base(where, node) for node in cls.base_nodes)
        return known

    def _base(self, where: Where, node: Node) -> Types:
        depth, self._depth = self._depth, 0
        try:
            if node.type == "call":
                return self._called_base(where, node)
            return self.evaluate(where, node)
        finally:
            self._depth = depth

    def _called_base(self, where: Where, node: Node) -> Types:
        """`with_metaclass(Meta, Base)` names its bases; `namedtuple(…)` makes a class of its own."""
        function = node.child_by_field_name("function")
        name = last_name(where.source, function) if function is not None else ""
        if name == "with_metaclass":
            return union(self.evaluate(where, each) for each in positional_arguments(node)[1:])
        record = self.record(where.source, node)
        return just(ClassValue(record)) if record is not None else UNKNOWN

    def base_classes(self, cls: Class) -> list[Class]:
        """The bases that are class statements, ours or a library's."""
        found = [
            value.cls for types in self.bases(cls) for value in types.values if isinstance(value, ClassValue)
        ]
        return list(dict.fromkeys(base for base in found if base is not cls))

    def order(self, cls: Class) -> tuple[Class, ...]:
        """The class and its ancestors in method resolution order, as far as they are known."""
        known = self._orders.get(cls)
        if known is None:
            self._orders[cls] = (cls,)
            bases = self.base_classes(cls)
            known = linearise(cls, [self.order(base) for base in bases], bases)
            self._orders[cls] = known
        return known

    def unknown_bases(self, cls: Class) -> list[tuple[Class, Node]]:
        """Base expressions of the class and its ancestors that lead nowhere."""
        found = []
        for ancestor in self.order(cls):
            for node, types in zip(ancestor.base_nodes, self.bases(ancestor), strict=False):
                if not types.values and not self._is_special_base(ancestor, node):
                    found.append((ancestor, node))
        return found

    def missing_bases(self, cls: Class) -> list[tuple[Class, Node]]:
        """Base expressions of the class and its ancestors that lead nowhere, or to a module that was not found."""
        elsewhere = Foreign(NOT_FOUND)
        found = self.unknown_bases(cls)
        for ancestor in self.order(cls):
            for node, types in zip(ancestor.base_nodes, self.bases(ancestor), strict=False):
                if elsewhere in types.values:
                    found.append((ancestor, node))
        return found

    def _is_special_base(self, cls: Class, node: Node) -> bool:
        while node.type == "subscript":
            value = node.child_by_field_name("value")
            if value is None:
                return False
            node = value
        return last_name(cls.source, node) in _SPECIAL_BASES

    def builtin_bases(self, cls: Class) -> Iterator[str]:
        """The builtin classes among the ancestors, `object` included."""
        yield "object"
        for ancestor in self.order(cls):
            if isinstance(ancestor, Record) and not ancestor.is_enum:
                yield MAKERS[ancestor.maker]
            for types in self.bases(ancestor):
                for value in types.values:
                    if isinstance(value, ForeignClass):
                        yield value.name

    def builtin_owners(self, cls: Class, name: str) -> Iterator[str]:
        """The classes written in C among the ancestors that have such an attribute: `dict`, `_io._IOBase`.

        Those of the standard library's modules are met where its Python code derives from them.
        """
        for builtin in self.builtin_bases(cls):
            if hasattr(getattr(builtins, builtin, None), name):
                yield builtin
        for owner, node in self.unknown_bases(cls):
            module, _, base = owner.source.text(node).rpartition(".")
            if not owner.source.external or module not in sys.builtin_module_names:
                continue
            if hasattr(getattr(import_module(module), base, None), name):
                yield f"{module}.{base}"

    def members(self, cls: Class, name: str) -> list[Site]:
        """Where the class itself defines `name`: in its body, or on `self` in its methods."""
        memo, key = cls.source.memo, ("members", cls.start, name)
        known = memo.get(key)
        if not isinstance(known, list):
            memo[key] = []
            known = []
            if cls.source.has(name):
                known = memo[key] = [*cls.body_sites(name), *self._instance_sites(cls, name)]
        return known

    def defines(self, cls: Class, name: str) -> bool:
        """Does the class itself define `name`: in its body, on `self`, or as a slot?"""
        return bool(self.members(cls, name)) or name in cls.slots

    def _instance_sites(self, cls: Class, name: str) -> Iterator[Site]:
        source = cls.source
        for site in write_sites(source, name):
            inside = cls.start <= site.start < cls.end
            if inside and self.written_on_self(source, site) is cls:
                yield site

    def written_on_self(self, source: Source, site: Site) -> Class | None:
        """The class whose method writes this attribute on its own instance (or class)."""
        if access_of(site.path) in (Role.READ, Role.DELETE):
            return None
        receiver = receiver_before(site.path)
        receiver = whose_class(source, receiver) if receiver is not None else None
        if receiver is None or receiver.type != "identifier":
            return None
        owner = self.self_class(source, site.scope, source.text(receiver))
        return owner[0] if owner is not None else None

    def self_class(self, source: Source, scope: Scope, name: str) -> tuple[Class, bool] | None:
        """If `name` is a method's first parameter here: its class, and whether it stands for the class itself."""
        key = (scope, name)
        if key not in self._selves:
            self._selves[key] = self._find_self(source, scope, name)
        return self._selves[key]

    def _find_self(self, source: Source, scope: Scope, name: str) -> tuple[Class, bool] | None:
        names = source.names(name)
        owner = names.scope_of(scope, mangled(name, scope))
        if owner is None or owner.kind != "function":
            return None
        function = function_in(source, owner)
        if not function.in_class or function.is_static or not function.parameters:
            return None
        if function.parameters[0].name != name or function.parameters[0].kind not in ("positional", "either"):
            return None
        cls = class_in(source, function.outer)
        return cls, function.is_class_method or self.is_metaclass(cls)

    def lookup(self, cls: Class, name: str) -> tuple[Class, list[Site]] | None:
        """The first class in resolution order that defines `name`, and where."""
        for ancestor in self.order(cls):
            sites = self.members(ancestor, name)
            if sites:
                return ancestor, sites
        return None

    def method(self, cls: Class, name: str) -> Function | None:
        """The function that `name` is on instances of the class."""
        found = self.lookup(cls, name)
        return found[0].own_function(name) if found is not None else None

    def is_enum(self, cls: Class) -> bool:
        return any(
            ancestor.is_enum if isinstance(ancestor, Record) else ancestor.name in _ENUMS
            for ancestor in self.order(cls)
        )

    def is_typed_dict(self, cls: Class) -> bool:
        """Is the class a `TypedDict`, through its bases too?"""
        return any(
            ancestor.maker == "TypedDict"
            if isinstance(ancestor, Record)
            else any(last_name(ancestor.source, node) == "TypedDict" for node in ancestor.base_nodes)
            for ancestor in self.order(cls)
        )

    def metaclass(self, cls: Class) -> Class | None:
        """The class of the class, where its statement or an ancestor's names one."""
        for ancestor in self.order(cls):
            node = ancestor.keywords.get("metaclass")
            for value in self.at(ancestor.source, node).values if node is not None else ():
                if isinstance(value, ClassValue):
                    return value.cls
        return None

    def metaclasses(self, cls: Class) -> tuple[Class, ...]:
        """The metaclass and its ancestors, in resolution order."""
        metaclass = self.metaclass(cls)
        return self.order(metaclass) if metaclass is not None else ()

    def set_by_metaclass(self, cls: Class, name: str) -> list[Class]:
        """The metaclass and its ancestors, those that set or declare `name` on the class that they make.

        It is then an attribute of that class, which its instances have too; what the body of the metaclass defines is not.
        """
        return [
            each for each in self.metaclasses(cls) if any(map(_is_of_instances, self.members(each, name)))
        ]

    def over_metaclass(self, cls: Class, name: str) -> list[Class]:
        """The metaclass and its ancestors, those whose `name` is found on the class first: as if it were overridden."""
        return [
            each
            for each in self.metaclasses(cls)
            if any(not each.source.external or _is_of_instances(site) for site in self.members(each, name))
        ]

    def makers(self, cls: Class) -> tuple[Function, ...]:
        """What of the workspace decides what a call of the class gives: its `__new__`, the metaclass's `__call__`."""
        known = self._makers.get(cls)
        if known is None:
            metaclass = self.metaclass(cls)
            found = [self.method(cls, "__new__")]
            found.append(self.method(metaclass, "__call__") if metaclass is not None else None)
            known = tuple(each for each in found if each is not None and not each.source.external)
            self._makers[cls] = known
        return known

    def is_metaclass(self, cls: Class) -> bool:
        return "type" in self.builtin_bases(cls)


def _is_of_instances(member: Site) -> bool:
    """Is it set on `self`, or declared without a value?"""
    return member.role in (Role.ATTRIBUTE, Role.ANNOTATE)


def whose_class(source: Source, receiver: Node) -> Node:
    """`x` for `type(x)` and `x.__class__`, so that what is written on them is of the same class as on `x`."""
    if receiver.type == "attribute":
        name, inner = receiver.child_by_field_name("attribute"), receiver.child_by_field_name("object")
        return (
            inner if inner is not None and name is not None and source.text(name) == "__class__" else receiver
        )
    if receiver.type == "call":
        function, arguments = receiver.child_by_field_name("function"), positional_arguments(receiver)
        is_type = function is not None and source.text(function) == "type" and len(arguments) == 1
        return arguments[0] if is_type else receiver
    return receiver


def write_sites(source: Source, name: str) -> list[Site]:
    """The places of a file where `something.name` may be a target."""
    key = ("write sites", name)
    found = source.memo.get(key)
    if not isinstance(found, list):
        if source.is_folded(name):
            sites = iter(source.sites(name))
        else:
            n_bytes = len(name.encode())
            starts = (match.start() for match in _write_pattern(name).finditer(source.bytes))
            sites = (source.site_at(start, start + n_bytes, name) for start in starts)
        found = source.memo[key] = [site for site in sites if site.role is Role.ATTRIBUTE]
    return found


@lru_cache(maxsize=4096)
def _write_pattern(name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    after = rb"\s*(?:=(?!=)|[:,)\]]|in\b|[-+*/%&|^@<>]{1,3}=)"
    return re.compile(word + rb"(?![\w\x80-\xff])(?<=\." + word + rb")" + after)


_ENUMS = frozenset({"Enum", "IntEnum", "Flag", "IntFlag", "StrEnum"})
_SPECIAL_BASES = frozenset({"NamedTuple", "TypedDict", "Protocol", "Generic", "object"})
