"""All uses of one callable: its calls, by whatever name and through whatever class, and where it is handed on.

A function is found by the occurrences of its name. A constructor is called without being named: by the name of its class and
of each subclass that has no constructor of its own, by `cls(…)`, `type(self)(…)` and `self.__class__(…)`, and by
`super().__init__(…)`; all of these are looked for in the files that name one of these classes or define one of its bases.

Where it stops: a class that is called in a file which does not name it (`registry["shape"](1)`) is not seen there; where the
class was put into the registry is a use of the kind `VALUE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from lsptools.errors import BadRequest
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Symbol
from lsptools.languages.python import closure
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.classes import Class, Function, class_in, class_of, function_of
from lsptools.languages.python.meaning import Root, by_place, member_root
from lsptools.languages.python.references import KEPT_BYTES, Finder, Keep, Target
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.uses import CALL, TEXT, VALUE, Use, classified, is_partial_method
from lsptools.languages.python.values import ClassValue, FunctionValue, InstanceValue, SuperValue
from lsptools.syntax.tree import Node
from lsptools.text.lines import Offset

CONSTRUCTORS = ("__init__", "__new__")
_DEFINING = frozenset({Role.FUNCTION, Role.IMPORT_NAME, Role.DELETE})
_BOUND = (Evidence.CERTAIN, Evidence.LIKELY, Evidence.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Callee:
    """What is called: a function with its overrides, overloads and twins, or a constructor."""

    symbol: Symbol
    target: Target
    functions: tuple[Function, ...]
    """The `def` statements that a call may reach; none for a constructor that is made from fields or inherited from outside."""
    cls: Class | None = None
    """For a constructor: the class that defines it."""
    parameter: str = ""
    """The parameter that was asked for, if one was."""
    external: tuple[Root, ...] = ()
    """Declarations of the family that are not ours."""
    others: tuple[Symbol, ...] = ()
    """Declarations of the family that are no `def`: an assignment, another import."""

    @property
    def main(self) -> Function | None:
        """The `def` that stands for all: no overload, no stub, and the one that was asked for where it is among them."""
        asked = [each for each in self.functions if each.source.path == self.symbol.path] or self.functions
        plain = [each for each in asked if not each.is_overload and not each.source.is_stub]
        at = self.target.site.start
        around = [each for each in plain if each.start <= at < each.end]
        return next(iter([*around, *plain, *asked]), None)


@dataclass(slots=True)
class Uses:
    """All uses of a callable, sorted by place, and whether that is all."""

    uses: tuple[Use, ...]
    references: tuple[References, ...]
    """The searches they come from: of the name, of aliases, of the classes that a constructor makes."""
    classes: tuple[Class, ...] = ()
    """The classes whose call reaches the constructor."""

    @property
    def complete(self) -> bool:
        return all(each.complete for each in self.references)

    @property
    def incomplete_because(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(why for each in self.references for why in each.incomplete_because))


# ---------------------------------------------------------------------------------------------------- what is called


def callee_at(finder: Finder, at: FilePosition) -> Callee:
    """What is called by the name at a place; a parameter stands for its function.

    Raises `BadRequest` as `Finder.target` does, and `not_a_symbol` for what is neither function nor class.
    """
    target = finder.target(at)
    parameter = ""
    for root in target.roots:
        function = closure.function_at(finder.project, root)
        if function is not None and closure.is_parameter(finder.project, root):
            if function.node.type == "lambda":
                raise BadRequest("not_a_symbol", "a lambda has no name to call it by")
            parameter, target = target.name, finder.target(position_of(function))
            break
    return replace(_callee(finder, target), parameter=parameter)


def _callee(finder: Finder, target: Target) -> Callee:
    functions, classes = _defined(finder, target.roots)
    symbol = finder.symbol_of(min(target.roots, key=by_place), target.name)
    if not functions and not classes:
        raise BadRequest(
            "not_a_symbol",
            f"`{target.name}` is a {symbol.kind}, not a function or class",
            hint="name a place of a function, a method, a class, or one of their parameters",
        )
    if classes:
        return _constructor(finder, target, symbol, classes[0])
    constructing = next((each for each in functions if each.in_class and each.name in CONSTRUCTORS), None)
    if constructing is not None:
        owner = class_in(constructing.source, constructing.outer)
        return Callee(symbol, target, _twins(finder, constructing), owner)
    account = finder.account(target, only_python=True)
    functions, _ = _defined(finder, account.family)
    others = tuple(
        finder.symbol_of(root, root.name)
        for root in account.family - set(account.external)
        if any(site.role not in _DEFINING for site in finder.declaring(root)[1])
    )
    return Callee(symbol, target, tuple(dict.fromkeys(functions)), external=account.external, others=others)


def _constructor(finder: Finder, target: Target, symbol: Symbol, cls: Class) -> Callee:
    found = constructor_of(finder, cls)
    if found is None:
        return Callee(symbol, target, (), cls)
    return Callee(symbol, target, _twins(finder, found), class_in(found.source, found.outer))


def constructor_of(finder: Finder, cls: Class) -> Function | None:
    """The `__init__` or else the `__new__` that a call of the class runs."""
    for name in CONSTRUCTORS:
        function = finder.evaluator.method(cls, name)
        if function is not None and class_in(function.source, function.outer).name != "object":
            return function
    return None


def _twins(finder: Finder, function: Function) -> tuple[Function, ...]:
    """The overloads, branches and stubs of a constructor; overrides are constructors of their own."""
    found = list(finder.meanings.same_functions(function))
    owner = class_in(function.source, function.outer)
    root = member_root(owner, owner.spelled(function.name))
    for twin in closure.twins(finder.project, root):
        found.extend(_defined(finder, [twin])[0])
    return tuple(dict.fromkeys(found))


def _defined(finder: Finder, roots: Iterable[Root]) -> tuple[list[Function], list[Class]]:
    """The `def` and `class` statements among the declarations."""
    functions: list[Function] = []
    classes: list[Class] = []
    for root in sorted(roots, key=by_place):
        source, sites = finder.declaring(root)
        for site in sites:
            if source is not None and site.role is Role.FUNCTION:
                functions.append(function_of(source, site.path[-2][0]))
            elif source is not None and site.role is Role.CLASS:
                classes.append(class_of(source, site.path[-2][0]))
    return functions, classes


def classes_of(finder: Finder, target: Target) -> list[Class]:
    """The classes that the target's declarations are; `BadRequest` (`not_a_symbol`) if it is none."""
    _, found = _defined(finder, target.roots)
    if not found:
        raise BadRequest(
            "not_a_symbol", f"`{target.name}` is no class", hint="name a place of a class, or of its name"
        )
    return found


def position_of(definition: Class | Function) -> FilePosition:
    """The place of a definition's name."""
    return FilePosition(definition.source.path, definition.name_span.start)


# ---------------------------------------------------------------------------------------------------- its uses


def uses_of(finder: Finder, callee: Callee, *, only_python: bool = False) -> Uses:
    """Every use of a callable; `only_python` leaves out other files, where nothing is known for certain."""
    search = _Search(finder, callee, only_python)
    return search.constructor() if callee.cls is not None else search.function()


@dataclass(slots=True)
class _Search:
    finder: Finder
    callee: Callee
    only_python: bool
    found: dict[tuple[str, Offset], Use] = field(default_factory=dict)
    references: list[References] = field(default_factory=list)
    _named: set[tuple[str, int]] = field(default_factory=set)

    def function(self) -> Uses:
        self._of_name(self.callee.target, is_class=False, via="")
        return self._done(())

    def constructor(self) -> Uses:
        cls = self.callee.cls
        assert cls is not None, "the caller asked"
        classes = self._reaching(cls)
        paths = {each.path for found in self.references for each in found.occurrences if _is_bound(each)}
        paths |= {ancestor.source.path for each in classes for ancestor in self.finder.evaluator.order(each)}
        keep = Keep(KEPT_BYTES)
        for path in sorted(paths):
            source = self.finder.project.source(path) if path.endswith(PYTHON_SUFFIXES) else None
            if source is not None and not source.external:
                self._unnamed_calls(source, classes)
                for function in self.callee.functions[:1]:
                    self._explicit_calls(source, cls, function.name)
                keep.add(source)
        return self._done(classes)

    def _done(self, classes: tuple[Class, ...]) -> Uses:
        ordered = sorted(self.found.values(), key=lambda use: (use.path, use.span))
        return Uses(tuple(ordered), tuple(self.references), classes)

    # ------------------------------------------------------------------ by name

    def _of_name(self, target: Target, *, is_class: bool, via: str) -> None:
        found = self.finder.account(target, only_python=self.only_python).references
        self.references.append(found)
        keep = Keep(KEPT_BYTES)
        last = None
        for occurrence in found.occurrences:
            if occurrence.evidence not in _BOUND:
                continue
            if not occurrence.path.endswith(PYTHON_SUFFIXES):
                self._add(Use(occurrence.path, occurrence.span, occurrence.evidence, occurrence.reason, TEXT))
                continue
            source = self.finder.project.source(occurrence.path)
            if source is None:
                continue
            self._occurrence(source, occurrence, is_class=is_class, via=via)
            if source is not last:
                keep.add(source)
                last = source

    def _occurrence(self, source: Source, occurrence: Occurrence, *, is_class: bool, via: str) -> None:
        start, end = source.byte(occurrence.span.start), source.byte(occurrence.span.end)
        site = source.site_at(start, end, source.bytes[start:end].decode("utf-8", "surrogateescape"))
        if site.role is Role.IMPORT_ORIGINAL:
            self._alias(source, site, is_class=is_class)
            return
        kind, call = classified(source, site, is_class=is_class)
        if kind == TEXT and occurrence.evidence is not Evidence.POSSIBLE:
            return  # an annotation, an entry of `__all__`
        if kind:
            n_filled = 1 if is_class or is_partial_method(source, call) else self._filled(source, site)
            place = (call.start_byte, call.end_byte) if call is not None else None
            evidence, reason = occurrence.evidence, occurrence.reason
            if kind == VALUE and evidence is not Evidence.POSSIBLE:
                reason = "handed on as a value; who calls it then is not known"
            self._add(Use(occurrence.path, occurrence.span, evidence, reason, kind, place, n_filled, via))

    def _alias(self, source: Source, site: Site, *, is_class: bool) -> None:
        """`from m import f as g`: what `g` is used for in this file, and where it is imported from there."""
        statement = site.ancestor("aliased_import")
        alias = statement.child_by_field_name("alias") if statement is not None else None
        if alias is None or (source.path, alias.start_byte) in self._named:
            return
        self._named.add((source.path, alias.start_byte))
        name = source.text(alias)
        if name == source.text_of(site):
            return  # the same name, found under it
        at = FilePosition(source.path, source.span(alias.start_byte, alias.end_byte).start)
        self._of_name(self.finder.target(at), is_class=is_class, via=name)

    def _filled(self, source: Source, site: Site) -> int:
        """Is the first parameter filled by what stands before the dot?"""
        functions = self.callee.functions
        if not functions or not functions[0].in_class:
            return 0
        callee = site.path[-2][0] if site.role is Role.ATTRIBUTE else site.leaf
        for value in self.finder.evaluator.at(source, callee).values:
            if isinstance(value, FunctionValue) and value.function in functions:
                return 1 if value.bound else 0
        return 0 if site.role is Role.READ or functions[0].is_static else 1

    def _add(self, use: Use) -> None:
        self.found.setdefault((use.path, use.span.start), use)

    # ------------------------------------------------------------------ constructors

    def _reaching(self, cls: Class) -> tuple[Class, ...]:
        """The classes whose call reaches the constructor; their names are looked up on the way."""
        found: dict[Class, None] = {}
        waiting = [cls]
        while waiting:
            each = waiting.pop(0)
            if each in found or each.source.external:
                continue
            found[each] = None
            n_before = len(self.references)
            self._of_name(self.finder.target(position_of(each)), is_class=True, via="")
            for named in self.references[n_before:]:
                for below in subclasses(self.finder, named):
                    own = constructor_of(self.finder, below)
                    if own is None or own in self.callee.functions:
                        waiting.append(below)
        return tuple(found)

    def _unnamed_calls(self, source: Source, classes: tuple[Class, ...]) -> None:
        """Calls of one of the classes by something that has not its name: `cls(…)`, `type(self)(…)`."""
        for call in calls_in(source):
            function = call.child_by_field_name("function")
            if function is None or not _may_be_class(source, function):
                continue
            span = source.span(function.start_byte, function.end_byte)
            if (source.path, span.start) in self.found:
                continue
            types = self.finder.evaluator.at(source, function)
            for value in types.values:
                evidence = self._is_called(value, classes) if isinstance(value, ClassValue) else None
                if evidence is not None and isinstance(value, ClassValue):
                    text = " ".join(source.text(function).split())
                    says = f"`{text}` is class `{value.cls.name}` or one below it"
                    place = (call.start_byte, call.end_byte)
                    self._add(Use(source.path, span, evidence, says, CALL, place, 1))
                    break

    def _is_called(self, value: ClassValue, classes: tuple[Class, ...]) -> Evidence | None:
        if value.cls in classes:
            return Evidence.LIKELY
        order = self.finder.evaluator.order
        return Evidence.POSSIBLE if any(value.cls in order(each) for each in classes) else None

    def _explicit_calls(self, source: Source, cls: Class, name: str) -> None:
        """`super().__init__(…)`, `Base.__init__(self, …)`."""
        wanted = member_root(cls, name)
        for site in source.sites(name):
            if site.role is not Role.ATTRIBUTE:
                continue
            kind, call = classified(source, site, is_class=False)
            if call is None or kind != CALL:
                continue
            meaning = self.finder.meanings.of(source, site)
            if wanted not in meaning.roots:
                continue
            evidence = Evidence.CERTAIN if meaning.complete else Evidence.LIKELY
            n_filled = 0 if name == "__new__" else self._filled_before(source, site)
            place = (call.start_byte, call.end_byte)
            span = source.span(site.start, site.end)
            self._add(Use(source.path, span, evidence, meaning.says, CALL, place, n_filled))

    def _filled_before(self, source: Source, site: Site) -> int:
        values = self.finder.evaluator.receiver(source, site).values
        return 1 if any(isinstance(value, (SuperValue, InstanceValue)) for value in values) else 0


def _is_bound(occurrence: Occurrence) -> bool:
    return occurrence.evidence in (Evidence.CERTAIN, Evidence.LIKELY)


def _may_be_class(source: Source, function: Node) -> bool:
    """Could a callee be a class under another name? Names of functions and methods that are common are not asked about."""
    if function.type == "call":
        inner = function.child_by_field_name("function")
        return inner is not None and source.text(inner) == "type"
    if function.type == "attribute":
        name = function.child_by_field_name("attribute")
        return name is not None and source.text(name) == "__class__"
    return function.type == "identifier"


def calls_in(source: Source, start: int = 0, end: int | None = None) -> Iterator[Node]:
    """The calls between two bytes, in the order of the text."""
    end = len(source.bytes) if end is None else end
    waiting = [source.tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        waiting.extend(reversed(node.named_children))
        if node.type == "call" and node.start_byte >= start:
            yield node


def subclasses(finder: Finder, found: References) -> Iterator[Class]:
    """The classes among whose bases a class is named, from the occurrences of its name."""
    for each in found.occurrences:
        if not _is_bound(each) or not each.path.endswith(PYTHON_SUFFIXES):
            continue
        source = finder.project.source(each.path)
        if source is None:
            continue
        at = source.byte(each.span.start)
        path, _ = source.descend(at)
        for index, (_, in_field) in enumerate(path):
            if in_field == "superclasses" and index:
                cls = class_of(source, path[index - 1][0])
                if any(at in _named_by(base) for base in cls.base_nodes):
                    yield cls


def _named_by(base: Node) -> Iterator[int]:
    """Where the names of the classes stand that a base expression means; not those of type arguments."""
    if base.type == "call":  # `with_metaclass(Meta, Base)`
        arguments = base.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments is not None else ():
            yield from _named_by(argument)
    fields = {"attribute": "attribute", "subscript": "value"}
    inner = base.child_by_field_name(fields[base.type]) if base.type in fields else None
    if inner is not None:
        yield from _named_by(inner)
    elif base.type == "identifier":
        yield base.start_byte
