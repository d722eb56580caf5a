"""Change the parameters of a function, with every definition of its family and every call, or say why not.

Added, removed and reordered parameters are one change; renames are made by `rename`, before. The family of a method is
that of `rename` (overrides, overloads, stubs, branches); a constructor has none, for overrides of it are called by another
class. Each use of the function is rewritten, untouched because it is right as it is, or a site that somebody has to look at:

- `possible`: it may be a call of this function, or the function is handed on, or unpacked arguments hide what is given;
- a danger: the call is known, and rewriting it drops or reorders something that is evaluated.

By default any such site refuses the change. Invariant: what is written is proved first (`signature_proof`). Units: bytes
of the source inside, code points in the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from lsptools.errors import BadRequest, Conflict, Refused, bug
from lsptools.errors import Site as Place
from lsptools.languages.names import Evidence, FilePosition, Occurrence, References, Symbol
from lsptools.languages.python.arguments import Argument, bind, call_parts
from lsptools.languages.python.callables import Callee, Uses, callee_at, uses_of
from lsptools.languages.python.classes import Function
from lsptools.languages.python.references import Finder
from lsptools.languages.python.scopes import Source
from lsptools.languages.python.uses import CALL, DECORATOR, PARTIAL, Use
from lsptools.refactor.places import place_at
from lsptools.refactor.proof import ProofLine
from lsptools.refactor.readings import readings
from lsptools.refactor.rename import INCLUDE, REFUSE, SKIP
from lsptools.refactor.separated import Element, edits_of_list
from lsptools.refactor.signature_calls import Rewritten, rewrite
from lsptools.refactor.signature_checks import (
    body_conflicts,
    family_conflicts,
    is_pass_through,
    mentions_of,
    opaque_decorators,
    unbound_names,
)
from lsptools.refactor.signature_proof import prove_signature
from lsptools.refactor.signature_request import (
    Entry,
    SignatureEdit,
    apply_edit,
    elements,
    entries_of,
)
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SignatureSite:
    """One place the change is about: a definition, a call, a mention."""

    occurrence: Occurrence
    action: str
    """`edited`, `unchanged` (right as it is), `left` (not touched, though it may need it)."""


@dataclass(frozen=True, slots=True)
class SignaturePlan:
    """A change of parameters that may be made: of what, what it touches, and the proof."""

    symbol: Symbol
    before: str
    """The parameters as they were."""
    after: str
    sites: tuple[SignatureSite, ...]
    change: Change
    proof: tuple[ProofLine, ...]
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()


def plan_signature(
    snapshot: Snapshot, at: FilePosition, edit: SignatureEdit, *, possible: str = REFUSE
) -> SignaturePlan:
    """Plan and prove a change of the parameters of the function at a place. `possible` is as for renames.

    Raises `Refused` with all conflicts (`in_use`, `name_clash`, `name_capture`, `library_symbol`, `undecided`), and
    `BadRequest` (`not_a_symbol`, `not_found`, `invalid`, `no_change`). `Refused.details` holds a `References` whose
    occurrences are the sites.
    """
    finder = Finder(snapshot)
    planner = _Planner(finder, callee_at(finder, at), edit, possible)
    return planner.plan()


@dataclass(frozen=True, slots=True)
class Job:
    """One list between brackets that is edited. Code points of the text before."""

    path: str
    brackets: Span
    old: tuple[Span, ...]
    new: tuple[Element, ...]
    is_bare: bool = False
    """A generator as the only argument, whose brackets are those of the call."""


@dataclass(slots=True)
class Site:
    """A use on its way: what is to be done with it."""

    use: Use
    rewritten: Rewritten
    job: Job | None = None
    """How its arguments are edited, if they are."""
    deleted: tuple[tuple[int, int], ...] = ()
    """Bytes of expressions that go."""
    problem: str = ""
    """Why somebody has to look at it."""
    is_danger: bool = False
    expects: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What each parameter is to get, as text on one line: what the proof looks for."""


@dataclass(slots=True)
class _Planner:
    finder: Finder
    callee: Callee
    edit: SignatureEdit
    possible: str

    def plan(self) -> SignaturePlan:
        main = self._main()
        self._check_names(main)
        after = apply_edit(self.edit, main)
        uses = uses_of(self.finder, self.callee)
        sites = [self._site(main, after, use) for use in uses.uses]
        sites.extend(self._opaque(main))
        found = list(self._conflicts(main, sites))
        if found:
            raise self._refusal(main, found, sites, uses)
        chosen = [site for site in sites if site.job is not None and self._is_chosen(site)]
        change = self._change(chosen)
        shown = tuple(self._shown(sites, chosen))
        lists = {function: self._entries(function) for function in self.callee.functions}
        proof = prove_signature(self.finder, self.callee, change, lists, uses, chosen)
        failed = [line.says for line in proof if not line.ok]
        if failed:
            raise Refused(
                "name_capture",
                f"the calls of `{main.name}` would not mean what they mean now",
                hint="make the edits by hand at the places named",
                conflicts=tuple(Conflict("name_capture", says) for says in failed),
                details=self._references(uses, [each.occurrence for each in shown]),
            )
        change = replace(change, read=readings(self.finder.snapshot, change))
        new_list = "(" + ", ".join(entry.text for entry in after) + ")"
        return SignaturePlan(
            self.callee.symbol,
            list_text(main),
            new_list,
            shown,
            change,
            proof,
            uses.complete,
            uses.incomplete_because,
        )

    # ------------------------------------------------------------------ what is asked

    def _main(self) -> Function:
        main, symbol = self.callee.main, self.callee.symbol
        if main is None:
            raise BadRequest(
                "not_a_symbol",
                f"the constructor of `{symbol.name}` is not written down: it is made from fields, or inherited",
                hint="change the fields, or name the class that defines `__init__`",
            )
        external = [f for f in self.callee.functions if f.source.external]
        is_dunder = main.in_class and main.name.startswith("__") and main.name.endswith("__")
        if external or (is_dunder and self.callee.cls is None):
            who = "a library" if external else "the language"
            raise Refused(
                "library_symbol",
                f"`{main.name}` is called by {who}, which does not follow",
                hint="change only what the workspace defines and calls",
            )
        if main.is_property or main.is_accessor:
            raise BadRequest("not_a_symbol", f"`{main.name}` is a property, which is not called")
        return main

    def _check_names(self, main: Function) -> None:
        names = [parameter.name for parameter in main.parameters]
        bound = names[:1] if main.in_class and not main.is_static else []
        for name in sorted(self.edit.removed):
            if name not in names or name in bound:
                raise BadRequest(
                    "not_found",
                    f"`{main.name}` has no parameter `{name}`"
                    if name not in names
                    else f"`{name}` cannot go",
                    hint=f"its parameters are {', '.join(each for each in names if each not in bound) or 'none'}",
                )
        if not (self.edit.added or self.edit.removed) and list(apply_edit(self.edit, main)) == [
            entry for entry, _ in entries_of(main)
        ]:
            raise BadRequest("no_change", "nothing would change", hint="say what is to change")

    # ------------------------------------------------------------------ one use

    def _site(self, main: Function, after: list[Entry], use: Use) -> Site:
        source = self.finder.project.source(use.path) if use.call is not None else None
        arguments: tuple[Argument, ...] = ()
        is_open = use.kind not in (CALL, PARTIAL, "raise", DECORATOR)
        if source is not None and use.call is not None:
            arguments = call_parts(source, source.node_at(*use.call), is_partial=use.kind == PARTIAL)
        if is_open and self._is_harmless(main):
            return Site(use, Rewritten())
        more = is_open or use.kind == PARTIAL
        bound = bind(main.parameters, arguments, use.n_filled, more_follow=more)
        if use.kind == DECORATOR:
            bound = replace(bound, missing=())
        rewritten = rewrite(self.edit, main.parameters, after, bound, use.n_filled)
        site = Site(use, rewritten)
        if rewritten.undecided:
            site.problem = rewritten.undecided if not is_open else use.reason
            return site
        if rewritten.needs and not more:
            site.problem = f"it would have to give `{rewritten.needs}`"
            return site
        if is_open or (use.kind == DECORATOR and not self._is_harmless(main)):
            if is_open or rewritten.is_changed:
                site.problem = use.reason
            return site
        if not rewritten.is_changed:
            return site
        if source is None or use.call is None:
            site.problem = "it has no arguments to edit"
            return site
        site.job = _call_job(source, use, arguments, rewritten)
        kept = {element.origin for element in rewritten.elements}
        site.deleted = tuple((a.start, a.end) for n, a in enumerate(arguments) if n not in kept)
        if use.evidence is Evidence.POSSIBLE:
            site.problem = use.reason
        elif rewritten.danger:
            site.problem, site.is_danger = rewritten.danger, True
        return site

    def _is_harmless(self, main: Function) -> bool:
        """Can whoever calls the function unseen go on as before?"""
        spills = any(parameter.kind == "args" for parameter in main.parameters)
        behind = all(added.keyword_only for added in self.edit.added)
        return self.edit.is_harmless and (behind or not spills)

    def _opaque(self, main: Function) -> Iterator[Site]:
        """Decorators that may call the function themselves, with what they were made for."""
        if self._is_harmless(main):
            return
        for function in self.callee.functions:
            if is_pass_through(function, main):
                says = f"`{function.name}` takes whatever comes by `*` and `**` here"
                use = Use(function.source.path, function.name_span, Evidence.POSSIBLE, says, "value")
                yield Site(use, Rewritten(), problem=says)
            for name in opaque_decorators(function):
                at = function.name_span
                says = f"`@{name}` gets the function, and may call it otherwise or hand it on"
                use = Use(function.source.path, at, Evidence.POSSIBLE, says, DECORATOR)
                yield Site(use, Rewritten(), problem=says)

    # ------------------------------------------------------------------ decisions

    def _is_chosen(self, site: Site) -> bool:
        return not site.problem or self.possible == INCLUDE

    def _conflicts(self, main: Function, sites: list[Site]) -> Iterator[Conflict]:
        deleted = {(site.use.path, span) for site in sites for span in site.deleted}
        yield from family_conflicts(self.finder, self.callee, main, self.edit)
        yield from body_conflicts(self.finder, self.callee, self.edit, deleted)
        yield from self._unbound(sites)
        asking = [site for site in sites if site.problem]
        for site in asking:
            needs_value = bool(site.rewritten.needs) and not site.rewritten.undecided
            must = needs_value or (site.is_danger and self.possible == SKIP)
            if self.possible == REFUSE or must:
                says = f"{site.problem} ({site.use.kind})"
                yield Conflict("undecided", says, (self._place(site.use, says),))

    def _unbound(self, sites: list[Site]) -> Iterator[Conflict]:
        """Calls that would be given an expression with names that mean nothing there."""
        for site in sites:
            source = self.finder.project.source(site.use.path) if site.job is not None else None
            for text in (
                site.rewritten.gives.values() if source is not None and site.use.call is not None else ()
            ):
                assert source is not None and site.use.call is not None, "asked for above"
                for name in unbound_names(source, site.use.call[1] - 1, text):
                    says = f"`{name}` of `{text}` means nothing here"
                    yield Conflict("name_capture", says, (self._place(site.use, says),))

    def _place(self, use: Use, says: str) -> Place:
        lines = self.finder.snapshot.document(use.path).lines
        return place_at(use.path, lines, use.span.start, says)

    def _refusal(self, main: Function, found: list[Conflict], sites: list[Site], uses: Uses) -> Refused:
        kinds = {conflict.kind for conflict in found}
        if kinds == {"undecided"}:
            needs = any(site.rewritten.needs for site in sites)
            hint = (
                "say with `--argument NAME=EXPRESSION` what calls are to give, or give the parameter a default"
                if needs
                else "look at them, then pass `--possible include` to edit what can be edited or `--possible skip` to leave them"
            )
        elif "in_use" in kinds:
            hint = "change the body first, so that it does without the parameter"
        else:
            hint = "resolve what is named, or choose another name"
        shown = [each.occurrence for each in self._shown(sites, [])]
        return Refused(
            found[0].kind,
            f"the parameters of `{main.name}` cannot be changed: {found[0].message}",
            hint=hint,
            conflicts=tuple(found),
            details=self._references(uses, shown),
        )

    # ------------------------------------------------------------------ the plan

    def _entries(self, function: Function) -> list[Entry]:
        """What a parameter list is to be."""
        main = self.callee.main
        if main is not None and is_pass_through(function, main):
            return [entry for entry, _ in entries_of(function)]
        return apply_edit(self.edit, function)

    def _definition(self, function: Function) -> Job:
        source = function.source
        node = function.node.child_by_field_name("parameters")
        assert node is not None, "a `def` has a parameter list"
        old = tuple(source.span(each.start_byte, each.end_byte) for _, each in entries_of(function))
        brackets = source.span(node.start_byte, node.end_byte)
        return Job(source.path, brackets, old, tuple(elements(self._entries(function))))

    def _change(self, chosen: list[Site]) -> Change:
        """All edits, innermost lists first: what an outer call moves is what has become of it."""
        jobs: list[tuple[Job, Site | None]] = [(self._definition(f), None) for f in self.callee.functions]
        jobs += [(site.job, site) for site in chosen if site.job is not None]
        done: dict[str, Edits] = {}
        for job, site in sorted(jobs, key=lambda each: (each[0].path, each[0].brackets.length)):
            text = self.finder.snapshot.document(job.path).text
            before = done.get(job.path, Edits(()))
            now = before.apply(text)
            if site is not None:
                source = self.finder.project.source(job.path)
                assert source is not None, "it was read"
                site.expects = _expected(source, site, before, now)
            later = Edits.of(_job_edits(now, job, before))
            done[job.path] = before.compose(later, text)
        files = tuple(
            FileEdits(path, edits, self.finder.snapshot.document(path).digest)
            for path, edits in sorted(done.items())
            if edits
        )
        return Change(edits=files, label=f"change the parameters of {self.callee.symbol.qualified}")

    def _shown(self, sites: list[Site], chosen: list[Site]) -> Iterator[SignatureSite]:
        found: list[SignatureSite] = []
        for function in self.callee.functions:
            span = function.name_span
            reason = "the definition" if function is self.callee.main else "a definition of the same family"
            found.append(
                SignatureSite(
                    Occurrence(function.source.path, span, Evidence.CERTAIN, "definition", reason), "edited"
                )
            )
        for site in sites:
            use = site.use
            evidence = Evidence.POSSIBLE if site.problem else use.evidence
            reason = site.problem or use.reason
            action = "edited" if site in chosen else "left" if site.problem else "unchanged"
            if not site.problem and site.job is not None:
                action = "edited"
            occurrence = Occurrence(use.path, use.span, evidence, use.kind, reason)
            found.append(SignatureSite(occurrence, action))
        for path, span, says in mentions_of(self.callee, self.edit):
            found.append(SignatureSite(Occurrence(path, span, Evidence.MENTION, "string", says), "left"))
        known: dict[tuple[str, Span], SignatureSite] = {}
        for each in found:
            key = (each.occurrence.path, each.occurrence.span)
            if key not in known or each.occurrence.evidence is Evidence.POSSIBLE:
                known[key] = each
        yield from (known[key] for key in sorted(known))

    def _references(self, uses: Uses, occurrences: list[Occurrence]) -> References:
        return References(
            self.callee.symbol,
            (self.callee.symbol,),
            tuple(occurrences),
            uses.complete,
            uses.incomplete_because,
            len({each.path for each in occurrences}),
        )


def _call_job(source: Source, use: Use, arguments: tuple[Argument, ...], rewritten: Rewritten) -> Job:
    assert use.call is not None, "the caller asked"
    call = source.node_at(*use.call)
    node = call.child_by_field_name("arguments")
    assert node is not None, "a call has arguments, if only brackets"
    brackets = source.span(node.start_byte, node.end_byte)
    old = tuple(source.span(argument.start, argument.end) for argument in arguments)
    new = rewritten.elements
    if use.kind == PARTIAL:  # the callable itself is the first argument, and stays
        first = call_parts(source, call, is_partial=False)[0]
        old = (source.span(first.start, first.end), *old)
        shifted = (replace(e, origin=None if e.origin is None else e.origin + 1) for e in new)
        new = (Element("", 0), *shifted)
    return Job(source.path, brackets, old, new, node.type == "generator_expression")


def _job_edits(text: str, job: Job, before: Edits) -> Iterator[TextEdit]:
    """The edits of one list in the text that `before` has made."""
    brackets = _carried(before, job.brackets)
    if job.is_bare:
        whole = text[brackets.start : brackets.end]
        parts = (each.text + (whole if each.origin is not None else "") for each in job.new)
        yield TextEdit(brackets, "(" + ", ".join(parts) + ")")
        return
    yield from edits_of_list(text, brackets, [_carried(before, span) for span in job.old], job.new)


def _carried(edits: Edits, span: Span) -> Span:
    carried = edits.carry_span(span)
    if carried is None:
        bug(f"{span} is no passage any more; inner lists are edited first")
    return carried


def _expected(source: Source, site: Site, before: Edits, now: str) -> dict[str, tuple[str, ...]]:
    """What each parameter of a call is to get, as text on one line."""
    expects: dict[str, tuple[str, ...]] = {
        name: (" ".join(text.split()),) for name, text in site.rewritten.gives.items()
    }
    for name, arguments in site.rewritten.stays.items():
        spans = (_carried(before, source.span(each.value_start, each.value_end)) for each in arguments)
        expects[name] = tuple(" ".join(now[span.start : span.end].split()) for span in spans)
    return expects


def list_text(function: Function) -> str:
    """A parameter list on one line."""
    return "(" + ", ".join(" ".join(entry.text.split()) for entry, _ in entries_of(function)) + ")"
