"""Line ends of what comes into a file."""

from __future__ import annotations

import pytest
from editing import memory, snapshot

from lsptools.languages.python.modules import Project
from lsptools.refactor.edited_files import EditedFiles


@pytest.mark.parametrize(
    ("text", "like", "after"),
    [
        ("a\nb\nc\r\n", "", "a\nb\nc\r\nx\ny\n"),
        ("a\r\nb\r\nc\n", "", "a\r\nb\r\nc\nx\r\ny\r\n"),
        ("a\rb\r", "", "a\rb\rx\ry\r"),
        ("a\r\nb", "", "a\r\nb\r\nx\r\ny\r\n"),
        ("", "z\r\n", "x\r\ny\r\n"),
        ("a", "z\r\n", "a\r\nx\r\ny\r\n"),
        ("a\n", "z\r\n", "a\nx\ny\n"),
    ],
)
def test_they_are_those_of_most_lines(text: str, like: str, after: str) -> None:
    project = Project(snapshot(memory({"m.py": text, "like.py": like})))
    source = project.source("m.py")
    assert source is not None
    edited = EditedFiles(project.source("like.py") if like else None)
    edited.put_in(source, len(source.bytes), "x\ny\n")
    assert edited.edits(source).apply(text) == after
