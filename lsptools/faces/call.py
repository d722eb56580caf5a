"""Tools called with JSON arguments: one call, or a session of many over standard input and output.

One line in, `{"id", "tool", "args"}`; one line out, `{"id", "ok", "result"}` or `{"id", "ok", "error"}`; UTF-8, a lone surrogate
as its escape. `result.output` is what a caller is shown, the rest is for programs. Answers come when they are ready.

Each call looks at the workspace when its turn comes. Its turn comes when every earlier call that it could disturb, or that could
disturb it, is done: two calls disturb each other if one may write and both are about the same real file; a call whose files are
not known beforehand is about all of them. So calls about other files run at the same time, and those about one file in order.

A tool's failure is an answer. The session ends with the end of standard input, when all calls are answered.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from threading import Lock
from typing import Any, BinaryIO

from lsptools.edit.session import Session
from lsptools.edit.target import target
from lsptools.errors import BadRequest, InternalError, ToolError, Unavailable
from lsptools.faces.commands import JsonCall
from lsptools.faces.environment import Environment
from lsptools.faces.json import error_json
from lsptools.faces.sessions import keep_session, named_session
from lsptools.syntax.readers import reason
from lsptools.tools import registry
from lsptools.tools.arguments import params_from_json
from lsptools.tools.base import Answer, Context, Tool
from lsptools.workspace.paths import Root
from lsptools.workspace.shell import Shell

N_THREADS = 8


def answer_calls(call: JsonCall, environment: Environment) -> int:
    """Carry out one call, or all of standard input; the exit code."""
    if call.agent:
        from lsptools.faces.agent_calls import answer_agent_calls

        return answer_agent_calls(call, environment)
    root = environment.root(call.root)
    session = Session() if call.session is None else named_session(environment, root, call.session)
    shell = Shell(environment.variables) if call.tool is None else None
    caller = Caller(environment.context(root, session, shell))
    try:
        if call.tool is None:
            serve(caller, sys.stdin.buffer, sys.stdout.buffer)
            return 0
        text = sys.stdin.read() if call.arguments == "-" else call.arguments
        answer, code = caller.answer_text(call.tool, text)
        sys.stdout.buffer.write(line_from_json(answer))
        return code
    finally:
        if shell is not None:
            shell.end()
        if call.session is not None:
            keep_session(environment, root, call.session, session)


class Caller:
    """Calls tools by name for one session. Each call gets a snapshot of its own."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def root(self) -> Root:
        return self._context.snapshot.root

    def prepared(
        self, name: object, arguments: object
    ) -> tuple[Tool[Any], Any]:  # any tool, its own parameters
        """The tool and its parameters."""
        tool = _tool(name)
        return tool, params_from_json(tool, arguments)

    def run(self, tool: Tool[Any], params: Any) -> dict[str, object]:  # JSON
        """What the tool answers."""
        answer: Answer = tool.run(self._context.renewed(), params)
        found = dict(answer.to_json())
        if "output" not in found:
            found["output"] = _shown(tool, answer)
        found["found"] = answer.found
        return found

    def reals(self, tool: Tool[Any], params: Any) -> frozenset[str] | None:
        """The real files a call is about; `None`: perhaps all."""
        paths = tool.files(params)
        if paths is None:
            return None
        found = set()
        for path in paths:
            try:
                found.add(target(self._context.snapshot, path).real)
            except ToolError:
                found.add(path)  # the call will fail; it disturbs nobody
        return frozenset(found)

    def answer_text(self, name: str, text: str) -> tuple[dict[str, object], int]:
        """The answer to one call, and the exit code."""
        try:
            arguments = loaded(text, "the arguments are")
            found = self.run(*self.prepared(name, arguments))
        except Exception as error:  # noqa: BLE001  # told as the answer, which is the only place to tell it
            problem = as_tool_error(error)
            return {"ok": False, "error": told(problem)}, problem.exit_code
        return {"ok": True, "result": found}, 0 if found["found"] else 1


@dataclass(slots=True)
class _Pending:
    """A call that is not answered yet."""

    reals: frozenset[str] | None
    writes: bool
    done: Future[None]

    def disturbs(self, other: _Pending) -> bool:
        if not (self.writes or other.writes):
            return False
        return self.reals is None or other.reals is None or not self.reals.isdisjoint(other.reals)


def serve(caller: Caller, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer every line, until there are no more."""
    writing = Lock()

    def put(answer: Mapping[str, object]) -> None:
        line = line_from_json(answer)
        with writing:
            stdout.write(line)
            stdout.flush()

    pending: list[_Pending] = []
    with ThreadPoolExecutor(N_THREADS, thread_name_prefix="call") as pool:
        while line := stdin.readline():
            if not line.strip():
                continue
            pending = [each for each in pending if not each.done.done()]
            _submit(caller, line, pending, pool, put)


def _submit(
    caller: Caller,
    line: bytes,
    pending: list[_Pending],
    pool: ThreadPoolExecutor,
    put: Callable[[Mapping[str, object]], None],
) -> None:
    id: object = None
    try:
        # A `\ud800` of JSON is data; raw bytes that are no UTF-8 are a malformed call.
        asked = loaded(line.decode("utf-8", "surrogateescape"), "the line is")
        if not isinstance(asked, dict):
            raise BadRequest("invalid", "the line is not an object", hint=FORM)
        id = asked.get("id")
        tool, params = caller.prepared(asked.get("tool"), asked.get("args", {}))
        call = _Pending(caller.reals(tool, params), tool.writes, Future())
    except Exception as error:  # noqa: BLE001  # told as the answer
        put({"id": id, "ok": False, "error": told(as_tool_error(error))})
        return
    earlier = [each.done for each in pending if each.disturbs(call)]
    pending.append(call)

    def work() -> None:
        # Those waited for were handed to the pool earlier, so they have a thread or are done: nobody waits in a circle.
        wait_for(earlier)
        try:
            answer: dict[str, object] = {"id": id, "ok": True, "result": caller.run(tool, params)}
        except Exception as error:  # noqa: BLE001  # told as the answer
            answer = {"id": id, "ok": False, "error": told(as_tool_error(error))}
        call.done.set_result(None)
        put(answer)

    pool.submit(work)


FORM = 'send {"id": 1, "tool": "read", "args": {"path": "…"}}'


def _tool(name: object) -> Tool[Any]:  # any tool
    plain = name.replace("_", "-") if isinstance(name, str) else ""
    if plain in registry.names():
        return registry.tool(plain)
    raise BadRequest(
        "invalid", f"there is no tool {name!r}", hint=f"the tools are {', '.join(registry.names())}"
    )


def loaded(text: str, what: str) -> object:
    """JSON that a caller sent. `what` is the beginning of a sentence: "the line is"."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise BadRequest("invalid", f"{what} not JSON: {reason(error, 'JSON')}", hint=FORM) from None


def _finite(text: str) -> float:
    """The number, if JSON could say it in the answer; it has no infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no number that JSON has, or too large")
    return number


def _shown(tool: Tool[Any], answer: Answer) -> str:
    from lsptools.faces.render import Look, answer_text

    return answer_text(tool.name, answer, Look())


def as_tool_error(error: Exception) -> ToolError:
    """Whatever went wrong, as an error of the family."""
    if isinstance(error, ToolError):
        return error
    if isinstance(error, OSError):
        return Unavailable("unavailable", f"{error.filename or 'the system'}: {error.strerror or error}")
    return InternalError(f"{type(error).__name__}: {error}")


def told(error: ToolError) -> dict[str, object]:
    """An error for programs; `places` are its sites."""
    found = error_json(error)
    return {**found, "places": found["sites"]}


def line_from_json(value: object) -> bytes:
    """One line of UTF-8; what UTF-8 cannot say is an escape, as JSON has it."""
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        + b"\n"
    )
