"""`lsptools call --agent`: the tools for agents without a protocol, for agent loops of one's own.

One line in, `{"id", "tool", "args"}`; one line out, `{"id", "ok", "text", "data"}`: `text` is for the model, `data` for programs.
Calls run at the same time; who needs an order waits for the answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import BinaryIO

from lsptools.errors import BadRequest, ToolError
from lsptools.faces.agent import Agent, Desk, Permissions
from lsptools.faces.call import FORM, N_THREADS, line_from_json, loaded, told
from lsptools.faces.commands import JsonCall
from lsptools.faces.environment import Environment
from lsptools.faces.roots import Roots
from lsptools.faces.sessions import keep_session, named_session


def answer_agent_calls(call: JsonCall, environment: Environment) -> int:
    """Carry out one call, or all of standard input; the exit code."""
    root = environment.root(call.root)
    session = None if call.session is None else named_session(environment, root, call.session)
    agent = Agent(Desk(environment, Roots([root]), Permissions(run=call.allow_run)), session)
    try:
        if call.tool is None:
            serve(agent, sys.stdin.buffer, sys.stdout.buffer)
            return 0
        text = sys.stdin.read() if call.arguments == "-" else call.arguments
        answer = _answer(agent, call.tool, loaded(text, "the arguments are"))
        sys.stdout.buffer.write(line_from_json(answer))
        return 0 if answer["ok"] else 1
    finally:
        agent.close()
        if call.session is not None and session is not None:
            keep_session(environment, root, call.session, session)


def serve(agent: Agent, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer every line, until there are no more."""
    writing = Lock()

    def put(answer: Mapping[str, object]) -> None:
        with writing:
            stdout.write(line_from_json(answer))
            stdout.flush()

    with ThreadPoolExecutor(N_THREADS, thread_name_prefix="agent") as pool:
        while line := stdin.readline():
            if line.strip():
                pool.submit(_answer_line, agent, line, put)


def _answer_line(agent: Agent, line: bytes, put: Callable[[Mapping[str, object]], None]) -> None:
    id: object = None
    try:
        asked = loaded(line.decode("utf-8", "surrogateescape"), "the line is")
        if not isinstance(asked, dict):
            raise BadRequest("invalid", "the line is not an object", hint=FORM)
        id = asked.get("id")
        put({"id": id, **_answer(agent, str(asked.get("tool")), asked.get("args", {}))})
    except ToolError as error:
        put({"id": id, "ok": False, "text": f"error: {error}\n", "data": {"error": told(error)}})


def _answer(agent: Agent, name: str, arguments: object) -> dict[str, object]:
    if not isinstance(arguments, dict):
        raise BadRequest("invalid", "the arguments are not an object", hint=FORM)
    reply = agent.call(name, arguments)
    return {"ok": not reply.is_error, "text": reply.text, "data": reply.data}
