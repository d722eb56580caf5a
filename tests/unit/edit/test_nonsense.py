"""Whatever is asked, the answer is an answer or an error of the family: never a bug, never a changed byte after a refusal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from changing import quick_folder
from editing import ROOT, memory, snapshot
from hypothesis import given, settings
from hypothesis import strategies as st

from lsptools.edit.session import Session
from lsptools.errors import InternalError, ToolError
from lsptools.faces.call import Caller
from lsptools.tools.base import Context
from lsptools.workspace.state import State

FILES = {
    "a.py": "def f():\n    return 1\n\n\nclass C:\n    x = 'é'\n",
    "b.txt": "one\r\ntwo\nthree",
    "d/n.ipynb": '{"cells": [{"cell_type": "code", "source": ["x = 1\\n", "y"]}]}',
    "j.json": '{"a": [1, 2]}',
    "bin": b"\0\1",
    "l1": b"# coding: latin-1\n\xe9\n",
    "stray": b"caf\xe9\n",
    "empty": "",
}
LINKS = {"link": "b.txt", "out": "/etc/hostname", "loop": "loop", "gone": "nothing", "dir": "d"}

texts = st.one_of(
    st.sampled_from(
        [
            "",
            "one",
            "two\nthree",
            "def f():",
            "    return 1\n",
            "x = 1\ny",
            "é",
            "\ud800",
            "\0",
            "\r",
            "...",
            '"',
        ]
    ),
    st.text(max_size=8),
)
paths = st.one_of(
    st.sampled_from(
        [
            *FILES,
            *LINKS,
            ".",
            "..",
            "/",
            "",
            "dir/n.ipynb",
            "new/x.py",
            "b.txt/x",
            "./b.txt",
            "a" * 300,
            "~",
            "\0",
            "\udcff",
        ]
    ),
    st.text(max_size=6),
)
numbers = st.integers(-2, 9)
edits = st.fixed_dictionaries(
    {"old_str": texts, "new_str": texts}, optional={"replace_all": st.booleans(), "expected_count": numbers}
)
lines = st.fixed_dictionaries({"start": numbers, "end": numbers, "new_text": texts})
patches = st.one_of(
    texts,
    st.builds(
        "*** Begin Patch\n*** {} File: {}\n{}\n*** End Patch".format,
        st.sampled_from(["Update", "Add", "Delete"]),
        paths,
        st.lists(
            st.builds("{}{}".format, st.sampled_from(["@@ ", "+", "-", " ", "*** Move to: "]), texts),
            max_size=4,
        ).map("\n".join),
    ),
    st.builds(
        "--- a/{0}\n+++ b/{0}\n@@ -{1},{1} +{1},{1} @@\n{2}".format,
        paths,
        numbers,
        st.lists(st.builds("{}{}".format, st.sampled_from("+- \\"), texts), max_size=4).map("\n".join),
    ),
)
positions = st.fixed_dictionaries({"line": numbers, "character": numbers})
text_edits = st.fixed_dictionaries(
    {"range": st.fixed_dictionaries({"start": positions, "end": positions}), "newText": texts}
)
uris = paths.map(lambda path: f"file://{ROOT}/{path}")
entries = st.one_of(
    st.fixed_dictionaries({"textDocument": st.fixed_dictionaries({"uri": uris, "version": st.none() | numbers}), "edits": st.lists(text_edits, max_size=3)}),
    st.fixed_dictionaries({"kind": st.sampled_from(["create", "delete"]), "uri": uris}, optional={"options": st.dictionaries(st.sampled_from(["overwrite", "recursive", "ignoreIfExists", "ignoreIfNotExists"]), st.booleans())}),
    st.fixed_dictionaries({"kind": st.just("rename"), "oldUri": uris, "newUri": uris}),
)  # fmt: skip
calls = st.one_of(
    st.tuples(st.just("read"), st.fixed_dictionaries({"path": paths}, optional={"offset": numbers, "limit": numbers, "column": numbers})),
    st.tuples(st.just("edit"), st.fixed_dictionaries({"path": paths, "old_str": texts, "new_str": texts}, optional={"replace_all": st.booleans(), "allow_broken": st.booleans()})),
    st.tuples(st.just("edit"), st.fixed_dictionaries({"path": paths, "edits": st.lists(edits, max_size=3)})),
    st.tuples(st.just("write"), st.fixed_dictionaries({"path": paths, "content": texts})),
    st.tuples(st.just("edit-lines"), st.fixed_dictionaries({"path": paths, "edits": st.lists(lines, max_size=3)})),
    st.tuples(st.just("patch"), st.fixed_dictionaries({"patch": patches})),
    st.tuples(st.just("candidate"), st.fixed_dictionaries({"path": paths, "content": texts}, optional={"regions": st.lists(texts | st.just("1-2"), max_size=2)})),
    st.tuples(st.just("apply-edit"), st.fixed_dictionaries({"edit": st.fixed_dictionaries({"documentChanges": st.lists(entries, max_size=4)})})),
    st.tuples(st.just("undo"), st.fixed_dictionaries({}, optional={"file": paths})),
)  # fmt: skip
WRITING = {"edit", "write", "edit-lines", "patch", "candidate", "apply-edit", "undo"}


@pytest.fixture(scope="module")
def states() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as usual, quick_folder(Path(usual)) as folder:
        yield folder


def tree(operations: Any, folder: str = ROOT) -> dict[str, bytes | str]:  # of memory
    found: dict[str, bytes | str] = {}
    for name, kind in operations.list_kinds(folder).items():
        path = f"{folder}/{name}"
        if kind == "folder":
            found |= tree(operations, path)
        else:
            found[path] = operations.readlink(path) if kind == "link" else operations.read_bytes(path)
    return found


@settings(max_examples=max(150, settings.default.max_examples if settings.default else 0))
@given(st.lists(calls, min_size=1, max_size=5))
def test_no_call_is_a_bug(states: Path, asked: list[tuple[str, dict[str, Any]]]) -> None:
    operations = memory(FILES, LINKS)
    with tempfile.TemporaryDirectory(dir=states) as folder:
        caller = Caller(Context(snapshot(operations), lambda: State(Path(folder)), Session()))
        for name in FILES:
            if name != "bin":
                caller.run(*caller.prepared("read", {"path": name}))
        for tool, arguments in asked:
            before = tree(operations)
            try:
                answer = caller.run(*caller.prepared(tool, arguments))
                assert isinstance(answer["output"], str)
                assert tool in WRITING or tree(operations) == before
            except ToolError as error:
                assert not isinstance(error, InternalError), error
                assert error.message and tree(operations) == before
