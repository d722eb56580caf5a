"""What becomes of occurrences that our own derivation left open, when jedi has been asked about them.

An occurrence is `likely` if all definitions that jedi sees for it are the symbol's; `unrelated` if none is, and we did not know of
another alternative ourselves (jedi says nothing of those it does not know); else it stays `possible`. Where jedi was not reached in
time, the answer is incomplete and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsptools.languages.names import Evidence, FilePosition, Occurrence, Step
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.inference import Asking, Inference, inferred, place_of
from lsptools.languages.python.inference_cache import Found
from lsptools.languages.python.meaning import Meaning
from lsptools.languages.python.modules import Project
from lsptools.languages.python.references import Account
from lsptools.languages.python.roles import Role

_ASKED = frozenset({Role.ATTRIBUTE, Role.KEYWORD})
_NAMED = 5
"""So many places that were not reached are named."""

_Ours = Mapping[FilePosition, Evidence]


def settled(account: Account, asking: Asking) -> Account:
    """The same account, with jedi's word on what was possible. Raises what `inferred` raises."""
    meanings, project = dict(_open(account)), account.meanings.project
    answer = inferred(project, list(meanings), asking)
    references = account.references
    ours = {FilePosition(each.path, each.span.start): each.evidence for each in references.occurrences}
    ours |= {FilePosition(each.path, each.span.start): Evidence.CERTAIN for each in references.declarations}
    occurrences = tuple(
        _settled(project, each, ours, answer, meanings[at]) if at in answer.found else each
        for each in references.occurrences
        for at in [FilePosition(each.path, each.span.start)]
    )
    because = (*references.incomplete_because, *_not_reached(project, answer, asking))
    settled = replace(references, occurrences=occurrences, complete=not because, incomplete_because=because)
    return replace(account, references=settled)


def _open(account: Account) -> Iterator[tuple[FilePosition, Meaning]]:
    """The places in code that could be the symbol, with what we know of them."""
    possible = {
        (each.path, each.span.start)
        for each in account.references.occurrences
        if each.evidence is Evidence.POSSIBLE and each.path.endswith(PYTHON_SUFFIXES)
    }
    for file in account.files:
        for fact in file.facts:
            if (fact.path, fact.span.start) in possible and fact.role in _ASKED and not file.is_broken:
                yield FilePosition(fact.path, fact.span.start), fact.meaning


def _settled(
    project: Project, occurrence: Occurrence, ours: _Ours, answer: Inference, meaning: Meaning
) -> Occurrence:
    found = answer.found[FilePosition(occurrence.path, occurrence.span.start)]
    verdicts = {_is_ours(project, each, ours) for each in found}
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(each.name for each in found))
    if verdicts == {True}:
        return _with(occurrence, Evidence.LIKELY, f"jedi derives {names}")
    if verdicts == {False} and meaning.is_blank:
        return _with(occurrence, Evidence.UNRELATED, f"jedi derives {names}")
    return occurrence


def _is_ours(project: Project, found: Found, ours: _Ours) -> bool | None:
    """Is a definition one of the symbol's? None: that is not known either."""
    root = project.snapshot.root
    if found.path is None or not root.holds(found.path) or project.is_external(root.relative(found.path)):
        return False
    at = place_of(project.snapshot, found)
    evidence = ours.get(at) if at is not None else None
    if evidence in (Evidence.CERTAIN, Evidence.LIKELY):
        return True
    return False if evidence is Evidence.UNRELATED else None


def _with(occurrence: Occurrence, evidence: Evidence, reason: str) -> Occurrence:
    step = Step(f"{evidence.value}: {reason}", occurrence.path, occurrence.span)
    return replace(occurrence, evidence=evidence, reason=reason, steps=(*occurrence.steps, step))


def _not_reached(project: Project, answer: Inference, asking: Asking) -> Iterator[str]:
    if not answer.open:
        return
    shown = [
        f"{place.path}:{project.snapshot.document(place.path).lines.user_from_offset(place.offset)}"
        for place in answer.open[:_NAMED]
    ]
    more = f" and {len(answer.open) - _NAMED} more" if len(answer.open) > _NAMED else ""
    why = f"within {asking.seconds:g} s" if answer.is_late else "before its process ended"
    yield f"jedi did not reach {', '.join(shown)}{more} {why}"
