"""`lsptools mcp` with the SDK's own client: over standard input and output and over HTTP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2
import pytest
from casefaces import FOLDERS, OURS
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult
from mcpserver import ERAS, MODULE, commands_in, http_server, until

from lsptools.faces.agent import Desk, Permissions
from lsptools.faces.environment import Environment
from lsptools.faces.mcp import server_of
from lsptools.faces.roots import Roots

TIME_LIMIT = 60.0
FILES = {
    "app/models.py": "class Order:\n    def total(self):\n        return 1\n",
    "app/main.py": "from app.models import Order\n\nprint(Order().total())\n",
    "app/__init__.py": "",
    "pyproject.toml": "[project]\nname = 'app'\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "side" / "workspace"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {variable: str(tmp_path / "user" / name) for variable, name in FOLDERS.items()}


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work(), TIME_LIMIT)

    asyncio.run(limited())


@contextlib.asynccontextmanager
async def over(
    transport: str, era: str, root: Path, variables: dict[str, str], *options: str, **more: Any
) -> AsyncIterator[Client]:
    """A client of a server in this process, or of one in a process of its own."""
    if transport == "memory":
        with mock.patch.dict(os.environ, variables, clear=True):
            environment = Environment()
            permissions = Permissions("--read-only" in options, "--allow-run" in options)
            desk = Desk(environment, Roots([environment.root(str(root))]), permissions)
            async with Client(server_of(desk), mode=era, **more) as client:
                yield client
        return
    if transport == "stdio":
        command = [*MODULE, "--root", str(root), *options]
        server = StdioServerParameters(
            command=command[0], args=command[1:], env=variables, cwd=str(root.parent)
        )
        async with Client(server, mode=era, **more) as client:
            yield client
        return
    with http_server(root, variables, *options) as address:
        async with Client(address, mode=era, **more) as client:
            yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


async def call(client: Client, name: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(name, arguments)


every_way = pytest.mark.parametrize(
    ("transport", "era"), [(t, e) for t in ("memory", "stdio", "http") for e in ERAS]
)


@pytest.mark.slow
@every_way
def test_a_conversation(transport: str, era: str, root: Path, variables: dict[str, str]) -> None:
    async def talk() -> None:
        async with over(transport, era, root, variables) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed][:3] == ["read", "search", "outline"]
            assert all(tool.annotations and tool.output_schema for tool in listed)
            wire = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in listed]
            assert sum(map(len, wire)) / 4 <= 3_000
            found = await call(client, "references", place="app.models.Order.total")
            assert found.structured_content["complete"] and found.structured_content["counts"]["certain"] == 2
            planned = await call(
                client, "rename", place="app.models.Order.total", new_name="sum_up", dry_run=True
            )
            assert not planned.is_error and (root / "app/main.py").read_text() == FILES["app/main.py"]
            done = await call(client, "apply", plan=planned.structured_content["plan"])
            assert done.structured_content["applied"], text_of(done)
            assert "sum_up" in (root / "app/main.py").read_text()
            read = await call(client, "read", path="app/models.py")
            expect = (
                {} if (transport, era) != ("http", ERAS[1]) else {"expect": read.structured_content["digest"]}
            )
            edited = await call(
                client, "edit", path="app/models.py", old_str="return 1", new_str="return 2", **expect
            )
            assert edited.structured_content["applied"], text_of(edited)
            whole = await client.read_resource(done.structured_content["resource"])
            assert json.loads(whole.contents[0].text)["applied"] is True
            for _ in range(2):
                assert not (await call(client, "undo")).is_error
        assert {name: (root / name).read_text() for name in FILES} == FILES

    run(talk)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_clients_over_http_are_sessions_of_their_own(era: str, root: Path, variables: dict[str, str]) -> None:
    async def talk() -> None:
        with http_server(root, variables) as address:
            async with Client(address, mode=era) as one, Client(address, mode=era) as other:
                await call(one, "read", path="app/main.py")
                refused = await call(other, "edit", path="app/main.py", old_str="print", new_str="repr")
                assert refused.structured_content["error"]["kind"] == "unread"

    run(talk)


@pytest.mark.slow
def test_foreign_hosts_and_origins_are_refused(root: Path, variables: dict[str, str]) -> None:
    with http_server(root, variables) as address:
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        for more, status in (({"origin": "http://evil.example"}, 403), ({"host": "evil.example"}, 421)):
            answer = httpx2.post(address, headers={**headers, **more}, content=b"{}")
            assert answer.status_code == status


@pytest.mark.slow
@every_way
def test_a_person_is_asked_where_the_client_can(
    transport: str, era: str, root: Path, variables: dict[str, str]
) -> None:
    asked: list[str] = []
    answers = iter([ElicitResult(action="decline"), ElicitResult(action="accept", content={"run": True})])

    async def answer(_context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return next(answers)

    async def talk() -> None:
        (root / "build").mkdir()
        options = {"elicitation_callback": answer}
        async with over(transport, era, root, variables, "--allow-run", **options) as client:
            declined = await call(client, "run", command="rm -rf build")
            assert declined.structured_content["error"]["kind"] == "undecided"
            assert (root / "build").is_dir()
            assert "confirm" not in declined.structured_content["error"] and "confirm" not in text_of(
                declined
            )
            accepted = await call(client, "run", command="rm -rf build")
            assert accepted.structured_content["exit_code"] == 0, text_of(accepted)
            assert not (root / "build").exists()
            denied = await call(client, "run", command="rm -rf /")
            assert denied.is_error and len(asked) == 2

    run(talk)
    assert "rm -rf build" in asked[0]


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_without_a_person_a_digest_confirms(era: str, root: Path, variables: dict[str, str]) -> None:
    async def talk() -> None:
        (root / "build").mkdir()
        async with over("stdio", era, root, variables, "--allow-run") as client:
            refused = await call(client, "run", command="rm -rf build")
            digest = refused.structured_content["error"]["confirm"]
            for other in ("rm -rf app", "rm -rf build/"):
                still = await call(client, "run", command=other, confirm=digest)
                assert still.structured_content["error"]["kind"] == "undecided"
            assert (root / "build").is_dir() and (root / "app").is_dir()
            done = await call(client, "run", command="rm -rf build", confirm=digest)
            assert done.structured_content["exit_code"] == 0
            assert not (root / "build").exists()

    run(talk)


@pytest.mark.slow
@every_way
def test_progress_is_told_and_a_cancelled_command_is_ended(
    transport: str, era: str, root: Path, variables: dict[str, str]
) -> None:
    told: list[str] = []

    async def tell(_progress: float, _total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def talk() -> None:
        async with over(transport, era, root, variables, "--allow-run") as client:
            command = "echo started > started; echo working; sleep 300"
            asking = asyncio.create_task(
                client.call_tool("run", {"command": command}, progress_callback=tell)
            )
            while not (root / "started").exists() or not told:
                await asyncio.sleep(0.05)
            # Nobody waits for the command.
            assert not (await call(client, "read", path="app/main.py")).is_error
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
            await ended("sleep 300", root)

    run(talk)
    assert "working" in told[-1]


async def ended(command: str, root: Path) -> None:
    """Wait until no process that was started in the workspace runs this command."""
    while any(command in each for each in commands_in(root)):
        await asyncio.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks for processes in /proc")
def test_nothing_is_left_when_the_client_dies(root: Path, variables: dict[str, str]) -> None:
    for signal_name in ("close", "kill"):
        process = subprocess.Popen(
            [*MODULE, "--root", str(root), "--allow-run"],
            env=variables,
            cwd=root.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None and process.stdout is not None
        for message in (
            {
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                },
            },
            {"method": "notifications/initialized"},
            {
                "id": 2,
                "method": "tools/call",
                "params": {"name": "run", "arguments": {"command": "sleep 301 & sleep 302"}},
            },
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
        until(lambda: any("sleep 302" in each for each in commands_in(root)))
        if signal_name == "kill":
            process.kill()
        process.stdin.close()
        assert process.wait(10) in (0, -9)
        until(lambda: not commands_in(root))
        process.stdout.close()
