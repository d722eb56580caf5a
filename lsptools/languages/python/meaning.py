"""What one occurrence means: the declarations it is bound to, and how that is known.

A declaration is a `Root`: a variable of a scope, a member of a class, a module, a builtin. Imports that keep the name
(`from m import f`, `import f as f`) lead on to the origin; an alias under another name is a root of its own.

Invariant: roots are never guessed. What cannot be derived makes the meaning incomplete, with the reason in `unknown`.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from lsptools.languages.names import Step
from lsptools.languages.python import detours, fixtures, replaced
from lsptools.languages.python.annotations import is_unpacked
from lsptools.languages.python.bindings import parameter_type
from lsptools.languages.python.classes import (
    Class,
    Function,
    Parameter,
    class_in,
    class_of,
    definition_of_scope,
    function_in,
    function_of,
    last_name,
    positional_arguments,
)
from lsptools.languages.python.hierarchy import whose_class
from lsptools.languages.python.modules import Found, Module, Project, Variable
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.records import Record
from lsptools.languages.python.roles import BINDING, Role, receiver_before
from lsptools.languages.python.scopes import Scope, Site, Source, mangled
from lsptools.languages.python.values import (
    ClassValue,
    Foreign,
    ForeignClass,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    SuperValue,
    Types,
    Value,
)
from lsptools.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Root:
    """A declaration: what two occurrences must share to mean the same.

    `kind` is `variable` (of the scope that starts at byte `start` of `path`; -1: the module), `member` (of the class
    that starts there), `module` (`path` is its first file or its folder) or `builtin`.
    """

    kind: str
    path: str
    start: int
    name: str


def by_place(root: Root) -> tuple[str, int, str]:
    """The key by which declarations are sorted, where they are shown or an answer must not depend on chance."""
    return root.path, root.start, root.name


@dataclass(frozen=True, slots=True)
class Meaning:
    """The declarations one occurrence is bound to. Incomplete: it may be bound to others as well."""

    roots: frozenset[Root]
    says: str
    """How it is known, as a phrase."""
    complete: bool = True
    unknown: str = ""
    """Why it is incomplete."""
    steps: tuple[Step, ...] = ()
    unbound: tuple[tuple[Root, ...], ...] = ()
    """For each class of the receiver that has no such member as far as known: the member as it would be in the class and
    its ancestors. A subclass may supply it, or code outside."""
    perhaps: frozenset[Root] = frozenset()
    """Declarations that it may mean, and nothing more is known of that."""
    on_demand: bool = False
    """Does a module of the workspace make the name when it is asked for it (`__getattr__`, PEP 562)?"""

    @property
    def is_blank(self) -> bool:
        """Is nothing known at all, not even one of several alternatives?"""
        return not (self.complete or self.roots or self.says or self.unbound or self.perhaps)


NOTHING = Meaning(frozenset(), "")
MISSING = "of the workspace, in which it was not found"
"""Of an attribute of a module of ours: it may be put there at run time, or another module may stand in its place."""


@dataclass(slots=True)
class Meanings:
    """Finds meanings; caches per snapshot."""

    project: Project
    evaluator: Evaluator
    _roots: dict[Variable, Meaning] = field(default_factory=dict)
    _handed_on: dict[tuple[object, ...], tuple[Meaning, set[tuple[Class, str]]]] = field(default_factory=dict)
    """What keywords are that land in `**kwargs`, and what was looked up for it (`Evaluator.through`).

    Functions that hand them on to each other are met again and again: without this, the time would grow with each step.
    """

    # ------------------------------------------------------------------ by role

    def of(self, source: Source, site: Site) -> Meaning:
        """The meaning of an occurrence in code. Text has none (`mentions` looks at it)."""
        role = site.role
        if role is Role.ATTRIBUTE:
            return self.attribute(source, site)
        if role is Role.KEYWORD:
            return self.keyword(source, site)
        if role is Role.PATTERN_KEYWORD:
            return self._pattern_keyword(source, site)
        if role is Role.IMPORT_ORIGINAL:
            return self._import_original(source, site)
        if role is Role.MODULE_PART:
            return self._module_part(source, site)
        if role is Role.READ or role in BINDING or role in (Role.GLOBAL, Role.NONLOCAL):
            return self._name(source, site)
        return NOTHING

    def _name(self, source: Source, site: Site) -> Meaning:
        names = source.names(source.text(site.leaf))
        bound = names.scope_of(site.scope, site.spelling)
        owner = names.scope_at(site) if site.role is Role.READ else bound
        if bound is not None and bound.kind == "module" and site.role is Role.READ:
            starred = self._starred_over(source, site, names.bindings(bound, site.spelling))
            if starred is not None:
                return starred
            if owner is None:  # the module binds it further down
                return _builtin(site.spelling)
        meaning = self.in_scope(source, owner, site.spelling)
        if (
            owner is not None
            and owner.kind == "class"
            and site.role in (Role.IMPORT_NAME, Role.IMPORT_MODULE)
        ):
            return self._imported_into_class(source, site, meaning)
        return meaning

    def _imported_into_class(self, source: Source, site: Site, member: Meaning) -> Meaning:
        """An import in a class body keeps the name: the member and what is imported are one name."""
        found = self.project.imported(source, site)
        if not found:
            variable = Variable(source, site.scope, site.spelling)
            outside = frozenset({self._supplied_from_outside(source, site, variable)})
            return Meaning(member.roots | outside, member.says, steps=member.steps)
        origin = self.found(found, member.says)
        return Meaning(member.roots | origin.roots, member.says, steps=(*member.steps, *origin.steps))

    def _starred_over(self, source: Source, site: Site, bindings: list[Site]) -> Meaning | None:
        """What a star import brings under a name that the module binds too, where the import is the last to bind it."""
        at = site.start
        if site.scope.enclosing_function() is not None or site.scope.kind == "lambda":
            at = len(source.bytes)  # when the function is called, the whole module has run
        last: tuple[int, Module] | None = None
        for node, module in self.project.star_imports(source):
            if module is not None and node.end_byte <= at and self.project.exports(module, site.spelling):
                last = (node.end_byte, module)
        if last is None or any(last[0] < binding.takes_effect() <= at for binding in bindings):
            return None
        found = self.project.member(last[1], site.spelling)
        return self.found(found, "by a star import") if found else None

    def in_scope(self, source: Source, owner: Scope | None, spelling: str) -> Meaning:
        """The meaning of a name that `owner` binds; None: no scope of the file does."""
        if owner is None:
            return self._unbound(source, spelling)
        if owner.kind == "class":
            cls = class_in(source, owner)
            return self.member(cls, spelling, f"in the body of class `{cls.name}`")
        return self.variable(Variable(source, owner, spelling))

    def _unbound(self, source: Source, name: str) -> Meaning:
        found = self.project.global_variable(source, name)
        if found:
            is_submodule = isinstance(found[0], Module)
            return self.found(
                found, "bound by the import of the submodule" if is_submodule else "by a star import"
            )
        if hasattr(builtins, name):
            return _builtin(name)
        unknown = [module for _, module in self.project.star_imports(source) if module is None]
        if unknown:
            return Meaning(frozenset(), "", False, "a star import leads to a module that was not found")
        return Meaning(frozenset(), f"`{name}` is not bound in this file")

    # ------------------------------------------------------------------ variables

    def variable(self, variable: Variable) -> Meaning:
        """The meaning of a variable: where its name comes from, through imports that keep it."""
        known = self._roots.get(variable)
        if known is None:
            self._roots[variable] = Meaning(frozenset({_own_root(variable)}), "an import in a circle")
            known = self._roots[variable] = self._origins(variable)
        return known

    def _origins(self, variable: Variable) -> Meaning:
        source = variable.source
        if variable.scope.kind == "function":
            supplied = self._supplied(variable)
            if supplied is not None:
                return supplied
        roots: set[Root] = set()
        steps: list[Step] = []
        says = ""
        unknown = ""
        on_demand = False
        for site in variable.sites:
            if not self._keeps_name(source, site):
                roots.add(_own_root(variable))
                continue
            found = self.project.imported(source, site)
            if not found:
                roots.add(self._supplied_from_outside(source, site, variable))
                statement = site.ancestor("import_from_statement")
                module = self.project.module_of_import(source, statement) if statement is not None else None
                on_demand = on_demand or self._makes_names(module)
                unknown = unknown or f"imported from {self._import_text(source, site)}, which was not found"
                continue
            origin = self.found(found, "")
            roots |= origin.roots
            on_demand = on_demand or origin.on_demand
            says = says or f"imported from `{self._import_text(source, site)}`"
            steps.append(
                Step(
                    f"imported from `{self._import_text(source, site)}`",
                    source.path,
                    source.span(site.start, site.end),
                )
            )
            steps.extend(origin.steps)
        if not says:
            says = self.describe_variable(variable)
        return Meaning(frozenset(roots), says, True, unknown, tuple(steps), on_demand=on_demand)

    def _supplied(self, variable: Variable) -> Meaning | None:
        """The fixture that fills a parameter of a test or of another fixture; None: it is a variable like any other."""
        source, name = variable.source, variable.name
        if not variable.scope.name.startswith("test") and b"fixture" not in source.bytes:
            return None
        function = function_in(source, variable.scope)
        if not fixtures.requests(function, name):
            return None
        fixture = fixtures.supplier(self.evaluator, fixtures.place_of(function), name)
        if fixture is not None:
            return self.fixture(fixture)
        if not fixtures.is_of_a_plugin(function, name):
            return None
        return Meaning(frozenset({Root("builtin", "pytest", -1, name)}), "a fixture of pytest or of a plugin")

    def fixture(self, function: Function) -> Meaning:
        """What the name of a fixture is bound to: the function's own name, or a name given to it."""
        says = f"the fixture of `{function.source.path}`"
        span = function.source.span(function.name_start, function.name_start + len(function.name.encode()))
        steps = (Step(says, function.source.path, span),)
        if fixtures.given_name(function) is not None:
            name = fixtures.name_of(function)
            return Meaning(frozenset({fixture_root(function, name)}), says, steps=steps)
        if function.in_class:
            cls = class_in(function.source, function.outer)
            return Meaning(frozenset({member_root(cls, cls.spelled(function.name))}), says, steps=steps)
        bound = self.variable(Variable(function.source, function.outer, function.name))
        return Meaning(bound.roots, says, bound.complete, bound.unknown, steps)

    def _supplied_from_outside(self, source: Source, site: Site, variable: Variable) -> Root:
        """The root of an import that was not found: C code, a package that is not installed, the language itself.

        Whatever supplies the name keeps it, so the import cannot be renamed; behind `as` the name is this file's own.
        """
        if site.role is Role.IMPORT_ALIAS:
            return _own_root(variable)
        return Root("builtin", "builtins", -1, f"{self._import_text(source, site)}.{variable.plain}")

    def _keeps_name(self, source: Source, site: Site) -> bool:
        """Does this binding only hand on a name under the same spelling?"""
        if site.role in (Role.IMPORT_NAME, Role.IMPORT_MODULE):
            return True
        if site.role is not Role.IMPORT_ALIAS:
            return False
        aliased = site.leaf.parent
        original = aliased.child_by_field_name("name") if aliased is not None else None
        if original is None or site.ancestor("import_from_statement") is None:
            return False
        return source.text(original) == source.text(site.leaf)

    def _makes_names(self, module: Module | None) -> bool:
        """Has a module of ours a `__getattr__` of its own, which answers for what is not there?"""
        return module is not None and not module.external and bool(self.project.member(module, "__getattr__"))

    def _import_text(self, source: Source, site: Site) -> str:
        statement = site.ancestor("import_from_statement", "import_statement", "future_import_statement")
        if statement is None:
            return "?"
        module = statement.child_by_field_name("module_name")
        if module is not None:
            return source.text(module)
        return source.text(site.path[-2][0]) if statement.type == "import_statement" else "__future__"

    def found(self, found: Found, says: str) -> Meaning:
        """The meaning of what a name in a module leads to."""
        roots: set[Root] = set()
        on_demand = False
        steps: list[Step] = []
        for each in found:
            if isinstance(each, Module):
                roots.add(module_root(each))
                steps.append(Step(f"module `{each.name}`", each.place))
            else:
                meaning = self.variable(each)
                roots |= meaning.roots
                on_demand = on_demand or meaning.on_demand
                steps.extend(meaning.steps)
                if not meaning.steps:
                    first = each.sites[0] if each.sites else None
                    span = each.source.span(first.start, first.end) if first is not None else None
                    steps.append(Step(f"defined in `{each.source.path}`", each.source.path, span))
        return Meaning(frozenset(roots), says, steps=tuple(steps), on_demand=on_demand)

    def describe_variable(self, variable: Variable) -> str:
        """`a local of `f``, `defined in this module`, …"""
        scope = variable.scope
        if scope.kind == "module":
            return "a name of this module"
        sites = variable.sites
        if sites and all(site.role is Role.PARAMETER for site in sites[:1]):
            return f"a parameter of `{scope.name or 'lambda'}`"
        if scope.kind == "comprehension":
            return "a variable of this comprehension"
        if scope.kind == "types":
            return "a type parameter"
        return f"a local of `{scope.name or 'lambda'}`"

    # ------------------------------------------------------------------ imports

    def _import_original(self, source: Source, site: Site) -> Meaning:
        statement = site.ancestor("import_from_statement")
        module = self.project.module_of_import(source, statement) if statement is not None else None
        if module is None or statement is None:
            where = self._import_text(source, site)
            return Meaning(frozenset(), "", False, f"imported from {where}, which was not found")
        found = self.project.imported_from(source, module, source.text(site.leaf))
        if not found and self._makes_names(module):
            why = f"`{self._import_text(source, site)}` makes names on demand"
            return Meaning(frozenset(), "", False, why, on_demand=True)
        if not found:
            return Meaning(frozenset(), "", False, f"not found in `{self._import_text(source, site)}`")
        return self.found(found, f"imported from `{self._import_text(source, site)}` under another name")

    def _module_part(self, source: Source, site: Site) -> Meaning:
        dotted = self.project.dotted_up_to(source, site)
        relative = site.ancestor("relative_import")
        if relative is not None:
            prefix = source.text(relative)
            dotted = prefix[: len(prefix) - len(prefix.lstrip(". \t"))].replace(" ", "") + dotted
        module = self.project.module_named(source, dotted)
        if module is None:
            return Meaning(frozenset(), "", False, f"module `{dotted}` was not found")
        return Meaning(frozenset({module_root(module)}), f"module `{dotted}`")

    # ------------------------------------------------------------------ members

    def member(self, cls: Class, spelling: str, says: str) -> Meaning:
        """The member of a class by its name, wherever in the class's ancestry it is defined."""
        for definer in self.evaluator.order(cls):
            sites = self.evaluator.members(definer, _written(spelling, definer))
            if not sites:
                continue
            first = sites[0]
            span = definer.source.span(first.start, first.end)
            step = Step(f"`{definer.name}` defines it", definer.source.path, span)
            if definer is not cls:
                says = f"{says}, inherited from `{definer.name}`"
            return Meaning(frozenset({member_root(definer, spelling)}), says, steps=(step,))
        return self._set_by_metaclass(cls, spelling, says) or self._no_member(
            cls, _written(spelling, cls), says
        )

    def _set_by_metaclass(self, cls: Class, spelling: str, says: str) -> Meaning | None:
        """The attribute that the metaclass sets on the class, which its instances have, too."""
        setters = self.evaluator.set_by_metaclass(cls, _written(spelling, cls))
        if not setters:
            return None
        says = f"{says}, set by the metaclass `{setters[0].name}`"
        return Meaning(frozenset({member_root(setters[0], spelling)}), says)

    def _no_member(self, cls: Class, name: str, says: str) -> Meaning:
        lineage = tuple(member_root(each, each.spelled(name)) for each in self.evaluator.order(cls))
        unknown_bases = self.evaluator.unknown_bases(cls)
        if unknown_bases:
            owner, node = unknown_bases[0]
            base = owner.source.text(node)
            why = f"{says}, whose base `{base}` was not found"
            return Meaning(frozenset(), "", False, why, unbound=(lineage,))
        for builtin in self.evaluator.builtin_owners(cls, name):
            root = Root("builtin", "builtins", -1, f"{builtin}.{name}")
            return Meaning(frozenset({root}), f"{says}, inherited from the builtin `{builtin}`")
        dynamic = self.evaluator.lookup(cls, "__getattr__") or self.evaluator.lookup(cls, "__getattribute__")
        why = f"{says}, which {'computes its attributes' if dynamic else 'shows no such attribute'}"
        return Meaning(frozenset(), "", False, why, unbound=(lineage,))

    def attribute(self, source: Source, site: Site) -> Meaning:
        """The meaning of what stands behind a dot."""
        types = self.evaluator.receiver(source, site)
        return self.of_receiver(source, site, types)

    def of_receiver(self, source: Source, site: Site, types: Types) -> Meaning:
        receiver = receiver_before(site.path)
        text = _short(source.text(receiver)) if receiver is not None else "?"
        if not types.values:
            return Meaning(frozenset(), "", False, f"nothing is known of the receiver `{text}`")
        roots: set[Root] = set()
        says: list[str] = []
        steps: list[Step] = []
        unknown = "" if types.complete else f"`{text}` may be something else as well"
        unbound: list[tuple[Root, ...]] = []
        on_demand = False
        for value in types.values:
            meaning = self.on_value(value, site.spelling, text)
            roots |= meaning.roots
            steps.extend(meaning.steps)
            unbound.extend(meaning.unbound)
            if meaning.says and meaning.says not in says:
                says.append(meaning.says)
            if not meaning.complete:
                unknown = unknown or meaning.unknown
            on_demand = on_demand or meaning.on_demand
        complete = types.complete and not unknown
        return Meaning(
            frozenset(roots),
            "; ".join(says[:2]),
            complete,
            unknown,
            tuple(steps),
            tuple(unbound),
            on_demand=on_demand,
        )

    def on_value(self, value: Value, name: str, text: str) -> Meaning:
        """The meaning of `name` behind a dot after one of the values that `text` may have."""
        if isinstance(value, ModuleValue):
            return self._of_module(value.module, name, text)
        if isinstance(value, (InstanceValue, ClassValue)):
            kind = "class" if isinstance(value, ClassValue) else "instance of"
            says = f"`{text}` is {kind} `{value.cls.name}`"
            metaclass = self.evaluator.metaclass(value.cls) if isinstance(value, ClassValue) else None
            if metaclass is not None and not self.evaluator.lookup(value.cls, _written(name, value.cls)):
                return self.member(metaclass, name, f"{says} of metaclass `{metaclass.name}`")
            return self.member(value.cls, name, says)
        if isinstance(value, SuperValue):
            return self._of_super(value, name)
        if isinstance(value, FunctionValue):
            return Meaning(frozenset(), f"`{text}` is a function")
        if isinstance(value, Foreign):
            kind_name = (
                "a builtin value" if value.name == "builtin" else f"a `{value.name.partition('.')[0]}`"
            )
            return Meaning(frozenset(), f"`{text}` is {kind_name}")
        return Meaning(frozenset(), f"`{text}` is the builtin `{value.name}`")

    def _of_module(self, module: Module, name: str, text: str) -> Meaning:
        found = self.project.member(module, name)
        if found:
            return self.found(found, f"`{text}` is module `{module.name}`")
        if self._makes_names(module):
            why = f"`{text}` is module `{module.name}`, which makes names on demand"
            return Meaning(frozenset(), "", False, why, on_demand=True)
        return Meaning(
            frozenset(),
            "",
            False,
            f"`{text}` is module `{module.name}`, {MISSING if module.files and not module.external else 'in which it was not found'}",
        )

    def _of_super(self, value: SuperValue, spelling: str) -> Meaning:
        says = f"`super()` of `{value.cls.name}`"
        for ancestor in self.evaluator.order(value.cls)[1:]:
            sites = self.evaluator.members(ancestor, _written(spelling, ancestor))
            if sites:
                span = ancestor.source.span(sites[0].start, sites[0].end)
                step = Step(f"`{ancestor.name}` defines it", ancestor.source.path, span)
                return Meaning(frozenset({member_root(ancestor, spelling)}), says, steps=(step,))
        if self.evaluator.members(value.cls, _written(spelling, value.cls)):
            # A mixture: in a subclass with more bases `super()` goes on to one of those, whose member joins this one.
            root = member_root(value.cls, spelling)
            why = "what follows is decided by a subclass with more bases"
            return Meaning(frozenset({root}), says, False, why)
        return self._no_member(value.cls, _written(spelling, value.cls), says)

    # ------------------------------------------------------------------ keywords

    def keyword(self, source: Source, site: Site) -> Meaning:
        """The parameter or field that a keyword of a call fills."""
        call = site.path[-3][0].parent if len(site.path) > 2 else None
        arguments = site.path[-3][0] if len(site.path) > 2 else None
        if arguments is None or call is None:
            return NOTHING
        name = source.text(site.leaf)
        if call.type == "class_definition":
            return self._class_keyword(source, call, name)
        function = call.child_by_field_name("function")
        if call.type != "call" or function is None:
            return Meaning(frozenset(), "a keyword of no call")
        meaning = self.keyword_of(source, call, function, name, 0)
        if name.startswith("__") and any(root.name != site.spelling for root in meaning.roots):
            return Meaning(frozenset(), "a private parameter of a class has another name here")
        return detours.on_detour(self, source, site, name, meaning)

    def keyword_of(self, source: Source, call: Node, function: Node, name: str, depth: int) -> Meaning:
        text = _short(source.text(function))
        last = last_name(source, function)
        arguments = positional_arguments(call)
        if last in ("partial", "partialmethod") and arguments:
            inner = self.keyword_of(source, call, arguments[0], name, depth + 1) if depth < 3 else NOTHING
            if inner.roots or not inner.complete:
                return inner
        if last in ("replace", "evolve", "_replace", "__replace__", "copy_with"):
            field_meaning = self._replaced_field(source, function, last, arguments, name, depth)
            if field_meaning is not None:
                return field_meaning
        if last in _MOCK_CALLS or (last == "call" and _is_call_of_mock(source, text)):
            return Meaning(frozenset(), "", False, CALLED_ON_MOCK)
        callee = self.evaluator.at(source, function)
        if not callee.values and last == "__init__":
            generated = self._generated_init(source, function, name, text, depth)
            if generated is not None:
                return generated
        if not callee.values:
            return Meaning(frozenset(), "", False, f"nothing is known of the callee `{text}`")
        roots: set[Root] = set()
        perhaps: set[Root] = set()
        unbound: list[tuple[Root, ...]] = []
        says = ""
        unknown = "" if callee.complete else f"`{text}` may be something else as well"
        for value in self._with_subclasses(source, function, callee):
            meaning = self.keyword_on(value, name, text, depth)
            roots |= meaning.roots
            perhaps |= meaning.perhaps
            unbound.extend(meaning.unbound)
            says = says or meaning.says
            if not meaning.complete:
                unknown = unknown or meaning.unknown
        if last in CONDITIONS and not roots:
            unknown = unknown or "a condition of a query"
        return Meaning(
            frozenset(roots),
            says,
            not unknown,
            unknown,
            unbound=tuple(unbound),
            perhaps=frozenset(perhaps),
        )

    def _with_subclasses(self, source: Source, function: Node, callee: Types) -> Iterator[Value]:
        """The values of a callee; of `cls`, `type(self)` and `self.__class__` also the subclasses with other constructors."""
        own = whose_class(source, function)
        own_class = own.type == "identifier" and self.evaluator.self_class(
            source, source.descend(own.start_byte)[1], source.text(own)
        )
        for value in callee.values:
            yield value
            if own_class and isinstance(value, ClassValue):
                for name in _CONSTRUCTORS:
                    self.evaluator.through.add((value.cls, name))
                    yield from map(ClassValue, self.evaluator.overriders(value.cls, name))

    def _generated_init(
        self, source: Source, function: Node, name: str, text: str, depth: int
    ) -> Meaning | None:
        """`super().__init__(field=…)`, `Base.__init__(self, field=…)` of a class whose constructor is made from its fields."""
        receiver = function.child_by_field_name("object")
        for value in self.evaluator.at(source, receiver).values if receiver is not None else ():
            if isinstance(value, SuperValue):
                above = self.evaluator.order(value.cls)[1:]
                return self.constructor_keyword(above[0], name, text, depth) if above else None
            if isinstance(value, (ClassValue, InstanceValue)):
                return self.constructor_keyword(value.cls, name, text, depth)
        return None

    def keyword_on(self, value: Value, name: str, text: str, depth: int) -> Meaning:
        if isinstance(value, FunctionValue):
            meaning = self._function_keyword(value.function, name, text, depth, value.owner)
            return self._of_wrappers(value.function, name, meaning)
        if isinstance(value, ClassValue):
            return self.constructor_keyword(value.cls, name, text, depth)
        if isinstance(value, InstanceValue):
            function = self.evaluator.method(value.cls, "__call__")
            if function is not None:
                return self._function_keyword(function, name, text, depth)
            return Meaning(frozenset(), "", False, f"`{text}` is an instance that is called")
        if isinstance(value, ForeignClass):
            return Meaning(
                frozenset({Root("builtin", "builtins", -1, f"{value.name}({name})")}),
                f"`{text}` is the builtin `{value.name}`",
            )
        if isinstance(value, Foreign) and value.name != "Callable":
            return Meaning(frozenset(), f"`{text}` is a method of a builtin")
        return Meaning(frozenset(), "", False, f"nothing is known of the callee `{text}`")

    def _of_wrappers(self, function: Function, name: str, own: Meaning) -> Meaning:
        """A keyword goes to what decorators of ours put in place of the function, which hands it on to the function."""
        if not function.decorators:
            return own
        found = replaced.wrappers(self.evaluator, function)
        takers = [each for each in found if (taken := each.parameter(name)) and taken.takes_keyword]
        if not takers:
            return own
        roots = frozenset(parameter_root(each, name) for each in takers)
        says = f"a decorator of `{function.name}` puts `{takers[0].name}` in its place, which takes it"
        return Meaning(roots | own.roots, says, steps=own.steps)

    def constructor_keyword(self, cls: Class, name: str, text: str, depth: int) -> Meaning:
        """A keyword of a call of a class: a parameter of its constructor, or a field."""
        for ancestor in self.evaluator.order(cls):
            if self.makes_constructor(ancestor) and not ancestor.own_function("__init__"):
                field_sites = self.evaluator.lookup(cls, name)
                if field_sites is not None:
                    root = member_root(field_sites[0], name)
                    return Meaning(frozenset({root}), f"`{text}` is class `{cls.name}`, whose field it is")
            if any(map(ancestor.own_function, _CONSTRUCTORS)) and ancestor.name not in _ROOT_CLASSES:
                break
        constructors = self.constructors(cls)
        if constructors:
            return self._any_keyword(constructors, name, text, depth, cls)
        if self.evaluator.missing_bases(cls):
            field_sites = self.evaluator.lookup(cls, name)
            if field_sites is not None and field_sites[1][0].role in (Role.ANNOTATE, Role.ASSIGN):
                root = member_root(field_sites[0], name)
                why = f"the constructor of `{cls.name}` comes from a base that was not found"
                return Meaning(frozenset({root}), f"a field of `{cls.name}`", False, why)
            return Meaning(frozenset(), "", False, f"`{cls.name}` has a base that was not found")
        return Meaning(frozenset(), f"the constructor of `{cls.name}` has no such parameter")

    def constructors(self, cls: Class) -> list[Function]:
        """What a call of the class hands its arguments to: `__init__` and `__new__`, else the metaclass's `__call__`."""
        found = []
        for name in _CONSTRUCTORS:
            for ancestor in self.evaluator.order(cls):
                function = ancestor.own_function(name)
                if function is not None and ancestor.name not in _ROOT_CLASSES:
                    found.append(function)
                    break
        metaclass = self.evaluator.metaclass(cls) if not found else None
        called = self.evaluator.method(metaclass, "__call__") if metaclass is not None else None
        return [called] if called is not None else found

    def _any_keyword(
        self, functions: list[Function], name: str, text: str, depth: int, start: Class | None = None
    ) -> Meaning:
        """A keyword that each of several functions gets: it is one name in those that have such a parameter."""
        meanings = [self._function_keyword(function, name, text, depth, start) for function in functions]
        taken = [meaning for meaning in meanings if meaning.roots]
        if len(taken) < 2:
            return taken[0] if taken else meanings[0]
        first = taken[0]
        roots = frozenset[Root]().union(*(meaning.roots for meaning in taken))
        unknown = next((meaning.unknown for meaning in taken if not meaning.complete), "")
        return Meaning(roots, first.says, not unknown, unknown, first.steps)

    def makes_constructor(self, cls: Class) -> bool:
        """Are the annotated names of this class's body parameters of a generated constructor?"""
        if isinstance(cls, Record):
            return not cls.is_enum
        if any(name in _DATACLASS_DECORATORS for name in cls.decorator_names):
            return True
        bases = {last_name(cls.source, _unsubscripted(node)) for node in cls.base_nodes}
        return bool(bases & _RECORD_BASES)

    def _class_keyword(self, source: Source, node: Node, name: str) -> Meaning:
        """A keyword of a `class` statement goes to `__init_subclass__` of a base or to the metaclass."""
        cls = class_of(source, node)
        if name in ("metaclass", "total"):
            return Meaning(frozenset(), "a keyword of the class statement")
        for ancestor in self.evaluator.order(cls)[1:]:
            function = ancestor.own_function("__init_subclass__")
            if function is not None:
                return self._function_keyword(function, name, f"class {cls.name}", 0)
        metaclass = self.evaluator.metaclass(cls)
        methods = ("__new__", "__init__", "__prepare__") if metaclass is not None else ()
        found = [self.evaluator.method(metaclass, method) for method in methods if metaclass is not None]
        takers = [
            function for function in found if function is not None and function.parameter(name) is not None
        ]
        if takers:
            return self._any_keyword(takers, name, f"class {cls.name}", 0)
        return Meaning(frozenset(), "", False, "a keyword of the class statement")

    def _function_keyword(
        self, function: Function, name: str, text: str, depth: int, start: Class | None = None
    ) -> Meaning:
        """What a keyword of a call of a function is; `start` is the class through which a method is called."""
        parameter = function.parameter(name)
        if parameter is not None and parameter.takes_keyword:
            root = parameter_root(function, name)
            span = function.source.span(parameter.node.start_byte, parameter.node.end_byte)
            step = Step(f"a parameter of `{function.name}`", function.source.path, span)
            return Meaning(frozenset({root}), f"`{text}` takes it as a parameter", steps=(step,))
        overloads = self._overloads_with(function, name)
        if overloads is not None:
            return Meaning(frozenset({parameter_root(overloads, name)}), f"`{text}` takes it in an overload")
        rest = next((p for p in function.parameters if p.kind == "kwargs"), None)
        if rest is None:
            return Meaning(frozenset(), f"`{text}` has no such parameter")
        declared = self._unpacked_key(function, rest, name)
        if declared is not None:
            return declared
        key = (self.evaluator.n_forgotten, function, name, text, depth, start)
        known = self._handed_on.get(key)
        if known is None:
            outer, self.evaluator.through = self.evaluator.through, set()
            meaning = self._forwarded(function, rest.name, name, text, depth, start)
            known = self._handed_on[key] = (meaning, self.evaluator.through)
            self.evaluator.through = outer
        self.evaluator.through |= known[1]
        return known[0]

    def _unpacked_key(self, function: Function, rest: Parameter, name: str) -> Meaning | None:
        """`**options: Unpack[Options]` takes the keys of a `TypedDict` as keywords."""
        if rest.annotation is None or not is_unpacked(function.source, rest.annotation):
            return None
        for value in parameter_type(self.evaluator, function, rest).values:
            found = self.evaluator.lookup(value.cls, name) if isinstance(value, InstanceValue) else None
            if found is not None:
                says = f"a key of `{found[0].name}`, which `{function.name}` takes as keywords"
                return Meaning(frozenset({member_root(found[0], name)}), says)
        return None

    def _overloads_with(self, function: Function, name: str) -> Function | None:
        for other in self.same_functions(function):
            parameter = other.parameter(name)
            if parameter is not None and parameter.takes_keyword:
                return other
        return None

    def callable_functions(self, value: Value) -> list[tuple[Function, int]]:
        """The functions that calling a value runs, each with how many of its parameters are filled already."""
        if isinstance(value, FunctionValue):
            return [(value.function, 1 if value.bound else 0)]
        if isinstance(value, ClassValue):
            function = self.evaluator.method(value.cls, "__init__") or self.evaluator.method(
                value.cls, "__new__"
            )
            return [(function, 1)] if function is not None else []
        if isinstance(value, InstanceValue):
            function = self.evaluator.method(value.cls, "__call__")
            return [(function, 1)] if function is not None else []
        return []

    def same_functions(self, function: Function) -> list[Function]:
        """The `def` statements of one name in one scope: overloads, branches."""
        sites = function.source.names(function.name).bindings(
            function.outer, mangled(function.name, function.outer)
        )
        return [
            function_of(function.source, site.path[-2][0]) for site in sites if site.role is Role.FUNCTION
        ]

    def _forwarded(
        self, function: Function, rest: str, name: str, text: str, depth: int, start: Class | None
    ) -> Meaning:
        """A keyword that lands in `**kwargs`: follow it where the function hands it on."""
        if depth > 3:
            return Meaning(frozenset(), "", False, f"it lands in `**{rest}` of `{function.name}`")
        source = function.source
        roots: set[Root] = set()
        unbound: list[tuple[Root, ...]] = []
        unknown = ""
        says = ""
        for node in _splat_calls(source, function, rest):
            callee = node.child_by_field_name("function")
            if callee is None:
                continue
            meaning = self._above(function, callee, start, name, text, depth + 1)
            meaning = meaning or self.keyword_of(source, node, callee, name, depth + 1)
            roots |= meaning.roots
            unbound.extend(meaning.unbound)
            says = says or meaning.says
            if not meaning.complete:
                unknown = unknown or meaning.unknown
        lands = f"it lands in `**{rest}` of `{function.name}`"
        for receiver in _set_by_name(source, function):
            types = self.evaluator.at(source, receiver)
            on_each = [self.on_value(value, name, "it") for value in types.values]
            roots |= {root for meaning in on_each for root in meaning.roots}
            unbound.extend(lineage for meaning in on_each for lineage in meaning.unbound)
            says = says or f"{lands}, {SETS_BY_NAME} of `{_short(source.text(receiver))}`"
            if not types.complete:
                unknown = f"{lands}, {SETS_BY_NAME} of `{_short(source.text(receiver))}`"
        if unknown:
            why = unknown if SETS_BY_NAME in unknown else lands
            return Meaning(frozenset(roots), says, False, why, unbound=tuple(unbound))
        if unbound:
            return Meaning(frozenset(roots), says, not roots, unbound=tuple(unbound))
        if roots:
            return Meaning(frozenset(roots), f"`{text}` hands it on through `**{rest}`")
        return Meaning(frozenset(), lands, perhaps=self.overridden_parameters(function, name))

    def overridden_parameters(self, function: Function, name: str) -> frozenset[Root]:
        """The parameters `name` of the methods that a method overrides which takes them in its `**options`."""
        if not function.in_class or function.name in _CONSTRUCTORS:
            return frozenset()
        above = self.evaluator.order(class_in(function.source, function.outer))[1:]
        methods = (cls.own_function(function.name) for cls in above)
        return frozenset(
            parameter_root(method, name)
            for method in methods
            if method is not None and (taken := method.parameter(name)) is not None and taken.takes_keyword
        )

    def _above(
        self, function: Function, callee: Node, start: Class | None, name: str, text: str, depth: int
    ) -> Meaning | None:
        """The keyword of `super().method(**rest)` in the order of the class through which it was called, not of its own."""
        receiver, attribute = callee.child_by_field_name("object"), callee.child_by_field_name("attribute")
        if start is None or receiver is None or attribute is None or not function.in_class:
            return None
        order = self.evaluator.order(start)
        own = class_in(function.source, function.outer)
        if own not in order or last_name(function.source, receiver) != "super" or receiver.type != "call":
            return None
        method = function.source.text(attribute)
        for ancestor in order[order.index(own) + 1 :]:
            above = ancestor.own_function(method)
            if above is None and method == "__init__" and self.makes_constructor(ancestor):
                return self.constructor_keyword(ancestor, name, text, depth)
            if above is not None and ancestor.name not in _ROOT_CLASSES:
                return self._function_keyword(above, name, text, depth, start)
        return None

    def _replaced_field(
        self, source: Source, function: Node, last: str, arguments: list[Node], name: str, depth: int
    ) -> Meaning | None:
        """`replace(value, field=…)`, `value._replace(field=…)`: a field, unless the class says itself what is replaced."""
        if last in ("_replace", "__replace__", "copy_with"):
            node = function.child_by_field_name("object")
        else:
            node = arguments[0] if arguments else None
        if node is None:
            return None
        types = self.evaluator.at(source, node)
        roots: set[Root] = set()
        perhaps: set[Root] = set()
        unknown = "" if types.complete else f"`{_short(source.text(node))}` may be something else as well"
        for value in types.values:
            if isinstance(value, InstanceValue):
                found = self.evaluator.lookup(value.cls, name)
                own = self._own_replace(value.cls, last)
                if own is None:
                    roots |= {member_root(found[0], name)} if found is not None else set()
                    continue
                meaning = self._function_keyword(own, name, own.name, depth + 1, value.cls)
                if meaning.roots and last != "replace":
                    return None  # a call like any other
                roots |= meaning.roots
                unknown = unknown or meaning.unknown
                if found is not None and not meaning.roots and own.parameters[-1].kind == "kwargs":
                    perhaps.add(member_root(found[0], name))
        if roots or perhaps or (unknown and types.complete):
            says = f"a field replaced on `{_short(source.text(node))}`"
            return Meaning(frozenset(roots), says, not unknown, unknown, perhaps=frozenset(perhaps))
        if not types.complete and last in ("_replace", "evolve", "replace"):
            text = _short(source.text(node))
            return Meaning(frozenset(), "", False, f"nothing is known of the replaced `{text}`")
        return None

    def _own_replace(self, cls: Class, last: str) -> Function | None:
        """The method of ours that makes a changed copy: `copy.replace` calls it, too, `dataclasses.replace` the constructor."""
        if last not in ("_replace", "__replace__", "replace") or (
            last == "replace" and self.makes_constructor(cls)
        ):
            return None
        function = self.evaluator.method(cls, "__replace__" if last == "replace" else last)
        return function if function is not None and not function.source.external else None

    def _pattern_keyword(self, source: Source, site: Site) -> Meaning:
        pattern = site.ancestor("class_pattern")
        if pattern is None or not pattern.named_children:
            return NOTHING
        types = self.evaluator.dotted(source, site.scope, pattern.named_children[0])
        roots: set[Root] = set()
        for value in types.values:
            if isinstance(value, ClassValue):
                meaning = self.member(value.cls, site.spelling, f"pattern of `{value.cls.name}`")
                roots |= meaning.roots
        if roots:
            return Meaning(
                frozenset(roots), f"pattern of `{source.text(pattern.named_children[0])}`", types.complete
            )
        if types.complete:
            return Meaning(frozenset(), "pattern of another class")
        return Meaning(frozenset(), "", False, "the pattern's class was not found")


def module_root(module: Module) -> Root:
    return Root("module", module.place, -1, module.name)


def fixture_root(function: Function, name: str) -> Root:
    """A fixture's name that is not its function's: `@fixture(name="…")`."""
    return Root("fixture", function.source.path, function.start, name)


def member_root(cls: Class, spelling: str) -> Root:
    return Root("member", cls.source.path, cls.start, spelling)


def parameter_root(function: Function, name: str) -> Root:
    scope = function.scope
    return Root("variable", function.source.path, scope.start, mangled(name, scope))


def _builtin(name: str) -> Meaning:
    return Meaning(frozenset({Root("builtin", "builtins", -1, name)}), f"the builtin `{name}`")


def _own_root(variable: Variable) -> Root:
    scope = variable.scope
    start = -1 if scope.kind == "module" else scope.start
    if scope.kind == "class":
        return Root("member", variable.source.path, start, variable.name)
    if scope.kind == "types":
        return Root("variable", variable.source.path, -2 - start, variable.name)
    return Root("variable", variable.source.path, start, variable.name)


def scope_owner(source: Source, scope: Scope) -> Class | Function | None:
    """The innermost class or function around a scope, itself included."""
    here: Scope | None = scope
    while here is not None:
        if here.kind in ("class", "function"):
            return definition_of_scope(source, here)
        here = here.parent
    return None


def _written(spelling: str, cls: Class) -> str:
    """The name as it is written inside the class for a spelling that may be mangled."""
    bare = cls.name.lstrip("_")
    prefix = f"_{bare}__"
    return spelling[len(bare) + 1 :] if bare and spelling.startswith(prefix) else spelling


def _unsubscripted(node: Node) -> Node:
    while node.type == "subscript":
        value = node.child_by_field_name("value")
        if value is None:
            break
        node = value
    return node


def _splat_calls(source: Source, function: Function, rest: str) -> list[Node]:
    """The calls in a function's body that pass `**rest` on."""
    found = []
    pattern = _splat_pattern(rest)
    for match in pattern.finditer(source.bytes, function.start, function.end):
        path, _ = source.descend(match.start())
        kinds = [node.type for node, _ in path]
        if "dictionary_splat" not in kinds:
            continue
        at = len(kinds) - 1 - kinds[::-1].index("dictionary_splat")
        if at >= 2 and path[at - 2][0].type == "call":
            found.append(path[at - 2][0])
    return found


def _set_by_name(source: Source, function: Function) -> Iterator[Node]:
    """What a function sets attributes of whose names it is given: `setattr(x, key, value)`, `x.__dict__.update(values)`."""
    for match in _SET_BY_NAME.finditer(source.bytes, function.start, function.end):
        path, _ = source.descend(match.start(match.lastindex or 0))
        call = next((node for node, _ in reversed(path) if node.type == "call"), None)
        if call is None:
            continue
        arguments = positional_arguments(call)
        if match.group(1):
            if len(arguments) == 3 and arguments[1].type != "string":
                yield arguments[0]
            elif len(arguments) == 1 and b"*" in (call.text or b""):
                yield arguments[0]  # `setattr(x, *item)`
            continue
        callee = call.child_by_field_name("function")
        namespace = callee.child_by_field_name("object") if callee is not None else None
        owner = namespace.child_by_field_name("object") if namespace is not None else None
        if namespace is not None and namespace.type == "call":  # `vars(x).update(values)`
            owner = next(iter(positional_arguments(namespace)), None)
        if owner is not None:
            yield owner
    for match in _DICT_SET.finditer(source.bytes, function.start, function.end):
        path, _ = source.descend(match.start(1))
        attribute = path[-2][0] if len(path) > 1 else None
        owner = attribute.child_by_field_name("object") if attribute is not None else None
        if owner is not None:
            yield owner


_SET_BY_NAME = re.compile(
    rb"\b(setattr)\s*\(|\b(__dict__)\s*\.\s*update\s*\(|\bvars\s*\([^()]*\)\s*\.\s*(update)\s*\("
)
_DICT_SET = re.compile(rb"\b(__dict__)\s*(?:\|=|=(?!=))")
SETS_BY_NAME = "which sets attributes by their names"
"""In a reason: what a keyword may come to."""


@lru_cache(maxsize=1024)
def _splat_pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\*\*\s*" + re.escape(name.encode()) + rb"(?![\w\x80-\xff])")


def _is_call_of_mock(source: Source, text: str) -> bool:
    """Is `call` the one of `unittest.mock`?"""
    return b"mock" in source.bytes and text in ("call", "mock.call", "unittest.mock.call")


CONDITIONS = frozenset({"Q", "When"})
"""Callees that take conditions of a query by keyword."""
_MOCK_CALLS = frozenset(
    {"assert_called_with", "assert_called_once_with", "assert_any_call"}
    | {"assert_awaited_with", "assert_awaited_once_with", "assert_any_await"}
)
CALLED_ON_MOCK = "what a mock is to have been called with"
"""In a reason: a keyword of whatever the mock stands for."""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "…"


_DATACLASS_DECORATORS = frozenset(
    {
        "dataclass",
        "dataclass_json",
        "define",
        "frozen",
        "mutable",
        "s",
        "attrs",
        "attributes",
        "dataclass_transform",
    }
)
_CONSTRUCTORS = ("__init__", "__new__")
_ROOT_CLASSES = frozenset({"object", "Generic", "Protocol"})
_RECORD_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel", "Struct", "SQLModel", "BaseSettings"})
