"""Entries of a WorkspaceEdit in any order, against doing them one after the other on a disk: the same files, or a refusal."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from changing import Bench, bench, quick_folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsptools.edit.workspace_edit import Options, plan_workspace_edit
from lsptools.errors import BadRequest
from lsptools.workspace.journal import undo

NAMES = ["a", "b", "c", "p", "q", "p/a", "p/b", "q/a", "p/r", "p/r/a", "q/r/a", "l", "p/l", "k"]
Op = tuple[str, str, str]

names = st.sampled_from(NAMES)
ops = st.lists(
    st.one_of(
        st.tuples(st.just("rename"), names, names),
        st.tuples(st.just("delete"), names, st.just("")),
        st.tuples(st.just("create"), names, st.just("")),
        st.tuples(st.just("write"), names, st.just("")),
    ),
    max_size=8,
)


def lay_out(ws: Path) -> None:
    for name, data in {"a": b"a", "b": b"\0b", "p/a": b"pa", "p/r/a": b"pra", "q/x": b"\0x"}.items():
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).write_bytes(data)
    (ws / "l").symlink_to("a")
    (ws / "p" / "l").symlink_to("r/a")
    (ws / "q" / "e").mkdir()


def do(ws: Path, op: Op, text: str) -> None:
    """One entry on the disk; `OSError` if it cannot be done."""
    kind, name, other = op
    path = ws / name
    if kind == "rename":
        new = ws / other
        if os.path.lexists(new) or not os.path.lexists(path) or f"{other}/".startswith(f"{name}/"):
            raise FileExistsError
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)
    elif kind == "delete" and path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif kind == "delete":
        path.unlink()
    elif kind == "create":
        if path.exists():
            raise FileExistsError
        real = Path(os.path.realpath(path))
        real.parent.mkdir(parents=True, exist_ok=True)
        real.touch()
    else:
        if b"\0" in path.read_bytes():
            raise OSError
        path.write_text(text + path.read_text())


def entry_of(ws: Path, op: Op, text: str) -> dict[str, Any]:  # JSON
    kind, name, other = op
    uri = f"{ws.as_uri()}/{name}"
    if kind == "rename":
        return {"kind": kind, "oldUri": uri, "newUri": f"{ws.as_uri()}/{other}"}
    if kind != "write":
        return {"kind": kind, "uri": uri, "options": {"recursive": True}}
    start = {"line": 0, "character": 0}
    edit = {"range": {"start": start, "end": start}, "newText": text}
    return {"textDocument": {"uri": uri, "version": None}, "edits": [edit]}


def files_of(ws: Path) -> dict[str, bytes | str]:
    """Without folders: those in which nothing is left may go."""
    return {
        path.relative_to(ws).as_posix(): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in ws.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def possible(ws: Path, wanted: list[Op]) -> list[Op]:
    """Do what can be done, and say what that was."""
    done = []
    for number, op in enumerate(wanted):
        try:
            do(ws, op, str(number))
        except OSError:
            continue
        done.append(op)
    return done


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(wanted=ops)
def test_entries_do_what_a_disk_would_do(wanted: list[Op], tmp_path: Path) -> None:
    with quick_folder(tmp_path / "x") as folder:
        literal = folder / "literal"
        literal.mkdir(parents=True, exist_ok=True)
        lay_out(literal)
        done = possible(literal, wanted)
        at = bench(folder / "bench", {})
        lay_out(at.ws)
        check(at, literal, done)
        shutil.rmtree(folder / "bench")
        shutil.rmtree(literal)


def check(at: Bench, literal: Path, done: list[Op]) -> None:
    ws, start = at.ws.resolve(), at.tree
    entries = [entry_of(ws, op, f"<{number}>") for number, op in enumerate(done)]
    shutil.rmtree(literal)
    lay_out(literal)
    written: list[str] = []
    for number, op in enumerate(done):
        written += [os.path.realpath(literal / op[1])] if op[0] == "write" else []
        do(literal, op, f"<{number}>")
    try:
        plan = plan_workspace_edit(at.snapshot, {"documentChanges": entries}, Options()).plan
    except BadRequest as error:
        # A folder that ends up below its own old name, or a file that stays where its folder leaves, is refused;
        # and so are two texts put at the beginning of one file: which comes first is the question.
        is_written_twice = len(set(written)) < len(written)
        assert (error.kind == "ambiguous" and is_written_twice) or " cannot move to " in error.message, done
        assert at.tree == start
        return
    plan.change.diff(at.snapshot)
    applied = at.apply(plan.change)
    assert files_of(ws) == files_of(literal), done
    if applied.id:
        undo(at.root, at.state)
        assert at.tree == start, done
