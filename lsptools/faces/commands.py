"""From the declarations of tools to commands, and from arguments to a call: the only module that names click.

Each command is built when it is asked for, so a call imports its own tool and nothing else. Everything that click
rejects becomes a `BadRequest` that says what would work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from lsptools.errors import BadRequest
from lsptools.faces.agent_commands import (
    MCP_SUMMARY,
    TOOLS_SUMMARY,
    PrintTools,
    ServeAgents,
    mcp_command,
    tools_command,
)
from lsptools.tools import registry
from lsptools.tools.base import Parameter, Tool, parameters
from lsptools.version import __version__

SHELLS = ("bash", "zsh", "fish")
_PROGRAM = "lsptools"
_COMPLETE = "_LSPTOOLS_COMPLETE"
_SUMMARY = "Find every occurrence of a symbol with evidence, rename it with proof, and undo it. Each command explains itself with --help."


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's call, parsed but not yet carried out. Paths are as the caller spelled them."""

    tool: Tool[Any]  # any tool's, with its own parameters
    values: Mapping[str, object]
    """Of the tool's parameters, by field; types and choices are checked."""
    as_json: bool
    colour: str
    root: str | None
    session: str | None = None
    """The name of the session whose reads count."""


@dataclass(frozen=True, slots=True)
class JsonCall:
    """A call with JSON arguments, or (without a tool) a session of such calls on standard input."""

    tool: str | None
    arguments: str
    root: str | None
    session: str | None
    agent: bool = False
    """Whether the tools are those for agents."""
    allow_run: bool = False


@dataclass(frozen=True, slots=True)
class Serve:
    """The language server is wanted, or what an editor would see of it."""

    check: bool
    port: int | None


@dataclass(frozen=True, slots=True)
class Text:
    """Something to print, and that is all."""

    text: str
    exit_code: int = 0


Parsed = Call | JsonCall | Serve | ServeAgents | PrintTools | Text
"""What a command line can ask for."""


def parse(arguments: Sequence[str], *, completing: str | None = None) -> Parsed:
    """What the arguments ask for. `completing` is a shell's instruction to complete its own command line instead."""
    commands = _Commands()
    if completing:
        return Text("", shell_complete(commands, {}, _PROGRAM, _COMPLETE, completing))
    if not arguments:
        return Text(commands.get_help(click.Context(commands, info_name=_PROGRAM)) + "\n", exit_code=2)
    try:
        with commands.make_context(_PROGRAM, list(arguments)) as context:
            parsed: Parsed = commands.invoke(context)
    except _Shown as shown:
        return Text(shown.text)
    except click.UsageError as error:
        raise _rejected(error) from None
    return parsed


class _Shown(Exception):
    """Help or the version is wanted, whatever else the arguments say."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _rejected(error: click.UsageError) -> BadRequest:
    hint = f"{error.ctx.command_path if error.ctx else _PROGRAM} --help shows how it is called"
    if isinstance(error, click.NoSuchOption):
        known = [name for each in error.ctx.command.params for name in each.opts] if error.ctx else []
        close = _nearest(error.option_name, known, " or ")
        return BadRequest("invalid", f"there is no option {error.option_name}", hint=close or hint)
    message = error.format_message().rstrip(".")
    return BadRequest("invalid", message[:1].lower() + message[1:], hint=hint)


def _nearest(name: str, known: Iterable[str], joined_by: str) -> str:
    close = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"did you mean {joined_by.join(close)}?" if close else ""


# The commands


class _Commands(click.Group):
    """All commands. Each is built from its declaration when it is asked for."""

    def __init__(self) -> None:
        super().__init__(
            _PROGRAM, params=[_version_option(), _help_option()], help=_SUMMARY, add_help_option=False
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*registry.names(), "call", "lsp", "mcp", "tools", "completion"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "completion":
            return _completion_command()
        if cmd_name == "call":
            return _call_command()
        if cmd_name == "lsp":
            return _lsp_command()
        if cmd_name == "mcp":
            return mcp_command([_help_option()])
        if cmd_name == "tools":
            return tools_command([_help_option()])
        return _Command(registry.tool(cmd_name)) if cmd_name in registry.names() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            hint = _nearest(name, known, " or ") or f"the commands are {', '.join(known)}"
            raise BadRequest("invalid", f"there is no command {name!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, registry.tool(name).summary) for name in registry.names()]
        _write_rows(
            formatter,
            "Commands",
            [
                *rows,
                ("call", CALL_SUMMARY),
                ("lsp", LSP_SUMMARY),
                ("mcp", MCP_SUMMARY),
                ("tools", TOOLS_SUMMARY),
                ("completion", "Print the script that completes commands in a shell."),
            ],
        )
        _write_rows(
            formatter,
            "Exit codes",
            exit_codes("found, or done", "nothing found, refused, or a file changed meanwhile"),
        )
        _write_rows(formatter, "Environment", ENVIRONMENT)


class _Command(click.Command):
    """The command of one tool."""

    def __init__(self, tool: Tool[Any]) -> None:  # any tool's
        self._tool = tool
        self._parameters = parameters(tool)
        own = [made for each in self._parameters for made in _click_parameters(each)]
        super().__init__(
            tool.name,
            params=[*own, *_session_options(tool), *_common_options(), _help_option()],
            callback=self._call,
            add_help_option=False,
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """An option that may stand alone takes a value only after `=`, so that it does not swallow an argument."""
        bare = {f"--{each.name}": each.bare for each in self._parameters if each.bare}
        end = args.index("--") if "--" in args else len(args)
        given = [
            f"{each}={bare[each]}" if each in bare and at < end else each for at, each in enumerate(args)
        ]
        return super().parse_args(ctx, given)

    def _call(self, **values: object) -> Call:
        as_json, colour = values.pop("json"), values.pop("color")
        root, session = values.pop("root"), values.pop("session", None)
        return Call(
            self._tool,
            values,
            bool(as_json),
            str(colour),
            None if root is None else str(root),
            None if session is None else str(session),
        )

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        for paragraph in (self._tool.summary, self._tool.guide):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph)
        with formatter.section("Examples"):
            for example in self._tool.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{_PROGRAM} {example.call}\n")
                with formatter.indentation():
                    formatter.write_text(example.does)
        if positional := [(each.metavar, each.help) for each in self._parameters if each.positional]:
            _write_rows(formatter, "Arguments", positional)
        for heading, rows in self._groups(ctx).items():
            _write_rows(formatter, heading, rows)
        _write_rows(formatter, "Exit codes", exit_codes(self._tool.found, self._tool.not_found))

    def _groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Options under their headings; `Output`, which has the common ones, comes last."""
        heading_of = {each.field: each.group for each in self._parameters}
        heading_of |= {each.field + FROM: each.group for each in self._parameters}
        heading_of["session"] = "Safety"
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record:
                groups.setdefault(heading_of.get(parameter.name or "", OUTPUT), []).append(record)
        return dict(sorted(groups.items(), key=lambda group: group[0] == OUTPUT))


OUTPUT = "Output"
FROM = "__from"
"""Ends the name of a value that says in which file the text of a parameter is."""
CALL_SUMMARY = "Call a tool with JSON arguments, or, with --jsonl, many as one session on standard input."
ENVIRONMENT = (
    ("LSPTOOLS_RG", "the ripgrep to use; otherwise the one installed with lsptools, or the one on PATH"),
    ("NO_COLOR, FORCE_COLOR, TERM", "as usual; --color decides"),
    (
        "LSPTOOLS_CANDIDATE_COMMAND",
        "the program of yours that `candidate` asks for a new text, with its arguments",
    ),
    ("LSPTOOLS_DEBUG", "1 shows where an error happened"),
)


def exit_codes(found: str, not_found: str) -> list[tuple[str, str]]:
    """What each exit code means for a command."""
    return [
        ("0", found),
        ("1", not_found),
        ("2", "wrong usage, or the environment lacks something"),
        ("70", "a bug of lsptools"),
        ("130", "interrupted"),
    ]


def _write_rows(formatter: click.HelpFormatter, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    with formatter.section(heading):
        formatter.write_dl(rows)


# Options and arguments


def _click_parameters(parameter: Parameter) -> list[click.Parameter]:
    """How a parameter is given: an argument, an option, or two, where a text may also come from a file."""
    complete = None if parameter.kind == "text" else _complete_file
    kind = str if parameter.kind in ("content", "json") else _click_type(parameter)
    if parameter.positional:
        return [
            click.Argument(
                [parameter.field],
                type=kind,
                required=parameter.required,
                metavar=parameter.metavar,
                shell_complete=complete,
            )
        ]
    spellings = [
        *([f"-{parameter.short}"] if parameter.short else []),
        f"--{parameter.name}",
        parameter.field,
    ]
    if parameter.type is bool:
        return [click.Option(spellings, is_flag=True, default=False, help=parameter.help)]
    option = click.Option(
        spellings,
        type=kind,
        multiple=parameter.repeated,
        required=parameter.required,
        default=parameter.default,
        show_default=not parameter.repeated and parameter.default is not None,
        metavar=None if parameter.choices else _metavar(parameter),
        help=parameter.help,
        shell_complete=complete,
    )
    return [option, _from_option(parameter)] if parameter.kind == "content" else [option]


def _metavar(parameter: Parameter) -> str:
    return f"[={parameter.metavar}]" if parameter.bare else parameter.metavar


def _from_option(parameter: Parameter) -> click.Option:
    return click.Option(
        [f"--{parameter.name}-from", parameter.field + FROM],
        metavar="FILE",
        help=f"take {parameter.metavar} of --{parameter.name} from FILE; - is standard input",
        shell_complete=_complete_file,
    )


def _click_type(parameter: Parameter) -> click.ParamType[Any] | type:
    if parameter.choices:
        return click.Choice(parameter.choices)
    return _JsonObject(parameter) if is_dataclass(parameter.type) else parameter.type


class _JsonObject(click.ParamType[Any]):
    """A value of a dataclass, given as JSON."""

    name = "json"

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from json import loads

        from lsptools.syntax.readers import reason
        from lsptools.tools.arguments import object_from_json

        try:
            return object_from_json(self._parameter.type, loads(value), self._parameter.field)
        except (ValueError, RecursionError) as error:
            self.fail(f"{value[:80]!r} is not JSON: {reason(error, 'JSON')}", param, ctx)


def common_options() -> list[tuple[str, str]]:
    """The options that every command has: how they are spelled and what they mean."""
    return _records([*_common_options(), _help_option()])


def session_rows(tool: Tool[Any]) -> list[tuple[str, str]]:  # any tool's
    """The same of what a tool has to which it matters what was read."""
    return _records(_session_options(tool))


def _records(options: Iterable[click.Option]) -> list[tuple[str, str]]:
    context = click.Context(click.Command(_PROGRAM))
    return [record for option in options if (record := option.get_help_record(context))]


def _session_options(tool: Tool[Any]) -> list[click.Option]:  # any tool's
    """For a tool to which it matters what was read."""
    return [_session_option()] if tool.session else []


def _session_option() -> click.Option:
    return click.Option(
        ["--session"],
        metavar="NAME",
        help="the session whose reads count, kept from command to command; without it nothing was read",
    )


def _common_options() -> list[click.Option]:
    return [
        click.Option(
            ["--json"], is_flag=True, help="print one JSON object, for an error, too (docs/json.md)"
        ),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="when to colour; auto: on a terminal",
            show_default=True,
        ),
        _root_option(),
    ]


def _root_option() -> click.Option:
    return click.Option(
        ["--root"],
        metavar="DIR",
        help="the workspace, from which relative paths start; otherwise the nearest folder above that has .git, "
        "pyproject.toml, setup.cfg or setup.py, and paths start from here",
    )


def _help_option() -> click.Option:
    def show(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            raise _Shown(ctx.get_help() + "\n")

    return _eager_flag("--help", "show this text", show)


def _version_option() -> click.Option:
    def show(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            raise _Shown(f"{_PROGRAM} {__version__}\n")

    return _eager_flag("--version", "show the version", show)


def _eager_flag(
    name: str, help: str, show: Callable[[click.Context, click.Parameter, bool], None]
) -> click.Option:
    return click.Option([name], is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _complete_file(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _call_command() -> click.Command:
    return click.Command(
        "call",
        params=[
            click.Argument(["tool"], required=False, metavar="TOOL"),
            click.Argument(["arguments"], required=False, default="{}", metavar="JSON"),
            click.Option(
                ["--jsonl"],
                is_flag=True,
                help="one session: each line of standard input is a call, each line of standard output its answer",
            ),
            click.Option(
                ["--agent"],
                is_flag=True,
                help="call the tools for agents, as `lsptools tools` defines them; answers have a text for the model and data",
            ),
            click.Option(["--allow-run"], is_flag=True, help="with --agent: commands may be run"),
            _session_option(),
            _root_option(),
            _help_option(),
        ],
        callback=_json_call,
        help=CALL_HELP,
        add_help_option=False,
    )


CALL_HELP = (
    CALL_SUMMARY
    + """

    TOOL is any command but this; JSON holds its parameters by name (- reads them from standard input). The answer is
    one line: {"ok": true, "result": {...}} or {"ok": false, "error": {"kind", "message", "hint", "places"}}.

    With --jsonl, lines like {"id": 1, "tool": "edit", "args": {"path": ...}} come in and are answered with the
    same id, in any order. Calls that are about other files run at the same time, those about one file in order.
    Paths are relative to the workspace. What was read counts until the session ends."""
)


def _json_call(
    tool: str | None,
    arguments: str,
    jsonl: bool,
    agent: bool,
    allow_run: bool,
    session: str | None,
    root: str | None,
) -> JsonCall:
    if jsonl == (tool is not None):
        raise BadRequest(
            "invalid", "a call needs a TOOL, or --jsonl, and not both", hint="lsptools call --help shows how"
        )
    return JsonCall(tool, arguments, root, session, agent, allow_run)


LSP_SUMMARY = "Serve an editor: the language server, on standard input and output."


def _lsp_command() -> click.Command:
    return click.Command(
        "lsp",
        params=[
            click.Option(
                ["--check"], is_flag=True, help="print what an editor would see, for bug reports, and end"
            ),
            click.Option(
                ["--tcp", "port"], type=int, metavar="PORT", help="serve one client on 127.0.0.1:PORT instead"
            ),
            # Editors' plugins pass it out of habit; it is what happens anyway.
            click.Option(["--stdio"], is_flag=True, hidden=True),
            _help_option(),
        ],
        callback=lambda check, port, stdio: Serve(check, port),
        help=f"{LSP_SUMMARY} docs/editors.md has the settings of each editor.",
        add_help_option=False,
    )


def _completion_command() -> click.Command:
    return click.Command(
        "completion",
        params=[click.Argument(["shell"], type=click.Choice(SHELLS)), _help_option()],
        callback=_completion_script,
        help='Print the script that completes commands in a shell; for bash: eval "$(lsptools completion bash)".',
        add_help_option=False,
    )


def _completion_script(shell: str) -> Text:
    complete = get_completion_class(shell)
    assert complete is not None, "click knows the shells of SHELLS"
    script = complete(_Commands(), {}, _PROGRAM, _COMPLETE)
    # Not `script.source()`: for bash it would start a bash to ask for its version.
    return Text(script.source_template % script.source_vars() + "\n")
