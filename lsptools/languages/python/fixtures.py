"""Fixtures of pytest: a parameter of a test or of another fixture means the function that supplies it, by its name.

pytest looks for the name in the test's class, in its module, in the `conftest.py` of its folder and of each folder
above, and in the modules that `pytest_plugins` lists there; the nearest one wins. A fixture that requests its own name
gets the next one. A name that `parametrize` gives is the test's own unless it is `indirect`.

Where it stops: fixtures of installed plugins (the parameter is then theirs), fixtures that are registered at run time,
and what the collection options of a project change: a function whose name begins with `test` counts as a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.languages.python import containers
from lsptools.languages.python.classes import (
    Class,
    Definition,
    Function,
    Parameter,
    class_in,
    function_in,
    function_of,
    last_name,
)
from lsptools.languages.python.modules import Module, literal_string, literal_strings
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Source
from lsptools.languages.python.values import UNKNOWN, Foreign, FunctionValue, Types, just, union
from lsptools.syntax.tree import Node

if TYPE_CHECKING:
    from lsptools.languages.python.receivers import Evaluator


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fixture is looked for: from a class (if any) of a file outwards."""

    source: Source
    cls: Class | None = None
    beyond: Function | None = None
    """A fixture that requests its own name does not mean itself, nor what is nearer."""


def is_fixture(function: Function) -> bool:
    """Does a decorator make the function a fixture?"""
    return any(name in ("fixture", "yield_fixture") for name in function.decorator_names)


def given_name(function: Function) -> Node | None:
    """The string in `@pytest.fixture(name="…")`."""
    for decorator in function.decorators:
        if decorator.type == "call" and last_name(function.source, decorator) in ("fixture", "yield_fixture"):
            return keyword_of(function.source, decorator, "name")
    return None


def name_of(function: Function) -> str:
    """The name under which a fixture is requested."""
    given = given_name(function)
    return (literal_string(function.source, given) if given is not None else None) or function.name


def requests(function: Function, name: str) -> bool:
    """Is the parameter `name` of the function filled by a fixture?"""
    parameter = function.parameter(name)
    if parameter is None or parameter.default is not None or parameter.kind not in ("either", "keyword"):
        return False
    if _is_receiver(function, parameter):
        return False
    if is_fixture(function):
        return True
    return is_test(function) and name not in _parametrized(function)


def is_test_file(path: str) -> bool:
    """Does pytest look into the file, by its name?"""
    return _TEST_FILE.fullmatch(path.rpartition("/")[2]) is not None


def is_test(function: Function) -> bool:
    """Is the function collected as a test, by its name?"""
    return function.name.startswith("test") and function.outer.kind in ("module", "class")


def place_of(function: Function) -> Place:
    """From where the requests of a function are looked up."""
    cls = class_in(function.source, function.outer) if function.in_class else None
    return Place(function.source, cls, function)


def supplier(evaluator: Evaluator, place: Place, name: str) -> Function | None:
    """The fixture that a name means at a place; None: none of the workspace."""
    return next(_suppliers(evaluator, place, name), None)


def is_of_a_plugin(function: Function, name: str) -> bool:
    """Must a request that the workspace does not supply come from a plugin?

    Decorators may fill parameters, too (`patch`, `given`, `parametrize`), so only what has none but other marks counts.
    """
    if name in _PYTEST_OWN:
        return True
    if is_fixture(function):
        return len(function.decorators) == 1
    marks = (function.source.text(decorator) for decorator in function.decorators)
    return is_test_file(function.source.path) and all(
        re.match(r"(pytest\.)?mark\.(?!parametrize)", mark) for mark in marks
    )


def all_fixtures(source: Source) -> tuple[Function, ...]:
    """The fixtures that a file defines, in order."""
    known = source.memo.get("fixtures")
    if not isinstance(known, tuple):
        known = source.memo["fixtures"] = tuple(_find_fixtures(source))
    return known


def replaced_for_others(
    evaluator: Evaluator,
    inner: Function,
    sources: Iterable[Source],
    files_with: Callable[[str], Iterable[str]],
) -> Function | None:
    """The fixture that `inner` replaces for a third one, which requests the outer and is requested near the inner.

    Then the two are one name, as a method and its override are.
    """
    name = name_of(inner)
    outer = supplier(evaluator, place_of(inner), name)
    if outer is None or outer.source.external:
        return None
    for source in sources:
        for third in all_fixtures(source):
            if third is inner or not requests(third, name):
                continue
            if supplier(evaluator, place_of(third), name) is not outer:
                continue
            if _is_autouse(third) or any(_is_near(inner, path) for path in files_with(name_of(third))):
                return outer
    return None


def value_of(evaluator: Evaluator, function: Function) -> Types:
    """What a fixture gives to those who request it: what it returns, or yields."""
    declared = function.node.child_by_field_name("return_type")
    if declared is not None:
        where = evaluator.where(function.source, function.scope.parent or function.source.module_scope)
        types = evaluator.annotation(where, declared)
        return containers.iteration_of(types) if function.is_generator else types
    found = []
    for node in function.yields or function.returns:
        value = node.named_children[0] if node.named_children else None
        found.append(evaluator.at(function.source, value) if value is not None else just(Foreign("None")))
    return union(found) if found else UNKNOWN


# ------------------------------------------------------------------------------------------------------- the search


def _suppliers(evaluator: Evaluator, place: Place, name: str) -> Iterator[Function]:
    """Every fixture of the name from a place outwards, the nearest first; what is nearer than `beyond` is left out."""
    is_beyond = place.beyond is None or not (is_fixture(place.beyond) and name_of(place.beyond) == name)
    for function in _outwards(evaluator, place, name):
        if function is place.beyond:
            is_beyond = True
        elif is_beyond:
            yield function


def _outwards(evaluator: Evaluator, place: Place, name: str) -> Iterator[Function]:
    for cls in evaluator.order(place.cls) if place.cls is not None else ():
        yield from _named(all_fixtures(cls.source), name, cls)
    yield from _in_module(evaluator, place.source, name, set())
    if place.source.external:
        return
    folder = place.source.path.rpartition("/")[0]
    while True:
        path = f"{folder}/conftest.py" if folder else "conftest.py"
        source = evaluator.project.source(path) if path != place.source.path else None
        if source is not None:
            yield from _in_module(evaluator, source, name, set())
        if not folder:
            return
        folder = folder.rpartition("/")[0]


def _in_module(evaluator: Evaluator, source: Source, name: str, seen: set[str]) -> Iterator[Function]:
    """Its own fixtures, those it imports, and those of the modules that `pytest_plugins` lists in it."""
    if source.path in seen:
        return
    seen.add(source.path)
    own = list(_named(all_fixtures(source), name, None))
    yield from own
    if not own:
        for found in evaluator.project.global_variable(source, name):
            types = evaluator.found_value(found)
            for value in types.values:
                if isinstance(value, FunctionValue) and is_fixture(value.function):
                    yield value.function
    for module in _plugins(evaluator, source):
        for path in module.files[:1]:
            plugin = evaluator.project.source(path)
            if plugin is not None:
                yield from _in_module(evaluator, plugin, name, seen)


def _named(functions: tuple[Function, ...], name: str, cls: Class | None) -> Iterator[Function]:
    """Those of a name in a class, or at the top of the module; the last definition holds."""
    for function in reversed(functions):
        owner = class_in(function.source, function.outer) if function.in_class else None
        if (
            owner is cls
            and (cls is not None or function.outer.kind == "module")
            and name_of(function) == name
        ):
            yield function


def _plugins(evaluator: Evaluator, source: Source) -> Iterator[Module]:
    if b"pytest_plugins" not in source.bytes:
        return
    for site in source.sites("pytest_plugins"):
        statement = site.ancestor("assignment") if site.role is Role.ASSIGN else None
        value = statement.child_by_field_name("right") if statement is not None else None
        if value is None:
            continue
        one = literal_string(source, value)
        for dotted in [one] if one is not None else literal_strings(source, value) or ():
            module = evaluator.project.find(dotted, source.path)
            if module is not None:
                yield module


def _find_fixtures(source: Source) -> Iterator[Function]:
    if b"fixture" not in source.bytes:
        return
    for found in _DECORATOR.finditer(source.bytes):
        path, _ = source.descend(found.start())
        statement = next((node for node, _ in reversed(path) if node.type == "decorated_definition"), None)
        node = statement.child_by_field_name("definition") if statement is not None else None
        if node is not None and node.type == "function_definition":
            function = function_of(source, node)
            if is_fixture(function):
                yield function


def _is_near(inner: Function, path: str) -> bool:
    """Is the file one of those for which the fixture is found first?"""
    own = inner.source.path
    if own.rpartition("/")[2] != "conftest.py":
        return path == own
    return path.startswith(own.removesuffix("conftest.py"))


def _is_autouse(function: Function) -> bool:
    for decorator in function.decorators:
        value = keyword_of(function.source, decorator, "autouse") if decorator.type == "call" else None
        if value is not None and value.type == "true":
            return True
    return False


def _is_receiver(function: Function, parameter: Parameter) -> bool:
    return function.in_class and not function.is_static and parameter is function.parameters[0]


def _parametrized(function: Function) -> frozenset[str]:
    """The parameters that `parametrize` fills directly, on the function, its class or in `pytestmark`."""
    source = function.source
    calls = [*parametrizing(function), *_parametrizing(source, _marks_in(source, source.module_scope))]
    if function.in_class:
        calls.extend(parametrizing(class_in(source, function.outer)))
    return frozenset(name for _, names in calls for name in names if name)


def parametrizing(definition: Definition) -> Iterator[tuple[Node, list[str]]]:
    """The calls of `parametrize` that mark a definition, and the names they fill directly ("" for one that is not)."""
    source = definition.source
    yield from _parametrizing(source, definition.decorators)
    if isinstance(definition, Class):
        yield from _parametrizing(source, _marks_in(source, definition.scope))


def is_mark(source: Source, node: Node) -> bool:
    """Does an expression stand in what is assigned to `pytestmark`?"""
    above = node.parent
    while above is not None and above.type in ("list", "tuple", "expression_list", "list_splat"):
        above = above.parent
    left = above.child_by_field_name("left") if above is not None and above.type == "assignment" else None
    return left is not None and source.text(left) == "pytestmark"


def marked(source: Source, cls: Class | None, name: str) -> list[Function]:
    """The tests of a class, or of the whole file, that have a parameter of this name."""
    tests = (
        function_in(source, site.scope)
        for site in source.sites(name)
        if site.role is Role.PARAMETER and site.scope.kind == "function"
    )
    return [test for test in tests if is_test(test) and (cls is None or cls.start <= test.start < cls.end)]


def _marks_in(source: Source, scope: Scope) -> Iterator[Node]:
    """What is assigned to `pytestmark` in the body of a class or module."""
    if b"pytestmark" not in source.bytes:
        return
    for site in source.names("pytestmark").bindings(scope, "pytestmark"):
        statement = site.ancestor("assignment", "augmented_assignment")
        value = statement.child_by_field_name("right") if statement is not None else None
        if value is not None:
            yield from value.named_children if value.type in ("list", "tuple") else [value]


def _parametrizing(source: Source, marks: Iterable[Node]) -> Iterator[tuple[Node, list[str]]]:
    for decorator in marks:
        if decorator.type != "call" or last_name(source, decorator) != "parametrize":
            continue
        arguments = decorator.child_by_field_name("arguments")
        first = (
            next((c for c in arguments.named_children if c.type != "comment"), None) if arguments else None
        )
        if first is not None and first.type == "keyword_argument":
            first = keyword_of(source, decorator, "argnames")
        indirect = keyword_of(source, decorator, "indirect")
        if first is None or (indirect is not None and indirect.type == "true"):
            continue
        one = literal_string(source, first)
        names = one.split(",") if one is not None else literal_strings(source, first) or []
        through = set(literal_strings(source, indirect) or ()) if indirect is not None else set[str]()
        bare = [name.strip() for name in names if name.strip()]
        yield decorator, ["" if name in through else name for name in bare]


def keyword_of(source: Source, call: Node, name: str) -> Node | None:
    """The value of a keyword of a call."""
    arguments = call.child_by_field_name("arguments")
    for child in arguments.named_children if arguments is not None else ():
        if child.type == "keyword_argument":
            key = child.child_by_field_name("name")
            if key is not None and source.text(key) == name:
                return child.child_by_field_name("value")
    return None


_PYTEST_OWN = frozenset(
    {
        "cache",
        "capfd",
        "caplog",
        "capsys",
        "monkeypatch",
        "pytestconfig",
        "pytester",
        "recwarn",
        "request",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
        "tmpdir_factory",
    }
)
"""Fixtures that pytest itself brings."""
_DECORATOR = re.compile(rb"@[ \t]*[\w.]*fixture\b")
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests\.py|conftest\.py")
