"""What a tool is: one declaration from which the command line, schemas and the reference page follow.

A tool takes a frozen dataclass of parameters (each field made with `arg`) and a `Context`, and returns an `Answer`.
What was asked and cannot be had is an exception (`lsptools.errors`). Tools know nothing of terminals, options or
environments; places and paths arrive relative to the workspace.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from lsptools.errors import BadRequest, ToolError, Unavailable
from lsptools.text.lines import Lines, LspPos, Offset, Span, UserPos

if TYPE_CHECKING:
    from lsptools.edit.session import Session
    from lsptools.languages.python.inference import Asking
    from lsptools.workspace.journal import State
    from lsptools.workspace.ripgrep import Skipped
    from lsptools.workspace.shell import Shell
    from lsptools.workspace.snapshot import Snapshot

ParamsT = TypeVar("ParamsT")


class Answer(Protocol):
    """What a tool found or did."""

    @property
    def found(self) -> bool:
        """Whether there is anything to show, or was anything done: exit code 0 or 1."""

    def to_json(self) -> dict[str, object]:
        """The members of the JSON object, without the schema version. Positions as in docs/json.md."""


def exit_code(answer: Answer) -> int:
    """0 or 1, as `found` says, unless the answer knows better."""
    own = getattr(answer, "exit_code", None)
    return own if isinstance(own, int) else 0 if answer.found else 1


class Context:
    """What every tool works on. The state folder and the session are asked for only by tools that need them."""

    def __init__(
        self,
        snapshot: Snapshot,
        open_state: Callable[[], State],
        session: Session | None = None,
        *,
        candidate_command: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
        shell: Shell | None = None,
        cache: Callable[[], Path] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self._open_state = open_state
        self._session = session
        self.candidate_command = candidate_command
        """What makes new texts for `candidate`: a program of the user's with its arguments, or nothing."""
        self.variables = variables
        """The environment of programs that are started; `None`: that of our process."""
        self._shell = shell
        self._cache = cache
        self.is_lasting = shell is not None
        """Whether the caller's shell goes on after the call, with what it left in the background."""

    def renewed(
        self,
        checkpoint: Callable[[], None] | None = None,
        *,
        session: Session | None = None,
        shell: Shell | None = None,
    ) -> Context:
        """The same for the workspace as it is now; the session goes on.

        `checkpoint` raises to stop the work (`Snapshot.checkpoint`); a session and a shell take the place of the old ones.
        """
        from lsptools.workspace.snapshot import Snapshot, go_on

        old = self.snapshot
        rg = old.rg if checkpoint is None else dataclasses.replace(old.rg, checkpoint=checkpoint)
        fresh = Snapshot(
            old.root, old.operations, rg, search_path=old.search_path, checkpoint=checkpoint or go_on
        )
        return Context(
            fresh,
            lambda: self.state,
            session or self.session,
            candidate_command=self.candidate_command,
            variables=self.variables,
            shell=shell or self._shell,
            cache=self._cache,
        )

    def asking(self, seconds: int) -> Asking | None:
        """How jedi may be asked for so many seconds; None: not at all."""
        if seconds < 0:
            raise BadRequest(
                "invalid", f"{seconds} s is no time limit", hint="pass the seconds that jedi may take"
            )
        if not seconds:
            return None
        if self._cache is None:
            raise Unavailable("unavailable", "there is no folder in which jedi may keep what it has read")
        from lsptools.languages.python.inference import Asking

        return Asking(seconds, self._cache())

    @cached_property
    def session(self) -> Session:
        """What the caller has seen; one of its own where the face keeps none."""
        from lsptools.edit.session import Session

        return Session() if self._session is None else self._session

    @cached_property
    def shell(self) -> Shell:
        """Where the caller's commands run; one for this call where the face keeps none."""
        from lsptools.workspace.shell import Shell

        return Shell(self.variables) if self._shell is None else self._shell

    @cached_property
    def state(self) -> State:
        """Journal and locks of this workspace."""
        return self._open_state()

    @cached_property
    def positions(self) -> Positions:
        """Positions as people and editors count them."""
        return Positions(self.snapshot)


class Positions:
    """Offsets in the files of one snapshot as people and editors count them; one table per file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lines: dict[str, Lines] = {}

    def lines(self, path: str) -> Lines:
        """The lines of a file: of the workspace when `path` is relative, of a library when it is absolute. A folder has an empty one."""
        known = self._lines.get(path)
        if known is None:
            outside = Path(path) if Path(path).is_absolute() else None
            if outside is None and self._snapshot.is_dir(path):
                return Lines("")  # a package without files of its own
            document = self._snapshot.external_document(outside) if outside else self._snapshot.document(path)
            known = self._lines[path] = document.lines
        return known

    def relative(self, path: str) -> str:
        """The name of a file in answers, whatever spelling was given."""
        return self._snapshot.root.relative(path)

    def user(self, path: str, offset: Offset) -> UserPos:
        """1-based line and column in code points."""
        return self.lines(path).user_from_offset(offset)

    def place(self, path: str, offset: Offset) -> str:
        """`path:line:col`, which every tool takes as a place."""
        at = self.user(path, offset)
        return f"{path}:{at.line}:{at.column}"

    def located(self, path: str, span: Span) -> dict[str, object]:
        """The JSON members that say where: `path`, `line`, `column`, and the LSP `range` in UTF-16."""
        lines = self.lines(path)
        at = lines.user_from_offset(span.start)
        return {"path": path, "line": at.line, "column": at.column, "range": lsp_range(lines, span)}


def lsp_range(lines: Lines, span: Span) -> dict[str, object]:
    """A span as LSP has it: 0-based lines, UTF-16 characters."""
    return {"start": _lsp(lines.lsp_from_offset(span.start)), "end": _lsp(lines.lsp_from_offset(span.end))}


def _lsp(position: LspPos) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def unsearched(skipped: Iterable[Skipped]) -> tuple[str, ...]:
    """What makes a search incomplete, as sentences: files that should have been searched and could not be.

    Left out on purpose are virtual environments and binary files; that is no gap.
    """
    from lsptools.workspace.ripgrep import Why

    return tuple(f"{each.path}: {each.reason}" for each in skipped if each.why in (Why.LARGE, Why.UNREADABLE))


def checked_limit(limit: int) -> int:
    """A limit that lets something through."""
    if limit < 1:
        raise BadRequest("invalid", f"a limit of {limit} lists nothing", hint="pass --limit 1 or more")
    return limit


@dataclass(frozen=True, slots=True)
class Example:
    """A command line (without `lsptools`) and what it is for."""

    call: str
    does: str


def _nothing(_context: Context, _error: ToolError) -> Mapping[str, object]:
    return {}


def _everything(_params: Any) -> tuple[str, ...] | None:  # any tool's
    return None


@dataclass(frozen=True, slots=True)
class Tool(Generic[ParamsT]):
    """The declaration of one tool."""

    name: str
    """As in the command line."""
    summary: str
    """One sentence with a full stop."""
    guide: str
    """When to use it, what it refuses, what to call next: one paragraph for people and models."""
    params: type[ParamsT]
    """The dataclass of parameters."""
    run: Callable[[Context, ParamsT], Answer]
    writes: bool
    """Whether it may change files of the workspace."""
    examples: tuple[Example, ...]
    found: str
    """What exit code 0 means."""
    not_found: str
    """What exit code 1 means."""
    known: Callable[[Context, ToolError], Mapping[str, object]] = _nothing
    """The JSON members that stand beside `error`: what was found before it failed."""
    files: Callable[[ParamsT], tuple[str, ...] | None] = _everything
    """The paths a call is about, so that calls about other files need not wait for it; `None`: the whole workspace."""
    session: bool = False
    """Whether it matters what the caller has read before."""
    streams: bool = False
    """Whether it can show what it does while it does it (`Context.shell.stream`)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a tool's parameters, as a face sees it."""

    field: str
    """The name of the dataclass field."""
    name: str
    """The name in words joined by `-`, without leading dashes."""
    help: str
    type: type
    """`str`, `int`, `bool`, a dataclass of such fields, or `dict` for JSON; of one value, where it is `repeated`."""
    positional: bool
    required: bool
    repeated: bool
    default: object
    choices: tuple[str, ...]
    kind: str
    """What a value is to a face.

    `path` (perhaps with line and column) and `place` (which may be a name) start from the workspace. `content` is text
    that may be long, and `json` an object: on a command line they come from files. All else is `text`.
    """
    group: str
    """The heading under which help shows it."""
    metavar: str
    short: str
    """One letter, or nothing."""
    bare: str
    """What the option means without a value, which then is given as `--name=value`; empty: it needs one."""


INFER = "ask jedi what the receivers are of what is possible, for up to N seconds (0: do not)"
"""What the option of this name does, for every tool that has it."""


def arg(
    help: str,
    *,
    default: object = dataclasses.MISSING,
    positional: bool = False,
    name: str = "",
    choices: tuple[str, ...] = (),
    kind: str = "text",
    group: str = "Options",
    metavar: str = "",
    short: str = "",
    bare: str = "",
) -> Any:  # like `dataclasses.field`: stands for a value of the field's type
    """A field of a tool's parameters. Positional ones have no `group`; one without a default is required.

    A field whose type is a `Literal` has its members as choices; `choices` is for repeated ones.
    """
    metadata = {
        "help": help,
        "positional": positional,
        "name": name,
        "choices": choices,
        "kind": kind,
        "group": "" if positional else group,
        "metavar": metavar,
        "short": short,
        "bare": bare,
    }
    return field(default=default, metadata=metadata)


def parameters(tool: Tool[Any]) -> tuple[Parameter, ...]:  # any tool's
    """The parameters of a tool: positional ones first, and its own before those that it has in common with others."""
    declared: Any = tool.params  # a class, which is hashable
    return _parameters(declared)


@cache
def _parameters(declared: Any) -> tuple[Parameter, ...]:  # the class of any tool's parameters
    hints = get_type_hints(declared)
    fields = {each.name: each for each in dataclasses.fields(declared)}
    names = (name for cls in declared.__mro__ for name in vars(cls).get("__annotations__", ()))
    found = [_parameter(fields[name], hints[name]) for name in names]
    return tuple(sorted(found, key=lambda parameter: not parameter.positional))


def _without_none(hint: Any) -> Any:  # a type, as `get_type_hints` has it
    """`str | None` is a `str` that need not be given."""
    options = [option for option in get_args(hint) if option is not type(None)]
    return options[0] if type(None) in get_args(hint) and len(options) == 1 else hint


def _parameter(declared: dataclasses.Field[object], hint: object) -> Parameter:
    meta = declared.metadata
    hint = _without_none(hint)
    repeated = get_origin(hint) is tuple
    choices: tuple[str, ...] = meta["choices"]
    if meta["kind"] == "json":
        value_type: Any = dict
    elif get_origin(hint) is Literal:
        choices, value_type = get_args(hint), str
    else:
        value_type = get_args(hint)[0] if repeated else hint
    name = meta["name"] or declared.name.replace("_", "-")
    return Parameter(
        field=declared.name,
        name=name,
        help=meta["help"],
        type=value_type,
        positional=meta["positional"],
        required=declared.default is dataclasses.MISSING,
        repeated=repeated,
        default=None if declared.default is dataclasses.MISSING else declared.default,
        choices=choices,
        kind=meta["kind"],
        group=meta["group"],
        metavar=meta["metavar"] or name.replace("-", "_").upper(),
        short=meta["short"],
        bare=meta["bare"],
    )
