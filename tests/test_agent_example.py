"""examples/agent: the recorded model still gets the answers it got, and a real one is asked as its API wants it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from examples.agent.__main__ import chosen_model, copy_of_reports, repair
from examples.agent.loop import Conversation, Result
from examples.agent.messages import Messages
from examples.agent.recorded import Recorded

TOOLS = [{"name": "search"}, {"name": "run"}]
FIXED = ["latest(entries, limit=size or None)", "a limit cannot be negative"]


@pytest.mark.slow
def test_the_recorded_model_repairs_the_defect(tmp_path: Path) -> None:
    root = copy_of_reports(tmp_path)
    shown: list[str] = []
    done = asyncio.run(repair(root, Recorded(), tmp_path / "state", shown.append))
    assert not done.turns[-1][0].calls
    assert not any(result.is_error for _, results in done.turns for result in results)
    text = (root / "reports/export.py").read_text() + (root / "reports/entries.py").read_text()
    assert all(passage in text for passage in FIXED)
    assert "seven tests pass" in shown[-1]


def test_a_transcript_that_no_longer_fits_is_noticed() -> None:
    model = Recorded()
    conversation = Conversation(model.task)
    first = asyncio.run(model.next_turn(conversation, TOOLS))
    results = [Result(call, "something else", {}, False) for call in first.calls]
    conversation.turns.append((first, results))
    with pytest.raises(ValueError, match="does not answer"):
        asyncio.run(model.next_turn(conversation, TOOLS))


class _Api(BaseHTTPRequestHandler):
    """What speaks the Messages API: one call, then an end."""

    asked: list[Any]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.path == "/v1/messages" and self.headers["x-api-key"] == "key"
        self.asked.append(asked)
        call = {"type": "tool_use", "id": "t1", "name": "outline", "input": {"path": "reports/page.py"}}
        said = {"type": "text", "text": "Looking."}
        content = [said, call] if len(self.asked) == 1 else [{"type": "text", "text": "Done."}]
        data = json.dumps({"content": content}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def api() -> Iterator[HTTPServer]:
    _Api.asked = []
    server = HTTPServer(("127.0.0.1", 0), _Api)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_a_real_model_is_asked_as_its_api_wants_it(
    tmp_path: Path, api: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSPTOOLS_AGENT_MODEL", "some-model")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{api.server_port}")
    model = chosen_model()
    assert isinstance(model, Messages)
    asyncio.run(repair(copy_of_reports(tmp_path), model, tmp_path / "state", lambda _: None))
    first, second = _Api.asked
    assert {"name", "description", "input_schema"} == set(first["tools"][0])
    result = second["messages"][-1]["content"][0]
    assert result["tool_use_id"] == "t1" and "def page" in result["content"]


def test_without_a_key_the_recorded_model_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert isinstance(chosen_model(), Recorded)
