"""Which scope binds a name at a place, from the occurrences of that one name.

Whatever binds `name` in a file contains its text, so the occurrences of the name are enough: no other part of the
file is looked at. Rules: the language reference, section 4.2 (naming and binding), PEP 572 (assignment expressions),
PEP 695 (type parameters), PEP 649/749 (annotations), 6.2.2 (private name mangling).

Units: bytes of the UTF-8 source, half-open, as tree-sitter counts them.

Where it stops: star imports bind names that are nowhere in the text (`modules` looks for them), and so does code that
writes to `globals()`. Invariant: `Names.scope_of` agrees with the standard library's `symtable` on every name of every
file that compiles (held by a test over installed packages).
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from lsptools.languages.python.compiles import parses
from lsptools.languages.python.folding import folded
from lsptools.languages.python.roles import BINDING, DECLARING, Path, Role, role_of
from lsptools.languages.python.statements import beginnings
from lsptools.syntax.tree import Node, Tree, as_the_grammar_reads, parse, parse_part
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset, Offset, Span

_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
NAMES = frozenset({"identifier", "dotted_name", "attribute", "relative_import"})
"""Nodes that are names, or names with dots between them."""
_DEFINITIONS = frozenset({"function_definition", "class_definition", "lambda", "call"})


class Scope:
    """A region in which names are bound: `module`, `class`, `function`, `lambda`, `comprehension` or `types`.

    `types` is the annotation scope of PEP 695, around a definition with type parameters or inside a type alias.
    """

    __slots__ = ("end", "kind", "name", "parent", "start")

    def __init__(self, kind: str, start: int, end: int, name: str, parent: Scope | None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.name = name
        self.parent = parent

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or '?'} {self.start}:{self.end}>"

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def enclosing_class(self) -> Scope | None:
        """The innermost class whose private names are mangled here."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        return scope

    def enclosing_function(self) -> Scope | None:
        """The innermost `def` around this scope, itself included."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        return scope


class Site:
    """One occurrence of a name in a file: where, what it is, and the scope in which it is looked up or bound."""

    __slots__ = ("end", "path", "role", "scope", "spelling", "start")

    def __init__(self, start: int, end: int, role: Role, scope: Scope, path: Path, spelling: str) -> None:
        self.start = start
        self.end = end
        self.role = role
        self.scope = scope
        self.path = path
        self.spelling = spelling
        """The name as it is bound: mangled inside a class if it is private."""

    def __repr__(self) -> str:
        return f"<{self.spelling} {self.start} {self.role.name} in {self.scope!r}>"

    @property
    def leaf(self) -> Node:
        return self.path[-1][0]

    def ancestor(self, *kinds: str) -> Node | None:
        """The nearest node above the leaf of one of these types."""
        for node, _ in reversed(self.path[:-1]):
            if node.type in kinds:
                return node
        return None

    def takes_effect(self) -> int:
        """The byte from which on a binding holds, when control flows straight through it."""
        if self.role in (Role.ASSIGN, Role.AUGMENT, Role.ANNOTATE):
            node = self.ancestor("assignment", "augmented_assignment")
        elif self.role in (Role.FUNCTION, Role.CLASS):
            node = self.path[-2][0]
        elif self.role is Role.WALRUS:
            node = self.ancestor("named_expression")
        elif self.role is Role.FOR:
            loop = self.ancestor("for_statement", "for_in_clause")
            node = loop.child_by_field_name("right") if loop is not None else None
        else:
            node = None
        return node.end_byte if node is not None else self.end


class Names:
    """All bindings of one name in one file, and the rule that finds the one which holds at a place."""

    def __init__(self, sites: list[Site]) -> None:
        self.bound: dict[tuple[Scope, str], list[Site]] = {}
        self.declared: dict[tuple[Scope, str], Site] = {}
        for site in sites:
            if site.role in BINDING:
                self.bound.setdefault((site.scope, site.spelling), []).append(site)
            elif site.role in DECLARING:
                self.declared[site.scope, site.spelling] = site
        self._move_declared()

    def _move_declared(self) -> None:
        """Bindings under `global` and `nonlocal` belong to the scope that the declaration names."""
        for (scope, spelling), declaration in self.declared.items():
            sites = self.bound.pop((scope, spelling), None)
            if sites:
                owner = self._declared_owner(scope, spelling, declaration) or scope
                self.bound.setdefault((owner, spelling), []).extend(sites)

    def _declared_owner(self, scope: Scope, spelling: str, declaration: Site) -> Scope | None:
        if declaration.role is Role.GLOBAL:
            return scope.module
        outer = scope.parent
        while outer is not None and outer.kind != "module":
            if outer.kind != "class":
                above = self.declared.get((outer, spelling))
                if above is not None:
                    return self._declared_owner(outer, spelling, above)
                if (outer, spelling) in self.bound:
                    return outer
            outer = outer.parent
        return None

    def scope_of(self, scope: Scope, spelling: str) -> Scope | None:
        """The scope whose binding of the name is meant in `scope`; None: not bound in this file.

        A class's names are seen in its own body only, and in annotation scopes that stand directly in it.
        """
        here: Scope | None = scope
        sees_class = True
        while here is not None:
            if here.kind != "class" or sees_class:
                declaration = self.declared.get((here, spelling))
                if declaration is not None:
                    return self._declared_owner(here, spelling, declaration)
                if (here, spelling) in self.bound:
                    return here
            elif spelling == "__class__":
                return None  # the class itself, which no text binds to this name
            if here.kind != "types":
                sees_class = False
            here = here.parent
        return None

    def scope_at(self, site: Site) -> Scope | None:
        """As `scope_of`, for an occurrence: in a class or module body a read before any binding looks further out.

        `class A: x = x` reads the module's `x`, since a class body looks its names up when it runs.
        """
        owner = self.scope_of(site.scope, site.spelling)
        if owner is None or owner is not site.scope or owner.kind not in ("class", "module"):
            return owner
        if site.role is not Role.READ:
            return owner
        if any(binding.takes_effect() <= site.start for binding in self.bound[owner, site.spelling]):
            return owner
        if _in_loop(site):
            return owner
        if owner.kind == "module":
            return None if hasattr(builtins, site.spelling) else owner
        return owner.module if (owner.module, site.spelling) in self.bound else None

    def bindings(self, scope: Scope, spelling: str) -> list[Site]:
        """The sites that bind the name in a scope, in order."""
        return self.bound.get((scope, spelling), [])


def _in_loop(site: Site) -> bool:
    return site.ancestor("for_statement", "while_statement") is not None


class Source:
    """One Python file: its text, its tree, and the occurrences of names in it. Built once per snapshot and file.

    `path` is relative to the workspace with `/`; for files outside of it, absolute.

    If it is not to be parsed as a `whole`, only those statements of the module are parsed in which something is looked up, as
    long as no error is found in them. That decides every name the same way; only what is wrong elsewhere in the file stays unseen.
    """

    def __init__(self, path: str, document: Document, *, external: bool = False, whole: bool = True) -> None:
        self.path = path
        self.document = document
        self.external = external
        self.is_stub = path.endswith(".pyi")
        self.bytes: bytes = document.utf8
        self._ascii = len(self.bytes) == len(document.text)
        self._scopes: dict[tuple[int, str], Scope] = {}
        self._sites: dict[str, list[Site]] = {}
        self._names: dict[str, Names] = {}
        self._nodes: dict[tuple[int, int], Node] = {}
        self._beginnings: list[int] | None = [0] if whole else None
        """Where the parts begin that are parsed one by one; None: not looked for yet."""
        self._parts: dict[int, Node] = {}
        """The roots of those that have been parsed, by beginning."""
        self._path_down: list[tuple[Node, str | None]] = []
        """The same as it is handed out."""
        self._trail: list[tuple[Node, str | None, Scope]] = []
        """The way down to the last place: node, its field in the one before, and the scope in which the node stands."""
        self.definitions: dict[tuple[str, int], object] = {}
        """The classes and functions of the file by kind and start (see `classes`); they outlive the tree."""
        self.memo: dict[object, object] = {}
        """What others derived from the tree and want forgotten with it."""

    def __repr__(self) -> str:
        return f"<source {self.path}>"

    @cached_property
    def tree(self) -> Tree:
        return parse(self.bytes)

    @cached_property
    def _shown(self) -> bytes:
        return as_the_grammar_reads(self.bytes)

    def _root_at(self, at: int) -> Node:
        """The root of the tree that has this byte: the module, or a part of it."""
        if self._beginnings is None:
            self._beginnings = beginnings(self.bytes)
        starts = self._beginnings
        if len(starts) == 1 or "tree" in vars(self):
            return self.tree.root_node
        index = bisect_right(starts, at) - 1
        root = self._parts.get(starts[index])
        if root is None:
            end = starts[index + 1] if index + 1 < len(starts) else len(self.bytes)
            root = parse_part(self._shown, starts[index], end).root_node
            if root.has_error:
                self._beginnings = [0]
                self._parts.clear()
                return self.tree.root_node
            self._parts[starts[index]] = root
        return root

    def release(self) -> None:
        """Forget the tree and all that holds on to it. Scopes, classes and functions stay the same objects."""
        for name in ("tree", "_imports", "_shown"):
            self.__dict__.pop(name, None)
        self._sites.clear()
        self._names.clear()
        self._nodes.clear()
        self._parts.clear()
        self._trail.clear()
        self._path_down.clear()
        self.memo.clear()
        for definition in self.definitions.values():
            vars(definition).clear()

    def node_at(self, start: int, end: int) -> Node:
        """The definition (`def`, `class`, `lambda`, a call that makes a class) that covers exactly these bytes."""
        found = self._nodes.get((start, end))
        if found is None:
            path, _ = self.descend(start)
            found = next(
                node
                for node, _ in path
                if (node.start_byte, node.end_byte) == (start, end) and node.type in _DEFINITIONS
            )
            self._nodes[start, end] = found
        return found

    @cached_property
    def module_scope(self) -> Scope:
        return Scope("module", 0, len(self.bytes), "", None)

    @property
    def is_broken(self) -> bool:
        """True when the grammar finds errors in what has been parsed: then no scope of the tree can be relied on.

        A few odd files that Python compiles are broken by this, too: after `(a.` the grammar ends a block if the next line
        stands further left. What it does not know counts only if Python does not either: defaults of type parameters
        (PEP 696), and formats in strings like `{x:=^10}`.
        """
        # In parts, none that was looked at has an error: else all would be one.
        return len(self._beginnings or ()) == 1 and self._is_tree_broken

    @cached_property
    def _is_tree_broken(self) -> bool:
        root = self.tree.root_node
        if not root.has_error:
            return _is_python_2(root, self.bytes) and not parses(self.document.text)
        if _has_error(root, outside=("type_parameter", "string")):
            return True
        return _has_error(root, outside=("type_parameter",)) and not parses(self.document.text)

    def span(self, start: int, end: int) -> Span:
        """Bytes to code points."""
        if self._ascii:
            return Span(Offset(start), Offset(end))
        lines = self.document.lines
        return Span(lines.offset_from_byte(ByteOffset(start)), lines.offset_from_byte(ByteOffset(end)))

    def byte(self, offset: Offset) -> int:
        """Code points to bytes."""
        return offset if self._ascii else self.document.lines.byte_from_offset(offset)

    def text(self, node: Node) -> str:
        """The text of a node; a name as Python reads it (NFKC)."""
        text = self.bytes[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
        return folded(text) if not self._ascii and node.type in NAMES else text

    def text_of(self, site: Site) -> str:
        """The occurrence as it is written."""
        return self.bytes[site.start : site.end].decode("utf-8", "surrogateescape")

    def find(self, name: str) -> list[tuple[int, int]]:
        """Where the name's letters stand as a whole word; also spellings that are equal after NFKC.

        A word begins after an escape sequence, too: `name` in `"first\\nname"`.
        """
        text = self.document.text
        spans = {found.span() for found in word_pattern(name).finditer(text)}
        spans.update(span for span in self._escaped.get(name, ()) if self._is_after_escape(span[0]))
        if self._ascii and name.isascii():
            return sorted(spans)
        spans.update(self._folded.get(name, ()))
        to_byte = self.document.lines.byte_from_offset
        return sorted((to_byte(Offset(start)), to_byte(Offset(end))) for start, end in spans)

    @cached_property
    def _escaped(self) -> dict[str, list[tuple[int, int]]]:
        """Words that what may be an escape sequence touches, and where they stand."""
        escaped: dict[str, list[tuple[int, int]]] = {}
        for found in _ESCAPE.finditer(self.document.text):
            if found.group(1):
                escaped.setdefault(found.group(1), []).append(found.span(1))
        return escaped

    def _is_after_escape(self, offset: int) -> bool:
        """Does an escape sequence end at these code points? Not in a comment, nor in a raw string."""
        at = self.byte(Offset(offset))
        path, _ = self.descend(at - 1)
        return bool(path) and path[-1][0].type == "escape_sequence" and path[-1][0].end_byte == at

    @cached_property
    def _folded(self) -> dict[str, list[tuple[int, int]]]:
        """Words that Python reads as another spelling (NFKC), by that spelling."""
        text = self.document.text
        folded: dict[str, list[tuple[int, int]]] = {}
        if unicodedata.is_normalized("NFKC", text):
            return folded
        for found in _odd_words(text):
            normal = unicodedata.normalize("NFKC", found.group())
            if normal != found.group():
                folded.setdefault(normal, []).append(found.span())
        return folded

    def has(self, name: str) -> bool:
        """Does the name stand in the file, whole or in a longer word, in this spelling or in another?"""
        return name in self.document.text or self.is_folded(name)

    def is_folded(self, name: str) -> bool:
        """Does the file spell the name in another way somewhere?"""
        return not self._ascii and name in self._folded

    def owner_of(self, name: Node) -> Scope | None:
        """The scope that binds the name which a node reads."""
        text = self.text(name)
        return self.names(text).scope_of(self.descend(name.start_byte)[1], text)

    def bindings_of(self, name: Node) -> list[Site]:
        """Where that scope binds it, in order."""
        owner, text = self.owner_of(name), self.text(name)
        return self.names(text).bindings(owner, text) if owner is not None else []

    def sites(self, name: str) -> list[Site]:
        """Every occurrence of the name, in order."""
        found = self._sites.get(name)
        if found is None:
            found = self._sites[name] = [self.site_at(start, end, name) for start, end in self.find(name)]
        return found

    def names(self, name: str) -> Names:
        """The bindings of the name. Reads only occurrences that can bind: `name.x` and `x.name` cannot."""
        names = self._names.get(name)
        if names is None:
            full = self._sites.get(name)
            names = self._names[name] = Names(full if full is not None else self._binding_sites(name))
        return names

    def _binding_sites(self, name: str) -> list[Site]:
        if not (self._ascii and name.isascii()):
            return self.sites(name)
        found = set(_may_bind(self.document.text, name))
        for at, statement in self._imports:
            if name in statement:
                found.update(at + match.start() for match in word_pattern(name).finditer(statement))
        return [self.site_at(start, start + len(name), name) for start in sorted(found)]

    @cached_property
    def _imports(self) -> list[tuple[int, str]]:
        """Statements that may be `import a.b`, with their starts; ASCII sources only."""
        found = _IMPORT.finditer(self.document.text)
        return [(match.start(), match.group()) for match in found if "." in match.group()]

    def site_at(self, start: int, end: int, name: str) -> Site:
        """The occurrence at these bytes: descend from the module to the leaf, keeping track of the scope."""
        path, scope = self.descend(start)
        role = role_of(path) if path else Role.TOKEN
        name = folded(name)
        if role in (Role.STRING, Role.COMMENT) or not path:
            return Site(start, end, role, scope, path, name)
        leaf = path[-1][0]
        if role is not Role.TOKEN and (leaf.start_byte, leaf.end_byte) != (start, end):
            role = Role.TOKEN
        if role is Role.WALRUS:
            while scope.kind == "comprehension" and scope.parent is not None:
                scope = scope.parent
        elif role is Role.TYPE_ALIAS and scope.kind == "types" and scope.parent is not None:
            scope = scope.parent
        return Site(start, end, role, scope, path, self._spelled(name, path, scope))

    def _spelled(self, name: str, path: Path, scope: Scope) -> str:
        """The name as it is bound. A class's private type parameters are mangled with its name, before its body too."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        here = [
            node for node, _ in path if node.type == "class_definition" and node.start_byte == scope.start
        ]
        parameters = (
            here[0].child_by_field_name("type_parameters") if here and scope.kind == "types" else None
        )
        if parameters is not None and word_pattern(name).search(self.text(parameters)):
            scope = self.scope_inside(here[0])
        return mangled(name, scope)

    def descend(self, at: int) -> tuple[list[tuple[Node, str | None]], Scope]:
        """The path of nodes around a byte and the scope in which a name there is evaluated.

        One goes down many times, mostly to places near each other: what leads to the last one is not gone again. Of operators
        within operators (`a + b + c + …`, thousands of them in generated code) the path has the outermost and the innermost.
        """
        trail, shown = self._trail, self._path_down
        while trail and not trail[-1][0].start_byte <= at < trail[-1][0].end_byte:
            left, field, _ = trail.pop()
            if _is_run(trail, left, field):
                shown[-1] = trail[-1][:2]
            else:
                shown.pop()
        if trail:
            node, _, scope = trail[-1]
        else:
            node, scope = self._root_at(at), self.module_scope
        cursor = node.walk()
        while cursor.goto_first_child_for_byte(at) is not None:
            child = cursor.node
            if child is None or child.start_byte > at:
                break
            field = cursor.field_name
            if node.type in _SCOPED:
                scope = self._inner_scope(node, child, field, scope)
            if _is_run(trail, child, field):
                shown[-1] = (child, field)
            else:
                shown.append((child, field))
            trail.append((child, field, scope))
            node = child
        return list(shown), scope

    def scope_inside(self, node: Node) -> Scope:
        """The scope of a definition's own body (`function_definition`, `class_definition`, `lambda`)."""
        body = node.child_by_field_name("body")
        if body is None:
            return self.descend(node.start_byte)[1]
        _, outer = self.descend(node.start_byte)
        return self._inner_scope(node, body, "body", outer)

    def _inner_scope(self, node: Node, child: Node, field: str | None, scope: Scope) -> Scope:
        """The scope of `child`, when `node` itself is evaluated in `scope`."""
        kind = node.type
        if kind == "function_definition":
            if field in ("body", "parameters"):
                return self._definition_scope("function", node, scope)
            if field in ("return_type", "type_parameters"):
                return self._type_scope(node, scope)
            return scope
        if kind == "class_definition":
            if field == "body":
                return self._definition_scope("class", node, scope)
            return self._type_scope(node, scope) if field in ("superclasses", "type_parameters") else scope
        if kind == "lambda":
            return (
                self._scope("lambda", node, "<lambda>", scope) if field in ("body", "parameters") else scope
            )
        if kind == "type_alias_statement":
            return self._scope("types", node, "", scope)
        if kind == "for_in_clause":
            first = field == "right" and scope.kind == "comprehension" and _is_first_clause(node)
            return scope.parent if first and scope.parent is not None else scope
        if kind in _COMPREHENSIONS:
            return self._scope("comprehension", node, "<comprehension>", scope)
        return _parameter_scope(node, field, scope)

    def _definition_scope(self, kind: str, node: Node, outer: Scope) -> Scope:
        known = self._scopes.get((node.start_byte, kind))
        if known is not None:
            return known
        name = node.child_by_field_name("name")
        return self._scope(kind, node, self.text(name) if name else "", self._type_scope(node, outer))

    def _type_scope(self, node: Node, outer: Scope) -> Scope:
        if node.child_by_field_name("type_parameters") is None:
            return outer
        return self._scope("types", node, "", outer)

    def _scope(self, kind: str, node: Node, name: str, parent: Scope | None) -> Scope:
        key = (node.start_byte if parent is not None else -1, kind)
        known = self._scopes.get(key)
        if known is None or known.end != node.end_byte:
            known = self._scopes[key] = Scope(kind, node.start_byte, node.end_byte, name, parent)
        return known


_OPERATORS = frozenset({"binary_operator", "boolean_operator"})


def _is_run(trail: Sequence[tuple[Node, str | None, Scope]], node: Node, field: str | None) -> bool:
    """Is the node the first operand of an operation that is one itself, of an operation?"""
    if field != "left" or len(trail) < 2 or node.type not in _OPERATORS:
        return False
    above, its_field, _ = trail[-1]
    return its_field == "left" and above.type in _OPERATORS and trail[-2][0].type in _OPERATORS


_SCOPED = frozenset(
    {
        "function_definition",
        "class_definition",
        "lambda",
        "type_alias_statement",
        "for_in_clause",
        "default_parameter",
        "typed_default_parameter",
        "typed_parameter",
        *_COMPREHENSIONS,
    }
)


def _has_error(node: Node, *, outside: tuple[str, ...]) -> bool:
    if not node.has_error or node.type in outside:
        return False
    if node.is_error or node.is_missing:
        return True
    return any(_has_error(child, outside=outside) for child in node.children)


_PYTHON_2 = re.compile(rb"^[ \t]*(?:print|exec)[ \t]+[^\s(=.\[:,)]", re.MULTILINE)


def _is_python_2(root: Node, code: bytes) -> bool:
    """Is there a statement that the grammar still knows, and Python does not?"""
    for found in _PYTHON_2.finditer(code):
        at = found.end() - len(found.group().lstrip())
        node = root.descendant_for_byte_range(at, at + 1)
        if node is not None and node.parent is not None and node.parent.type in _OLD_STATEMENTS:
            return True
    return False


_OLD_STATEMENTS = frozenset({"print_statement", "exec_statement"})


def _parameter_scope(node: Node, field: str | None, scope: Scope) -> Scope:
    """Defaults are evaluated outside the function and outside its type parameters; annotations inside those."""
    if scope.kind not in ("function", "lambda") or scope.parent is None or field not in ("value", "type"):
        return scope
    outer = scope.parent
    if (
        field == "value"
        and outer.kind == "types"
        and (outer.start, outer.end) == (scope.start, scope.end)
        and outer.parent is not None
    ):
        return outer.parent
    return outer


def _is_first_clause(clause: Node) -> bool:
    """Is this the comprehension's first `for`, whose iterable is evaluated outside?"""
    before = clause.prev_named_sibling
    while before is not None and before.type not in ("for_in_clause", "if_clause"):
        before = before.prev_named_sibling
    return before is None


def mangled(name: str, scope: Scope) -> str:
    """The name as it is bound inside a class (language reference 6.2.2, "Private name mangling")."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    owner = scope.enclosing_class()
    bare = owner.name.lstrip("_") if owner is not None else ""
    return f"_{bare}{name}" if bare else name


@lru_cache(maxsize=4096)
def word_pattern(name: str) -> re.Pattern[str]:
    """The name as a whole word, as `rg --word-regexp` sees words.

    The letters stand first so that `re` can look for them as a literal: ten times faster than a leading look-behind.
    """
    word = re.escape(name)
    return re.compile(rf"{word}(?!\w)(?<!\w{word})")


_ESCAPE = re.compile(
    r"\\(?:(?:[abfnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})([^\W\d]\w*)?|.)",
    re.DOTALL,
)
"""A backslash and what it escapes, and the word after an escape sequence of letters or digits, if there is one."""


def _may_bind(text: str, name: str) -> Iterator[int]:
    """Where a whole word could bind a name outside an `import a.b`: neither after a dot nor before one.

    No regular expression: there are more names than their compilation is worth.
    """
    n_letters = len(name)
    at = text.find(name) if name else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + n_letters : at + n_letters + 1]
        if after != "." and before != "." and not _is_word(before) and not _is_word(after):
            yield at
        at = text.find(name, at + n_letters)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_IMPORT = re.compile(r"import[ \t\\](?<!\wimport.)(?:[^\n\\]|\\\r?.)*", re.DOTALL)


def _odd_words(text: str) -> Iterator[re.Match[str]]:
    """Words that are not all ASCII; identifiers may have characters that are not `\\w`."""
    odd = "".join(each for each in set(text) if not each.isascii() and f"a{each}".isidentifier())
    return re.finditer(rf"[A-Za-z0-9_]*[{odd}][A-Za-z0-9_{odd}]*", text) if odd else iter(())
