"""A line that is made of one name, over and over: the time grows with its length, not with the square of it."""

import time
from pathlib import Path

import pytest

from lsptools import open_workspace

N_WORDS = 40_000
SECONDS = 60
"""Of the processor: some three are needed; looking at the whole line for each word takes many minutes."""


@pytest.mark.parametrize(
    ("name", "before", "between", "after"),
    [
        ("notes.txt", "", " ", ""),
        ("data.json", '["', '", "', '"]'),
        ("page.html", "{{ ", " ", " }}"),
        ("script.py", "rows = [{", ": 1}, {", ": 1}]"),
        ("keys.py", 'rows = {"', '": 1, "', '": 1}'),
        ("text.py", '"""', " ", '"""'),
        ("comment.py", "# ", " ", ""),
    ],
)
def test_a_line_of_one_name(name: str, before: str, between: str, after: str, tmp_path: Path) -> None:
    tmp_path.joinpath("m.py").write_text("value = 1\n", "utf-8")
    tmp_path.joinpath(name).write_text(f"{before}{between.join(['value'] * N_WORDS)}{after}\n", "utf-8")
    began = time.process_time()
    found = open_workspace(tmp_path).references("m.py:1:1")
    assert len(found.occurrences) == N_WORDS + 1
    assert time.process_time() - began < SECONDS
