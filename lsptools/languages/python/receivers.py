"""What stands before a dot: the values an expression may have, derived from the source alone.

Names go through scopes and imports to what binds them; annotations count as their authors' word; calls go to
constructors and return annotations, else to the `return` statements of the body; `self`, `cls`, `super()`, loop and
`with` targets, `isinstance` and simple control flow are followed. Nothing is executed, and every answer says whether
it is complete: a value that cannot be derived makes it incomplete, never wrong.

Where it stops: values that depend on run time (dictionaries of unknown content, `setattr`, decorators without
annotations), generics beyond the standard containers, and more than `DEPTH` steps.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from lsptools.languages.python import bindings, calls, containers, expressions, narrowing, replaced
from lsptools.languages.python.annotations import annotated
from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    function_in,
    function_of,
)
from lsptools.languages.python.hierarchy import Hierarchy
from lsptools.languages.python.modules import Module, Project, Variable
from lsptools.languages.python.records import Record, record_of
from lsptools.languages.python.roles import Role, receiver_before
from lsptools.languages.python.scopes import Scope, Site, Source, mangled
from lsptools.languages.python.values import (
    NOTHING,
    UNKNOWN,
    ClassValue,
    Foreign,
    ForeignClass,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    SuperValue,
    Types,
    Value,
    just,
    union,
)
from lsptools.languages.python.where import Where
from lsptools.syntax.tree import Node, parse

DEPTH = 14
"""How many steps from one expression to the next are followed."""
_ROUNDS = 6
"""How often what depends on itself is derived anew before it is given up."""

_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "None",
    "comparison_operator": "bool",
    "not_operator": "bool",
    "ellipsis": "ellipsis",
}


class Evaluator(Hierarchy):
    """Derives values of expressions; caches per snapshot."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self._cache: dict[tuple[str, int, int], tuple[Types, set[tuple[Class, str]]]] = {}
        self.n_forgotten = 0
        """How often all values were forgotten: whatever else is kept and rests on them has this in its key."""
        self.through: set[tuple[Class, str]] = set()
        """Members that were looked up on `self` or `cls` on the way: where a subclass overrides one, there may be other values."""
        self._overriding: Mapping[tuple[Class, str], Sequence[Class]] = {}
        self.busy: set[tuple[object, ...]] = set()
        """What is being derived right now: meeting it again is a cycle."""
        self.suspects: frozenset[str] = frozenset()
        """Names of modules of the workspace that an import which was not found may mean all the same."""
        self._n_cuts = 0
        self._circles: set[tuple[str, str, int]] = set()
        """Bindings that were met again while they were derived."""
        self._assumed: dict[tuple[str, str, int], Types] = {}
        """What such a binding is taken to give while it is derived once more."""
        self._plain_selves: dict[tuple[Scope, str], Types | None] = {}

    def suspect(self, names: Iterable[str]) -> None:
        """Set `suspects`; what was derived without them is forgotten."""
        self.suspects = frozenset(names)
        self._forget()

    def _forget(self) -> None:
        self._cache.clear()
        self.n_forgotten += 1

    @contextmanager
    def overridden(self, overriding: Mapping[tuple[Class, str], Sequence[Class]]) -> Iterator[None]:
        """Let members that are looked up on `self` be those of these subclasses, too, for as long as this lasts."""
        self._overriding = overriding
        self._forget()
        try:
            yield
        finally:
            self._overriding = {}
            self._forget()

    def where(self, source: Source, scope: Scope) -> Where:
        """Expressions of a file whose names are looked up in a scope."""
        return Where(source, scope, source.bytes)

    def at(self, source: Source, node: Node) -> Types:
        """The values of an expression of a file."""
        key = (source.path, node.start_byte, node.end_byte)
        known = self._cache.get(key)
        if known is None:
            n_cuts, outer = self._n_cuts, self.through
            self.through = set()
            _, scope = source.descend(node.start_byte)
            types = self.evaluate(Where(source, scope, source.bytes), node)
            known = (types, self.through)
            self.through = outer
            if self._n_cuts == n_cuts:  # not cut short, so the same from wherever it is asked
                self._cache[key] = known
        if known[1]:
            self.through |= known[1]
        return known[0]

    def evaluate(self, where: Where, node: Node) -> Types:
        """The values of an expression whose names are looked up at `where`."""
        handler = _EXPRESSIONS.get(node.type)
        if handler is None:
            literal = _LITERALS.get(node.type)
            return just(Foreign(literal)) if literal is not None else UNKNOWN
        key = ("evaluate", id(where.text), node.start_byte, node.end_byte)
        if key in self.busy or self._depth > DEPTH:
            self._n_cuts += 1
            return UNKNOWN
        self.busy.add(key)
        self._depth += 1
        try:
            types = handler(self, where, node)
            if not types.complete or len(types.values) != 1 or narrowing.is_tested(where, node):
                return narrowing.narrowed(self, where, node, types)
            return types
        finally:
            self._depth -= 1
            self.busy.discard(key)

    def _name(self, where: Where, node: Node) -> Types:
        return self.name(where, where.read(node), where.position(node))

    def name(self, where: Where, name: str, position: int) -> Types:
        """The values of a name looked up in a scope, at a byte position of the file."""
        source = where.source
        parameter = self._plain_self(where, name)
        if parameter is not None:
            return parameter
        names = source.names(name)
        spelling = mangled(name, where.scope) if name.startswith("__") else name
        owner = names.scope_of(where.scope, spelling)
        if owner is None:
            found = self.project.global_variable(source, name)
            if found:
                return union(self.found_value(each) for each in found)
            return just(ForeignClass(name)) if hasattr(builtins, name) else UNKNOWN
        sites = names.bindings(owner, spelling)
        if owner is where.scope and where.at is None and len(sites) > 1:
            sites = bindings.reaching(sites, position)
        return union(self.binding(source, site) for site in sites)

    def _plain_self(self, where: Where, name: str) -> Types | None:
        """The value of a method's first parameter, if nothing in the method can bind the name again.

        A short cut for the most frequent receiver of all: `self` is looked up without all its occurrences in the file.
        """
        scope = where.scope
        if scope.kind != "function" or scope.parent is None or where.at is not None:
            return None
        key = (scope, name)
        if key not in self._plain_selves:
            self._plain_selves[key] = self._find_plain_self(where.source, scope, name)
        return self._plain_selves[key]

    def _find_plain_self(self, source: Source, scope: Scope, name: str) -> Types | None:
        function = function_in(source, scope)
        if not function.in_class or function.is_static or not function.parameters:
            return None
        first = function.parameters[0]
        if first.name != name or first.annotation is not None or first.kind not in ("positional", "either"):
            return None
        body = function.node.child_by_field_name("body")
        if body is None or _rebinding_pattern(name).search(source.bytes, body.start_byte, function.end):
            return None
        cls = class_in(source, function.outer)
        is_class = function.is_class_method or self.is_metaclass(cls)
        return just(ClassValue(cls) if is_class else InstanceValue(cls))

    def _lambda(self, where: Where, node: Node) -> Types:
        return just(
            FunctionValue(function_of(where.source, node)) if where.at is None else Foreign("function")
        )

    def found_value(self, found: Variable | Module) -> Types:
        """The values of what a name in a module leads to."""
        if isinstance(found, Module):
            return just(ModuleValue(found))
        return union(self.binding(found.source, site) for site in found.sites)

    def _attribute(self, where: Where, node: Node) -> Types:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if receiver is None or name is None:
            return UNKNOWN
        types = self.evaluate(where, receiver)
        if receiver.type == "identifier" and len(types.values) == 1:
            self._note_virtual(where, where.read(receiver), types.values[0], where.read(name))
        return self.attribute(types, where.read(name), where.scope)

    def _note_virtual(self, where: Where, receiver: str, value: Value, name: str) -> None:
        """Note a look-up on a method's own instance or class, which may be of a subclass."""
        if not isinstance(value, (InstanceValue, ClassValue)) or value.cls.source.external:
            return
        if where.at is None and self.self_class(where.source, where.scope, receiver) is not None:
            self.through.add((value.cls, name))

    def overriders(self, cls: Class, name: str) -> Sequence[Class]:
        """The subclasses whose member is asked, too (`overridden`)."""
        return self._overriding.get((cls, name), ())

    def attribute(self, receiver: Types, name: str, scope: Scope) -> Types:
        """The values of `receiver.name`."""
        spelling = mangled(name, scope) if name.startswith("__") else name
        found = [self.attribute_of(value, name, spelling) for value in receiver.values]
        return union(found) if receiver.complete else union([*found, UNKNOWN])

    def attribute_of(self, value: Value, name: str, spelling: str) -> Types:
        if isinstance(value, ModuleValue):
            found = self.project.member(value.module, name)
            return union(self.found_value(each) for each in found) if found else UNKNOWN
        if isinstance(value, (ClassValue, InstanceValue, SuperValue)):
            return self.class_attribute(value, name, spelling)
        if isinstance(value, Foreign):
            return containers.foreign_attribute(value, name)
        return UNKNOWN

    def class_attribute(
        self, value: ClassValue | InstanceValue | SuperValue, name: str, spelling: str
    ) -> Types:
        """The values of a member of a class, of an instance, or behind `super()`."""
        if self._overriding and not isinstance(value, SuperValue):
            below = self.overriders(value.cls, name)
            if below:
                found = [
                    self._member_values(replace(value, cls=cls), cls, self.members(cls, name))
                    for cls in below
                ]
                return union([self._inherited(value, name, spelling), *found])
        return self._inherited(value, name, spelling)

    def _inherited(self, value: ClassValue | InstanceValue | SuperValue, name: str, spelling: str) -> Types:
        order = self.order(value.cls)
        for definer in order[1:] if isinstance(value, SuperValue) else order:
            sites = self.members(definer, name)
            if sites:
                return self._member_values(value, definer, sites)
        if name == "__class__" and isinstance(value, InstanceValue):
            return just(ClassValue(value.cls))
        if name == "__members__" and self.is_enum(value.cls):
            return just(Foreign("dict", (just(Foreign("str")), just(InstanceValue(value.cls)))))
        metaclass = self.metaclass(value.cls) if isinstance(value, ClassValue) else None
        function = self.method(metaclass, name) if metaclass is not None else None
        return just(FunctionValue(function, True, value.cls)) if function is not None else UNKNOWN

    def _member_values(
        self, value: ClassValue | InstanceValue | SuperValue, definer: Class, sites: list[Site]
    ) -> Types:
        source = definer.source
        declared = [site for site in sites if bindings.annotation_of(site) is not None]
        if isinstance(value, ClassValue) and self.is_enum(definer) and sites[0].role in _ENUM_MEMBERS:
            return just(InstanceValue(definer))
        if isinstance(definer, Record):
            return self._field_type(definer, source.text_of(sites[0]))
        found = []
        for site in declared or sites:
            if site.role is Role.FUNCTION:
                found.append(self._method_value(value, definer, function_of(source, site.path[-2][0])))
            else:
                types = self.binding(source, site)
                found.append(types if site.role is Role.ATTRIBUTE else replaced.gotten(self, types))
        return union(found)

    def _field_type(self, record: Record, name: str) -> Types:
        annotation = record.annotation_of(name)
        where = self.where(record.source, record.scope)
        return self.annotation(where, annotation) if annotation is not None else UNKNOWN

    def _method_value(
        self, value: ClassValue | InstanceValue | SuperValue, definer: Class, function: Function
    ) -> Types:
        if function.is_property and not isinstance(value, ClassValue):
            return self.returned(function, value.cls)
        if function.is_accessor:
            return NOTHING
        if function.decorators:
            got = replaced.property_value(self, function, value)
            if got is not None:
                return got
        bound = not function.is_static and (function.is_class_method or not isinstance(value, ClassValue))
        return just(FunctionValue(function, bound, value.cls))

    def record(self, source: Source, call: Node) -> Record | None:
        """The class that a call of the library makes (`namedtuple(…)`), if it is one."""
        record = record_of(source, call)
        function = call.child_by_field_name("function")
        if record is None or function is None:
            return None
        for value in self.at(source, function).values:
            if isinstance(value, FunctionValue) and not value.function.source.external:
                return None
            if isinstance(value, ClassValue) and not value.cls.source.external:
                return None
        return record

    def returned(self, function: Function, owner: Class | None) -> Types:
        """The values of a call of a function."""
        key = ("returned", function, owner)
        if key in self.busy or self._depth > DEPTH:
            self._n_cuts += 1
            return UNKNOWN
        self.busy.add(key)
        self._depth += 1
        try:
            types = calls.declared_return(self, function, owner)
            if types is None:
                types = calls.body_return(self, function)
            if function.is_async and not function.is_generator:
                return just(Foreign("Awaitable", (types,)))
            return types
        finally:
            self._depth -= 1
            self.busy.discard(key)

    def binding(self, source: Source, site: Site) -> Types:
        """What a binding gives its name."""
        handler = bindings.HANDLERS.get(site.role)
        if handler is None:
            return UNKNOWN
        key = ("binding", source.path, site.start)
        if key in self.busy:
            self._n_cuts += 1
            self._circles.add(key)
            return self._assumed.get(key, NOTHING)
        if self._depth > DEPTH:
            self._n_cuts += 1
            return UNKNOWN
        self.busy.add(key)
        self._depth += 1
        try:
            types = handler(self, source, site)
            return self._settled(key, types, lambda: handler(self, source, site))
        finally:
            self._depth -= 1
            self.busy.discard(key)

    def _settled(self, key: tuple[str, str, int], types: Types, again: Callable[[], Types]) -> Types:
        """What a binding gives whose value depends on itself: `node = node.parent`.

        It was derived as if the binding gave nothing else; so again, with what was found, until nothing is added.
        """
        if key not in self._circles:
            return types
        self._circles.discard(key)
        if self._assumed:
            return types | UNKNOWN
        try:
            for _ in range(_ROUNDS):
                self._assumed[key] = types
                later = types | again()
                if set(later.values) == set(types.values):
                    return later
                types = later
        finally:
            del self._assumed[key]
            self._circles.discard(key)
        return types | UNKNOWN

    def iterated(self, iterable: Types) -> Types:
        """What a loop over a value gives."""
        found = []
        for value in iterable.values:
            if isinstance(value, ClassValue) and self.is_enum(value.cls):
                found.append(just(InstanceValue(value.cls)))
            elif isinstance(value, InstanceValue):
                function = self.method(value.cls, "__iter__")
                found.append(
                    containers.iteration_of(self.returned(function, value.cls)) if function else UNKNOWN
                )
            elif isinstance(value, Foreign):
                found.append(containers.iteration_of(just(value)))
            else:
                found.append(UNKNOWN)
        return union(found) if iterable.complete and found else union([*found, UNKNOWN])

    def dotted(self, source: Source, scope: Scope, node: Node) -> Types:
        """The values of a dotted name as patterns hold it."""
        where = Where(source, scope, source.bytes)
        parts = [child for child in node.named_children if child.type == "identifier"]
        if not parts:
            return UNKNOWN
        types = self._name(where, parts[0])
        for part in parts[1:]:
            types = self.attribute(types, source.text(part), scope)
        return types

    def receiver(self, source: Source, site: Site) -> Types:
        """The values of what stands before the dot of an attribute site."""
        node = receiver_before(site.path)
        if node is None:
            return UNKNOWN
        parent = site.path[-2][0]
        if parent.type == "dotted_name":
            return self._dotted_before(source, site, parent)
        return self.at(source, node)

    def _dotted_before(self, source: Source, site: Site, dotted: Node) -> Types:
        where = Where(source, site.scope, source.bytes)
        types: Types | None = None
        for part in dotted.named_children:
            if part.start_byte >= site.start:
                break
            types = (
                self._name(where, part)
                if types is None
                else self.attribute(types, source.text(part), site.scope)
            )
        return types if types is not None else UNKNOWN

    def annotation(self, where: Where, node: Node, owner: Class | None = None) -> Types:
        """What a value declared with this annotation may be; `owner` is what `Self` means."""
        return annotated(self, where, node, owner)

    def written_annotation(self, where: Where, text: str, owner: Class | None = None) -> Types:
        """As `annotation`, for code in a string or comment."""
        data = text.strip().encode("utf-8", "surrogateescape")
        root = parse(data).root_node
        statement = root.named_children[0] if root.named_children else None
        if statement is None or not statement.named_children:
            return UNKNOWN
        inner = Where(where.source, where.scope, data, where.at if where.at is not None else 0)
        return self.annotation(inner, statement.named_children[0], owner)

    def declared(self, source: Source, target: Node) -> Types | None:
        """The type that an annotation elsewhere declares for the name or attribute `target`; None: there is none."""
        _, scope = source.descend(target.start_byte)
        if target.type == "identifier":
            text = source.text(target)
            names = source.names(text)
            owner = names.scope_of(scope, text)
            sites = names.bindings(owner, text) if owner is not None else []
        elif target.type == "attribute":
            receiver, name = target.child_by_field_name("object"), target.child_by_field_name("attribute")
            if receiver is None or name is None:
                return None
            classes = [v.cls for v in self.at(source, receiver).values if isinstance(v, InstanceValue)]
            found = self.lookup(classes[0], source.text(name)) if classes else None
            if found is None:
                return None
            source, sites = found[0].source, found[1]
        else:
            return None
        for site in sites:
            annotation = bindings.annotation_of(site)
            if annotation is not None:
                return self.annotation(self.where(source, site.scope), annotation)
            if site.role is Role.PARAMETER:
                return self.binding(source, site)
        return None


@lru_cache(maxsize=256)
def _rebinding_pattern(name: str) -> re.Pattern[bytes]:
    """Anything that could bind a name beside its parameter: generous, a match only means to look closely."""
    word = re.escape(name.encode())
    after = rb"\s*(?:=(?!=)|:=|[-+*/%&|^@<>]{1,3}=|,|\)\s*=(?!=)|\]\s*=(?!=)|in\b|:\s)"
    before = (
        rb"(?:\b(?:as|for|global|nonlocal|import|del|def|class|case|lambda)\b[^\n]*\b"
        + word
        + rb"\b(?!\s*\.))"
    )
    start = rb"(?<![\w.(])" + word + rb"\b" + after
    return re.compile(start + rb"|" + before)


_ENUM_MEMBERS = frozenset({Role.ASSIGN, Role.STRING})
"""How a member of an enum is declared: in the class body, or in the strings of a call of `Enum`."""
_EXPRESSIONS: dict[str, expressions.Expression] = {
    "identifier": Evaluator._name,
    "attribute": Evaluator._attribute,
    "call": calls.call,
    "lambda": Evaluator._lambda,
    "yield": calls.yield_result,
    **expressions.HANDLERS,
}
