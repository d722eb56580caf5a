"""Renames drawn by lot: a definition in real code, a name that is nowhere in it, and what planning them comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from laws.definitions import Definition

from lsptools.errors import Refused
from lsptools.refactor.rename import SKIP, Policy, RenamePlan, plan_rename
from lsptools.workspace.snapshot import Snapshot

FRESH = "zq_fresh_name"
PRIVATE = "__zq_fresh_name"
"""Names that no code has."""


@dataclass(frozen=True, slots=True)
class Rename:
    """An accepted rename."""

    definition: Definition
    new_name: str
    plan: RenamePlan


def accepted(snapshot: Snapshot, definitions: Iterator[Definition], refused: list[str]) -> Iterator[Rename]:
    """The plans of those renames that are accepted; what is refused, and why, is noted in `refused`."""
    for definition in definitions:
        new_name = PRIVATE if definition.private else FRESH
        try:
            plan = plan_rename(snapshot, definition.place, new_name, Policy(possible=SKIP))
        except Refused as refusal:
            refused.append(
                f"{definition.kind} {definition.name} in {definition.path}: {refusal.kind}: {refusal}"
            )
            continue
        yield Rename(definition, new_name, plan)
