"""The command line: carries out a call, prints the answer or the error, and says the exit code.

| exit code | meaning                                              |
|-----------|------------------------------------------------------|
| 0         | found, or done                                       |
| 1         | nothing found; refused; a file changed meanwhile     |
| 2         | wrong usage, or the environment lacks something      |
| 70        | a bug of lsptools                                    |
| 130       | interrupted                                          |

A reader that closes the pipe early is no failure. With `--json` errors of every kind are one object on standard output;
otherwise they are text on standard error. Parsing and doing do not mix: `commands.py` turns arguments into a `Call`
and does nothing else.

Most imports are where they are used: a call waits for what it needs, and `--version` for nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from lsptools.errors import InternalError, ToolError, Unavailable
from lsptools.faces.environment import Environment, Spelling, be_lenient, discard_output, is_terminal

if TYPE_CHECKING:
    from lsptools.edit.session import Session
    from lsptools.faces.agent_commands import PrintTools
    from lsptools.faces.commands import Call, JsonCall, Text
    from lsptools.faces.render import Look
    from lsptools.tools.base import Answer, Context
    from lsptools.workspace.paths import Root

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    be_lenient(sys.stdout, sys.stderr)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _guarded(given, Environment())
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _guarded(arguments: list[str], environment: Environment) -> int:
    """Run, and say what went wrong, if anything did. The one place of this face that catches everything."""
    running: _Running | None = None
    try:
        parsed = _parsed(arguments, environment)
        if isinstance(parsed, int):
            return parsed
        from lsptools.faces.commands import Call

        if not isinstance(parsed, Call):
            from lsptools.faces.call import answer_calls

            return answer_calls(parsed, environment)
        running = _Running(parsed, environment)
        return running.run()
    except BrokenPipeError:
        raise
    except ToolError as error:
        problem = error
    except OSError as error:
        problem = Unavailable("unavailable", f"{error.filename or 'the system'}: {error.strerror or error}")
        problem.__cause__ = error
    except Exception as error:  # noqa: BLE001  # whatever else it is, it is a bug of ours, told once, here
        problem = InternalError(f"{type(error).__name__}: {error}")
        problem.__cause__ = error
    if environment.debug:
        sys.excepthook(type(problem), problem, problem.__traceback__)
    _tell(problem, running, arguments, environment)
    return problem.exit_code


def _parsed(arguments: list[str], environment: Environment) -> Call | JsonCall | int:
    """A call, or the exit code where printing something was all there was to do."""
    from lsptools.version import __version__

    if arguments == ["--version"]:
        sys.stdout.write(f"lsptools {__version__}\n")
        return 0
    from lsptools.faces.agent_commands import PrintTools, ServeAgents
    from lsptools.faces.commands import Serve, Text, parse

    parsed = parse(arguments, completing=environment.variables.get("_LSPTOOLS_COMPLETE"))
    if isinstance(parsed, Serve):
        from lsptools.faces.lsp import report, serve

        return report(environment) if parsed.check else serve(environment, port=parsed.port)
    if isinstance(parsed, ServeAgents):
        from lsptools.faces.mcp_serve import serve as serve_agents

        return serve_agents(environment, parsed)
    if isinstance(parsed, PrintTools):
        parsed = _definitions(parsed)
    if not isinstance(parsed, Text):
        return parsed
    sys.stdout.write(parsed.text)
    return parsed.exit_code


def _definitions(wanted: PrintTools) -> Text:
    import json

    from lsptools.faces.commands import Text
    from lsptools.tools.schemas import exported

    made = exported(wanted.format, read_only=wanted.read_only, may_run=wanted.allow_run)
    return Text(json.dumps(made, ensure_ascii=False, indent=2) + "\n")


class _Running:
    """A call in its surroundings."""

    def __init__(self, call: Call, environment: Environment) -> None:
        self.call = call
        self._environment = environment

    def run(self) -> int:
        """Carry it out and print the answer; the exit code."""
        from lsptools.faces.progress import progress
        from lsptools.tools.base import exit_code

        tool = self.call.tool
        values = self._values()
        streams = tool.streams and not self.call.as_json
        if tool.streams:
            self._context.shell.folder = self._root.relative(self._spelling.folder)
        if streams:
            self._context.shell.stream = _show
        try:
            with nullcontext() if streams else progress(f"lsptools {tool.name}"):
                answer = tool.run(self._context, tool.params(**values))
                text = self._text(answer)
        finally:
            self._keep_session()
        sys.stdout.write(text)
        return exit_code(answer)

    def error_text(self, error: ToolError) -> str:
        """An error of this call, in the form the call asked for."""
        from lsptools.faces import json, render

        # What has failed may be that there is no workspace; then nothing is known of it here either.
        if not self.call.as_json:
            shown: Callable[[str], str] = str
            with suppress(ToolError):
                shown = self._spelling.shown
            return render.error_text(error, self._look(sys.stderr, shown))
        beside: Mapping[str, object] = {}
        with suppress(ToolError):
            beside = self.call.tool.known(self._context, error)
        return json.error_text(self.call.tool.name, error, beside)

    def _text(self, answer: Answer) -> str:
        if self.call.as_json:
            from lsptools.faces import json

            return json.answer_text(self.call.tool.name, answer)
        from lsptools.faces import render

        return render.answer_text(self.call.tool.name, answer, self._look(sys.stdout, self._spelling.shown))

    def _values(self) -> dict[str, object]:
        from lsptools.faces.commands import FROM
        from lsptools.faces.files import json_from_file, text_from_file
        from lsptools.tools.base import parameters

        values = dict(self.call.values)
        for parameter in parameters(self.call.tool):
            value = values[parameter.field]
            if parameter.kind in ("path", "place") and isinstance(value, str):
                values[parameter.field] = self._spelling.to_workspace(
                    value, is_place=parameter.kind == "place"
                )
            elif parameter.kind == "json" and isinstance(value, str):
                values[parameter.field] = json_from_file(self._environment, value)
            elif parameter.kind == "content" and parameter.positional and isinstance(value, str):
                values[parameter.field] = text_from_file(self._environment, value)
            elif parameter.kind == "content" and (file := values.pop(parameter.field + FROM, None)):
                values[parameter.field] = text_from_file(self._environment, str(file))
            elif parameter.repeated and parameter.default is None and not value:
                values[parameter.field] = None
        return {name: value for name, value in values.items() if not name.endswith(FROM)}

    def _keep_session(self) -> None:
        if self.call.session is not None and self._session is not None:
            from lsptools.faces.sessions import keep_session

            keep_session(self._environment, self._root, self.call.session, self._session)

    @cached_property
    def _session(self) -> Session | None:
        if self.call.session is None:
            return None
        from lsptools.faces.sessions import named_session

        return named_session(self._environment, self._root, self.call.session)

    def _look(self, stream: TextIO, shown: Callable[[str], str]) -> Look:
        from lsptools.faces.render import Look

        return Look(shown, self._environment.colour(self.call.colour, stream), is_terminal(stream))

    @cached_property
    def _context(self) -> Context:
        return self._environment.context(self._root, self._session)

    @cached_property
    def _spelling(self) -> Spelling:
        given = self.call.root is not None
        return Spelling(self._root.path, self._root.path if given else self._environment.cwd.resolve())

    @cached_property
    def _root(self) -> Root:
        return self._environment.root(self.call.root)


def _show(text: str) -> None:
    """Print what comes while a command runs."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _tell(error: ToolError, running: _Running | None, arguments: list[str], environment: Environment) -> None:
    """Say it: in an answer's place with `--json`, otherwise on standard error."""
    from lsptools.faces import json, render

    if isinstance(error, InternalError):
        error.hint += f" and the id {_identity(error)}; LSPTOOLS_DEBUG=1 shows where it happened"
    as_json = running.call.as_json if running else "--json" in arguments
    if running:
        text = running.error_text(error)
    elif as_json:
        text = json.error_text(None, error, {})
    else:
        text = render.error_text(error, render.Look(colour=environment.colour("auto", sys.stderr)))
    sys.stdout.flush()
    (sys.stdout if as_json else sys.stderr).write(text)


def _identity(error: InternalError) -> str:
    """The same for the same bug: made from the places of the traceback."""
    import traceback
    from hashlib import blake2b

    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    places = "\n".join(f"{frame.filename.rpartition('lsptools')[2]}:{frame.lineno}" for frame in frames)
    return blake2b(places.encode("utf-8", "replace"), digest_size=4).hexdigest()
