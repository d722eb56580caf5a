"""The tools for agents, without a protocol: calls by name with JSON arguments, answers within bounds.

An `Agent` is what a server or an agent loop needs of one client: its session (what it has read), its shells, the workspaces it may
name. Calls may come from several threads. None waits for another, but for edits of the same files; each looks at the
workspace as it is when it begins, and what it writes is checked against what its caller has seen and against the disk.

An answer that does not fit is given in pages; what was left out is kept for a while and can be had by its cursor, or whole, as
a resource.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsptools.edit.session import Session
from lsptools.errors import BadRequest, Refused, Site, ToolError, Unavailable
from lsptools.faces.agent_empty import nothing
from lsptools.faces.agent_errors import call_text, told
from lsptools.faces.agent_pages import Body, page_of, room_for, sayable
from lsptools.faces.agent_plans import Plans
from lsptools.faces.agent_view_places import Showing
from lsptools.faces.agent_views import body_of
from lsptools.faces.call import as_tool_error
from lsptools.faces.environment import Environment
from lsptools.faces.json import error_json
from lsptools.faces.roots import Roots
from lsptools.languages.names import Evidence, Occurrence, References
from lsptools.tools.agents import APPLY, PAGED, AgentTool, check_parameters, resolved
from lsptools.tools.arguments import params_from_json
from lsptools.tools.base import Answer, Context, Tool
from lsptools.tools.schemas import exported, offered
from lsptools.workspace.shell import Shell

if TYPE_CHECKING:
    from lsptools.workspace.policy import Ruling

MOST_RESULTS = 64
MOST_RESULT_CHARACTERS = 16_000_000
DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the person who started the server has allowed."""

    read_only: bool = False
    run: bool = False
    rules: Mapping[str, Ruling] = field(default_factory=dict)
    """What becomes of commands that a rule finds, where that is not as usual."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client gets."""

    text: str
    data: dict[str, object]
    is_error: bool = False
    resource: str | None = None
    """The id of the whole answer, where this is not all of it."""
    picture: tuple[str, str] | None = None
    """Media type and base64 data."""
    asks: str | None = None
    """Why a command is not run before a person, or the caller's `confirm`, says so."""


def open_agent(root: str | Path, *, read_only: bool = False, allow_run: bool = False) -> Agent:
    """The tools for agents in the workspace of a folder, for one session. `call` them, `close` at the end."""
    environment = Environment()
    roots = Roots([environment.root(str(root))])
    return Agent(Desk(environment, roots, Permissions(read_only, allow_run)))


class Job:
    """One call under way: it can be cancelled from another thread, and says how far it is."""

    def __init__(self, deadline_s: float = DEADLINE_S) -> None:
        self.started = time.monotonic()
        self._deadline_s = deadline_s
        self._cancelled = threading.Event()
        self.has_own_limits = False
        """Whether programs run, each with a time limit of its own."""
        self.said = ""
        """The last thing that happened."""

    def cancel(self) -> None:
        """Nobody waits for the answer any more."""
        self._cancelled.set()

    def checkpoint(self) -> None:
        """Raises when the work shall stop."""
        if self._cancelled.is_set():
            raise Unavailable("cancelled", "the call was cancelled")
        if not self.has_own_limits and time.monotonic() - self.started > self._deadline_s:
            raise Unavailable(
                "timed_out",
                f"the call took more than {self._deadline_s:.0f} s and was stopped",
                hint="narrow it: fewer files, a more special name",
            )

    def say(self, text: str) -> None:
        """Something to show to whoever waits: the last line of it."""
        lines = text.strip().split("\n")
        self.said = lines[-1][-200:] or self.said


@dataclass(frozen=True, slots=True)
class _Word:
    """A person's word on a command."""

    is_yes: bool
    has_person: bool
    """Whether there is one to be asked."""


@dataclass(frozen=True, slots=True)
class _Result:
    """An answer that did not fit into one page."""

    tool: str
    arguments: Mapping[str, object]
    """Without those that choose the page."""
    body: Body
    whole: str
    """As JSON."""


class Results:
    """Answers of which a part was shown, the oldest first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Result] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, result: _Result) -> str:
        id = secrets.token_hex(6)
        with self._lock:
            self._kept[id] = result
            self._size += len(result.whole)
            while len(self._kept) > 1 and (
                len(self._kept) > MOST_RESULTS or self._size > MOST_RESULT_CHARACTERS
            ):
                self._size -= len(self._kept.popitem(last=False)[1].whole)
        return id

    def of(self, id: str) -> _Result | None:
        with self._lock:
            return self._kept.get(id)

    def ids(self) -> tuple[str, ...]:
        """Those that can be read, the newest first."""
        with self._lock:
            return tuple(reversed(self._kept))


class Desk:
    """What all clients of one server share: roots, permissions, plans, results."""

    def __init__(self, environment: Environment, roots: Roots, permissions: Permissions) -> None:
        self.environment = environment
        self.roots = roots
        self.permissions = permissions
        self.plans = Plans()
        self.results = Results()
        self._jobs: set[Job] = set()
        self._changed = threading.Condition()
        self.tools = {
            tool.name: tool for tool in offered(read_only=permissions.read_only, may_run=permissions.run)
        }

    @contextmanager
    def working(self, job: Job) -> Iterator[None]:
        """The job is under way; `stop` waits for it."""
        with self._changed:
            self._jobs.add(job)
        try:
            yield
        finally:
            with self._changed:
                self._jobs.discard(job)
                self._changed.notify_all()

    def stop(self, patience_s: float) -> None:
        """Cancel all work, and wait for its end, but not for ever."""
        with self._changed:
            for job in self._jobs:
                job.cancel()
            self._changed.wait_for(lambda: not self._jobs, patience_s)


class Agent:
    """One client."""

    def __init__(self, desk: Desk, session: Session | None = None) -> None:
        self.desk = desk
        self.session = session or Session()
        self._contexts: dict[str, Context] = {}
        """By root, each with the shell of this client."""
        self._is_closed = False
        self._lock = threading.Lock()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        job: Job | None = None,
        *,
        is_confirmed: bool = False,
        has_person: bool = False,
    ) -> Reply:
        """The answer to one call, whatever comes of it.

        `has_person`: a person can be asked about a command, and then nobody else's word counts; `is_confirmed`: that person has
        said yes to this one.
        """
        tool, job = self.desk.tools.get(name), job or Job()
        try:
            if tool is None:
                raise self._unknown(name)
            with self.desk.working(job):
                return self._answered(tool, arguments, job, _Word(is_confirmed, has_person))
        except _Undecided as refusal:
            return self._failed(refusal.error, tool, arguments, refusal.possible, refusal.resource)
        except Exception as error:  # noqa: BLE001  # told as the answer, which is the only place to tell it
            return self._failed(as_tool_error(error), tool, arguments)

    def _failed(
        self,
        error: ToolError,
        tool: AgentTool | None,
        arguments: Mapping[str, object],
        possible: Sequence[Site] = (),
        resource: str | None = None,
    ) -> Reply:
        said = told(error, tool, arguments, possible)
        more = {"resource": resource_uri(resource)} if resource is not None else {}
        asks = (
            error.message if error.kind == "undecided" and tool is not None and tool.name == "run" else None
        )
        return Reply(
            str(sayable(said.text)) + "\n", _object({**said.data, **more}), True, resource, asks=asks
        )

    def definitions(self, format: str) -> list[dict[str, Any]]:  # JSON objects
        """The tools that can be called, as `mcp`, `anthropic` or `openai` have it."""
        allowed = self.desk.permissions
        return exported(format, read_only=allowed.read_only, may_run=allowed.run)

    def close(self) -> None:
        """End what commands have left in the background."""
        with self._lock:
            self._is_closed = True
            contexts = list(self._contexts.values())
        for context in contexts:
            context.shell.end()

    def _unknown(self, name: str) -> BadRequest:
        names = ", ".join(self.desk.tools)
        if name == "run":
            return BadRequest(
                "invalid",
                "this server runs no commands",
                hint="whoever starts it can allow them with --allow-run",
            )
        why = " that this server, which only reads, has" if self.desk.permissions.read_only else ""
        return BadRequest("invalid", f"there is no tool {name!r}{why}", hint=f"the tools are {names}")

    def _answered(self, tool: AgentTool, arguments: Mapping[str, object], job: Job, word: _Word) -> Reply:
        job.checkpoint()
        room = room_for(arguments.get("max_tokens"))
        of_pages = [name for name in PAGED if tool.is_paged or name in tool.own]
        asked = {
            name: value for name, value in arguments.items() if name not in of_pages and value is not None
        }
        if tool.is_paged and (cursor := arguments.get("cursor")) is not None:
            return self._next_page(tool, asked, cursor, room)
        if tool.name in ("run", "verify") or "verify" in asked:
            job.has_own_limits = True
        context = self._context(arguments.get("root"), job)
        answer, body = self._body(tool, asked, context, room, word)
        return self._first_page(tool, asked, answer, body, room)

    # Doing

    def _body(
        self, tool: AgentTool, asked: Mapping[str, object], context: Context, room: int, word: _Word
    ) -> tuple[Answer, Body]:
        if tool.name == APPLY:
            tool_name, answer = self._apply(asked, context)
            return answer, body_of(tool_name, answer, Showing(context, room))
        call = resolved(tool, asked)
        own = {name: value for name, value in asked.items() if name in tool.own}
        params = params_from_json(call.tool, self._permitted(call.tool, call.arguments))
        if call.tool.name == "run":
            params = self._decided(params, own.get("confirm"), context, word)
        try:
            answer = call.tool.run(context, params)
        except Refused as error:
            raise self._explained(error, call.tool, asked, context) from error
        finally:
            if call.tool.name == "run":
                self._has_run(context)
        is_preview = call.arguments.get("diff") is True
        plan = self.desk.plans.keep(call.tool, answer, params, context) if is_preview else None
        body = body_of(call.tool.name, answer, Showing(context, room, plan))
        if not answer.found and (why := nothing(call.tool.name, call.arguments, context)) is not None:
            nearest = list(why.nearest) or None
            facts = {**body.facts, "reason": why.reason, "nearest": nearest}
            body = Body(
                (*body.head, *why.lines),
                body.entries,
                body.member,
                body.is_text,
                body.end,
                facts,
                body.groups,
            )
        return answer, body

    def _has_run(self, context: Context) -> None:
        """The client's next command starts where this one left off; nothing is left running for a client that has gone."""
        with self._lock:
            shell = self._contexts[str(context.snapshot.root.path)].shell
            shell.folder = context.shell.folder
            is_closed = self._is_closed
        if is_closed:
            shell.end()

    def _explained(
        self, error: Refused, tool: Tool[Any], asked: Mapping[str, object], context: Context
    ) -> Exception:
        """A refused rename with the account of what was found; any other refusal as it is."""
        found = error.details
        if not isinstance(found, References):
            return error
        possible = [
            Site(each.path, *_line_and_column(context, each), f"{each.role}: {each.reason}")
            for each in found.occurrences
            if each.evidence is Evidence.POSSIBLE and error.kind == "undecided"
        ]
        beside: Mapping[str, object] = {}
        with suppress(ToolError):  # what belongs to no file, a builtin, has no place
            beside = tool.known(context, error)
        whole = json.dumps({**beside, "error": error_json(error)}, separators=(",", ":"))
        return _Undecided(error, possible, self.desk.results.keep(_Result(tool.name, asked, Body(), whole)))

    def _apply(self, asked: Mapping[str, object], context: Context) -> tuple[str, Answer]:
        """The declared tool that made the plan, and what came of doing it."""
        from lsptools.tools.writing import Writing

        check_parameters(self.desk.tools[APPLY], asked)
        kept = self.desk.plans.of(str(asked["plan"]), context.snapshot.root.path)
        rungs = self._rungs(str(asked["verify"])) if "verify" in asked else None
        return kept.tool, kept.do(context, Writing(verify=rungs, keep=asked.get("keep") is True))

    def _permitted(self, tool: Tool[Any], arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Without leave to run programs only rungs that read are climbed."""
        if self.desk.permissions.run:
            return arguments
        if tool.name == "verify":
            if arguments.get("reproduces") is not None:
                raise _not_allowed("`reproduces` runs a test")
            return {**arguments, "rungs": self._rungs(str(arguments.get("rungs") or ""))}
        if isinstance(arguments.get("verify"), str):
            return {**arguments, "verify": self._rungs(str(arguments["verify"]))}
        return arguments

    def _rungs(self, wanted: str) -> str:
        from lsptools.verify.ladder import READING, RUNNING

        if self.desk.permissions.run:
            return wanted
        names = {name.strip() for name in wanted.split(",")} - {"", "usual"}
        running = [name for name in RUNNING if name in names]
        if running:
            raise _not_allowed(
                f"{', '.join(running)} run{'s' if len(running) == 1 else ''} programs of the project"
            )
        return wanted if names else ",".join(READING)

    def _decided(self, params: Any, confirm: object, context: Context, word: _Word) -> Any:  # run's Params
        """The command as it may be run: by the rules of whoever started the server, and by a person's or the caller's word."""
        from dataclasses import replace

        from lsptools.tools.run import findings

        rules = tuple(f"{name}={ruling.value}" for name, ruling in self.desk.permissions.rules.items())
        params = replace(params, rule=rules, yes=False)
        found = findings(context, params)
        if not found or word.is_yes:
            return replace(params, yes=word.is_yes)
        digest = _digest_of_command(params, context)
        if confirm == digest and not word.has_person:
            return replace(params, yes=True)
        if any(each.ruling.value == "deny" for each in found):
            return params  # refused by the tool itself, for good
        said = "; ".join(map(str, found))
        error = Refused(
            "undecided",
            f"the command was not run, for you may not want it: {said}",
            hint="ask the person you work for, or find a command that does less",
        )
        if not word.has_person:
            error.facts = {"confirm": digest}
        raise error

    # Pages

    def _first_page(
        self, tool: AgentTool, asked: Mapping[str, object], answer: Answer, body: Body, room: int
    ) -> Reply:
        page = page_of(body, 0, room)
        data, text, resource = page.data, page.text, None
        is_kept = page.next_entry is not None or tool.name in ("rename", APPLY)
        found = answer.to_json() if is_kept or tool.name == "read" else {}
        picture = found.pop("image", None)
        if is_kept:
            whole = json.dumps(found, separators=(",", ":"))
            resource = self.desk.results.keep(_Result(tool.name, asked, body, whole))
            text, data = _continued(text, data, tool, resource, page.next_entry, len(body.entries))
        said = text if text.endswith("\n") or not text else text + "\n"
        shown = (str(picture["media_type"]), str(picture["data"])) if isinstance(picture, dict) else None
        return Reply(str(sayable(said)), _object(data), resource=resource, picture=shown)

    def _next_page(self, tool: AgentTool, asked: Mapping[str, object], cursor: object, room: int) -> Reply:
        id, _, number = str(cursor).partition(":")
        result = self.desk.results.of(id)
        if result is None or not _NUMBER.fullmatch(number):
            hint = "it was done, do not repeat it" if tool.writes else "make the call again without it"
            raise BadRequest("not_found", f"there is no cursor {cursor!r} any more", hint=hint)
        if result.tool != tool.name or dict(result.arguments) != dict(asked):
            raise BadRequest(
                "invalid",
                "the cursor belongs to another call",
                hint=f"go on with {call_text(result.tool, {**result.arguments, 'cursor': cursor})}",
            )
        page = page_of(result.body, int(number), room)
        text, data = _continued(page.text, page.data, tool, id, page.next_entry, len(result.body.entries))
        return Reply(str(sayable(text)) + "\n", _object(data), resource=id)

    # Where

    def _context(self, given: object, job: Job) -> Context:
        root = self.desk.roots.of(given)
        key = str(root.path)
        with self._lock:
            known = self._contexts.get(key)
            if known is None:
                shell = Shell(self.desk.environment.variables)
                known = self._contexts[key] = self.desk.environment.context(root, self.session, shell)
        return known.renewed(job.checkpoint, shell=_own(known.shell, job))


class _Undecided(Exception):
    """A refusal, the places to decide about, and where the whole account is."""

    def __init__(self, error: Refused, possible: Sequence[Site], resource: str) -> None:
        super().__init__(error.message)
        self.error = error
        self.possible = possible
        self.resource = resource


def _line_and_column(context: Context, each: Occurrence) -> tuple[int, int]:
    at = context.positions.user(each.path, each.span.start)
    return at.line, at.column


def _own(shell: Shell, job: Job) -> Shell:
    """The client's shell, for one call: commands may run at the same time, and what they leave is the client's."""
    return Shell(shell.variables, job.say, shell.folder, shell.background)


def _not_allowed(what: str) -> Refused:
    return Refused(
        "unavailable",
        f"{what}, which this server may not",
        hint='verify with rungs="scope,syntax,names"; whoever starts the server can allow more with --allow-run',
    )


def _digest_of_command(params: Any, context: Context) -> str:  # run's Params
    from hashlib import blake2b

    folder = context.shell.folder if params.folder is None else params.folder
    said = json.dumps([str(context.snapshot.root.path), params.command, folder, params.timeout])
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _continued(
    text: str, data: dict[str, object], tool: AgentTool, id: str, next_entry: int | None, total: int
) -> tuple[str, dict[str, object]]:
    """A page, with the words about what follows it."""
    uri = resource_uri(id)
    if next_entry is None:
        return text, {**data, "resource": uri}
    cursor = f"{id}:{next_entry}"
    how = f'call again with cursor="{cursor}"' if tool.is_paged else f"all of it is in {uri}"
    more = {"next_cursor": cursor} if tool.is_paged else {}
    return (
        f"{text}\n[{next_entry} of {total} lines so far; {how}]",
        {**data, "truncated": True, **more, "resource": uri},
    )


_NUMBER = re.compile(r"[0-9]{1,9}")


def resource_uri(id: str) -> str:
    """The address of a whole answer."""
    return f"lsptools://result/{id}"


def _object(data: Mapping[str, object]) -> dict[str, object]:
    found = sayable(data)
    assert isinstance(found, dict)
    return found
