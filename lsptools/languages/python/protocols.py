"""Classes that stand for another one without naming it as a base: structural protocols, and `ABC.register`.

    class Shape(Protocol):
        def area(self) -> float: ...

    class Square:                       # names no base, and is a `Shape` all the same
        def area(self) -> float: ...

    def total(shapes: list[Shape]) -> float: ...

    total([Square()])                   # here it is seen

A function stands for a protocol with `__call__` in the same way. Their parameters are one name, too.

Two members are one name where a class has all members of the protocol and an instance of it is seen to come to where the protocol
is declared: as an argument, an assigned value, a returned one. Where what comes there is not known, every class that has all
members may come.

Where it stops: values that pass through names without a declaration on the way, and registrations that are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    class_of,
    function_of,
    positional_arguments,
)
from lsptools.languages.python.closure import NOT_POLYMORPHIC, Groups, class_at, definers
from lsptools.languages.python.facts import Definer, definer_of, kind_of_class
from lsptools.languages.python.meaning import Meanings, Root, member_root, parameter_root
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import (
    ClassValue,
    Foreign,
    FunctionValue,
    InstanceValue,
    Types,
)
from lsptools.syntax.tree import Node

SourcesWith = Callable[[str], Iterable[Source]]


@dataclass(slots=True)
class Standing:
    """Members of classes that stand for a class without being below it."""

    joined: list[tuple[Root, Root]] = field(default_factory=list)
    """Seen to: one name."""
    possible: dict[Root, str] = field(default_factory=dict)
    """May be: the member of the protocol or of the class, and why."""


def standing_for(
    meanings: Meanings,
    sources_with: SourcesWith,
    definers: list[Definer],
    class_at: Callable[[Root], Class | None],
    family: frozenset[Root],
) -> Standing:
    """Which of the classes that define a name stand for others, as far as the family is concerned."""
    found = Standing()
    for general in definers:
        cls = class_at(general.root) if general.kind else None
        if cls is None:
            continue
        others = [each for each in definers if general.root not in each.lineage]
        if general.root not in family:
            others = [each for each in others if each.root in family]
        _compare(meanings, sources_with, general, cls, others, class_at, family, found)
    return found


class StandingParameters:
    """The parameters that protocols make interchangeable, for one search; what comes to a protocol is looked for once."""

    def __init__(self, meanings: Meanings, sources_with: SourcesWith) -> None:
        self.meanings = meanings
        self.sources_with = sources_with
        self.possible: dict[Root, str] = {}
        """Parameters that may be, and why: of methods that were asked about."""
        self._done: set[tuple[str, Root]] = set()
        """(parameter, method) whose counterparts were handed out already, all at once."""
        self._protocols: dict[str, bool] = {}
        """Is a method of this name one of a protocol?"""
        self._callbacks: dict[str, list[tuple[Function, set[Function]]]] = {}
        """By parameter: the `__call__` of each protocol that takes it, and the functions that come to the protocol."""

    def joined(self, function: Function, name: str) -> list[Root]:
        """The parameters `name` of what stands for a function, or of that for which it stands, seen by themselves."""
        found = [*self._methods(function, name), *self._called(function, name)]
        return [parameter_root(other, name) for other in found if other.parameter(name) is not None]

    def _methods(self, function: Function, name: str) -> Iterator[Function]:
        method = function.name
        if not function.in_class or method in NOT_POLYMORPHIC or not self._is_of_protocol(method):
            return
        own = class_in(function.source, function.outer)
        root = member_root(own, own.spelled(method))
        if (name, root) in self._done:
            return
        classes = list(definers(self.meanings.evaluator, self.sources_with(method), method))
        family, possible = self._family(classes, method, root)
        self._done.update((name, member) for member in family)
        for cls in classes:
            member = member_root(cls, cls.spelled(method))
            for site in cls.body_sites(method):
                if site.role is not Role.FUNCTION:
                    continue
                other = function_of(cls.source, site.path[-2][0])
                if member in family:
                    yield other
                elif member in possible and other.parameter(name) is not None:
                    self.possible[parameter_root(other, name)] = possible[member]

    def _is_of_protocol(self, method: str) -> bool:
        if method not in self._protocols:
            sources = [source for source in self.sources_with(method) if b"Protocol" in source.bytes]
            classes = definers(self.meanings.evaluator, sources, method)
            self._protocols[method] = any(kind_of_class(cls) == "protocol" for cls in classes)
        return self._protocols[method]

    def _family(
        self, classes: list[Class], method: str, root: Root
    ) -> tuple[frozenset[Root], dict[Root, str]]:
        """The members that are one with `root`, and those that may be."""
        defining = [definer_of(self.meanings, cls, method) for cls in classes]
        groups = Groups()
        for each in defining:
            groups.join((each.root, *each.overridden))
        while True:
            family = groups.members(root)
            standing = standing_for(
                self.meanings,
                self.sources_with,
                defining,
                lambda each: class_at(self.meanings.project, each),
                family,
            )
            for pair in standing.joined:
                groups.join(pair)
            if groups.members(root) == family:
                return family, standing.possible

    def _called(self, function: Function, name: str) -> Iterator[Function]:
        """The functions that stand for a protocol's `__call__`, or the `__call__` for which a function stands."""
        if function.node.type == "lambda":
            return  # without a name it is not worth a search
        if name not in self._callbacks:
            self._callbacks[name] = list(self._callbacks_with(name))
        for call, functions in self._callbacks[name]:
            if call is function:
                yield from functions
            elif function in functions:
                yield call

    def _callbacks_with(self, name: str) -> Iterator[tuple[Function, set[Function]]]:
        for source in self.sources_with("__call__"):
            if b"Protocol" not in source.bytes or not source.has(name):
                continue
            for cls in definers(self.meanings.evaluator, [source], "__call__"):
                call = cls.own_function("__call__")
                if call is None or call.parameter(name) is None or kind_of_class(cls) != "protocol":
                    continue
                coming = _Coming(self.meanings, self.sources_with)
                coming.declared(cls)
                yield call, coming.functions


def _compare(
    meanings: Meanings,
    sources_with: SourcesWith,
    general: Definer,
    cls: Class,
    others: list[Definer],
    class_at: Callable[[Root], Class | None],
    family: frozenset[Root],
    found: Standing,
) -> None:
    if not others:
        return
    coming = _Coming(meanings, sources_with)
    if general.kind == "protocol":
        coming.declared(cls)
    coming.registered(cls)
    for other in others:
        implementing = class_at(other.root)
        if implementing is None:
            continue
        seen = any(implementing in meanings.evaluator.order(each) for each in coming.classes)
        if seen:
            found.joined.append((general.root, other.root))
        elif general.kind == "protocol" and coming.unknown and _has_all(meanings, cls, implementing):
            says = f"`{implementing.name}` has all members of the protocol `{cls.name}`; {coming.unknown}"
            found.possible.update({root: says for root in (general.root, other.root) if root not in family})


def _has_all(meanings: Meanings, protocol: Class, cls: Class) -> bool:
    """Has a class every member that a protocol and the protocols above it declare?"""
    evaluator = meanings.evaluator
    if evaluator.unknown_bases(cls):
        return True
    return all(evaluator.lookup(cls, name) for name in _declared_names(meanings, protocol))


def _declared_names(meanings: Meanings, protocol: Class) -> Iterator[str]:
    for cls in meanings.evaluator.order(protocol):
        if cls.source.external:
            continue
        body = cls.node.child_by_field_name("body")
        for statement in body.named_children if body is not None else ():
            if statement.type == "decorated_definition":
                statement = statement.child_by_field_name("definition") or statement
            name = statement.child_by_field_name("name")
            if statement.type == "function_definition" and name is not None:
                yield cls.source.text(name)
            elif statement.type == "expression_statement" and statement.named_children:
                target = statement.named_children[0].child_by_field_name("left")
                if target is not None and target.type == "identifier":
                    yield cls.source.text(target)


class _Coming:
    """The classes whose instances, and the functions that, come to where a class is declared."""

    def __init__(self, meanings: Meanings, sources_with: SourcesWith) -> None:
        self.meanings = meanings
        self.evaluator = meanings.evaluator
        self.sources_with = sources_with
        self.classes: set[Class] = set()
        self.functions: set[Function] = set()
        self._declared: set[Class] = set()
        self.unknown = ""
        """Where something comes that is not known."""

    # ------------------------------------------------------------------ declarations

    def declared(self, cls: Class) -> None:
        """Look at every annotation that names the class, or one below it."""
        if cls in self._declared:
            return
        self._declared.add(cls)
        for source in self.sources_with(cls.name):
            for site in source.sites(cls.name):
                if site.role not in (Role.READ, Role.ATTRIBUTE, Role.STRING):
                    continue
                above = [node for node, _ in site.path]
                index = next((i for i in range(len(above) - 1, -1, -1) if above[i].type in _DECLARING), None)
                if index is None or index + 1 >= len(above):
                    continue
                if above[index].type == "class_definition":
                    self._below(cls, class_of(source, above[index]))
                elif above[index + 1].type == "type":
                    self._annotated(source, site, above[index], above[index + 1])

    def _below(self, cls: Class, other: Class) -> None:
        if other is not cls and cls in self.evaluator.order(other):
            self.declared(other)

    def _annotated(self, source: Source, site: Site, above: Node, node: Node) -> None:
        if above.type in ("typed_parameter", "typed_default_parameter"):
            self._parameter(source, site, above)
        elif above.type == "assignment":
            self._assigned(source, site, above)
        elif above.child_by_field_name("return_type") == node:
            self._returned(source, above)

    def _assigned(self, source: Source, site: Site, statement: Node) -> None:
        value, target = statement.child_by_field_name("right"), statement.child_by_field_name("left")
        if value is not None:
            self._comes(source, value)
        if site.scope.kind == "class" and target is not None:
            cls = class_in(source, site.scope)
            if self.meanings.makes_constructor(cls):
                self._field(cls, source.text(target))

    def _returned(self, source: Source, node: Node) -> None:
        body = node.child_by_field_name("body")
        stack = [body] if body is not None else []
        while stack:
            each = stack.pop()
            if each.type == "return_statement" and each.named_children:
                self._comes(source, each.named_children[0])
            if each.type not in ("function_definition", "class_definition", "lambda"):
                stack.extend(each.named_children)

    def _parameter(self, source: Source, site: Site, node: Node) -> None:
        path = [each for each, _ in site.path]
        definition = next(each for each in reversed(path) if each.type == "function_definition")
        function = function_of(source, definition)
        parameter = next(
            (p for p in function.parameters if node.start_byte <= p.node.start_byte < node.end_byte), None
        )
        if parameter is None:
            return
        if parameter.default is not None:
            self._comes(source, parameter.default)
        skip = 1 if function.in_class and not function.is_static else 0
        at = function.parameters.index(parameter) - skip
        takes = at if parameter.kind in ("positional", "either") else None
        self._calls(function, parameter.name, takes, rest=parameter.kind == "args")

    def _field(self, cls: Class, name: str) -> None:
        for source, call in self._calls_of(cls.name):
            callee = call.child_by_field_name("function")
            values = self.evaluator.at(source, callee).values if callee is not None else ()
            if any(
                isinstance(value, ClassValue) and cls in self.evaluator.order(value.cls) for value in values
            ):
                self._argument(source, call, name, None)
                for argument in positional_arguments(call):
                    self._comes(source, argument)

    # ------------------------------------------------------------------ calls

    def _calls(self, function: Function, name: str, position: int | None, *, rest: bool) -> None:
        constructs = function.in_class and function.name in ("__init__", "__new__")
        word = class_in(function.source, function.outer).name if constructs else function.name
        for source, call in self._calls_of(word):
            callee = call.child_by_field_name("function")
            types = self.evaluator.at(source, callee) if callee is not None else None
            if types is None or not any(self._runs(value, function) for value in types.values):
                continue
            self._argument(source, call, name, position)
            if rest:
                for argument in positional_arguments(call):
                    self._comes(source, argument)

    def _calls_of(self, word: str) -> Iterator[tuple[Source, Node]]:
        for source in self.sources_with(word):
            for site in source.sites(word):
                at = -1 if site.role is Role.READ else -2 if site.role is Role.ATTRIBUTE else 0
                if at and len(site.path) > 1 - at and site.path[at][1] == "function":
                    yield source, site.path[at - 1][0]

    def _runs(self, value: object, function: Function) -> bool:
        if isinstance(value, FunctionValue):
            return value.function is function
        if isinstance(value, ClassValue):
            return function in self.meanings.constructors(value.cls)
        return False

    def _argument(self, source: Source, call: Node, name: str, position: int | None) -> None:
        arguments = positional_arguments(call)
        if position is not None and position < len(arguments):
            self._comes(source, arguments[position])
        inside = call.child_by_field_name("arguments")
        for child in inside.named_children if inside is not None else ():
            key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if (
                child.type == "keyword_argument"
                and key is not None
                and value is not None
                and source.text(key) == name
            ):
                self._comes(source, value)

    def _comes(self, source: Source, node: Node) -> None:
        types = self.evaluator.at(source, node)
        self._take(types)
        if not self.unknown and not _is_known(types):
            at = source.document.lines.user_from_offset(source.span(node.start_byte, node.end_byte).start)
            self.unknown = f"what comes to it at {source.path}:{at} is not known"

    def _take(self, types: Types) -> None:
        for value in types.values:
            if isinstance(value, (InstanceValue, ClassValue)):
                self.classes.add(value.cls)
            elif isinstance(value, FunctionValue):
                self.functions.add(value.function)
            elif isinstance(value, Foreign):
                for element in value.elements:
                    self._take(element)

    # ------------------------------------------------------------------ registration

    def registered(self, cls: Class) -> None:
        """`Base.register(Class)`, as a call or as a decorator."""
        for source in self.sources_with(cls.name):
            if b"register" not in source.bytes:
                continue
            for site in source.sites("register"):
                if site.role is Role.ATTRIBUTE and self._registers(source, site, cls):
                    self._take_registered(source, site)

    def _registers(self, source: Source, site: Site, cls: Class) -> bool:
        values = self.evaluator.receiver(source, site).values
        return any(isinstance(value, ClassValue) and value.cls is cls for value in values)

    def _take_registered(self, source: Source, site: Site) -> None:
        above = site.path[-3][0] if len(site.path) > 2 else None
        if above is not None and above.type == "call":
            for argument in positional_arguments(above)[:1]:
                self._take(self.evaluator.at(source, argument))
        statement = site.ancestor("decorated_definition")
        definition = statement.child_by_field_name("definition") if statement is not None else None
        if above is not None and above.type == "decorator" and definition is not None:
            scope = source.scope_inside(definition)
            if definition.type == "class_definition":
                self.classes.add(class_in(source, scope))


_DECLARING = frozenset(
    {"typed_parameter", "typed_default_parameter", "assignment", "function_definition", "class_definition"}
)
"""What an annotation belongs to, or bases."""


def _is_known(types: Types) -> bool:
    return types.complete and all(
        _is_known(element)
        for value in types.values
        if isinstance(value, Foreign)
        for element in value.elements
    )
