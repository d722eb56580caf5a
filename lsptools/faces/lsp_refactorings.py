"""The refactorings that an editor is offered, each with its kind, its titles and its change.

Those that concern one file are quick, and their plan says whether they can be had. Those that search the workspace are `thorough`:
they are planned only when somebody asked for refactorings, not with every move of the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from lsptools.errors import Refused, ToolError, Unavailable
from lsptools.faces.lsp_view import View
from lsptools.languages.names import FilePosition
from lsptools.languages.python.roles import Role
from lsptools.refactor.extract_function import plan_extract_function
from lsptools.refactor.extract_variable import plan_extract_variable
from lsptools.refactor.file_of_symbol import file_name_for, plan_file_of_symbol
from lsptools.refactor.inline_variable import plan_inline_variable
from lsptools.refactor.move import plan_move
from lsptools.refactor.rename import SKIP, Policy
from lsptools.text.lines import Span
from lsptools.workspace.change import Change

N_TARGETS = 3
"""So many modules are offered for a move."""

MakeChange = Callable[[View, str, Span, str], Change]
"""From a file, a span in it and the choice to the change; raises an error of ours where it cannot be had."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to do a refactoring here: what it is called, and the choice it stands for (`""` where there is none)."""

    title: str
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Refactoring:
    """One of them."""

    kind: str
    offers: Callable[[View, str, Span], list[Offer]]
    """The ways to do it; an error of ours says why there are none."""
    change: MakeChange
    of_selection: bool = False
    """Is it about what is selected, rather than about the name at a place?"""
    thorough: bool = False


def _extract_variable(view: View, name: str, span: Span, _choice: str) -> Change:
    return plan_extract_variable(view.finder.project, name, span)


def _extract_function(view: View, name: str, span: Span, _choice: str) -> Change:
    return plan_extract_function(view.finder.project, name, span)


def _inline_variable(view: View, name: str, span: Span, _choice: str) -> Change:
    return plan_inline_variable(view.finder.project, FilePosition(name, span.start))


def _planned(change: MakeChange) -> Callable[[View, str, Span], list[Offer]]:
    """Offered if the plan holds, and called what the plan calls itself."""

    def offers(view: View, name: str, span: Span) -> list[Offer]:
        label = change(view, name, span, "").label
        return [Offer(label[:1].upper() + label[1:])]

    return offers


def _file_change(view: View, name: str, span: Span, _choice: str) -> Change:
    at = FilePosition(name, span.start)
    return plan_file_of_symbol(view.snapshot, view.finder.project, at, Policy(possible=SKIP)).change


def _file_offers(view: View, name: str, span: Span) -> list[Offer]:
    wanted = file_name_for(view.finder.project, FilePosition(name, span.start))
    _file_change(view, name, span, "")
    return [Offer(f"Rename file to {wanted}{name[name.rindex('.') :]}")]


def move_change(view: View, name: str, span: Span, module: str) -> Change:
    """The change that moves the definition at a place to a module, which has to exist."""
    return plan_move(view.snapshot, FilePosition(name, span.start), module).change


def _move_offers(view: View, name: str, span: Span) -> list[Offer]:
    target = view.finder.target(FilePosition(name, span.start))
    found, refused = [], None
    for module in islice(_users(view, name, target.name), 3 * N_TARGETS):
        try:
            move_change(view, name, span, module)
        except Unavailable:  # nobody waits any more
            raise
        except ToolError as error:
            refused = error
            continue
        found.append(Offer(f"Move {target.name} to {module}", module))
        if len(found) == N_TARGETS:
            break
    if not found:
        raise refused or Refused(
            "not_found",
            f"no other module imports {target.name}",
            hint="the command lsptools.move takes any module",
        )
    return found


def _users(view: View, name: str, word: str) -> Iterator[str]:
    """The modules that import the name, where it may belong."""
    for source in view.finder.sources_with(word):
        is_user = any(site.role in (Role.IMPORT_NAME, Role.IMPORT_ORIGINAL) for site in source.sites(word))
        if source.path != name and is_user and not source.path.endswith("__init__.py"):
            yield source.path


REFACTORINGS: tuple[Refactoring, ...] = (
    Refactoring(
        "refactor.extract.variable", _planned(_extract_variable), _extract_variable, of_selection=True
    ),
    Refactoring(
        "refactor.extract.function", _planned(_extract_function), _extract_function, of_selection=True
    ),
    Refactoring("refactor.inline.variable", _planned(_inline_variable), _inline_variable),
    Refactoring("refactor.move.file", _file_offers, _file_change, thorough=True),
    Refactoring("refactor.move.symbol", _move_offers, move_change, thorough=True),
)
