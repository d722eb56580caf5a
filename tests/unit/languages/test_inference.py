"""jedi is asked in time and for what it knows only; nothing it has not seen is believed, and nothing is executed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from casefaces import Place
from traps import lay_traps

from lsptools import Evidence, Refused, ToolError, open_workspace
from lsptools.languages.python import inference
from lsptools.workspace import cache

pytest.importorskip("jedi")
LONG = 120
APP = 'class Box:\n    def decode(self):\n        return "box"\n'
FIRST = "def first(boxes):\n    for box in boxes:\n        return box\n"
MAIN = "import base64\nfrom app import Box\nfrom util import first\nprint(base64.b64encode(b'').decode())\nprint(first([Box()]).decode())\n"
BYTES, BOX = ("main.py", 4), ("main.py", 5)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    place = Place.below(tmp_path)
    for name, text in {"app.py": APP, "util.py": FIRST, "main.py": MAIN}.items():
        (place.root / name).write_text(text)
    with mock.patch.dict(os.environ, place.environment(), clear=True):
        yield place.root


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The files that workers were given."""
    files: list[str] = []
    ask = inference._Worker.ask

    def noted(self: inference._Worker, snapshot: object, file: inference._File) -> None:
        files.append(file.path)
        ask(self, snapshot, file)  # type: ignore[arg-type]

    monkeypatch.setattr(inference._Worker, "ask", noted)
    yield files


def classes(root: Path, infer: int = LONG) -> dict[tuple[str, int], str]:
    """The class of each occurrence of `decode`, by file and line."""
    workspace = open_workspace(root)
    found = workspace.references("app.py::Box.decode", infer=infer)
    lines = {each.path: workspace.snapshot().document(each.path).lines for each in found.occurrences}
    return {
        (each.path, lines[each.path].user_from_offset(each.span.start).line): each.evidence.value
        for each in found.occurrences
    }


def test_what_is_open_is_decided(root: Path) -> None:
    assert {classes(root, 0)[BYTES], classes(root, 0)[BOX]} == {"possible"}
    decided = classes(root)
    assert (decided[BYTES], decided[BOX]) == ("unrelated", "likely")


def test_answers_are_kept_until_a_file_that_was_looked_at_changes(root: Path, asked: list[str]) -> None:
    first = classes(root)
    assert asked == ["main.py"]
    assert classes(root) == first
    assert asked == ["main.py"]
    (root / "other.txt").write_text("of no interest\n")
    (root / "util.py").write_text("# another line\n" + FIRST)
    assert classes(root) == first
    assert asked == ["main.py"] * 2
    (root / "util.py").write_text("def first(boxes):\n    return b''\n")
    assert classes(root)[BOX] == "unrelated"
    assert len(asked) == 3
    (root / "base64.py").write_text("def b64encode(data):\n    from app import Box\n    return Box()\n")
    assert classes(root)[BYTES] in ("certain", "likely")


def test_more_places_of_a_file_are_added_to_what_is_known(root: Path, asked: list[str]) -> None:
    (root / "app.py").write_text(APP + "class Tin:\n    def encode(self):\n        return 1\n")
    (root / "main.py").write_text(MAIN + "from app import Tin\nprint(first([Tin()]).encode())\n")
    workspace = open_workspace(root)
    for _ in range(2):
        for name in ("Box.decode", "Tin.encode"):
            workspace.references(f"app.py::{name}", infer=LONG)
    assert asked == ["main.py"] * 2


def test_a_spoilt_answer_is_not_believed(root: Path, tmp_path: Path, asked: list[str]) -> None:
    first = classes(root)
    (kept,) = (tmp_path / "user" / "cache").rglob("*.kept")
    whole = kept.read_bytes()
    for spoilt in (b"", b"{", whole[:-1], whole.replace(b"app", b"pap"), whole.replace(b"\n", b"", 1)):
        kept.write_bytes(spoilt)
        del asked[:]
        assert classes(root) == first
        assert asked == ["main.py"], spoilt
    assert kept.read_bytes() == whole


def test_what_an_editor_has_open_is_seen_and_what_was_seen_beside_it_is_not_kept(root: Path) -> None:
    from lsptools.languages.names import FilePosition
    from lsptools.search.references import references
    from lsptools.text.lines import Offset
    from lsptools.workspace.snapshot import Snapshot

    workspace = open_workspace(root)
    disk = workspace.snapshot()
    edited = Snapshot(disk.root, disk.operations, disk.rg, {"main.py": "\n\n" + MAIN})
    asking = inference.Asking(LONG, root.parent / "kept")
    found = references(edited, FilePosition("app.py", Offset(APP.index("decode"))), asking)
    by_line = {each.span.start: each.evidence for each in found.occurrences if each.path == "main.py"}
    assert sorted(by_line.values()) == [Evidence.LIKELY, Evidence.UNRELATED]
    assert list((root.parent / "kept").rglob("*.kept"))
    beside = Snapshot(disk.root, disk.operations, disk.rg, {"util.py": FIRST + "\n"})
    elsewhere = inference.Asking(LONG, root.parent / "not_kept")
    references(beside, FilePosition("app.py", Offset(APP.index("decode"))), elsewhere)
    assert not list((root.parent / "not_kept").rglob("*.kept"))


def test_what_was_not_reached_in_time_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hanging = tmp_path / "worker.py"
    hanging.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(inference, "WORKER", hanging)
    workspace = open_workspace(root)
    began = time.monotonic()
    found = workspace.references("app.py::Box.decode", infer=1)
    assert time.monotonic() - began < 60
    assert not found.complete
    assert found.incomplete_because == ("jedi did not reach main.py:4:29, main.py:5:22 within 1 s",)
    assert found.counts()["possible"] == 2
    with pytest.raises(Refused):
        workspace.rename("app.py::Box.decode", "unpack", infer=1)


@pytest.mark.parametrize("program", ["", "raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_worker_that_dies_knows_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    dying = tmp_path / "worker.py"
    dying.write_text(program + "\n")
    monkeypatch.setattr(inference, "WORKER", dying)
    found = open_workspace(root).references("app.py::Box.decode", infer=LONG)
    assert not found.complete
    assert found.incomplete_because[0].endswith("before its process ended")
    assert found.counts()["possible"] == 2


def test_who_stops_the_work_ends_the_workers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    from lsptools.languages.names import FilePosition
    from lsptools.languages.python.inferred import settled
    from lsptools.languages.python.references import Finder
    from lsptools.text.lines import Offset

    class Stopped(Exception):
        pass

    started: list[inference._Worker] = []
    write = inference._Worker._write

    def noted(self: inference._Worker, what: object) -> None:
        started.append(self)
        write(self, what)

    def stop() -> None:
        if started:
            raise Stopped

    monkeypatch.setattr(inference._Worker, "_write", noted)
    snapshot = dataclasses.replace(open_workspace(root).snapshot(), checkpoint=stop)
    finder = Finder(snapshot)
    found = finder.account(finder.target(FilePosition("app.py", Offset(APP.index("decode")))))
    with pytest.raises(Stopped):
        settled(found, inference.Asking(LONG, root.parent / "kept"))
    assert {worker._process.poll() is not None for worker in started} == {True}


@pytest.mark.skipif(sys.platform == "win32", reason="there nobody is told that a parent has gone")
def test_a_worker_ends_with_who_asked(root: Path) -> None:
    """The worker is busy, and its input is not read."""
    program = (
        "import os, subprocess, sys, time\n"
        "from lsptools.languages.python import inference\n"
        "busy = 'import sys, runpy, threading, time; main = runpy.run_path(sys.argv[1]);'"
        " 'threading.Thread(target=main[\"_end_with\"], args=(int(sys.argv[2]),)).start(); time.sleep(600)'\n"
        "child = subprocess.Popen([sys.executable, '-I', '-c', busy, str(inference.WORKER), str(os.getpid())])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert has_ended(int(done.stdout))


def has_ended(pid: int) -> bool:
    """Within a minute; whoever has become its parent takes its status."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_without_jedi_it_is_said_what_to_install(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolError) as caught:
        classes(root)
    assert (caught.value.kind, "lsptools[infer]" in (caught.value.hint or "")) == ("unavailable", True)


def test_a_rename_follows_what_jedi_derives(root: Path) -> None:
    workspace = open_workspace(root)
    with pytest.raises(Refused):
        workspace.rename("app.py::Box.decode", "unpack")
    workspace.rename("app.py::Box.decode", "unpack", infer=LONG)
    assert (root / "main.py").read_text() == MAIN.replace("first([Box()]).decode", "first([Box()]).unpack")
    workspace.undo()
    assert (root / "main.py").read_text() == MAIN


def test_a_workspace_full_of_traps_executes_nothing(root: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    lay_traps(root, canary)
    code = f"open({str(canary)!r}, 'a').write(__file__)\n"
    for name in ("jedi.py", "parso.py", "gi.py", "runpy.py", "warnings.py", "inference_worker.py"):
        (root / name).write_text(code)
    (root / "native.so").write_bytes(b"\x7fELF not really")
    (root / "main.py").write_text(MAIN + "import native\nimport conftest\nprint(native.thing.decode())\n")
    assert classes(root)[BOX] == "likely"
    assert not canary.exists()


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    kept = cache.Cache(tmp_path / "kept", most_bytes=3000)
    for number in range(10):
        kept.put(str(number), b"x" * 900)
        os.utime(kept._path(str(number)), ns=(number, number))
    assert kept.get("0") == b"x" * 900  # which is used now
    kept.tidy()
    assert [number for number in range(10) if kept.get(str(number))] == [0, 8, 9]
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = cache.Cache(tmp_path / "file" / "kept")
    kept.put("a", b"b")
    kept.tidy()
    assert kept.get("a") is None


def test_the_command_line_says_what_is_wrong_with_a_time(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lsptools.faces.cli import main

    assert main(["refs", "app.py::Box.decode", "--infer", "-1", "--root", str(root), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "invalid"
