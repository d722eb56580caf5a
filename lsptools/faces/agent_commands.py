"""The commands for agents: `lsptools mcp` and `lsptools tools`, from arguments to what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

MCP_SUMMARY = "Serve an agent: the MCP server, on standard input and output."
FORMATS = ("mcp", "anthropic", "openai")
TOOLS_SUMMARY = "Print the tools for agents as definitions for a protocol or a model's API."


@dataclass(frozen=True, slots=True)
class ServeAgents:
    """The MCP server is wanted."""

    roots: tuple[str, ...]
    read_only: bool
    allow_run: bool
    rules: tuple[str, ...]
    port: int | None


@dataclass(frozen=True, slots=True)
class PrintTools:
    """The definitions of the tools are wanted."""

    format: str
    read_only: bool
    allow_run: bool


_READ_ONLY = "offer no tool that writes"


def mcp_command(options: Sequence[click.Parameter]) -> click.Command:
    """`lsptools mcp`; `options` are those that every command has."""
    return click.Command(
        "mcp",
        params=[
            click.Option(
                ["--root", "roots"],
                multiple=True,
                metavar="DIR",
                help="the workspace; otherwise as for the other commands; further ones may be named by calls, as may "
                "folders in them and their git worktrees",
            ),
            click.Option(["--read-only"], is_flag=True, help=_READ_ONLY),
            click.Option(
                ["--allow-run"],
                is_flag=True,
                help="let calls run commands, under the rules of `lsptools run`, and verify with the project's programs",
            ),
            click.Option(
                ["--rule", "rules"],
                multiple=True,
                metavar="NAME=RULING",
                help="with --allow-run: what becomes of commands that a rule finds: allow, ask or deny; repeat it",
            ),
            click.Option(
                ["--http", "port"],
                type=int,
                metavar="PORT",
                help="serve on http://127.0.0.1:PORT/mcp instead; 0: a free port, which is said on standard error",
            ),
            *options,
        ],
        callback=lambda roots, read_only, allow_run, rules, port: ServeAgents(
            tuple(roots), read_only, allow_run, tuple(rules), port
        ),
        help=f"{MCP_SUMMARY} docs/agents.md has the settings of each client.",
        add_help_option=False,
    )


def tools_command(options: Sequence[click.Parameter]) -> click.Command:
    """`lsptools tools`."""
    return click.Command(
        "tools",
        params=[
            click.Option(
                ["--format"],
                type=click.Choice(FORMATS),
                default="mcp",
                show_default=True,
                help="mcp: as tools/list answers; anthropic, openai: as their APIs take tools",
            ),
            click.Option(["--read-only"], is_flag=True, help=_READ_ONLY),
            click.Option(["--allow-run"], is_flag=True, help="with `run`"),
            *options,
        ],
        callback=PrintTools,
        help=f"{TOOLS_SUMMARY} `lsptools call --agent` does the calls.",
        add_help_option=False,
    )
