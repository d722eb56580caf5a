"""What an occurrence in text means: strings and comments of Python files, and files that are not Python.

Decided from the language, the standard library and the typing rules, an occurrence in a string is bound: annotation
strings, type comments, `__all__`, `__slots__`, `__match_args__`, keys of a `TypedDict`, `Enum["X"]`. What a library
decides at run time from a free string (`getattr`, `mock.patch`, entry points, templates, notebook cells) is possible.
Everything else is a mention.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property

from lsptools.languages.names import Evidence
from lsptools.languages.python import detours, fixtures, module_strings, notebooks, signatures
from lsptools.languages.python.classes import (
    Class,
    Function,
    class_in,
    class_of,
    function_in,
    function_of,
    last_name,
    library_name,
    positional_arguments,
)
from lsptools.languages.python.expected import expected_type
from lsptools.languages.python.meaning import NOTHING, Meaning, Meanings, Root, member_root
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.records import record_around
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.languages.python.text_meaning import TextMeaning
from lsptools.languages.python.values import NOTHING as NO_TYPES
from lsptools.languages.python.values import ClassValue, InstanceValue, ModuleValue, Types, just
from lsptools.syntax.tree import Node, parse


def in_python(meanings: Meanings, source: Source, site: Site) -> TextMeaning:
    """The meaning of an occurrence in a string or comment of a Python file."""
    if site.role is Role.COMMENT:
        return _in_comment(meanings, source, site)
    return _in_string(meanings, source, site)


# ---------------------------------------------------------------------------------------------------- comments


def _in_comment(meanings: Meanings, source: Source, site: Site) -> TextMeaning:
    comment = site.path[-1][0]
    text = source.text(comment)
    declared = _TYPE_COMMENT.match(text)
    if declared is None or site.start < comment.start_byte + len(text[: declared.end()].encode()):
        return TextMeaning(Evidence.MENTION, "in a comment")
    end = text.find("#", declared.end())
    if end >= 0 and site.start >= comment.start_byte + len(text[:end].encode()):
        return TextMeaning(Evidence.MENTION, "in a comment")
    return TextMeaning(None, "in a type comment", _dotted_meaning(meanings, source, site))


def _dotted_meaning(meanings: Meanings, source: Source, site: Site) -> Meaning:
    """The meaning of a name in a string or comment that holds an expression of types."""
    before = source.bytes[max(0, site.start - 200) : site.start].decode("utf-8", "ignore")
    chain = _DOTTED_BEFORE.search(before)
    scope = site.scope
    if chain is None:
        return meanings.in_scope(
            source, source.names(site.spelling).scope_of(scope, site.spelling), site.spelling
        )
    first, *rest = chain.group(1).split(".")
    where = meanings.evaluator.where(source, scope)
    types = meanings.evaluator.name(where, first, site.start)
    for part in rest:
        types = meanings.evaluator.attribute(types, part, scope)
    roots: set[Root] = set()
    for value in types.values:
        roots |= meanings.on_value(value, site.spelling, chain.group(1)).roots
    if roots:
        return Meaning(frozenset(roots), f"`{chain.group(1)}` in an annotation", types.complete)
    return Meaning(frozenset(), "", False, f"nothing is known of `{chain.group(1)}`")


# ---------------------------------------------------------------------------------------------------- strings


def _in_string(meanings: Meanings, source: Source, site: Site) -> TextMeaning:
    index = next((i for i in range(len(site.path) - 1, -1, -1) if site.path[i][0].type == "string"), None)
    if index is None:
        return TextMeaning(Evidence.MENTION, "in a string")
    string = site.path[index][0]
    parent = site.path[index - 1][0] if index else None
    content = _content(source, string)
    whole = content == site.spelling
    if _is_annotation(meanings, source, site, index):
        return TextMeaning(None, "in an annotation's string", _dotted_meaning(meanings, source, site))
    if parent is None:
        return TextMeaning(Evidence.MENTION, "in a string")
    if is_template_keyword(source, site):
        return TextMeaning(Evidence.POSSIBLE, TEMPLATE_KEYWORD)
    field = _record_field(meanings, source, site) or _parametrized(meanings, source, site, index)
    if field is not None:
        return field
    if whole:
        found = _whole_string(meanings, source, site, index) or _of_function(meanings, source, site, index)
        if found is not None:
            return found
    if _is_docstring(site, index):
        return TextMeaning(Evidence.MENTION, "in a docstring")
    imported = module_strings.imported_by_name(meanings, source, site, index)
    if imported is not None:
        return imported
    if whole or _DOTTED_ONLY.fullmatch(content):
        called = _called_with(meanings, source, site, index)
        if called is not None:
            return called
    dotted = _DOTTED_ONLY.fullmatch(content) or _ENTRY_POINT.fullmatch(content)
    if not whole and dotted is not None and _at(site, string) >= dotted.start(1):
        return _dotted_string(meanings, source, site, dotted.group(1), _at(site, string) - dotted.start(1))
    return TextMeaning(Evidence.MENTION, "a string of the same word" if whole else "in a string")


def is_template_keyword(source: Source, site: Site) -> bool:
    """Does the word stand as a keyword in an expression of a template: `"{{ text|indent(width=2) }}"`?"""
    if site.role is not Role.STRING or _KEYWORD_AFTER.match(source.bytes, site.end) is None:
        return False
    string = next((node for node, _ in reversed(site.path) if node.type == "string"), None)
    start = string.child(0) if string is not None else None
    if string is None or start is None or b"f" in (start.text or b"").lower():
        return False
    opened = max(source.bytes.rfind(mark, string.start_byte, site.start) for mark in (b"{{", b"{%"))
    closed = max(source.bytes.rfind(mark, string.start_byte, site.start) for mark in (b"}}", b"%}"))
    return opened > closed and b"(" in source.bytes[opened : site.start]


def template_callee(source: Source, site: Site) -> str:
    """The name before the bracket in which a keyword of a template stands."""
    before = source.bytes[max(0, site.start - 400) : site.start]
    found = _CALLEE.findall(before)
    return found[-1].decode() if found else ""


OF_SIGNATURE = "told of a function, or of a call of it, by the name of its parameter"
LOOKED_UP = "looked up"
"""What the reason begins with where a string is looked up."""
IN_LOCALS = f"{LOOKED_UP} in `locals` at run time"
_CALLEE = re.compile(rb"(\w+)\s*\(")
TEMPLATE_KEYWORD = "a keyword in an expression of a template"
_KEYWORD_AFTER = re.compile(rb"\s*=(?!=)")


def _record_field(meanings: Meanings, source: Source, site: Site) -> TextMeaning | None:
    """A field named in a call that makes a class: `namedtuple("Point", "x y")`."""
    record = record_around(source, site.path)
    if record is None or not any(field.start == site.start for field in record.body_sites(site.spelling)):
        return None
    if meanings.evaluator.record(source, record.node) is None:
        return None
    says = f"a {'member' if record.is_enum else 'field'} of `{record.name}`"
    return TextMeaning(None, says, Meaning(frozenset({member_root(record, site.spelling)}), says))


def _content(source: Source, string: Node) -> str:
    parts = [child for child in string.named_children if child.type not in ("string_start", "string_end")]
    if not parts:
        return ""
    return source.bytes[parts[0].start_byte : parts[-1].end_byte].decode("utf-8", "surrogateescape")


def _is_annotation(meanings: Meanings, source: Source, site: Site, index: int) -> bool:
    """Does the occurrence stand where the typing rules read the string as an expression?"""
    for at in range(index - 1, -1, -1):
        node, field = site.path[at][0], site.path[at + 1][1]
        kind = node.type
        if kind == "type" and (not at or site.path[at - 1][0].type != "type_parameter"):
            return not _is_quoted_data(source, site.path[index][0], site.start)
        if kind in ("generic_type", "subscript"):
            if _is_data(source, node, site.start):
                return False
            if kind == "subscript" and field == "subscript" and _is_generic(meanings, source, node):
                return not _is_quoted_data(source, site.path[index][0], site.start)
            continue
        if kind == "call":
            is_type = _is_type_argument(source, node, site)
            return is_type and not _is_quoted_data(source, site.path[index][0], site.start)
        if kind == "assignment" and field == "right" and _is_alias(source, node):
            return not _is_quoted_data(source, site.path[index][0], site.start)
        if kind in ("block", "module", "lambda", "dictionary"):
            return False
    return False


def _is_alias(source: Source, assignment: Node) -> bool:
    """`Name: TypeAlias = …`?"""
    declared = assignment.child_by_field_name("type")
    return declared is not None and source.text(declared).rpartition(".")[2].strip("\"'") == "TypeAlias"


def _is_quoted_data(source: Source, string: Node, start: int) -> bool:
    """In a string that is a type: is what stands at this byte of the file no type, as in `"Literal['word']"`?"""
    parts = [child for child in string.named_children if child.type not in ("string_start", "string_end")]
    content = source.bytes[parts[0].start_byte : parts[-1].end_byte] if parts else b""
    if b"'" not in content and b'"' not in content:
        return False
    at = start - parts[0].start_byte
    node = parse(content).root_node.descendant_for_byte_range(at, at)
    while node is not None:
        if node.type == "subscript" and _is_data(source, node, at):
            return True
        node = node.parent
    return False


def _is_data(source: Source, subscript: Node, at: int) -> bool:
    """Is what stands at this byte of `Name[…]` no type: an argument of `Literal`, any but the first of `Annotated`?"""
    name = _subscript_name(source, subscript)
    return name == "Literal" or (name == "Annotated" and not _is_first_argument(subscript, at))


def _is_generic(meanings: Meanings, source: Source, subscript: Node) -> bool:
    """Does the subscript take types: one of `typing`, or a class that says nothing else of `Class[…]`?"""
    if _subscript_name(source, subscript) in _TYPING_NAMES:
        return True
    value = subscript.child_by_field_name("value")
    evaluator = meanings.evaluator
    types = evaluator.at(source, value) if value is not None else NO_TYPES
    classes = [each.cls for each in types.values if isinstance(each, ClassValue)]
    return bool(classes) and not any(_has_own_subscript(meanings, cls) for cls in classes)


def _has_own_subscript(meanings: Meanings, cls: Class) -> bool:
    """Does `Class[…]` mean something else than a type: a member of an enum, what a method of ours makes of it?"""
    evaluator = meanings.evaluator
    metaclass = evaluator.metaclass(cls)
    item = evaluator.method(metaclass, "__getitem__") if metaclass is not None else None
    item = item or evaluator.method(cls, "__class_getitem__")
    return evaluator.is_enum(cls) or (item is not None and not item.source.external)


def _subscript_name(source: Source, node: Node) -> str:
    base = node.child_by_field_name("value") or (node.named_children[0] if node.named_children else None)
    text = base.text if base is not None else None
    return library_name(source, text.decode("utf-8", "replace").rpartition(".")[2]) if text else ""


def _is_first_argument(node: Node, at: int) -> bool:
    inner = [child for child in node.named_children[1:] if child.type != "comment"]
    if inner and inner[0].type in ("type_parameter", "tuple"):
        inner = inner[0].named_children
    return bool(inner) and inner[0].start_byte <= at < inner[0].end_byte


def _is_type_argument(source: Source, call: Node, site: Site) -> bool:
    function = call.child_by_field_name("function")
    name = last_name(source, function) if function is not None else ""
    arguments = positional_arguments(call)
    at = next(
        (i for i, argument in enumerate(arguments) if argument.start_byte <= site.start < argument.end_byte),
        None,
    )
    if name == "cast":
        return at == 0
    if name == "TypeVar":
        return at is None or at > 0
    return name in ("NewType", "assert_type") and at == 1


def _whole_string(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """Strings that are the name, in places where the language or the standard library says what they mean."""
    listed = _list_owner(source, site, index)
    if listed == "__all__" and site.scope.kind == "module":
        found = meanings.project.member(meanings.project.module_of(source.path), site.spelling)
        meaning = meanings.found(found, "listed in `__all__`")
        return TextMeaning(None, "listed in `__all__`", meaning)
    if listed in ("__slots__", "__match_args__") and site.scope.kind == "class":
        cls = class_in(source, site.scope)
        meaning = meanings.member(cls, cls.spelled(site.spelling), f"listed in `{listed}`")
        if not meaning.roots:
            meaning = Meaning(
                frozenset({member_root(cls, cls.spelled(site.spelling))}), f"listed in `{listed}`"
            )
        return TextMeaning(None, f"listed in `{listed}`", meaning)
    given = _given_fixture_name(meanings, source, site, index)
    return given or _keyed_value(meanings, source, site, index)


def _list_owner(source: Source, site: Site, index: int) -> str | None:
    """The name assigned (or extended) by the list or tuple in which the string stands."""
    for at in range(index - 1, -1, -1):
        node = site.path[at][0]
        if node.type in (
            "list",
            "tuple",
            "set",
            "expression_list",
            "parenthesized_expression",
            "argument_list",
        ):
            continue
        if node.type in ("binary_operator", "dictionary", "pair", "list_splat"):
            continue
        if node.type in ("assignment", "augmented_assignment"):
            left = node.child_by_field_name("left")
            return source.text(left) if left is not None and left.type == "identifier" else None
        if node.type == "call":
            function = node.child_by_field_name("function")
            receiver = function.child_by_field_name("object") if function is not None else None
            return source.text(receiver) if receiver is not None and receiver.type == "identifier" else None
        return None
    return None


def _keyed_value(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """`value["name"]`, `value.get("name")`, `"name" in value`, `{"name": …}`: a TypedDict's key or an enum's member."""
    parent, field = site.path[index - 1][0], site.path[index][1]
    owner: Types | None = None
    evaluator = meanings.evaluator
    keyword = _unpacked_keyword(meanings, source, site, index)
    if keyword is not None:
        return keyword
    by_name = _members_by_name(meanings, source, site.path[index][0], parent)
    if by_name is not None:
        return _enum_member(meanings, site, by_name)
    if parent.type == "subscript" and field == "subscript":
        value = parent.child_by_field_name("value")
        owner = evaluator.at(source, value) if value is not None else None
    elif parent.type == "argument_list" and index >= 2:
        call = site.path[index - 2][0]
        function = call.child_by_field_name("function")
        arguments = positional_arguments(call)
        first = bool(arguments) and arguments[0].start_byte == site.path[index][0].start_byte
        if function is not None and function.type == "attribute" and first:
            receiver = function.child_by_field_name("object")
            if last_name(source, function) in ("get", "pop", "setdefault", "__getitem__", "__contains__"):
                owner = evaluator.at(source, receiver) if receiver is not None else None
    elif parent.type == "comparison_operator" and len(parent.named_children) == 2:
        other = parent.named_children[1]
        if other.start_byte != site.path[index][0].start_byte:
            owner = evaluator.at(source, other)
    elif parent.type == "pair" and field == "key" and index >= 2:
        owner = expected_type(meanings, source, site, index - 2)
    elif parent.type == "dict_pattern" and field == "key":
        owner = _subject(meanings, source, site)
    if owner is None:
        return None
    if parent.type == "subscript":
        member = _enum_member(meanings, site, owner)
        if member is not None:
            return member
    for each in owner.values:
        if isinstance(each, InstanceValue) and evaluator.is_typed_dict(each.cls):
            meaning = meanings.member(each.cls, site.spelling, f"a key of `{each.cls.name}`")
            return TextMeaning(None, meaning.says, meaning)
    return None


def _enum_member(meanings: Meanings, site: Site, owner: Types) -> TextMeaning | None:
    for each in owner.values:
        if isinstance(each, ClassValue) and meanings.evaluator.is_enum(each.cls):
            meaning = meanings.member(each.cls, site.spelling, f"a member of enum `{each.cls.name}` by name")
            return TextMeaning(None, meaning.says, meaning)
    return None


def _members_by_name(meanings: Meanings, source: Source, string: Node, parent: Node) -> Types | None:
    """The class whose `__members__` are asked for a string."""
    mapping = _mapping(source, string, parent)
    if mapping is None or mapping.type != "attribute" or last_name(source, mapping) != "__members__":
        return None
    owner = mapping.child_by_field_name("object")
    return meanings.evaluator.at(source, owner) if owner is not None else None


def _unpacked_keyword(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """`f(**{"name": …})` gives the keyword `name`; a dictionary that has a name may give it."""
    certain, perhaps = detours.key_roots(meanings, source, site, index, site.spelling)
    says = "a keyword in an unpacked dictionary"
    if certain:
        return TextMeaning(None, says, Meaning(certain, says))
    return TextMeaning(Evidence.POSSIBLE, f"{says}, perhaps", Meaning(perhaps, says)) if perhaps else None


def _of_function(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """What is told of a function by the names of its parameters; what an override gets in its `**options`."""
    mapping = _mapping(source, site.path[index][0], site.path[index - 1][0])
    if mapping is None:
        return None
    taken = _taken_as_options(meanings, source, site, mapping)
    if taken:
        says = f"{LOOKED_UP} in the keywords that an override gets"
        return TextMeaning(Evidence.POSSIBLE, says, Meaning(taken, says))
    if "call_args" in source.text(mapping):
        return TextMeaning(Evidence.POSSIBLE, OF_SIGNATURE)
    described = signatures.described(source, mapping)
    if described is None:
        return None
    meaning = signatures.named(meanings, source, described, site.spelling)
    if meaning.roots and meaning.complete:
        return TextMeaning(None, meaning.says, meaning)
    return TextMeaning(Evidence.POSSIBLE, OF_SIGNATURE, meaning) if not meaning.complete else None


def _taken_as_options(meanings: Meanings, source: Source, site: Site, mapping: Node) -> frozenset[Root]:
    """For `options["size"]` in a method that takes `**options`: the parameters `size` of the methods it overrides."""
    function = detours.taken_by(source, mapping)
    if function is None or not function.in_class or function.parameter(site.spelling) is not None:
        return frozenset()
    return meanings.overridden_parameters(function, site.spelling)


def _subject(meanings: Meanings, source: Source, site: Site) -> Types | None:
    """The value that a pattern is matched with, where the pattern stands at the top of its case."""
    for at in range(len(site.path) - 1, 0, -1):
        if site.path[at][0].type == "case_clause":
            nested = sum(node.type == "dict_pattern" for node, _ in site.path[at:])
            statement = next(node for node, _ in reversed(site.path[:at]) if node.type == "match_statement")
            subject = statement.child_by_field_name("subject")
            return meanings.evaluator.at(source, subject) if nested == 1 and subject is not None else None
    return None


def _called_with(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """Strings that a call looks up at run time: `getattr` and its like, `globals()[…]`, fixtures by name."""
    parent = site.path[index - 1][0]
    namespace = _namespace(meanings, source, site, index)
    if namespace:
        return TextMeaning(
            Evidence.POSSIBLE,
            IN_LOCALS if namespace == "locals" else f"{LOOKED_UP} in `{namespace}` at run time",
        )
    if parent.type == "subscript":
        return None
    call = parent.parent if parent.type == "argument_list" else None
    if call is None or call.type != "call":
        return None
    function = call.child_by_field_name("function")
    name = _callee_name(source, function) if function is not None else ""
    arguments = positional_arguments(call)
    position = next(
        (i for i, each in enumerate(arguments) if each.start_byte == site.path[index][0].start_byte), -1
    )
    if name in _LOOKUPS and position >= _LOOKUPS[name]:
        receiver = meanings.evaluator.at(source, arguments[0]) if _LOOKUPS[name] and arguments else None
        return TextMeaning(Evidence.POSSIBLE, f"{LOOKED_UP} by `{name}` at run time", receiver=receiver)
    if name in ("usefixtures", "getfixturevalue"):
        bound = _fixture_for(meanings, source, site)
        return TextMeaning(Evidence.POSSIBLE, f"a fixture's name given to `{name}`", bound)
    if name in _LABELLED and position == 0 and _is_assigned_to(source, call, site.spelling):
        owner = source.names(site.spelling).scope_of(site.scope, site.spelling)
        bound = meanings.in_scope(source, owner, site.spelling)
        return TextMeaning(
            Evidence.POSSIBLE, f"the name that `{name}` is told, which checkers compare", bound
        )
    return None


def _callee_name(source: Source, function: Node) -> str:
    """The last part of a callee's name, and of `mock.patch.object` the last two."""
    name = last_name(source, function)
    owner = function.child_by_field_name("object") if name == "object" else None
    return "patch.object" if owner is not None and last_name(source, owner) == "patch" else name


def _namespace(meanings: Meanings, source: Source, site: Site, index: int) -> str:
    """`globals()`, `vars(x)`, `x.__dict__` or what a metaclass gets to make a class of, if the string is looked up there."""
    value = _mapping(source, site.path[index][0], site.path[index - 1][0])
    name = last_name(source, value) if value is not None else ""
    if name in ("globals", "locals", "vars", "__dict__"):
        return name
    is_name = value is not None and value.type == "identifier"
    return name if is_name and _is_of_new_class(meanings, source, site.scope, name) else ""


def _is_of_new_class(meanings: Meanings, source: Source, scope: Scope, name: str) -> bool:
    """Is it `namespace` in a metaclass's `__new__(mcs, name, bases, namespace)` or `__init__`?"""
    owner = source.names(name).scope_of(scope, name)
    if owner is None or owner.kind != "function":
        return False
    function = function_in(source, owner)
    if not function.in_class or function.name not in ("__new__", "__init__"):
        return False
    is_fourth = [each.name for each in function.parameters[3:4]] == [name]
    return is_fourth and meanings.evaluator.is_metaclass(class_in(source, function.outer))


def _mapping(source: Source, string: Node, parent: Node) -> Node | None:
    """Where a string is looked up: `mapping[…]`, `mapping.get(…)`, `… in mapping`."""
    if parent.type == "subscript":
        return parent.child_by_field_name("value")
    if parent.type == "argument_list" and parent.parent is not None:
        function = parent.parent.child_by_field_name("function")
        if function is not None and last_name(source, function) in (
            "get",
            "pop",
            "setdefault",
            "__getitem__",
        ):
            return function.child_by_field_name("object")
    elif parent.type == "comparison_operator" and len(parent.named_children) == 2:
        other = parent.named_children[1]
        return other if other.start_byte != string.start_byte else None
    return None


def _is_assigned_to(source: Source, value: Node, name: str) -> bool:
    """`name = value`?"""
    statement = value.parent
    if statement is None or statement.type != "assignment":
        return False
    left = statement.child_by_field_name("left")
    return left is not None and source.text(left) == name


def _fixture_for(meanings: Meanings, source: Source, site: Site) -> Meaning:
    """The fixture that a name in a string means: from the definition it decorates, or in whose body it stands."""
    definition = _definition_around(source, site)
    if isinstance(definition, Function):
        place = fixtures.place_of(definition)
    else:
        place = fixtures.Place(source, definition)
    found = fixtures.supplier(meanings.evaluator, place, site.spelling)
    return meanings.fixture(found) if found is not None else NOTHING


def _definition_around(source: Source, site: Site) -> Class | Function | None:
    for node, _ in reversed(site.path):
        if node.type == "decorated_definition":
            node = node.child_by_field_name("definition") or node
        if node.type == "function_definition":
            return function_of(source, node)
        if node.type == "class_definition":
            return class_of(source, node)
    return None


def _parametrized(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """The names in `@pytest.mark.parametrize("name, other", …)`: parameters of the function below, or fixtures."""
    at = index
    while at > 1 and site.path[at - 1][0].type in ("list", "tuple", "keyword_argument"):
        at -= 1
    call = site.path[at - 2][0] if at > 2 and site.path[at - 1][0].type == "argument_list" else None
    if call is None or call.type != "call" or last_name(source, call) != "parametrize":
        return None
    first = next((c for c in site.path[at - 1][0].named_children if c.type != "comment"), None)
    if first is None or first.start_byte != site.path[at][0].start_byte:
        return None
    says = "the name of a parameter given to `parametrize`"
    definition = _definition_around(source, site)
    if isinstance(definition, Function):
        tests = [definition] if definition.parameter(site.spelling) is not None else []
    elif definition is not None or fixtures.is_mark(source, call):
        tests = fixtures.marked(source, definition, site.spelling)
    else:
        tests = []
    if tests:
        found = [meanings.variable(Variable(source, test.scope, site.spelling)) for test in tests]
        roots = frozenset[Root]().union(*(each.roots for each in found))
        return TextMeaning(Evidence.POSSIBLE, says, Meaning(roots, found[0].says))
    return TextMeaning(Evidence.POSSIBLE, says, _fixture_for(meanings, source, site))


def _given_fixture_name(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """`@pytest.fixture(name="name")`."""
    parent = site.path[index - 1][0]
    key = parent.child_by_field_name("name") if parent.type == "keyword_argument" else None
    if key is None or source.text(key) != "name" or index < 3 or site.path[index - 3][0].type != "call":
        return None
    definition = _definition_around(source, site)
    if not isinstance(definition, Function) or last_name(source, site.path[index - 3][0]) != "fixture":
        return None
    return TextMeaning(None, "the fixture's name", meanings.fixture(definition))


def _at(site: Site, string: Node) -> int:
    """Where in the content of the string the occurrence starts; -1 if that is not plain."""
    start = next((c.start_byte for c in string.named_children if c.type == "string_content"), site.start + 1)
    return site.start - start


def _dotted_string(meanings: Meanings, source: Source, site: Site, content: str, at: int) -> TextMeaning:
    """A string that is a dotted path, as `mock.patch`, `importlib` and entry points take them; `at`: where in it."""
    before = content[:at].rstrip(".:")
    if not before:
        named = module_strings.at_start(meanings, source, content)
        return named or TextMeaning(Evidence.MENTION, "at the start of a dotted string")
    parts = re.split(r"[.:]", before)
    for n_parts in range(len(parts), 0, -1):
        module = meanings.project.find(".".join(parts[:n_parts]), source.path)
        if module is None:
            continue
        types = just(ModuleValue(module))
        for part in parts[n_parts:]:
            types = meanings.evaluator.attribute(types, part, source.module_scope)
        roots: set[Root] = set()
        for value in types.values:
            roots |= meanings.on_value(value, site.spelling, before).roots
        bound = Meaning(frozenset(roots), f"`{before}` in a string")
        return TextMeaning(Evidence.POSSIBLE, f"in a dotted string, behind `{before}`", bound)
    return TextMeaning(Evidence.MENTION, "in a dotted string")


def _is_docstring(site: Site, index: int) -> bool:
    parent = site.path[index - 1][0] if index else None
    while parent is not None and parent.type in ("concatenated_string", "parenthesized_expression"):
        parent = parent.parent
    return parent is not None and parent.type == "expression_statement" and parent.named_child_count == 1


# ---------------------------------------------------------------------------------------------------- other files


class OtherFile:
    """A file that is not Python, and what occurrences of a name in it are. Each is looked at in a time that does not grow.

    `dotted` is the dotted name of the module that defines the symbol (of a module: of its package). `inside` says whether
    the symbol is a module of the top and has something of a name. Offsets are code points.
    """

    def __init__(self, path: str, text: str, dotted: str, inside: Callable[[str], bool]) -> None:
        self.text = text
        self._name = path.rpartition("/")[2]
        self._suffix = path.rpartition(".")[2].lower()
        self._dotted = dotted
        self._inside = inside

    def meaning(self, start: int, end: int) -> tuple[Evidence, str]:
        """The class and reason of an occurrence."""
        suffix, dotted = self._suffix, self._dotted
        if suffix == "ipynb":
            return _in_notebook(self.text, start)
        if suffix in _PROSE:
            return Evidence.MENTION, f"in a `{suffix}` file"
        line = self._before(start)
        before = _DOTTED_BEFORE_COLON.search(line)
        module = before.group(1) if before is not None else ""
        if module and (dotted == module or dotted.endswith("." + module) or module.startswith(dotted + ".")):
            return Evidence.POSSIBLE, f"named by its path `{module}` in a `{suffix}` file"
        after = _NAME_AFTER.match(self.text, end)
        if (
            not before
            and after is not None
            and not line.endswith(("/", "-"))
            and self._inside(after.group(1))
        ):
            return Evidence.POSSIBLE, f"at the start of a path in a `{suffix}` file"
        opened = self._opened(start)
        if opened is not None and self.text[opened - 1 : opened] == "$":
            return Evidence.MENTION, "in an expression of a workflow"
        if opened is not None:
            return Evidence.POSSIBLE, "in a template expression"
        if suffix in ("pyx", "pxd", "pxi"):
            return Evidence.POSSIBLE, "in Cython code, which is not analysed"
        return Evidence.MENTION, f"in a `{suffix}` file" if "." in self._name else "in a text file"

    def _before(self, start: int) -> str:
        """What stands before a place in its line, as far back as a path may reach."""
        path = _PATH_BACKWARDS.match(self.text[max(0, start - _LONGEST_PATH) : start][::-1])
        return path.group()[::-1] if path is not None else ""

    def _opened(self, at: int) -> int | None:
        """Where the expression of a template begins in which a place stands: in its line, unless the file is a template."""
        index = bisect_right(self._marks, (at - 2, "~")) - 1
        if index < 0 or self._marks[index][1] not in ("{{", "{%"):
            return None
        opened = self._marks[index][0]
        newline = bisect_left(self._newlines, at) - 1
        is_same_line = newline < 0 or self._newlines[newline] < opened
        return opened if is_same_line or self._suffix in _TEMPLATES else None

    @cached_property
    def _marks(self) -> list[tuple[int, str]]:
        return [(found.start(), found.group()) for found in _TEMPLATE_MARK.finditer(self.text)]

    @cached_property
    def _newlines(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]


def _in_notebook(text: str, start: int) -> tuple[Evidence, str]:
    """Cells are run in no fixed order, so even a plain call in one is only possible."""
    if notebooks.is_code(text, start):
        return Evidence.POSSIBLE, "in a code cell of a notebook"
    return Evidence.MENTION, "in a notebook"


_TEMPLATE_MARK = re.compile(r"\{\{|\{%|\}\}|%\}")
_LONGEST_PATH = 500
"""So many code points before a name are looked at for the path in front of it."""
_PATH_BACKWARDS = re.compile(r"[\w.:/-]*")
_TYPE_COMMENT = re.compile(r"#\s*type:\s*(?!\s|ignore\b)")
_DOTTED_BEFORE = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\.$")
_DOTTED_BEFORE_COLON = re.compile(r"([^\W\d]\w*(?:\.\w+)*)[.:]$")
_NAME_AFTER = re.compile(r"[.:]([^\W\d]\w*)")
_DOTTED_ONLY = re.compile(r"([^\W\d]\w*(?:[.:][^\W\d]\w*)*)")
_ENTRY_POINT = re.compile(r"\s*[\w.-]+\s*=\s*([^\W\d]\w*(?:[.:][^\W\d]\w*)+)\s*(?:\[[^]]*\]\s*)?")
_PROSE = frozenset({"md", "rst", "adoc", "tex", "org", "po"})
_TEMPLATES = frozenset({"html", "htm", "jinja", "jinja2", "j2", "tmpl", "tpl", "mako", "xml", "txt"})
_LABELLED = frozenset(
    {
        "TypeVar",
        "ParamSpec",
        "TypeVarTuple",
        "NewType",
        "TypeAliasType",
        "NamedTuple",
        "namedtuple",
        "TypedDict",
    }
)
_LOOKUPS = {
    "getattr": 1,
    "setattr": 1,
    "hasattr": 1,
    "delattr": 1,
    "attrgetter": 0,
    "methodcaller": 0,
    "__getattribute__": 0,
    "__getattr__": 0,
    "__setattr__": 0,
    "__delattr__": 0,
    "patch.object": 1,
    "getattr_static": 1,
}
_TYPING_NAMES = frozenset(
    [
        "Optional",
        "Union",
        "List",
        "Dict",
        "Set",
        "FrozenSet",
        "Tuple",
        "Type",
        "Sequence",
        "Iterable",
        "Iterator",
        "Mapping",
        "MutableMapping",
        "Callable",
        "Awaitable",
        "Coroutine",
        "Generator",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "ClassVar",
        "Final",
        "Annotated",
        "Generic",
        "Deque",
        "DefaultDict",
        "Collection",
        "Counter",
        "ChainMap",
        "Required",
        "NotRequired",
        "list",
        "dict",
        "set",
        "frozenset",
        "tuple",
        "type",
        "deque",
        "defaultdict",
    ]
)
