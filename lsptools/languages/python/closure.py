"""Which declarations form one name: they are renamed together or not at all.

Edges: a member and the members of the same name in the class's ancestors (overrides, up and down, joined wherever two
hierarchies meet in one definition); a parameter and the parameters of the same name in overriding methods, overloads
and branches; a declaration and its twin in the stub beside the module; the class's slot and match-argument lists need
no edge, since they name the same member.

Walking *up* from the classes that mention the name finds every override without ever listing subclasses. Where it
stops: two classes that meet only in a third one which does not mention the name are joined by `joined_below`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsptools.languages.python.classes import Class, Function, class_in, class_of, function_of
from lsptools.languages.python.hierarchy import write_sites
from lsptools.languages.python.meaning import Meanings, Root, member_root, parameter_root
from lsptools.languages.python.modules import Project, Variable
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.records import record_of
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Source

NOT_POLYMORPHIC = frozenset(
    {"__init__", "__new__", "__init_subclass__", "__post_init__", "__class_getitem__", "__prepare__"}
)
"""Methods that a call reaches through one class only: an override of them is free to have other parameters."""


class Groups:
    """Roots that belong together: each group is one set, and the smaller of two goes into the larger."""

    def __init__(self) -> None:
        self._groups: dict[Root, set[Root]] = {}

    def find(self, root: Root) -> set[Root]:
        """The group of a root; it is alone in one that was not met before."""
        return self._groups.setdefault(root, {root})

    def join(self, roots: Iterable[Root]) -> None:
        """Make these one group."""
        whole: set[Root] | None = None
        for root in roots:
            group = self.find(root)
            if whole is None or whole is group:
                whole = group
                continue
            small, whole = sorted((group, whole), key=len)
            whole |= small
            for each in small:
                self._groups[each] = whole

    def members(self, root: Root) -> frozenset[Root]:
        """Everything in the group of a root."""
        return frozenset(self.find(root))


def definers(evaluator: Evaluator, sources: Iterable[Source], name: str) -> Iterator[Class]:
    """The classes that define a member of this name: in their body, on `self` in a method, or as a slot."""
    for source in sources:
        names = source.names(name)
        seen: set[Class] = set()
        for scope, _ in names.bound:
            if scope.kind == "class":
                seen.add(class_in(source, scope))
        for site in write_sites(source, name):
            owner = evaluator.written_on_self(source, site)
            if owner is not None:
                seen.add(owner)
        if b"__slots__" in source.bytes:
            scopes = [scope for scope, _ in source.names("__slots__").bound if scope.kind == "class"]
            seen.update(cls for scope in scopes if name in (cls := class_in(source, scope)).slots)
        yield from seen


def join_overrides(groups: Groups, evaluator: Evaluator, classes: Iterable[Class], name: str) -> None:
    """Join each class's member with those of its ancestors, builtin ones included."""
    for cls in classes:
        root = member_root(cls, cls.spelled(name))
        groups.find(root)
        for ancestor in evaluator.order(cls)[1:]:
            if cls.spelled(name) == ancestor.spelled(name) and evaluator.defines(ancestor, name):
                groups.join((root, member_root(ancestor, ancestor.spelled(name))))
        groups.join((root, *builtin_roots(evaluator, cls, name)))


def builtin_roots(evaluator: Evaluator, cls: Class, name: str) -> Iterator[Root]:
    """The members of this name that a class inherits from builtin classes."""
    if name.startswith("__") and not name.endswith("__"):
        return
    for builtin in evaluator.builtin_owners(cls, name):
        yield Root("builtin", "builtins", -1, f"{builtin}.{name}")


def join_twins(groups: Groups, project: Project, root: Root) -> Iterator[Root]:
    """Join a declaration with its twin in the stub beside the module, or the module beside the stub."""
    for twin in twins(project, root):
        groups.join((root, twin))
        yield twin


def twins(project: Project, root: Root) -> Iterator[Root]:
    """The same declaration in the other file of a module that has a `.py` and a `.pyi`."""
    if root.kind not in ("variable", "member"):
        return
    source = project.source(root.path)
    if source is None:
        return
    for path in project.module_of(root.path).files:
        other = project.source(path) if path != root.path else None
        if other is None:
            continue
        scope = _twin_scope(source, other, root)
        if scope is None:
            continue
        if root.kind == "member" or other.names(root.name).bindings(scope, root.name):
            start = -1 if scope.kind == "module" else scope.start
            yield Root(root.kind, path, start, root.name)


def _twin_scope(source: Source, other: Source, root: Root) -> Scope | None:
    if root.start < 0:
        return other.module_scope if root.start == -1 else None
    names = qualified_scope(source, root.start)
    scope: Scope | None = other.module_scope
    for kind, name in names:
        if scope is None:
            return None
        role = Role.CLASS if kind == "class" else Role.FUNCTION
        site = next((s for s in other.names(name).bindings(scope, name) if s.role is role), None)
        scope = other.scope_inside(site.path[-2][0]) if site is not None else None
    return scope


def qualified_scope(source: Source, start: int) -> list[tuple[str, str]]:
    """(kind, name) of the classes and functions from the module down to the scope whose statement starts at a byte."""
    path, _ = source.descend(start)
    found = []
    for node, _field in path:
        if node.type in ("class_definition", "function_definition") and node.start_byte <= start:
            name = node.child_by_field_name("name")
            kind = "class" if node.type == "class_definition" else "function"
            found.append((kind, source.text(name) if name is not None else ""))
        if node.start_byte == start and node.type in ("class_definition", "function_definition"):
            break
    return found


def function_at(project: Project, root: Root) -> Function | None:
    """The function whose parameter or local a root is."""
    if root.kind != "variable" or root.start < 0:
        return None
    source = project.source(root.path)
    if source is None:
        return None
    path, _ = source.descend(root.start)
    for node, _field in reversed(path):
        is_function = node.type in ("function_definition", "lambda") and node.is_named
        if is_function and node.start_byte == root.start:  # the word `lambda` is a node of that type, too
            return function_of(source, node)
    return None


def is_parameter(project: Project, root: Root) -> bool:
    """Is the root a parameter (and not another local)?"""
    function = function_at(project, root)
    return function is not None and any(
        parameter_root(function, parameter.name) == root for parameter in function.parameters
    )


def class_at(project: Project, root: Root) -> Class | None:
    """The class whose member a root is."""
    if root.kind != "member":
        return None
    source = project.source(root.path)
    if source is None:
        return None
    path, _ = source.descend(root.start)
    for node, _field in reversed(path):
        if node.type == "class_definition" and node.start_byte == root.start:
            return class_of(source, node)
        if node.type == "call" and node.start_byte == root.start:
            record = record_of(source, node)
            if record is not None:
                return record
    return None


def join_parameters(
    groups: Groups, meanings: Meanings, function: Function, name: str, sources: Iterable[Source]
) -> None:
    """Join a parameter with its namesakes in overloads, branches, overrides and stubs.

    `sources` are the files that contain the function's own name.
    """
    evaluator = meanings.evaluator
    root = parameter_root(function, name)
    groups.find(root)
    for other in _family_functions(meanings, function, sources):
        if other.parameter(name) is not None:
            groups.join((root, parameter_root(other, name)))
    for twin in twins(evaluator.project, root):
        groups.join((root, twin))


def _family_functions(
    meanings: Meanings, function: Function, sources: Iterable[Source]
) -> Iterator[Function]:
    """The `def` statements that a call of the function may reach."""
    yield from meanings.same_functions(function)
    if not function.in_class or function.name in NOT_POLYMORPHIC:
        return
    evaluator = meanings.evaluator
    groups = Groups()
    classes = list(definers(evaluator, sources, function.name))
    join_overrides(groups, evaluator, classes, function.name)
    own = class_in(function.source, function.outer)
    family = groups.members(member_root(own, own.spelled(function.name)))
    for cls in classes:
        if member_root(cls, cls.spelled(function.name)) in family:
            for site in cls.body_sites(function.name):
                if site.role is Role.FUNCTION:
                    yield function_of(cls.source, site.path[-2][0])
    for ancestor in evaluator.order(own)[1:]:
        if ancestor not in classes and member_root(ancestor, ancestor.spelled(function.name)) in family:
            for site in ancestor.body_sites(function.name):
                if site.role is Role.FUNCTION:
                    yield function_of(ancestor.source, site.path[-2][0])


def variable_at(project: Project, root: Root) -> Variable | None:
    """The variable a root is, for variables of modules and functions."""
    source = project.source(root.path)
    if source is None or root.kind != "variable" or root.start < -1:
        return None
    if root.start == -1:
        return Variable(source, source.module_scope, root.name)
    function = function_at(project, root)
    return Variable(source, function.scope, root.name) if function is not None else None
