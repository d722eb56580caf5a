"""The tools that are asked: `lsptools` as a program with each of its policies, the peers as language servers.

A tool looks at a copy of its own for all symbols of a project. `lsptools` writes, as it does for a user, and what it wrote is
read back and taken back; a server answers with a `WorkspaceEdit`. Servers are asked `prepareRename` first where they offer
it, as editors do, and for the first symbol again until two answers agree, since some answer before they have read everything.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import lsptools
from benchmarks import peers
from benchmarks.client import Client
from benchmarks.connection import Json, NoAnswer
from benchmarks.real_renames.answers import Answer, BadEdit, Tree, difference, from_workspace_edit, read_tree
from benchmarks.real_renames.projects import Project, laid_out, variables
from benchmarks.real_renames.symbols import Symbol
from lsptools.text.lines import Lines, UserPos
from lsptools.version import __version__

LIMIT_S = 120.0
"""For one answer."""
_READY_S = 60.0
_POLICIES = {
    "lsptools": (),
    "lsptools include": ("--possible", "include"),
    "lsptools infer": ("--infer", "20"),
}
WIDEST = ("--possible", "include", "--mentions")
"""Everything that an answer of `lsptools` named."""


@dataclass(frozen=True, slots=True)
class Named:
    """An occurrence that `lsptools` lists and does not claim: `possible` or `mention`; line from 1."""

    path: str
    line: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, or why there is none, or why it cannot be applied."""

    seconds: float
    answer: Answer | None = None
    refusal: str = ""
    fault: str = ""
    named: tuple[Named, ...] = ()


Ask = Callable[[Symbol, str], Reply]
"""What becomes of the tree when the symbol gets this name?"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the tables call it; `session` opens it on a project's tree, laid out below the folder."""

    name: str
    version: str
    session: Callable[[Project, Tree, Path], AbstractContextManager[Ask]]


def tools(names: list[str]) -> list[Tool]:
    """The tools of these names, installed."""
    found = []
    versions = peers.install() if set(names) - set(_POLICIES) else {}
    for name in names:
        if name in _POLICIES:
            found.append(Tool(name, our_version(), _our_session(_POLICIES[name])))
        else:
            peer = next(peer for peer in peers.PEERS if peer.name == name)
            found.append(Tool(name, versions[name], _server_session(peer)))
    return found


def known() -> list[str]:
    return [*_POLICIES, *(peer.name for peer in peers.PEERS)]


def our_version() -> str:
    """With a digest of the sources, for a version's number says little while it is being made."""
    package = Path(lsptools.__file__).parent
    told = hashlib.sha256()
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.scm")]):
        told.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return f"{__version__}+{told.hexdigest()[:8]}"


# lsptools


def _our_session(options: tuple[str, ...]) -> Callable[[Project, Tree, Path], AbstractContextManager[Ask]]:
    @contextmanager
    def session(project: Project, tree: Tree, folder: Path) -> Iterator[Ask]:
        root, version = laid_out(tree, folder / project.key), our_version()

        def ask(symbol: Symbol, new: str) -> Reply:
            reply = ask_lsptools(project, tree, root, symbol, new, options)
            if our_version() != version:
                raise SystemExit("the sources of lsptools changed while it was measured; start again")
            return reply

        yield ask

    return session


def ask_lsptools(
    project: Project, tree: Tree, root: Path, symbol: Symbol, new: str, options: tuple[str, ...]
) -> Reply:
    """`lsptools rename`, for real; afterwards `root` holds `tree` again."""
    program = Path(sys.executable).with_name("lsptools")
    command = [str(program), "rename", symbol.place, new, *options, "--json", "--root", str(root)]
    began = time.monotonic()
    try:
        run = subprocess.run(
            command,
            cwd=root,
            env=_without_path(variables(project, root, root.parent / "home")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Reply(LIMIT_S, refusal="no answer in time")
    seconds = time.monotonic() - began
    try:
        told = json.loads(run.stdout)
    except ValueError:
        return Reply(
            seconds, refusal=f"exit {run.returncode}: {run.stderr.decode('utf-8', 'replace')[-200:]}"
        )
    named = tuple(
        Named(each["path"], each["line"], each["role"])
        for each in told.get("occurrences", ())
        if each["class"] in ("possible", "mention")
    )
    moves = {each["old"]: each["new"] for each in told.get("moves", ())}
    after = read_tree(root)
    answer = difference(tree, after, moves)
    difference(after, tree).apply(root)
    if "error" in told:
        message = f"{told['error'].get('kind')}: {told['error'].get('message', '')}"
        return Reply(seconds, refusal=message[:300], fault="refused and wrote" * bool(answer), named=named)
    return Reply(seconds, answer, named=named)


# Language servers


def _server_session(peer: peers.Peer) -> Callable[[Project, Tree, Path], AbstractContextManager[Ask]]:
    @contextmanager
    def session(project: Project, tree: Tree, folder: Path) -> Iterator[Ask]:
        server = Server(peer, project, tree, laid_out(tree, folder / project.key))
        try:
            yield server.ask
        finally:
            server.close()

    return session


class Server:
    """A language server on one tree, started when it is first asked, and again after it ended."""

    def __init__(self, peer: peers.Peer, project: Project, tree: Tree, root: Path) -> None:
        self._peer, self._project, self._tree, self._root = peer, project, tree, root
        self._client: Client | None = None
        self._opened: set[str] = set()

    def ask(self, symbol: Symbol, new: str) -> Reply:
        """The edit of `symbol` → `new`, applied to the tree in memory."""
        is_first = self._client is None
        began = time.monotonic()
        try:
            client = self._client or self._start()
            self._open(client, symbol.path)
            if is_first:
                self._settle(client)
            began = time.monotonic()
            edit = self._rename(client, symbol, new)
            while is_first and time.monotonic() - began < _READY_S / 3:
                time.sleep(1.5)
                asked = time.monotonic()
                again = self._rename(client, symbol, new)
                if again == edit:
                    began = asked
                    break
                edit = again
        except NoAnswer as reason:
            self.close()
            return Reply(time.monotonic() - began, refusal=str(reason))
        seconds = time.monotonic() - began
        if isinstance(edit, str):
            return Reply(seconds, refusal=edit)
        try:
            return Reply(seconds, from_workspace_edit(self._tree, self._root, edit))
        except BadEdit as fault:
            return Reply(seconds, fault=str(fault))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None
        self._opened.clear()

    def _start(self) -> Client:
        env = _without_path(variables(self._project, self._root, self._root.parent / "home"))
        settings, options = _told(self._peer, self._project, self._root)
        self._client = client = Client(self._peer.command, self._root, env, settings)
        client.initialize(client.started + LIMIT_S, options)
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        return client

    def _open(self, client: Client, path: str) -> None:
        """Files stay open: one that is closed before a server's first scan has ended stays unknown to some for good."""
        if path not in self._opened:
            self._opened.add(path)
            client.open(self._root / path)

    @staticmethod
    def _settle(client: Client) -> None:
        """Until no work was announced for two seconds; at least six, for servers that announce nothing."""
        began = quiet_since = time.monotonic()
        while (now := time.monotonic()) - began < _READY_S and (now - began < 6 or now - quiet_since < 2):
            if client.open_work:
                quiet_since = now
            time.sleep(0.1)

    def _rename(self, client: Client, symbol: Symbol, new: str) -> Json:
        """A `WorkspaceEdit`, or a string: why not."""
        path = self._root / symbol.path
        lines = Lines(path.read_bytes().decode("utf-8"))
        at = lines.lsp_from_offset(lines.offset_from_user(UserPos(symbol.line, symbol.column)))
        place = {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": at.line, "character": at.character},
        }
        provider = client.capabilities.get("renameProvider")
        if isinstance(provider, dict) and provider.get("prepareProvider"):
            result, error = _patiently(client, "textDocument/prepareRename", place)
            if result is None:
                return error or "cannot be renamed here"
        result, error = _patiently(client, "textDocument/rename", {**place, "newName": new})
        return error if error else result or {}


def _patiently(client: Client, method: str, parameters: Json) -> tuple[Json, str]:
    """Result and error; asks again when the server was interrupted by work of its own."""
    deadline = time.perf_counter() + LIMIT_S
    while True:
        _, message = client.request(method, parameters, deadline)
        error = str(message["error"].get("message"))[-200:] if "error" in message else ""
        if not re.search("cancel|content modified", error, re.IGNORECASE):
            return message.get("result"), error
        time.sleep(0.3)


def _told(peer: peers.Peer, project: Project, root: Path) -> tuple[dict[str, object], Json]:
    """Settings, and options for the start: where imports start and which Python runs, for those that do not find it out.

    python-lsp-server renames with jedi unless its plugin pylsp-rope is there and told to; jedi-language-server shows what jedi does.
    """
    source, python = str(root / project.source), str(project.python)
    if peer.name == "jedi-ls":
        return dict(peer.settings), {"workspace": {"extraPaths": [source], "environmentPath": python}}
    if peer.name == "pylsp":
        plugins = {
            "pylsp_rope": {"enabled": True, "rename": True},
            "jedi_rename": {"enabled": False},
            "jedi": {"extra_paths": [source], "environment": python},
        }
        return {"pylsp": {"plugins": plugins}}, None
    return dict(peer.settings), None


def _without_path(environment: dict[str, str]) -> dict[str, str]:
    """Tools find out by themselves where the package is, as in a terminal with the environment active."""
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}
