"""The MCP servers measured against: versions, installation, and how each is asked what all are asked.

Each is asked as its own descriptions tell a model to, with its defaults, and by name rather than by position where it offers that.
Whatever pages an answer is asked for all pages. The language servers behind them are pinned, too: one that is Serena's and
agent-lsp's usual one for Python (pyright), and ty, which answers completely at once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.archives import WORK
from benchmarks.connection import Json, NoAnswer
from benchmarks.mcp_client import Client, Said

FOLDER = WORK / "agent-peers"
PACKAGES = ("serena-agent==2.1.0", "agent-lsp==0.23.5", "ty==0.0.108")
NODE_PACKAGES = (
    "cclsp@0.7.0",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "pyright@1.1.414",
)
LANGUAGE_SERVERS = {"pyright": ("pyright-langserver", "--stdio"), "ty": ("ty", "server")}

Lines = frozenset[tuple[str, int]]
"""Places by path and 1-based line; not every server says columns."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is asked about."""

    path: str
    qualified: str
    """With dots, as it stands in the file: `Class.method`."""
    line: int
    column: int
    """1-based, of its definition."""

    @property
    def name(self) -> str:
        return self.qualified.rpartition(".")[2]


class NoSuchTool(Exception):
    """The server has none for what is asked; the tables say so."""


class Server(ABC):
    """A server as an agent uses it."""

    name: str
    note = ""

    @abstractmethod
    def program(self) -> Path:
        """What has to be installed."""

    def command(self, root: Path, home: Path) -> list[str]:
        """How it starts; settings it needs are written into the empty `home`."""
        return [str(self.program())]

    def variables(self, home: Path) -> dict[str, str]:
        """What it wants to know from the environment."""
        return {}

    def prepare(self, client: Client) -> None:  # noqa: B027  # most have no such thing
        """What its instructions say has to be called first."""

    @abstractmethod
    def first(self, client: Client, symbol: Symbol) -> Said:
        """The first thing asked: what the file defines, or the nearest to that."""

    def search(self, client: Client, text: str) -> Lines:
        """Where the text stands."""
        raise NoSuchTool

    def references(self, client: Client, symbol: Symbol) -> Lines:
        """Where the symbol is used; with or without its definition, which nobody compares."""
        raise NoSuchTool

    def rename(self, client: Client, symbol: Symbol, new: str) -> Said:
        """Rename it in all files; what was answered in the end."""
        raise NoSuchTool


class Ours(Server):
    name = "lsptools"
    note = "a rename that is refused as undecided is made again with `possible=include`"

    def program(self) -> Path:
        return Path(sys.executable).with_name("lsptools")

    def command(self, root: Path, home: Path) -> list[str]:
        return [str(self.program()), "mcp"]

    def first(self, client: Client, symbol: Symbol) -> Said:
        return client.call("outline", path=symbol.path)

    def search(self, client: Client, text: str) -> Lines:
        return frozenset(self._places(client, "matches", "search", query=text))

    def references(self, client: Client, symbol: Symbol) -> Lines:
        return frozenset(self._places(client, "occurrences", "references", place=_place(symbol)))

    def rename(self, client: Client, symbol: Symbol, new: str) -> Said:
        asked = {"place": _place(symbol), "new_name": new}
        said = client.call("rename", **asked)
        if said.is_error and said.data["error"]["kind"] == "undecided":
            said = client.call("rename", **asked, possible="include")
        return said

    def _places(self, client: Client, member: str, tool: str, **asked: str) -> Iterator[tuple[str, int]]:
        cursor: dict[str, str] = {}
        while True:
            data = client.call(tool, **asked, **cursor).data
            for file in data["files"]:
                for each in file[member]:
                    if each.get("class", "certain") in ("certain", "likely", "possible"):
                        yield file["path"], each["line"]
            if "next_cursor" not in data:
                return
            cursor = {"cursor": data["next_cursor"]}


class Serena(Server):
    """The classic tools, in the context that offers all of them."""

    name = "Serena, tools"
    interface = "tools"

    def program(self) -> Path:
        return FOLDER / "venv" / "bin" / "serena"

    def command(self, root: Path, home: Path) -> list[str]:
        settings = {
            "agent_interface": self.interface,
            "web_dashboard": False,
            "gui_log_window": False,
            "ls_specific_settings": {"python": {"ls_path": language_server("pyright")[0]}},
            "projects": [],
        }
        (home / ".serena").mkdir(exist_ok=True)
        (home / ".serena" / "serena_config.yml").write_text(json.dumps(settings))  # JSON is YAML
        return [str(self.program()), "start-mcp-server", "--project", str(root), "--context", "agent"]

    def first(self, client: Client, symbol: Symbol) -> Said:
        return self._do(client, "lsp", "get_symbols_overview", relative_path=symbol.path)

    def search(self, client: Client, text: str) -> Lines:
        found = json.loads(
            self._do(client, "fs", "search_for_pattern", substring_pattern=re.escape(text)).text
        )
        return frozenset(
            (path, line) for path, hits in found.items() for hit in hits for line in _serena_lines(hit)
        )

    def references(self, client: Client, symbol: Symbol) -> Lines:
        found = self._do(client, "lsp", "find_referencing_symbols", **self._named(symbol))
        return frozenset(
            (path, line)
            for path, kinds in json.loads(found.text).items()
            for referrers in kinds.values()
            for each in referrers
            for line in _serena_lines(each["content_around_reference"])
        )

    def rename(self, client: Client, symbol: Symbol, new: str) -> Said:
        return self._do(client, "lsp", "rename_symbol", **self._named(symbol), new_name=new)

    def _named(self, symbol: Symbol) -> dict[str, str]:
        return {"name_path": symbol.qualified.replace(".", "/"), "relative_path": symbol.path}

    def _do(self, client: Client, facade: str, tool: str, **arguments: str) -> Said:
        return _done(client.call(tool, **arguments))


class SerenaRepl(Serena):
    """Its usual interface: one tool that executes Python."""

    name = "Serena, REPL"
    interface = "REPL"
    note = "with the manual that it tells the model to read first"

    def __init__(self) -> None:
        self._session = ""

    def prepare(self, client: Client) -> None:
        manual = client.call("initial_instructions").text
        found = re.search(r"session id is `(\w+)`", manual)
        self._session = found[1] if found else ""

    def _do(self, client: Client, facade: str, tool: str, **arguments: str) -> Said:
        said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        code = f"s.{facade}.{tool}({said})"
        return _done(client.call("serena_repl", session=self._session, code=code))


class AgentLsp(Server):
    note = "`rename_symbol` says that it only reads, and writes"

    def __init__(self, behind: str) -> None:
        self.name = f"agent-lsp, {behind}"
        self._behind = behind

    def program(self) -> Path:
        return FOLDER / "venv" / "bin" / "agent-lsp"

    def command(self, root: Path, home: Path) -> list[str]:
        return [str(self.program()), f"python:{','.join(language_server(self._behind))}"]

    def prepare(self, client: Client) -> None:
        _done(client.call("start_lsp", root_dir=str(client.root)))

    def first(self, client: Client, symbol: Symbol) -> Said:
        return _done(client.call("list_symbols", file_path=str(client.root / symbol.path)))

    def references(self, client: Client, symbol: Symbol) -> Lines:
        said = _done(client.call("find_references", **self._at(client, symbol)))
        prefix = re.escape(f"{client.root}/")
        rows = re.findall(rf"^\d+\|\d+\|{prefix}(.+)\|\d+\|(\d+)$", said.text, re.MULTILINE)
        return frozenset((path, int(line)) for path, line in rows)

    def rename(self, client: Client, symbol: Symbol, new: str) -> Said:
        return _done(client.call("rename_symbol", **self._at(client, symbol), new_name=new))

    def _at(self, client: Client, symbol: Symbol) -> dict[str, Json]:
        return {
            "file_path": str(client.root / symbol.path),
            "line": symbol.line,
            "column": symbol.column,
        }


class Cclsp(Server):
    def __init__(self, behind: str) -> None:
        self.name = f"cclsp, {behind}"
        self._behind = behind

    def program(self) -> Path:
        return FOLDER / "node_modules" / ".bin" / "cclsp"

    def variables(self, home: Path) -> dict[str, str]:
        return {"CCLSP_CONFIG_PATH": str(home / "cclsp.json")}

    def command(self, root: Path, home: Path) -> list[str]:
        server = {
            "extensions": ["py", "pyi"],
            "command": language_server(self._behind),
            "rootDir": str(root),
        }
        (home / "cclsp.json").write_text(json.dumps({"servers": [server]}))
        return [str(self.program())]

    def first(self, client: Client, symbol: Symbol) -> Said:
        return client.call("find_definition", file_path=symbol.path, symbol_name=symbol.name)

    def references(self, client: Client, symbol: Symbol) -> Lines:
        said = client.call("find_references", file_path=symbol.path, symbol_name=symbol.name)
        prefix = re.escape(f"{client.root}/")
        rows = re.findall(rf"^{prefix}(.+):(\d+):\d+$", said.text, re.MULTILINE)
        return frozenset((path, int(line)) for path, line in rows)

    def rename(self, client: Client, symbol: Symbol, new: str) -> Said:
        return client.call("rename_symbol", file_path=symbol.path, symbol_name=symbol.name, new_name=new)


class Filesystem(Server):
    name = "filesystem"
    note = "it finds files by their names only; texts are found by reading"

    def program(self) -> Path:
        return FOLDER / "node_modules" / ".bin" / "mcp-server-filesystem"

    def command(self, root: Path, home: Path) -> list[str]:
        return [str(self.program()), str(root)]

    def first(self, client: Client, symbol: Symbol) -> Said:
        return _done(client.call("read_text_file", path=str(client.root / symbol.path)))


def servers() -> list[Server]:
    """All of them, ours first."""
    behind = [*LANGUAGE_SERVERS]
    return [
        Ours(),
        Serena(),
        SerenaRepl(),
        *(AgentLsp(each) for each in behind),
        *(Cclsp(each) for each in behind),
        Filesystem(),
    ]


def language_server(name: str) -> list[str]:
    """The command of a language server, where it is installed."""
    program, *rest = LANGUAGE_SERVERS[name]
    places = (FOLDER / "venv" / "bin" / program, FOLDER / "node_modules" / ".bin" / program)
    return [str(next((place for place in places if place.exists()), places[0])), *rest]


def install() -> None:
    """Put the peers into a folder of their own. What does not install is left out later, and said."""
    python = FOLDER / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER / "venv")], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for package in PACKAGES:
        if not (FOLDER / "venv" / "bin" / _PROGRAMS.get(package.split("==")[0], "ty")).exists():
            print(f"installing {package}", flush=True)
            subprocess.run([*pip, package], check=False)
    npm = shutil.which("npm")
    missing = [
        name for name in NODE_PACKAGES if not (FOLDER / "node_modules" / name[: name.rindex("@")]).exists()
    ]
    if npm and missing:
        print(f"installing {' '.join(missing)}", flush=True)
        subprocess.run([npm, "install", "--silent", "--prefix", str(FOLDER), *missing], check=False)


_PROGRAMS = {"serena-agent": "serena", "agent-lsp": "agent-lsp", "ty": "ty"}


def _place(symbol: Symbol) -> str:
    return f"{symbol.path}::{symbol.qualified}"


def _done(said: Said) -> Said:
    if said.is_error:
        raise NoAnswer(said.first_line)
    return said


def _serena_lines(excerpt: str) -> Iterator[int]:
    """The lines of an excerpt that are marked as matches; it counts from 0."""
    for line in re.findall(r"^ *> *(\d+):", excerpt, re.MULTILINE):
        yield int(line) + 1
