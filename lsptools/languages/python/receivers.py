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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lsptools.languages.python import callbacks, containers, fixtures
from lsptools.languages.python.annotations import annotated
from lsptools.languages.python.classes import (
    Class,
    Function,
    Parameter,
    class_in,
    class_of,
    function_in,
    function_of,
    last_name,
    linearise,
    own_nodes,
)
from lsptools.languages.python.folding import folded
from lsptools.languages.python.modules import Module, Project, Variable, literal_string
from lsptools.languages.python.narrowing import instance_tests
from lsptools.languages.python.records import MAKERS, Record, record_of
from lsptools.languages.python.roles import Role, access_of, receiver_before
from lsptools.languages.python.scopes import NAMES, Scope, Site, Source, mangled
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
from lsptools.syntax.tree import Node, parse

DEPTH = 14
"""How many steps from one expression to the next are followed."""

_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "None",
    "lambda": "function",
    "comparison_operator": "bool",
    "not_operator": "bool",
    "ellipsis": "ellipsis",
}


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


class Evaluator:
    """Derives values of expressions; caches per snapshot."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._cache: dict[tuple[str, int, int], Types] = {}
        self.busy: set[tuple[object, ...]] = set()
        """What is being derived right now: meeting it again is a cycle."""
        self.suspects: frozenset[str] = frozenset()
        """Names of modules of the workspace that an import which was not found may mean all the same."""
        self._n_cuts = 0
        self._orders: dict[Class, tuple[Class, ...]] = {}
        self._bases: dict[Class, tuple[Types, ...]] = {}
        self._plain_selves: dict[tuple[Scope, str], Types | None] = {}
        self._selves: dict[tuple[Scope, str], tuple[Class, bool] | None] = {}
        self._depth = 0

    def suspect(self, names: Iterable[str]) -> None:
        """Set `suspects`; what was derived without them is forgotten."""
        self.suspects = frozenset(names)
        self._cache.clear()

    def where(self, source: Source, scope: Scope) -> Where:
        """Expressions of a file whose names are looked up in a scope."""
        return Where(source, scope, source.bytes)

    # ------------------------------------------------------------------ expressions

    def at(self, source: Source, node: Node) -> Types:
        """The values of an expression of a file."""
        key = (source.path, node.start_byte, node.end_byte)
        known = self._cache.get(key)
        if known is None:
            n_cuts = self._n_cuts
            _, scope = source.descend(node.start_byte)
            known = self.evaluate(Where(source, scope, source.bytes), node)
            if self._n_cuts == n_cuts:  # not cut short, so the same from wherever it is asked
                self._cache[key] = known
        return known

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
            if not types.complete or len(types.values) != 1 or _is_tested(where, node):
                narrowed = self._narrowed(where, node)
                if narrowed is not None and not self._is_narrower(types, narrowed):
                    return narrowed
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
            sites = reaching(sites, position)
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

    def found_value(self, found: Variable | Module) -> Types:
        """The values of what a name in a module leads to."""
        if isinstance(found, Module):
            return just(ModuleValue(found))
        return union(self.binding(found.source, site) for site in found.sites)

    def _attribute(self, where: Where, node: Node) -> Types:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if receiver is None or name is None:
            return UNKNOWN
        return self.attribute(self.evaluate(where, receiver), where.read(name), where.scope)

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
            return self._class_attribute(value, name, spelling)
        if isinstance(value, Foreign):
            return containers.foreign_attribute(value, name)
        return UNKNOWN

    def _class_attribute(
        self, value: ClassValue | InstanceValue | SuperValue, name: str, spelling: str
    ) -> Types:
        order = self.order(value.cls)
        for definer in order[1:] if isinstance(value, SuperValue) else order:
            sites = self.members(definer, name)
            if sites:
                return self._member_values(value, definer, sites)
        if name == "__class__" and isinstance(value, InstanceValue):
            return just(ClassValue(value.cls))
        metaclass = self.metaclass(value.cls) if isinstance(value, ClassValue) else None
        function = self.method(metaclass, name) if metaclass is not None else None
        return just(FunctionValue(function, True, value.cls)) if function is not None else UNKNOWN

    def _member_values(
        self, value: ClassValue | InstanceValue | SuperValue, definer: Class, sites: list[Site]
    ) -> Types:
        source = definer.source
        declared = [site for site in sites if self._annotation_of(site) is not None]
        if isinstance(value, ClassValue) and self.is_enum(definer) and sites[0].role in _ENUM_MEMBERS:
            return just(InstanceValue(definer))
        if isinstance(definer, Record):
            return self._field_type(definer, source.text_of(sites[0]))
        found = []
        for site in declared or sites:
            if site.role is Role.FUNCTION:
                found.append(self._method_value(value, definer, function_of(source, site.path[-2][0])))
            else:
                found.append(self.binding(source, site))
        return union(found)

    def _field_type(self, record: Record, name: str) -> Types:
        annotation = record.annotation_of(name)
        where = self.where(record.source, record.scope)
        return self.annotation(where, annotation) if annotation is not None else UNKNOWN

    def _method_value(
        self, value: ClassValue | InstanceValue | SuperValue, definer: Class, function: Function
    ) -> Types:
        if function.is_property and not isinstance(value, ClassValue):
            return self._returned(function, value.cls)
        if function.is_accessor:
            return NOTHING
        bound = not function.is_static and (function.is_class_method or not isinstance(value, ClassValue))
        return just(FunctionValue(function, bound, value.cls))

    # ------------------------------------------------------------------ calls

    def _call(self, where: Where, node: Node) -> Types:
        function = node.child_by_field_name("function")
        if function is None:
            return UNKNOWN
        if function.type == "identifier" and where.read(function) == "super":
            return self._super(where, node)
        special = self._special_call(where, node, function)
        if special is not None:
            return special
        callee = self.evaluate(where, function)
        found = [self.called(value, where, node) for value in callee.values]
        return union(found) if callee.complete else union([*found, UNKNOWN])

    def called(self, value: Value, where: Where, node: Node) -> Types:
        """What calling a value gives."""
        if isinstance(value, ClassValue):
            return just(InstanceValue(value.cls))
        if isinstance(value, FunctionValue):
            return self._returned(value.function, value.owner)
        if isinstance(value, InstanceValue):
            function = self.method(value.cls, "__call__")
            return self._returned(function, value.cls) if function is not None else UNKNOWN
        if isinstance(value, ForeignClass):
            return containers.foreign_call(value, self._argument_types(where, node))
        if isinstance(value, Foreign):
            return containers.foreign_result(value)
        return UNKNOWN

    def _argument_types(self, where: Where, node: Node) -> list[Types]:
        return [self.evaluate(where, argument) for argument in positional_arguments(node)]

    def _super(self, where: Where, node: Node) -> Types:
        cls = self._class_around(where)
        return just(SuperValue(cls)) if cls is not None else UNKNOWN

    def _class_around(self, where: Where) -> Class | None:
        scope = where.scope.enclosing_class()
        return class_in(where.source, scope) if scope is not None else None

    def _special_call(self, where: Where, node: Node, function: Node) -> Types | None:
        """Calls whose result is one of their arguments: `cast`, `copy`, `replace`, `type`."""
        name = last_name(where.source, function) if where.at is None else ""
        if name in MAKERS:
            record = self.record(where.source, node)
            return just(ClassValue(record)) if record is not None else None
        arguments = positional_arguments(node)
        if name == "__new__" and arguments:
            return instances(self.evaluate(where, arguments[0]))
        if name == "cast" and len(arguments) == 2:
            return self.annotation(where, arguments[0])
        if (
            name in ("replace", "copy", "deepcopy", "evolve")
            and arguments
            and self._is_plain(where, function)
        ):
            return self.evaluate(where, arguments[0])
        if name in _RECORD_METHODS and function.type == "attribute":
            receiver = function.child_by_field_name("object")
            types = self.at(where.source, receiver) if receiver is not None else UNKNOWN
            return self._record_call(
                types, name, literal_string(where.source, arguments[0]) if arguments else None
            )
        if name in ("partial", "partialmethod") and arguments:
            return self.evaluate(where, arguments[0])
        if name == "type" and len(arguments) == 1 and function.type == "identifier":
            inner = self.evaluate(where, arguments[0])
            classes = tuple(
                ClassValue(value.cls) for value in inner.values if isinstance(value, InstanceValue)
            )
            return Types(classes, inner.complete and len(classes) == len(inner.values))
        return None

    def _record_call(self, receiver: Types, name: str, key: str | None) -> Types | None:
        """Methods that every record has: a copy of a value, `P._make(…)`, `movie.get("title")`."""
        found: list[Types] = []
        for value in receiver.values:
            if not isinstance(value, (InstanceValue, ClassValue)) or self.method(value.cls, name):
                continue
            if name in ("get", "pop", "setdefault"):
                if key is not None and isinstance(value, InstanceValue) and self.is_typed_dict(value.cls):
                    found.append(self._class_attribute(value, key, key) | just(Foreign("None")))
            elif (name == "_make") is isinstance(value, ClassValue):
                found.append(just(InstanceValue(value.cls)))
        if not found:
            return None
        return union(found) if receiver.complete else union([*found, UNKNOWN])

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

    def _is_plain(self, where: Where, function: Node) -> bool:
        """Is this a function by name or of a module, not a method?"""
        if function.type == "identifier":
            return True
        receiver = function.child_by_field_name("object")
        types = self.evaluate(where, receiver) if receiver is not None else UNKNOWN
        return bool(types.values) and all(isinstance(value, ModuleValue) for value in types.values)

    def _returned(self, function: Function, owner: Class | None) -> Types:
        """The values of a call of a function."""
        key = ("returned", function, owner)
        if key in self.busy or self._depth > DEPTH:
            self._n_cuts += 1
            return UNKNOWN
        self.busy.add(key)
        self._depth += 1
        try:
            types = self._declared_return(function, owner)
            if types is None:
                types = self._body_return(function)
            if function.is_async and not function.is_generator:
                return just(Foreign("Awaitable", (types,)))
            return types
        finally:
            self._depth -= 1
            self.busy.discard(key)

    def _declared_return(self, function: Function, owner: Class | None) -> Types | None:
        node = function.node.child_by_field_name("return_type")
        if node is None:
            return None
        scope = function.scope.parent or function.source.module_scope
        where = Where(function.source, scope, function.source.bytes)
        return self.annotation(where, node, owner)

    def _body_return(self, function: Function) -> Types:
        if function.node.type == "lambda" or function.is_overload:
            return UNKNOWN
        if function.is_generator or any(
            name not in _TRANSPARENT and not name.endswith("property") for name in function.decorator_names
        ):
            return UNKNOWN
        where = Where(function.source, function.scope, function.source.bytes)
        found = []
        for statement in own_nodes(function.node, "return_statement"):
            value = statement.named_children[0] if statement.named_children else None
            found.append(self.at(where.source, value) if value is not None else just(Foreign("None")))
        if found:
            return union(found)
        return UNKNOWN if function.in_class and _is_left_to_subclasses(function) else just(Foreign("None"))

    # ------------------------------------------------------------------ other expressions

    def _await(self, where: Where, node: Node) -> Types:
        inner = self.evaluate(where, node.named_children[0]) if node.named_children else UNKNOWN
        return containers.elements_of(inner, ("Awaitable", "Coroutine", "Future", "Task"), -1)

    def _subscript(self, where: Where, node: Node) -> Types:
        value = node.child_by_field_name("value")
        if value is None:
            return UNKNOWN
        base = self.evaluate(where, value)
        index = node.child_by_field_name("subscript")
        key = literal_string(where.source, index) if index is not None and where.at is None else None
        found = [self._item(each, key) for each in base.values]
        return union(found) if base.complete else union([*found, UNKNOWN])

    def _item(self, value: Value, key: str | None = None) -> Types:
        if key is not None and isinstance(value, InstanceValue) and self.is_typed_dict(value.cls):
            return self._class_attribute(value, key, key)
        if isinstance(value, ClassValue):
            return just(InstanceValue(value.cls)) if self.is_enum(value.cls) else just(value)
        if isinstance(value, ForeignClass):
            return just(value)
        if isinstance(value, Foreign):
            return containers.item_of(value)
        if isinstance(value, InstanceValue):
            function = self.method(value.cls, "__getitem__")
            return self._returned(function, value.cls) if function is not None else UNKNOWN
        return UNKNOWN

    def _either(self, where: Where, node: Node) -> Types:
        """`a if b else c`, `a or b`, `a and b`."""
        operands = node.named_children
        if node.type == "conditional_expression" and len(operands) == 3:
            operands = [operands[0], operands[2]]
        return union(self.evaluate(where, operand) for operand in operands if operand.type != "comment")

    def _inner(self, where: Where, node: Node) -> Types:
        inner = [child for child in node.named_children if child.type != "comment"]
        return self.evaluate(where, inner[-1]) if inner else UNKNOWN

    def _walrus(self, where: Where, node: Node) -> Types:
        value = node.child_by_field_name("value")
        return self.evaluate(where, value) if value is not None else UNKNOWN

    def _operator(self, where: Where, node: Node) -> Types:
        """Arithmetic between builtins gives builtins; anything else may be overloaded."""
        operands = [self.evaluate(where, child) for child in node.named_children]
        if operands and all(
            each.complete and all(isinstance(value, Foreign) for value in each.values) for each in operands
        ):
            return operands[0]
        return UNKNOWN

    def _display(self, where: Where, node: Node) -> Types:
        """List, set, tuple and dictionary displays."""
        kind = {"expression_list": "tuple", "dictionary": "dict"}.get(node.type, node.type)
        children = [child for child in node.named_children if child.type != "comment"]
        if kind == "dict":
            pairs = [child for child in children if child.type == "pair"]
            keys = [child.child_by_field_name("key") for child in pairs]
            values = [child.child_by_field_name("value") for child in pairs]
            elements = (self._joined(where, keys), self._joined(where, values))
            if len(pairs) != len(children):
                elements = (UNKNOWN, UNKNOWN)
            return just(Foreign("dict", elements))
        if kind == "tuple":
            return just(Foreign("tuple", tuple(self.evaluate(where, child) for child in children[:8])))
        return just(Foreign(kind, (self._joined(where, children),)))

    def _joined(self, where: Where, nodes: Iterable[Node | None]) -> Types:
        chosen = [node for node in nodes if node is not None][:24]
        return union(self.evaluate(where, node) for node in chosen) if chosen else UNKNOWN

    def _comprehension(self, where: Where, node: Node) -> Types:
        body = node.child_by_field_name("body")
        kind = {"list_comprehension": "list", "set_comprehension": "set", "dictionary_comprehension": "dict"}
        if body is None or where.at is not None:
            return UNKNOWN
        name = kind.get(node.type, "Generator")
        if body.type == "pair":
            parts = [body.child_by_field_name("key"), body.child_by_field_name("value")]
            types = tuple(self.at(where.source, part) if part is not None else UNKNOWN for part in parts)
            return just(Foreign(name, types))
        return just(Foreign(name, (self.at(where.source, body),)))

    # ------------------------------------------------------------------ bindings

    def binding(self, source: Source, site: Site) -> Types:
        """What a binding gives its name."""
        key = ("binding", source.path, site.start)
        if key in self.busy or self._depth > DEPTH:
            self._n_cuts += 1
            return UNKNOWN
        self.busy.add(key)
        self._depth += 1
        try:
            return _BINDINGS.get(site.role, Evaluator._unknown)(self, source, site)
        finally:
            self._depth -= 1
            self.busy.discard(key)

    def _unknown(self, source: Source, site: Site) -> Types:
        return UNKNOWN

    def _nothing(self, source: Source, site: Site) -> Types:
        return NOTHING

    def _bound_class(self, source: Source, site: Site) -> Types:
        return just(ClassValue(class_of(source, site.path[-2][0])))

    def _bound_function(self, source: Source, site: Site) -> Types:
        return just(FunctionValue(function_of(source, site.path[-2][0])))

    def _bound_import(self, source: Source, site: Site) -> Types:
        found = self.project.imported(source, site)
        if not found and self.project.leads_outside(source, site, self.suspects):
            return just(Foreign("import"))
        return union(self.found_value(each) for each in found) if found else UNKNOWN

    def _annotation_of(self, site: Site) -> Node | None:
        if site.role not in (Role.ASSIGN, Role.ANNOTATE, Role.ATTRIBUTE):
            return None
        statement = site.ancestor("assignment")
        return statement.child_by_field_name("type") if statement is not None else None

    def _bound_assignment(self, source: Source, site: Site) -> Types:
        """An assignment to a name or, for an instance's attribute, after a dot."""
        statement = site.ancestor("assignment", "augmented_assignment")
        if statement is None or statement.type != "assignment":
            return NOTHING
        annotation = statement.child_by_field_name("type")
        scope = site.scope
        if annotation is not None:
            declared = self.annotation(Where(source, scope, source.bytes), annotation)
            if declared.values or declared.complete:
                return declared
        value = statement.child_by_field_name("right")
        while value is not None and value.type == "assignment":
            value = value.child_by_field_name("right")
        target = statement.child_by_field_name("left")
        if value is None or target is None:
            return UNKNOWN
        leaf = site.leaf if site.role is not Role.ATTRIBUTE else site.path[-2][0]
        comment = type_comment(source, statement)
        if comment and target.id == leaf.id:
            declared = self.written_annotation(Where(source, scope, source.bytes, site.start), comment)
            if declared.values:
                return declared
        if (target.start_byte, target.end_byte) == (leaf.start_byte, leaf.end_byte):
            return self.at(source, value)
        return self._unpacked(source, target, value, leaf)

    def _unpacked(self, source: Source, target: Node, value: Node, leaf: Node) -> Types:
        """`a, b = …`: the element that meets the leaf, when both sides are flat."""
        names = [child for child in target.named_children if child.type != "comment"]
        index = next((i for i, child in enumerate(names) if child.start_byte == leaf.start_byte), None)
        splat = next((i for i, child in enumerate(names) if child.type == "list_splat_pattern"), None)
        if splat is not None and names[splat].start_byte < leaf.start_byte < names[splat].end_byte:
            return just(Foreign("list", (self.iterated(self.at(source, value)),)))
        if index is None:
            return UNKNOWN
        if splat is not None:
            return self._beside_splat(source, value, splat, index)
        values = [child for child in value.named_children if child.type != "comment"]
        if value.type in ("expression_list", "tuple", "list") and len(values) == len(names):
            return self.at(source, values[index])
        whole = self.at(source, value)
        return containers.element_at(whole, index, len(names))

    def _beside_splat(self, source: Source, value: Node, splat: int, index: int) -> Types:
        """`first, *rest = …`: the element that meets a name before or behind the starred one."""
        whole = self.at(source, value)
        tuples = [each for each in whole.values if isinstance(each, Foreign) and each.name == "tuple"]
        if index < splat and whole.complete and len(tuples) == len(whole.values):
            return union(each.elements[index] if index < len(each.elements) else UNKNOWN for each in tuples)
        return self.iterated(whole)

    def _bound_parameter(self, source: Source, site: Site) -> Types:
        function_node = site.ancestor("function_definition", "lambda")
        if function_node is None:
            return UNKNOWN
        function = function_of(source, function_node)
        parameter = next((p for p in function.parameters if p.node.start_byte == site.start), None)
        if parameter is None:
            return UNKNOWN
        owner = self.self_class(source, site.scope, parameter.name)
        if owner is not None and parameter is function.parameters[0]:
            cls, is_class = owner
            return just(ClassValue(cls) if is_class else InstanceValue(cls))
        if parameter.annotation is None and fixtures.requests(function, parameter.name):
            fixture = fixtures.supplier(self, fixtures.place_of(function), parameter.name)
            return fixtures.value_of(self, fixture) if fixture is not None else UNKNOWN
        if function_node.type == "lambda":
            index = function.parameters.index(parameter)
            return callbacks.handed_to(self, source, function_node, index)
        return self.parameter_type(function, parameter)

    def parameter_type(self, function: Function, parameter: Parameter) -> Types:
        """The declared type of a parameter."""
        if parameter.annotation is None:
            return UNKNOWN
        scope = function.scope.parent or function.source.module_scope
        where = Where(function.source, scope, function.source.bytes)
        owner = class_in(function.source, function.outer) if function.in_class else None
        types = self.annotation(where, parameter.annotation, owner)
        if parameter.kind == "args":
            return just(Foreign("tuple*", (types,)))
        if parameter.kind == "kwargs":
            return just(Foreign("dict", (just(Foreign("str")), types)))
        return types

    def _bound_for(self, source: Source, site: Site) -> Types:
        loop = site.ancestor("for_statement", "for_in_clause")
        left = loop.child_by_field_name("left") if loop is not None else None
        right = loop.child_by_field_name("right") if loop is not None else None
        if left is None or right is None:
            return UNKNOWN
        iterable = self.at(source, right)
        element = self.iterated(iterable)
        if (left.start_byte, left.end_byte) == (site.start, site.end):
            return element
        names = [child for child in left.named_children if child.type != "comment"]
        index = next((i for i, child in enumerate(names) if child.start_byte == site.start), None)
        return containers.element_at(element, index, len(names)) if index is not None else UNKNOWN

    def iterated(self, iterable: Types) -> Types:
        """What a loop over a value gives."""
        found = []
        for value in iterable.values:
            if isinstance(value, ClassValue) and self.is_enum(value.cls):
                found.append(just(InstanceValue(value.cls)))
            elif isinstance(value, InstanceValue):
                function = self.method(value.cls, "__iter__")
                found.append(
                    containers.iteration_of(self._returned(function, value.cls)) if function else UNKNOWN
                )
            elif isinstance(value, Foreign):
                found.append(containers.iteration_of(just(value)))
            else:
                found.append(UNKNOWN)
        return union(found) if iterable.complete and found else union([*found, UNKNOWN])

    def _bound_with(self, source: Source, site: Site) -> Types:
        pattern = site.ancestor("as_pattern")
        if pattern is None or not pattern.named_children:
            return UNKNOWN
        target = pattern.child_by_field_name("alias")
        if target is None or (target.start_byte, target.end_byte) != (site.start, site.end):
            return UNKNOWN
        manager = self.at(source, pattern.named_children[0])
        found = []
        for value in manager.values:
            if isinstance(value, InstanceValue):
                function = self.method(value.cls, "__enter__") or self.method(value.cls, "__aenter__")
                entered = self._returned(function, value.cls) if function is not None else UNKNOWN
                found.append(
                    containers.elements_of(entered, ("Awaitable",), 0) if _awaitable(entered) else entered
                )
            elif isinstance(value, Foreign) and value.name in ("contextmanager", "Generator", "Iterator"):
                found.append(value.elements[0] if value.elements else UNKNOWN)
            else:
                found.append(UNKNOWN)
        return union(found) if manager.complete and found else union([*found, UNKNOWN])

    def _bound_except(self, source: Source, site: Site) -> Types:
        pattern = site.ancestor("as_pattern")
        if pattern is None or not pattern.named_children:
            return UNKNOWN
        caught = self.at(source, pattern.named_children[0])
        found: list[Types] = []
        for value in caught.values:
            inner = value.elements if isinstance(value, Foreign) and value.name == "tuple" else (just(value),)
            found.extend(instances(each) for each in inner)
        return union(found) if caught.complete else union([*found, UNKNOWN])

    def _bound_capture(self, source: Source, site: Site) -> Types:
        """`case C() as name`; a bare capture is the subject, narrowed by nothing."""
        above = site.path[-2][0]
        if above.type == "as_pattern" and above.named_children:
            pattern = above.named_children[0]
            while pattern.type == "case_pattern" and pattern.named_children:
                pattern = pattern.named_children[0]
            if pattern.type == "class_pattern" and pattern.named_children:
                return instances(self.dotted(source, site.scope, pattern.named_children[0]))
        return UNKNOWN

    def _bound_walrus(self, source: Source, site: Site) -> Types:
        node = site.ancestor("named_expression")
        value = node.child_by_field_name("value") if node is not None else None
        return self.at(source, value) if value is not None else UNKNOWN

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
        node = receiver_before(site.leaf)
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

    # ------------------------------------------------------------------ annotations

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
            annotation = self._annotation_of(site)
            if annotation is not None:
                return self.annotation(self.where(source, site.scope), annotation)
            if site.role is Role.PARAMETER:
                return self.binding(source, site)
        return None

    # ------------------------------------------------------------------ classes

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
            return union(self._argument_types(where, node)[1:])
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
        receiver = receiver_before(site.leaf)
        receiver = _whose_class(source, receiver) if receiver is not None else None
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

    def is_metaclass(self, cls: Class) -> bool:
        return "type" in self.builtin_bases(cls)

    # ------------------------------------------------------------------ narrowing

    def _narrowed(self, where: Where, node: Node) -> Types | None:
        """What `isinstance` tests and class patterns around the expression leave of it."""
        if where.at is not None or node.type not in ("identifier", "attribute"):
            return None
        if b"isinstance" not in where.source.bytes and b"match" not in where.source.bytes:
            return None
        text = where.read(node)
        path, _ = where.source.descend(node.start_byte)
        for index in range(len(path) - 1, 0, -1):
            above, field = path[index - 1][0], path[index][1]
            if above.type in ("function_definition", "class_definition"):
                return None
            if above.type == "case_clause" and path[index][0].type != "case_pattern":
                patterns = _matched_classes(where, path[: index - 1], above, text)
                if patterns:
                    return union(
                        instances(self.dotted(where.source, where.scope, each.named_children[0]))
                        for each in patterns
                    )
            for call in instance_tests(above, field, path[index][0]):
                arguments = positional_arguments(call)
                tested = len(arguments) == 2 and where.read(arguments[0]) == text
                if tested and not self._bound_between(where, node, call.end_byte):
                    return instances(self.evaluate(where, arguments[1]))
        return None

    def _is_narrower(self, types: Types, narrowed: Types) -> bool:
        """Is what is known without a test a subclass of all that the test allows?"""
        allowed = [value.cls for value in narrowed.values if isinstance(value, InstanceValue)]
        known = [value.cls for value in types.values if isinstance(value, InstanceValue)]
        if not (types.complete and known and len(known) == len(types.values)):
            return False
        return all(any(cls in self.order(each) for cls in allowed) for each in known)

    def _bound_between(self, where: Where, node: Node, tested: int) -> bool:
        """Is a name bound again after it was tested?"""
        name = where.read(node)
        names = where.source.names(name)
        owner = names.scope_of(where.scope, name)
        sites = names.bindings(owner, name) if owner is not None else []
        return any(tested <= site.start and site.takes_effect() <= node.start_byte for site in sites)


def _is_tested(where: Where, node: Node) -> bool:
    """Does the file ask `isinstance` about this name or attribute anywhere? Most are never asked about."""
    if where.at is not None or node.type not in ("identifier", "attribute"):
        return False
    memo, key = where.source.memo, "tested by isinstance"
    tested = memo.get(key)
    if not isinstance(tested, frozenset):
        tested = memo[key] = frozenset(_TESTED.findall(where.source.bytes))
    return where.text[node.start_byte : node.end_byte] in tested


_TESTED = re.compile(rb"\bisinstance\(\s*([\w.]+)")


def _matched_classes(
    where: Where, outside: Sequence[tuple[Node, str | None]], clause: Node, text: str
) -> list[Node]:
    """The class patterns of a case, if all it admits are such and `text` is what is matched; else none."""
    statement = next((node for node, _ in reversed(outside) if node.type == "match_statement"), None)
    subjects = statement.children_by_field_name("subject") if statement is not None else []
    patterns = [child for child in clause.named_children if child.type == "case_pattern"]
    if len(subjects) != 1 or where.read(subjects[0]) != text or len(patterns) != 1:
        return []
    return _class_patterns(patterns[0])


def _class_patterns(pattern: Node) -> list[Node]:
    inner = pattern.named_children
    if pattern.type == "class_pattern":
        return [pattern]
    if pattern.type in ("case_pattern", "as_pattern") and inner:
        return _class_patterns(inner[0])
    if pattern.type == "union_pattern":
        found = [_class_patterns(each) for each in inner]
        return [each for part in found for each in part] if all(found) else []
    return []


def _whose_class(source: Source, receiver: Node) -> Node:
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


def _is_left_to_subclasses(function: Function) -> bool:
    """Does a method do nothing but say that it is to be overridden?"""
    if any(name.startswith("abstract") for name in function.decorator_names):
        return True
    body = function.node.child_by_field_name("body")
    statements = (
        [child for child in body.named_children if child.type != "comment"] if body is not None else []
    )
    if statements and statements[0].type == "expression_statement":
        first = statements[0].named_children
        if first and first[0].type == "string":
            statements = statements[1:]
    return all(
        statement.type in ("pass_statement", "raise_statement")
        or (statement.type == "expression_statement" and statement.text == b"...")
        for statement in statements
    )


def reaching(sites: list[Site], position: int) -> list[Site]:
    """The bindings of one scope that may hold at a position of the same scope.

    The last binding before the position whose block contains the position hides the earlier ones. Later ones count
    only if a loop leads back from them.
    """
    start: Site | None = None
    for site in sites:
        if site.takes_effect() <= position and _covers(site, position):
            start = site
    if start is None:
        return sites
    found = [start]
    for site in sites:
        if site is start:
            continue
        if site.scope is not start.scope:  # by `global` or `nonlocal`, whenever that function runs
            found.append(site)
        elif site.start < start.start:
            continue
        elif site.start < position or _loop_around(site, position, start):
            found.append(site)
    return found


def _covers(site: Site, position: int) -> bool:
    """Does control pass the binding on every way to the position, as far as blocks tell?"""
    if site.role is Role.PARAMETER:
        return True
    for node, _ in reversed(site.path[:-1]):
        if node.type in ("block", "module"):
            return node.start_byte <= position <= node.end_byte
        if node.type in ("for_statement", "except_clause") and site.role in (Role.FOR, Role.EXCEPT):
            return node.start_byte <= position <= node.end_byte
        if node.type in ("boolean_operator", "conditional_expression", "case_clause"):
            return node.start_byte <= position <= node.end_byte
    return True


def _loop_around(site: Site, position: int, start: Site) -> bool:
    for node, _ in site.path:
        if node.type in ("for_statement", "while_statement") and node.start_byte <= position < node.end_byte:
            return not node.start_byte <= start.start < node.end_byte
    return False


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


def positional_arguments(call: Node) -> list[Node]:
    """The arguments of a call that are neither keywords nor unpacked."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    skipped = ("keyword_argument", "comment", "list_splat", "dictionary_splat")
    return [child for child in arguments.named_children if child.type not in skipped]


def type_comment(source: Source, statement: Node) -> str | None:
    """The text of a `# type:` comment at the end of a statement's line (PEP 484)."""
    end = source.bytes.find(b"\n", statement.end_byte)
    rest = source.bytes[statement.end_byte : end if end >= 0 else None]
    found = _TYPE_COMMENT.match(rest)
    return found.group(1).decode("utf-8", "replace") if found is not None else None


def _awaitable(types: Types) -> bool:
    return any(isinstance(value, Foreign) and value.name == "Awaitable" for value in types.values)


@lru_cache(maxsize=4096)
def _write_pattern(name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    after = rb"\s*(?:=(?!=)|[:,)\]]|in\b|[-+*/%&|^@<>]{1,3}=)"
    return re.compile(word + rb"(?![\w\x80-\xff])(?<=\." + word + rb")" + after)


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


_TYPE_COMMENT = re.compile(rb"[ \t]*#[ \t]*type:[ \t]*(?![ \t]|ignore\b)([^#\r\n]+)")
_TRANSPARENT = frozenset(
    {
        "property",
        "cached_property",
        "classmethod",
        "staticmethod",
        "abstractmethod",
        "override",
        "final",
        "lru_cache",
        "cache",
        "abstractproperty",
        "callback",
    }
)
_RECORD_METHODS = frozenset(
    {"_replace", "__replace__", "__copy__", "model_copy", "_make", "get", "pop", "setdefault"}
)
_ENUMS = frozenset({"Enum", "IntEnum", "Flag", "IntFlag", "StrEnum"})
_ENUM_MEMBERS = frozenset({Role.ASSIGN, Role.STRING})
"""How a member of an enum is declared: in the class body, or in the strings of a call of `Enum`."""
_SPECIAL_BASES = frozenset({"NamedTuple", "TypedDict", "Protocol", "Generic", "object"})

_Expression = Callable[[Evaluator, Where, Node], Types]
_EXPRESSIONS: dict[str, _Expression] = {
    "identifier": Evaluator._name,
    "attribute": Evaluator._attribute,
    "call": Evaluator._call,
    "await": Evaluator._await,
    "subscript": Evaluator._subscript,
    "conditional_expression": Evaluator._either,
    "boolean_operator": Evaluator._either,
    "parenthesized_expression": Evaluator._inner,
    "named_expression": Evaluator._walrus,
    "binary_operator": Evaluator._operator,
    "unary_operator": Evaluator._operator,
    "list": Evaluator._display,
    "set": Evaluator._display,
    "tuple": Evaluator._display,
    "expression_list": Evaluator._display,
    "dictionary": Evaluator._display,
    "list_comprehension": Evaluator._comprehension,
    "set_comprehension": Evaluator._comprehension,
    "dictionary_comprehension": Evaluator._comprehension,
    "generator_expression": Evaluator._comprehension,
}
_Binding = Callable[[Evaluator, Source, Site], Types]
_BINDINGS: dict[Role, _Binding] = {
    Role.CLASS: Evaluator._bound_class,
    Role.FUNCTION: Evaluator._bound_function,
    Role.IMPORT_NAME: Evaluator._bound_import,
    Role.IMPORT_ALIAS: Evaluator._bound_import,
    Role.IMPORT_MODULE: Evaluator._bound_import,
    Role.ASSIGN: Evaluator._bound_assignment,
    Role.ANNOTATE: Evaluator._bound_assignment,
    Role.ATTRIBUTE: Evaluator._bound_assignment,
    Role.AUGMENT: Evaluator._nothing,
    Role.DELETE: Evaluator._nothing,
    Role.PARAMETER: Evaluator._bound_parameter,
    Role.FOR: Evaluator._bound_for,
    Role.WITH: Evaluator._bound_with,
    Role.EXCEPT: Evaluator._bound_except,
    Role.CAPTURE: Evaluator._bound_capture,
    Role.WALRUS: Evaluator._bound_walrus,
}
