"""Rung 3, names: what meant something still does, and means the same; by our own resolver.

1. In files that differ, a name that is read, or imported from the workspace, is bound, if it was or is new.
2. In the text of these files that stayed, a name is bound in the scope it was bound in: nothing new captures it.
3. In the whole workspace, what a module, a class or a function no longer has is no longer used: imports, attributes, keywords. Only
   uses count whose meaning was derived before.
4. No import fails because modules now import each other in a circle.

Where it stops: names built at run time; receivers that cannot be derived; installed packages that are not on the search path.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lsptools.languages.python.cycles import Loadable, circular_imports
from lsptools.languages.python.meaning import Meaning
from lsptools.languages.python.modules import Module
from lsptools.languages.python.references import Finder
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.text.edits import Edits
from lsptools.text.lines import Offset
from lsptools.verify.definitions import lost_names
from lsptools.verify.verdict import Problem, Standing, Verdict, counted
from lsptools.verify.versions import NO_EDITS, Pair, Versions

NAME = "names"
PROVES_NOT = "that values are right, or that names built at run time exist"

_WORD = re.compile(r"[^\W\d]\w*")
_GIVEN = frozenset(
    {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__package__", "__loader__", "__builtins__"}
    | {
        "__annotations__",
        "__class__",
        "__module__",
        "__qualname__",
        "__dict__",
        "reveal_type",
        "reveal_locals",
    }
)
"""Names that Python binds without a word in the file."""
_IMPORTS = frozenset({Role.IMPORT_NAME, Role.IMPORT_ALIAS, Role.IMPORT_MODULE})
_USES = _IMPORTS | {Role.IMPORT_ORIGINAL, Role.ATTRIBUTE, Role.KEYWORD, Role.MODULE_PART}


def check(versions: Versions) -> Verdict:
    """The verdict on a change."""
    pairs = list(versions.python)
    if not pairs:
        return Verdict(NAME, Standing.NOT_RUN, "no Python file differs", PROVES_NOT)
    work = _Work(versions, Finder(versions.before), Finder(versions.after))
    problems = sorted(
        set(work.problems(pairs)), key=lambda each: (each.path, each.line, each.column, each.code)
    )
    covers = f"{counted(work.n_names, 'name')} in {counted(len(pairs), 'file')} that differ, {counted(work.n_uses, 'use')} of what is gone, anywhere"
    if work.unknown:
        covers += f"; installed packages were not found: {', '.join(sorted(work.unknown))}"
    if work.broken:
        covers += f"; not looked at, for it cannot be read: {', '.join(sorted(work.broken))}"
    if problems:
        says = f"{problems[0].message}" + (f", and {len(problems) - 1} more" if len(problems) > 1 else "")
        return Verdict(NAME, Standing.FAILED, says, PROVES_NOT, covers, tuple(problems))
    if len(work.broken) == len(pairs):
        return Verdict(NAME, Standing.COULD_NOT_RUN, "no file that differs can be read", PROVES_NOT, covers)
    return Verdict(NAME, Standing.PASSED, "what was bound is bound, to the same", PROVES_NOT, covers)


@dataclass(slots=True)
class _Work:
    versions: Versions
    old: Finder
    new: Finder
    n_names: int = 0
    n_uses: int = 0
    broken: set[str] = field(default_factory=set)
    """Files that cannot be read."""
    unknown: set[str] = field(default_factory=set)
    """Imports of what is not in the workspace and was not found; perhaps it is installed elsewhere."""

    def problems(self, pairs: list[Pair]) -> Iterator[Problem]:
        for pair in pairs:
            if pair.new is not None:
                yield from self._in_file(pair)
        yield from self._lost(pairs)
        yield from self._circles(pairs)

    # ------------------------------------------------------------------ in the files that differ

    def _in_file(self, pair: Pair) -> Iterator[Problem]:
        now = self.new.project.source(pair.new or "")
        then = self.old.project.source(pair.old) if pair.old is not None else None
        if now is None or now.is_broken:
            self.broken.add(pair.name)
            return
        if then is not None and then.is_broken:
            then = None
        back = pair.edits.inverse(pair.before.text) if pair.before is not None else NO_EDITS
        for name in _words(now.document.text):
            for site in now.sites(name):
                if site.role is Role.READ:
                    self.n_names += 1
                    yield from self._read(pair, now, then, site, back)
                elif site.role in _IMPORTS:
                    self.n_names += 1
                    yield from self._imported(now, then, site, back)

    def _read(
        self, pair: Pair, now: Source, then: Source | None, site: Site, back: Edits
    ) -> Iterator[Problem]:
        owner = now.names(site.spelling).scope_at(site)
        was = _carried(now, then, site, back)
        if then is None or was is None:
            if owner is None and not self._is_known(self.new, now, site):
                yield _problem(now, site, "unbound", f"`{site.spelling}` is bound nowhere")
            return
        before = then.names(was.spelling).scope_at(was)
        if owner is None:
            if (before is not None or self._is_known(self.old, then, was)) and not self._is_known(
                self.new, now, site
            ):
                yield _problem(now, site, "unbound", f"`{site.spelling}` was bound, and is not any more")
        elif before is None:
            if self._is_known(self.old, then, was) and owner.kind != "module":
                yield _problem(
                    now, site, "captured", f"`{site.spelling}` was not a name of {_named(owner)}, and is now"
                )
        elif not _same(then, before, now, owner, pair.edits):
            yield _problem(
                now,
                site,
                "captured",
                f"`{site.spelling}` meant that of {_named(before)}, and means that of {_named(owner)} now",
            )

    def _is_known(self, finder: Finder, source: Source, site: Site) -> bool:
        """Whether a name that the file does not bind is bound all the same: a builtin, or by `import *`."""
        name = site.spelling
        if hasattr(builtins, name) or name in _GIVEN:
            return True
        stars = finder.project.star_imports(source)
        return any(module is None for _, module in stars) or bool(
            finder.project.global_variable(source, name)
        )

    def _imported(self, now: Source, then: Source | None, site: Site, back: Edits) -> Iterator[Problem]:
        if self.new.project.imported(now, site):
            return
        if not self._leads_inside(now, site):
            if site.ancestor("future_import_statement") is None and self._is_missing(now, site):
                self.unknown.add(site.spelling)
            return
        was = _carried(now, then, site, back) if then is not None else None
        if was is not None and then is not None and not self.old.project.imported(then, was):
            return  # it could not be found before either
        yield _problem(now, site, "import", f"`{site.spelling}` cannot be imported from there")

    def _is_missing(self, now: Source, site: Site) -> bool:
        statement = site.ancestor("import_from_statement")
        return statement is None or self.new.project.module_of_import(now, statement) is None

    def _leads_inside(self, source: Source, site: Site) -> bool:
        """Whether an import is of something that the workspace would have."""
        statement = site.ancestor("import_from_statement", "import_statement")
        if statement is None:
            return False
        project = self.new.project
        if statement.type == "import_statement":
            first = project.find(site.spelling.partition(".")[0], source.path)
            return first is not None and not first.external and site.role is not Role.IMPORT_ALIAS
        node = statement.child_by_field_name("module_name")
        written = "".join(source.text(node).split()) if node is not None else ""
        module = project.module_of_import(source, statement)
        if module is None:
            return written.startswith(".") or _has_top(project.find(written.partition(".")[0], source.path))
        return not module.external and not project.member(module, "__getattr__")

    # ------------------------------------------------------------------ in all files

    def _lost(self, pairs: list[Pair]) -> Iterator[Problem]:
        """Uses, in whatever file, of what the changed files no longer have."""
        lost = {name for pair in pairs for name in lost_names(pair)}
        for name in sorted(lost):
            if keyword.iskeyword(name) or not name.isidentifier():
                continue
            found = self.versions.after.files_with([name], globs=("*.py", "*.pyi"))
            for path in found.files:
                now = self.new.project.source(path)
                if now is not None and not now.is_broken and not now.external:
                    yield from self._uses(name, now)

    def _uses(self, name: str, now: Source) -> Iterator[Problem]:
        pair = self.versions.by_new_name.get(now.path)
        then = self.old.project.source(now.path if pair is None else pair.old or "")
        if then is None or then.is_broken:
            return
        back = NO_EDITS
        if pair is not None and pair.before is not None:
            back = pair.edits.inverse(pair.before.text)
        for site in now.sites(name):
            if site.role not in _USES:
                continue
            was = _carried(now, then, site, back)
            if was is None:
                continue
            self.n_uses += 1
            if self._meant(self.old, then, was) and self._means_nothing(now, site):
                yield _problem(
                    now,
                    site,
                    "gone",
                    f"the {site.role.value} `{name}` meant something, and means nothing now",
                )

    def _meant(self, finder: Finder, source: Source, site: Site) -> bool:
        if site.role in _IMPORTS:
            return bool(finder.project.imported(source, site))
        return bool(finder.meanings.of(source, site).roots)

    def _means_nothing(self, now: Source, site: Site) -> bool:
        if site.role in _IMPORTS:
            return not self.new.project.imported(now, site)
        meaning: Meaning = self.new.meanings.of(now, site)
        return not meaning.roots

    # ------------------------------------------------------------------ circles

    def _circles(self, pairs: list[Pair]) -> Iterator[Problem]:
        """Imports that fail now because of a circle, and did not."""
        then, now = Loadable(self.old.project), Loadable(self.new.project)
        for pair in pairs:
            if pair.new is None or pair.new.endswith(".pyi"):
                continue
            known = set()
            if pair.old is not None:
                known = {(each.path, each.name) for each in circular_imports(then, pair.old)}
            for each in circular_imports(now, pair.new):
                if (each.path, each.name) not in known:
                    yield Problem(each.path, each.line, 0, "circular-import", each.says)


def _has_top(module: Module | None) -> bool:
    return module is not None and not module.external


def _words(text: str) -> list[str]:
    return sorted({word for word in _WORD.findall(text) if not keyword.iskeyword(word)})


def _carried(now: Source, then: Source | None, site: Site, back: Edits) -> Site | None:
    """The same occurrence before the change; `None` if this text is new."""
    if then is None:
        return None
    span = back.carry_span(now.span(site.start, site.end))
    if (
        span is None
        or then.document.text[span.start : span.end] != now.document.text[slice(*_ends(now, site))]
    ):
        return None
    return then.site_at(then.byte(span.start), then.byte(span.end), then.document.text[span.start : span.end])


def _ends(source: Source, site: Site) -> tuple[int, int]:
    span = source.span(site.start, site.end)
    return span.start, span.end


def _same(then: Source, before: Scope, now: Source, owner: Scope, edits: Edits) -> bool:
    """Whether two scopes are the same one, before and after."""
    if before.kind == "module" or owner.kind == "module" or before.kind != owner.kind:
        return before.kind == owner.kind
    start = edits.carry(then.span(before.start, before.end).start)
    if start is not None and start == now.span(owner.start, owner.end).start:
        return True
    return before.name == owner.name and bool(before.name)


def _named(scope: Scope) -> str:
    return "the module" if scope.kind == "module" else f"{scope.kind} `{scope.name or '?'}`"


def _problem(source: Source, site: Site, code: str, says: str) -> Problem:
    at = source.document.lines.user_from_offset(Offset(source.span(site.start, site.end).start))
    return Problem(source.path, at.line, at.column, code, says)
