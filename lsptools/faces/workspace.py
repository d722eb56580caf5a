"""The Python face: one workspace and what can be asked of it.

Every method looks at the files as they are when it is called. Answers are the values of the core (`References`,
`RenamePlan`, …); what cannot be had is an exception of `lsptools.errors`. Positions in them are code points of a file's
text; `place` and `position` turn them into lines and columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lsptools.faces.environment import Environment
from lsptools.text.lines import Offset, UserPos
from lsptools.tools.base import Context, Positions

if TYPE_CHECKING:
    from lsptools.edit.replace import Replacement
    from lsptools.edit.session import Session
    from lsptools.languages.names import References, Symbol
    from lsptools.refactor.move import MovePlan
    from lsptools.refactor.rename import RenamePlan
    from lsptools.refactor.signature import SignaturePlan
    from lsptools.search.call_arguments import BoundCalls
    from lsptools.search.calls import Callees, Callers
    from lsptools.search.hierarchy import Hierarchy, Implementations
    from lsptools.search.symbols import Symbols
    from lsptools.search.text import Matches
    from lsptools.search.unused import UnusedFound
    from lsptools.syntax.outline import Item
    from lsptools.tools.base import Answer
    from lsptools.tools.changes import ChangeAnswer
    from lsptools.tools.read import PictureAnswer, ReadAnswer
    from lsptools.tools.run import RunAnswer
    from lsptools.verify.ladder import Report
    from lsptools.workspace.apply import Applied
    from lsptools.workspace.change import Change
    from lsptools.workspace.journal import Entry
    from lsptools.workspace.paths import Root
    from lsptools.workspace.ripgrep import Query
    from lsptools.workspace.shell import Shell
    from lsptools.workspace.snapshot import Snapshot

Possible = Literal["refuse", "include", "skip"]


def open_workspace(root: str | Path) -> Workspace:
    """The workspace in a folder. Nothing is read, started or written yet."""
    environment = Environment()
    return Workspace(environment, environment.root(str(root)))


@dataclass(frozen=True, slots=True)
class Renamed:
    """A rename that was done."""

    plan: RenamePlan
    applied: Applied


@dataclass(frozen=True, slots=True)
class MovedSymbol:
    """A move to another module that was done."""

    plan: MovePlan
    applied: Applied


class Workspace:
    """A folder with source files. A `place` is `path:line:col`, `path::Qualified.name`, `package.module.Class.method`
    or a name that is unique; paths are relative to the folder, lines and columns 1-based."""

    def __init__(self, environment: Environment, root: Root) -> None:
        self._environment = environment
        self.root = root

    def snapshot(self) -> Snapshot:
        """The files as they are now."""
        return self._context().snapshot

    def definition(self, place: str) -> tuple[Symbol, ...]:
        """Where the symbol at a place is defined."""
        from lsptools.search.definition import definition
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return definition(snapshot, locate(snapshot, place))

    def references(self, place: str, *, infer: int = 0) -> References:
        """Every occurrence of the name of the symbol at a place, with its evidence.

        With `infer`, jedi is asked about what is possible, for up to so many seconds; `Unavailable` if it is not installed.
        """
        from lsptools.search.references import references

        context = self._context()
        return references(context.snapshot, place, context.asking(infer))

    def callers(self, place: str) -> Callers:
        """Who calls the function, method or class at a place."""
        from lsptools.search.calls import callers
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return callers(snapshot, locate(snapshot, place))

    def callees(self, place: str) -> Callees:
        """What the function, method or class at a place calls."""
        from lsptools.search.calls import callees
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return callees(snapshot, locate(snapshot, place))

    def calls(self, place: str) -> BoundCalls:
        """The calls of the function at a place, each argument with its parameter; a parameter stands for its function."""
        from lsptools.search.call_arguments import bound_calls
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return bound_calls(snapshot, locate(snapshot, place))

    def implementations(self, place: str) -> Implementations:
        """The overrides of the method, or the subclasses of the class, at a place."""
        from lsptools.search.hierarchy import implementations
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return implementations(snapshot, locate(snapshot, place))

    def hierarchy(self, place: str) -> Hierarchy:
        """The classes above and below the class at a place."""
        from lsptools.search.hierarchy import hierarchy
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        return hierarchy(snapshot, locate(snapshot, place))

    def unused(self, path: str = "", *, kinds: Sequence[str] = ()) -> UnusedFound:
        """The definitions in a file, a folder or the workspace that nothing refers to."""
        from lsptools.search.unused import unused

        return unused(self.snapshot(), path, kinds=frozenset(kinds))

    def plan_rename(
        self,
        place: str,
        new_name: str,
        *,
        possible: Possible = "refuse",
        mentions: bool = False,
        infer: int = 0,
    ) -> RenamePlan:
        """A rename, planned and proved but not done. `Refused` holds every conflict; `infer` as for `references`."""
        from lsptools.refactor.rename import Policy, plan_rename
        from lsptools.search.places import locate

        context = self._context()
        policy, asking = Policy(possible=possible, mentions=mentions), context.asking(infer)
        return plan_rename(context.snapshot, locate(context.snapshot, place), new_name, policy, asking)

    def rename(
        self,
        place: str,
        new_name: str,
        *,
        possible: Possible = "refuse",
        mentions: bool = False,
        infer: int = 0,
    ) -> Renamed:
        """Plan, prove and do a rename."""
        plan = self.plan_rename(place, new_name, possible=possible, mentions=mentions, infer=infer)
        return Renamed(plan, self.apply(plan.change))

    def plan_move(
        self, place: str, module: str, *, possible: Possible = "refuse", mentions: bool = False
    ) -> MovePlan:
        """The move of a definition to another module (a dotted name or a path), planned and proved but not done.

        `Refused` holds every conflict.
        """
        from lsptools.refactor.move import plan_move
        from lsptools.refactor.rename import Policy
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        policy = Policy(possible=possible, mentions=mentions)
        return plan_move(snapshot, locate(snapshot, place), module, policy)

    def move(
        self, place: str, module: str, *, possible: Possible = "refuse", mentions: bool = False
    ) -> MovedSymbol:
        """Plan, prove and do the move of a definition to another module."""
        plan = self.plan_move(place, module, possible=possible, mentions=mentions)
        return MovedSymbol(plan, self.apply(plan.change))

    def plan_signature(
        self,
        place: str,
        *,
        add: Sequence[str] = (),
        argument: Sequence[str] = (),
        remove: Sequence[str] = (),
        rename: Sequence[str] = (),
        reorder: str = "",
        possible: Possible = "refuse",
        mentions: bool = False,
    ) -> SignaturePlan:
        """Plan and prove a change of the parameters of the function at a place, with every definition and call.

        The words are those of `lsptools signature`: `add=["timeout=None"]`, `argument=["timeout=3"]`, `rename=["old=new"]`,
        `reorder="b,a"`. `Refused` says why not.
        """
        from lsptools.refactor.rename import Policy
        from lsptools.refactor.signature_renames import plan_parameters
        from lsptools.refactor.signature_request import parse_edit, parse_renames
        from lsptools.search.places import locate

        snapshot = self.snapshot()
        edit = parse_edit(add, remove, reorder, argument)
        policy = Policy(possible=possible, mentions=mentions)
        return plan_parameters(snapshot, locate(snapshot, place), edit, parse_renames(rename), policy)

    @cached_property
    def session(self) -> Session:
        """What was read here: the ground on which the methods that edit stand. It may be used by several threads."""
        from lsptools.edit.session import Session

        return Session()

    def read(
        self, path: str, *, offset: int = 1, limit: int | None = None, column: int = 1, raw: bool = False
    ) -> ReadAnswer | PictureAnswer:
        """Lines of a file, numbered; from now on it may be edited."""
        from lsptools.tools.read import Params, run

        return run(self._context(), Params(path, offset, limit, column, raw))

    def edit(
        self,
        path: str,
        old_str: str,
        new_str: str,
        *,
        replace_all: bool = False,
        expected_count: int | None = None,
        expect: str | None = None,
        allow_broken: bool = False,
        check: bool = False,
    ) -> ChangeAnswer:
        """Put `new_str` in the place of `old_str`, which occurs once; or in all, if that is said."""
        from lsptools.edit.replace import Replacement

        edit = Replacement(old_str, new_str, replace_all, expected_count)
        return self.edits(path, [edit], expect=expect, allow_broken=allow_broken, check=check)

    def edits(
        self,
        path: str,
        edits: Sequence[Replacement],
        *,
        expect: str | None = None,
        allow_broken: bool = False,
        check: bool = False,
    ) -> ChangeAnswer:
        """Several edits of a file, all located in the text as it is; all or none."""
        from lsptools.tools.edit import Params, run

        return run(
            self._context(),
            Params(path, edits=tuple(edits), expect=expect, allow_broken=allow_broken, check=check),
        )

    def write(
        self, path: str, content: str, *, expect: str | None = None, allow_broken: bool = False
    ) -> ChangeAnswer:
        """Create a file, or give one that was read a whole new text."""
        from lsptools.tools.write import Params, run

        return run(self._context(), Params(path, content, expect=expect, allow_broken=allow_broken))

    def patch(self, patch: str, *, allow_broken: bool = False, check: bool = False) -> ChangeAnswer:
        """Apply a unified diff or a `*** Begin Patch`; all files or none."""
        from lsptools.tools.patch import Params, run

        return run(self._context(), Params(patch, allow_broken=allow_broken, check=check))

    def call(self, tool: str, **arguments: Any) -> Answer:  # those of the tool
        """Any tool by its name, with arguments as `lsptools call` takes them."""
        from lsptools.errors import BadRequest
        from lsptools.tools import registry
        from lsptools.tools.arguments import params_from_json

        name = tool.replace("_", "-")
        if name not in registry.names():
            raise BadRequest(
                "invalid", f"there is no tool {tool!r}", hint=f"the tools are {', '.join(registry.names())}"
            )
        declared = registry.tool(name)
        answer: Answer = declared.run(self._context(), params_from_json(declared, arguments))
        return answer

    def apply(self, change: Change) -> Applied:
        """Do a change, all or nothing. `Stale` when a file is not what the change was made from."""
        from lsptools.workspace.apply import apply

        context = self._context()
        return apply(context.snapshot, change, context.state)

    def run(
        self,
        command: str,
        *,
        timeout_s: int = 120,
        folder: str | None = None,
        yes: bool = False,
        on_output: Callable[[str], None] | None = None,
    ) -> RunAnswer:
        """Run a command of the shell; the next one starts in the folder where this one ended.

        `Refused` (`undecided`) when a rule would ask first and `yes` was not said. What it leaves in the background goes on
        until `close`, or the end of the process. `on_output` takes the output as it comes, at most every 100 ms.
        """
        from lsptools.tools.run import Params, run

        self._shell.stream = on_output
        return run(self._context(), Params(command, timeout_s, folder, yes))

    def verify(
        self,
        id: str | None = None,
        *,
        against: str | None = None,
        rungs: Sequence[str] = (),
        reproduces: str | None = None,
        timeout_s: int = 600,
        python: str | None = None,
    ) -> Report:
        """What was checked and held of a change (the last one, the one with this id, or what differs from a git revision), what
        failed, and what could not be checked. The rungs that run programs trust the project. With `reproduces`, only whether that
        test failed on the old text and passes on the new."""
        from lsptools.tools.verify import Params, run

        params = Params(id, against, ",".join(rungs), reproduces, timeout_s, python)
        return run(self._context(), params).report

    def close(self) -> None:
        """End what commands have left in the background."""
        self._shell.end()

    def undo(self, id: str | None = None) -> Applied:
        """Take back a change: the one with this id, or the last one."""
        from lsptools.workspace.journal import undo

        return undo(self.root, self._context().state, id)

    def history(self) -> tuple[Entry, ...]:
        """The changes made in this workspace, newest first."""
        from lsptools.workspace.journal import history

        return history(self._context().state)

    def search(self, query: Query | str) -> Matches:
        """Text in the files of the workspace; a string is taken literally, a `Query` has more to say."""
        from lsptools.search.text import search_text
        from lsptools.workspace.ripgrep import Query

        wanted = Query(query, fixed=True) if isinstance(query, str) else query
        return search_text(self.snapshot(), wanted)

    def search_structure(self, query: str, *, globs: Sequence[str] = ()) -> Matches:
        """Matches of a tree-sitter query in the Python files of the workspace."""
        from lsptools.search.structure import search_structure

        return search_structure(self.snapshot(), query, globs=globs)

    def symbols(self, query: str, *, exact: bool = False, kinds: Sequence[str] = ()) -> Symbols:
        """Definitions whose name is `query` or contains it."""
        from lsptools.search.symbols import symbols

        return symbols(self.snapshot(), query, exact=exact, kinds=frozenset(kinds))

    def outline(self, path: str) -> tuple[Item, ...]:
        """What a file defines, nested."""
        from lsptools.syntax.outline import outline

        return outline(self.snapshot().document(path))

    def position(self, path: str, offset: Offset) -> UserPos:
        """Line and column of an offset in a file as it is now."""
        return Positions(self.snapshot()).user(path, offset)

    def place(self, path: str, offset: Offset) -> str:
        """`path:line:col` of an offset in a file as it is now."""
        return Positions(self.snapshot()).place(path, offset)

    def _context(self) -> Context:
        return self._first_context.renewed()

    @cached_property
    def _first_context(self) -> Context:
        return self._environment.context(self.root, self.session, self._shell)

    @cached_property
    def _shell(self) -> Shell:
        from lsptools.workspace.shell import Shell

        return Shell(self._environment.variables)
