"""What one file says about a name: every occurrence with its meaning, as plain data.

A `FileFacts` holds no tree and no scope, so it can come from another process, and the file's tree can be given up when
it is made. Everything that judging needs later is read off here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsptools.languages.names import Evidence
from lsptools.languages.python import mentions
from lsptools.languages.python.classes import Class, last_name, library_name
from lsptools.languages.python.closure import builtin_roots, definers
from lsptools.languages.python.given import Given, given_by_keyword, is_asked_for, keys_around
from lsptools.languages.python.meaning import NOTHING, Meaning, Meanings, Root, member_root
from lsptools.languages.python.private import PRIVATE, spelled_out
from lsptools.languages.python.roles import BINDING, DECLARING, TEXT, Role, access_of, receiver_before
from lsptools.languages.python.scopes import Site, Source
from lsptools.syntax.tree import Node
from lsptools.text.lines import Span


@dataclass(frozen=True, slots=True)
class Fact:
    """One occurrence."""

    path: str
    start: int
    end: int
    """Bytes of the UTF-8 source."""
    span: Span
    """The same in code points."""
    written: str
    role: Role
    shown: str
    """The role as it is shown: `definition`, `write`, `call`, …"""
    meaning: Meaning
    evidence: Evidence | None = None
    """For text: the class it has by itself; None: the meaning decides."""
    reason: str = ""
    """For text: where it stands."""
    receiver: frozenset[Root] | None = None
    """For the string of a `getattr`: what the name means on its first argument, if that is known."""
    binds: str = ""
    """For a binding in a class or module: what it gives an attribute of this name to."""
    beside: str = ""
    """Unless the meaning is complete: the last name of the callee of a keyword, of the receiver of an attribute, of the module
    of an import."""
    may_be_module: bool = False
    """Unless the meaning is complete: does the receiver of an attribute look like a module object?"""
    writes: bool = False
    given: Given | None = None
    """Unless the meaning is complete: what the call gives in which a keyword stands."""
    keys: Given | None = None
    """Of a key of a mapping: the keys beside it."""
    through: tuple[Root, ...] = ()
    """Members looked up on `self` or `cls` on the way to the meaning: a subclass that overrides one may change it."""


@dataclass(frozen=True, slots=True)
class Definer:
    """A class that defines a member of the name."""

    root: Root
    name: str
    lineage: tuple[Root, ...]
    """The member in the class and all its ancestors, in resolution order, whether they define it or not; then in the
    metaclass and its ancestors, whose instance the class is."""
    overridden: tuple[Root, ...]
    """Those of the ancestors that define it; builtin ones too, and those of the metaclass that the class comes before."""
    unknown_bases: tuple[str, ...]
    """Base expressions, its own and its ancestors', that lead nowhere."""
    kind: str = ""
    """`protocol` or `abstract`, if other classes may stand for it that do not name it as a base."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All occurrences of a name in one file, in order."""

    path: str
    is_broken: bool
    facts: tuple[Fact, ...]
    definers: tuple[Definer, ...]
    read: tuple[tuple[str, str], ...] = ()
    """Path and digest of the files that were read for it the first time: by another process, perhaps."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for in each file."""

    name: str
    spellings: tuple[str, ...]
    """Mangled spellings of a private name."""
    members: bool
    """Are the classes that define the name wanted?"""
    keywords_only_outside: frozenset[str] | None
    """If not None: outside of these files only keyword arguments count (the name is a parameter's), in templates, too."""
    private: str = ""
    """What private names begin with when they are spelled out with the class that is looked for."""


def facts_of(meanings: Meanings, source: Source, wanted: Wanted) -> FileFacts:
    """The facts of one file."""
    sites = [site for site in _sites(source, wanted) if _counts(source, site, wanted)]
    facts = tuple(fact for site in sites if _is_wanted(fact := _fact(meanings, source, site), wanted))
    if wanted.private and wanted.private in source.document.text:
        spelled = _spelled_out(meanings, source, wanted.private)
        facts = tuple(sorted([*facts, *spelled], key=lambda fact: fact.start))
    found = definers(meanings.evaluator, [source], wanted.name) if wanted.members else ()
    return FileFacts(
        source.path,
        source.is_broken,
        facts,
        tuple(definer_of(meanings, cls, wanted.name) for cls in found),
    )


def _sites(source: Source, wanted: Wanted) -> Sequence[Site]:
    sites = source.sites(wanted.name)
    for spelling in wanted.spellings:
        if spelling in source.document.text:
            sites = sorted([*sites, *source.sites(spelling)], key=lambda site: site.start)
    return sites


def _counts(source: Source, site: Site, wanted: Wanted) -> bool:
    homes = wanted.keywords_only_outside
    if homes is None or source.path in homes or site.role is Role.KEYWORD:
        return True
    return site.role is Role.STRING and (
        keys_around(source, site) is not None
        or is_asked_for(site)
        or mentions.is_template_keyword(source, site)
    )


def _is_wanted(fact: Fact, wanted: Wanted) -> bool:
    """Outside of a parameter's own files a string counts only if it is a key, which may become a keyword, or one in a template."""
    homes = wanted.keywords_only_outside
    if homes is None or fact.path in homes or fact.role is not Role.STRING:
        return True
    return (
        fact.keys is not None or bool(fact.meaning.roots) or fact.reason.startswith(mentions.TEMPLATE_KEYWORD)
    )


def _spelled_out(meanings: Meanings, source: Source, prefix: str) -> Iterator[Fact]:
    for start, end, evidence, meaning in spelled_out(meanings, source, prefix):
        yield Fact(
            source.path,
            start,
            end,
            source.span(start, end),
            source.bytes[start:end].decode("utf-8", "replace"),
            Role.TOKEN,
            PRIVATE,
            meaning,
            evidence,
            meaning.says,
        )


def definer_of(meanings: Meanings, cls: Class, name: str) -> Definer:
    """A class that defines a member of this name, with what that overrides."""
    evaluator = meanings.evaluator
    spelled = cls.spelled(name)
    lineage = evaluator.order(cls)
    overridden = [
        member_root(ancestor, spelled)
        for ancestor in lineage[1:]
        if ancestor.spelled(name) == spelled and evaluator.defines(ancestor, name)
    ]
    makers = evaluator.over_metaclass(cls, name)
    of_metaclass = [member_root(each, spelled) for each in makers if each.spelled(name) == spelled]
    return Definer(
        member_root(cls, spelled),
        cls.name,
        tuple(member_root(each, spelled) for each in (*lineage, *evaluator.metaclasses(cls))),
        (*overridden, *of_metaclass, *builtin_roots(evaluator, cls, name)),
        tuple(owner.source.text(node) for owner, node in evaluator.unknown_bases(cls)),
        kind_of_class(cls),
    )


def kind_of_class(cls: Class) -> str:
    """`protocol` or `abstract`, as far as the class's own statement says so."""
    bases = [cls.source.text(node).partition("[")[0].rpartition(".")[2] for node in cls.base_nodes]
    names = {library_name(cls.source, base) for base in bases}
    if "Protocol" in names:
        return "protocol"
    meta = cls.keywords.get("metaclass")
    is_abstract = "ABC" in names or (meta is not None and cls.source.text(meta).endswith("ABCMeta"))
    return "abstract" if is_abstract else ""


def _fact(meanings: Meanings, source: Source, site: Site) -> Fact:
    if site.role in TEXT:
        return _text_fact(meanings, source, site)
    evaluator = meanings.evaluator
    evaluator.through = set()
    meaning = meanings.of(source, site)
    through = tuple(member_root(cls, name) for cls, name in evaluator.through) if evaluator.through else ()
    is_attribute = site.role is Role.ATTRIBUTE
    return Fact(
        source.path,
        site.start,
        site.end,
        source.span(site.start, site.end),
        source.bytes[site.start : site.end].decode("utf-8", "replace"),
        site.role,
        shown_role(site),
        meaning,
        binds=_binds(source, site),
        beside="" if meaning.complete and not through else _beside(source, site),
        may_be_module=is_attribute and not meaning.complete and _may_be_module(source, site),
        writes=_writes(site, meaning),
        given=None if meaning.complete else given_by_keyword(source, site),
        keys=keys_around(source, site),
        through=through,
    )


def _writes(site: Site, meaning: Meaning) -> bool:
    """Does it set an attribute, by name or as a keyword that becomes one?"""
    if site.role is Role.KEYWORD:
        return bool(meaning.unbound)
    return site.role is Role.ATTRIBUTE and access_of(site.path) not in (Role.READ, Role.DELETE)


def _text_fact(meanings: Meanings, source: Source, site: Site) -> Fact:
    evidence: Evidence | None = Evidence.UNRELATED
    reason, meaning, receiver = "no name: a keyword, prefix or number", NOTHING, None
    if site.role is not Role.TOKEN:
        found = mentions.in_python(meanings, source, site)
        evidence, reason, meaning = found.evidence, found.reason, found.meaning
        if found.receiver is not None and found.receiver.complete and found.receiver.values:
            on_each = (meanings.on_value(v, site.spelling, "it").roots for v in found.receiver.values)
            receiver = frozenset[Root]().union(*on_each)
    return Fact(
        source.path,
        site.start,
        site.end,
        source.span(site.start, site.end),
        source.bytes[site.start : site.end].decode("utf-8", "replace"),
        site.role,
        shown_role(site),
        meaning,
        evidence,
        reason,
        receiver,
        beside=mentions.template_callee(source, site) if reason == mentions.TEMPLATE_KEYWORD else "",
        keys=keys_around(source, site),
    )


def _binds(source: Source, site: Site) -> str:
    if site.role not in BINDING or site.role in (Role.IMPORT_NAME, Role.IMPORT_MODULE):
        return ""
    if site.scope.kind == "class":
        return f"class `{site.scope.name}`"
    return f"`{source.path}`" if site.scope.kind == "module" else ""


def _beside(source: Source, site: Site) -> str:
    if site.role in (Role.KEYWORD, Role.PATTERN_KEYWORD):
        call = site.ancestor("call", "class_definition", "class_pattern")
        function = call.child_by_field_name("function") if call is not None else None
        return last_name(source, function) if function is not None else ""
    if site.role is Role.ATTRIBUTE:
        receiver = receiver_before(site.path)
        if receiver is None:
            return ""
        return _name_before_alias(source, site, receiver) or last_name(source, receiver)
    if site.role in (Role.IMPORT_NAME, Role.IMPORT_ORIGINAL, Role.MODULE_PART):
        statement = site.ancestor("import_from_statement")
        module = statement.child_by_field_name("module_name") if statement is not None else None
        return source.text(module).rpartition(".")[2] if module is not None else ""
    return ""


def _name_before_alias(source: Source, site: Site, receiver: Node) -> str:
    """For a receiver bound by `import a.b as c` or `from a import b as c`: `b`."""
    if receiver.type != "identifier":
        return ""
    name = source.text(receiver)
    names = source.names(name)
    owner = names.scope_of(site.scope, name)
    for binding in names.bindings(owner, name) if owner is not None else ():
        if binding.role is Role.IMPORT_ALIAS and binding.leaf.parent is not None:
            original = binding.leaf.parent.child_by_field_name("name")
            if original is not None:
                return source.text(original).rpartition(".")[2]
    return ""


def _may_be_module(source: Source, site: Site) -> bool:
    receiver = receiver_before(site.path)
    if receiver is None:
        return False
    if last_name(source, receiver) in ("module", "mod", "import_module", "__import__", "reload"):
        return True
    text = source.text(receiver)
    return "import_module" in text or "sys.modules" in text


def shown_role(site: Site) -> str:
    """The role of an occurrence as it is shown."""
    role = site.role
    if role in (Role.FUNCTION, Role.CLASS):
        return "definition"
    if role is Role.ATTRIBUTE:
        if access_of(site.path) in BINDING:
            return "write"
        return "call" if _is_called(site, -2) else "attribute"
    if role is Role.READ:
        return "call" if _is_called(site, -1) else "read"
    return _SHOWN[role]


def _is_called(site: Site, index: int) -> bool:
    if len(site.path) < 1 - index:
        return False
    return site.path[index][1] == "function" and site.path[index - 1][0].type == "call"


def all_facts(files: Sequence[FileFacts]) -> Iterator[Fact]:
    """The facts of all files, in order."""
    for file in files:
        yield from file.facts


_SHOWN: dict[Role, str] = {
    **dict.fromkeys(BINDING, "write"),
    **dict.fromkeys(DECLARING, "declaration"),
    Role.PARAMETER: "parameter",
    Role.TYPE_PARAMETER: "definition",
    Role.TYPE_ALIAS: "definition",
    Role.IMPORT_NAME: "import",
    Role.IMPORT_ALIAS: "import",
    Role.IMPORT_MODULE: "import",
    Role.IMPORT_ORIGINAL: "import",
    Role.MODULE_PART: "import",
    Role.KEYWORD: "keyword",
    Role.PATTERN_KEYWORD: "keyword",
    Role.STRING: "string",
    Role.COMMENT: "comment",
    Role.TOKEN: "token",
}
