"""Renames of parameters together with other changes of the same list: one change, made in steps.

Each rename is one of `rename`, with its conflicts and its proof; what comes later is planned on the result, and everything
is composed to one change of the files as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsptools.errors import BadRequest
from lsptools.languages.names import FilePosition, Occurrence
from lsptools.languages.python.callables import callee_at, position_of
from lsptools.languages.python.references import Finder
from lsptools.refactor.proof import ProofLine
from lsptools.refactor.readings import readings
from lsptools.refactor.rename import Policy, plan_rename
from lsptools.refactor.signature import SignaturePlan, SignatureSite, list_text, plan_signature
from lsptools.refactor.signature_request import SignatureEdit
from lsptools.text.edits import Edits
from lsptools.text.lines import Span
from lsptools.workspace.change import Change, FileEdits, Reading
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class _Step:
    """What was planned so far: the files as they would be, the place of the function in them, the edits that lead there."""

    snapshot: Snapshot
    at: FilePosition
    edits: dict[str, Edits]
    proof: tuple[ProofLine, ...] = ()
    sites: tuple[SignatureSite, ...] = ()
    incomplete: tuple[str, ...] = ()
    """Why a search was not complete."""
    read: tuple[Reading, ...] = ()
    """What the steps rest on."""


def plan_parameters(
    snapshot: Snapshot,
    at: FilePosition,
    edit: SignatureEdit,
    renames: Sequence[tuple[str, str]],
    policy: Policy,
) -> SignaturePlan:
    """Plan and prove renames of parameters and everything else that happens to them, as one change.

    Raises what `plan_rename` and `plan_signature` raise; places in what is raised after a rename are those after it.
    """
    if not renames:
        return plan_signature(snapshot, at, edit, possible=policy.possible)
    finder = Finder(snapshot)
    callee = callee_at(finder, at)
    main = callee.main
    if main is None:
        return plan_signature(snapshot, at, edit, possible=policy.possible)  # which says why not
    before = list_text(main)
    step = _Step(snapshot, position_of(main), {})
    for old, new in renames:
        step = _renamed(snapshot, step, old, new, policy)
    if edit.added or edit.removed or edit.order:
        planned = plan_signature(step.snapshot, step.at, edit, possible=policy.possible)
        sites = tuple(
            replace(each, occurrence=_back(snapshot, step, each.occurrence)) for each in planned.sites
        )
        step = _composed(snapshot, step, planned.change)
        step = replace(
            step,
            proof=(*step.proof, *planned.proof),
            sites=(*step.sites, *sites),
            incomplete=(*step.incomplete, *planned.incomplete_because),
        )
    again = callee_at(Finder(step.snapshot), step.at).main
    files = tuple(
        FileEdits(path, edits, snapshot.document(path).digest)
        for path, edits in sorted(step.edits.items())
        if edits
    )
    change = Change(edits=files, label=f"change the parameters of {callee.symbol.qualified}")
    read = {each.path: each for each in (*step.read, *readings(snapshot, change))}
    change = replace(change, read=tuple(read[path] for path in sorted(read.keys() - step.edits.keys())))
    known = {(each.occurrence.path, each.occurrence.span): each for each in step.sites}
    return SignaturePlan(
        callee.symbol,
        before,
        list_text(again) if again is not None else before,
        tuple(known[key] for key in sorted(known)),
        change,
        step.proof,
        not step.incomplete,
        tuple(dict.fromkeys(step.incomplete)),
    )


def _renamed(first: Snapshot, step: _Step, old: str, new: str, policy: Policy) -> _Step:
    main = callee_at(Finder(step.snapshot), step.at).main
    parameter = main.parameter(old) if main is not None else None
    if main is None or parameter is None:
        names = ", ".join(each.name for each in main.parameters) if main is not None else ""
        raise BadRequest(
            "not_found", f"there is no parameter `{old}` to rename", hint=f"the parameters are {names}"
        )
    node = parameter.node
    at = FilePosition(main.source.path, main.source.span(node.start_byte, node.end_byte).start)
    planned = plan_rename(step.snapshot, at, new, policy)
    sites = tuple(
        SignatureSite(
            _back(first, step, each), "edited" if (each.path, each.span) in planned.edited else "left"
        )
        for each in planned.references.occurrences
        if each.evidence.value != "unrelated"
    )
    step = _composed(first, step, planned.change)
    return replace(
        step,
        proof=(*step.proof, *planned.proof),
        sites=(*step.sites, *sites),
        incomplete=(*step.incomplete, *planned.references.incomplete_because),
    )


def _composed(first: Snapshot, step: _Step, change: Change) -> _Step:
    """The step after one more change; `first` are the files as they are."""
    edits = dict(step.edits)
    for file in change.edits:
        before = edits.get(file.path, Edits(()))
        edits[file.path] = before.compose(file.edits, first.document(file.path).text)
    own = next((file.edits for file in change.edits if file.path == step.at.path), Edits(()))
    at = own.carry(step.at.offset, bias="right")
    place = FilePosition(step.at.path, at if at is not None else step.at.offset)
    read = (*step.read, *change.read)
    return replace(step, snapshot=change.after(step.snapshot), edits=edits, at=place, read=read)


def _back(first: Snapshot, step: _Step, occurrence: Occurrence) -> Occurrence:
    """An occurrence in the files as they are, before all steps."""
    edits = step.edits.get(occurrence.path)
    if not edits:
        return occurrence
    back = edits.inverse(first.document(occurrence.path).text)
    start = back.carry(occurrence.span.start, bias="right")
    if start is None:  # inside of what was renamed
        starts = [each.span.start for each in back if each.span.start <= occurrence.span.start]
        start = back.carry(starts[-1]) if starts else occurrence.span.start
    span = back.carry_span(occurrence.span)
    at = start if start is not None else occurrence.span.start
    return replace(occurrence, span=span if span is not None else Span(at, at))
