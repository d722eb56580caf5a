"""Every edit case, through the Python face and through `lsptools call --jsonl`."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import editcases
import pytest
from casefaces import FOLDERS, OURS
from editcases import Json, Reply
from mcpface import Connection, agent_words

from lsptools.errors import ToolError
from lsptools.faces.call import told
from lsptools.faces.cli import main
from lsptools.faces.environment import Environment
from lsptools.faces.workspace import Workspace

CASES = list(editcases.cases())
needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="another program is a bash script here")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """An empty workspace, with the user's folders elsewhere, and the usual umask."""
    folder = tmp_path / "side" / "workspace"
    folder.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    variables = kept | {variable: str(tmp_path / "user" / name) for variable, name in FOLDERS.items()}
    umask = os.umask(0o022)
    with mock.patch.dict(os.environ, variables, clear=True):
        yield folder
    os.umask(umask)


def test_there_are_cases() -> None:
    assert len(CASES) > 480
    assert {case["kind"] for case in CASES} == {"read", "edit", "write", "patch"}


@needs_bash
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_in_python(case: Json, root: Path) -> None:
    workspace = Workspace(Environment(), Environment().root(str(root)))

    def call(step: Json) -> Reply:
        try:
            return {"ok": True, "result": workspace.call(step["tool"], **step["args"]).to_json()}
        except ToolError as error:
            return {"ok": False, "error": told(error)}

    def calls(steps: Sequence[Json]) -> list[Reply]:
        with ThreadPoolExecutor(len(steps)) as pool:
            return list(pool.map(call, steps))

    complaints = editcases.run(case, root, calls)
    assert not complaints, f"{case['expect'].get('notes')}\n" + "\n".join(complaints)


@needs_bash
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_as_a_session_of_json_lines(case: Json, root: Path) -> None:
    with session(root) as talk:
        complaints = editcases.run(case, root, talk)
    assert not complaints, f"{case['expect'].get('notes')}\n" + "\n".join(complaints)


@needs_bash
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_as_an_agent(case: Json, root: Path) -> None:
    connection = Connection.to(root, mode="legacy")

    def call(step: Json) -> Reply:
        name, arguments = agent_words(step["tool"], step["args"])
        if name == "read":
            arguments = {"max_tokens": 20_000, **arguments}  # a page is smaller unless more is asked for
        result = connection.call(name, arguments)
        data = result.structured_content
        if result.is_error:
            return {"ok": False, "error": data["error"]}
        return {"ok": True, "result": {"output": result.content[0].text, **data}}

    def calls(steps: Sequence[Json]) -> list[Reply]:
        with ThreadPoolExecutor(len(steps)) as pool:
            return list(pool.map(call, steps))

    try:
        complaints = editcases.run(case, root, calls)
    finally:
        connection.close()
    assert not complaints, f"{case['expect'].get('notes')}\n" + "\n".join(complaints)


@contextmanager
def session(root: Path) -> Iterator[editcases.Calls]:
    """`lsptools call --root ROOT --jsonl` in this process; it has to end, with exit code 0 and nothing else said."""
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    stdin = io.TextIOWrapper(os.fdopen(their_in, "rb"))
    stdout = io.TextIOWrapper(os.fdopen(their_out, "wb"), write_through=True)
    codes: list[int] = []
    with mock.patch.object(sys, "stdin", stdin), mock.patch.object(sys, "stdout", stdout):
        thread = threading.Thread(target=lambda: codes.append(main(["call", "--root", str(root), "--jsonl"])))
        thread.start()
        with os.fdopen(our_out, "wb", buffering=0) as to_them, os.fdopen(our_in, "rb") as from_them:
            numbers = iter(range(1, 1000))

            def talk(steps: Sequence[Json]) -> list[Reply]:
                ids = [next(numbers) for _ in steps]
                for id, step in zip(ids, steps, strict=True):
                    line = json.dumps({"id": id, "tool": step["tool"], "args": step["args"]})
                    to_them.write(line.encode() + b"\n")
                answers = [json.loads(from_them.readline()) for _ in steps]
                by_id = {answer["id"]: answer for answer in answers}
                return [by_id[id] for id in ids]

            yield talk
            to_them.close()
            thread.join(timeout=120)
            stdout.close()
            assert codes == [0] and from_them.read() == b""
        stdin.close()
