"""The proof of a rename, on changes that were never planned: it has to see by itself what they would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsptools.faces.environment import Environment
from lsptools.languages.names import FilePosition
from lsptools.languages.python.references import Finder
from lsptools.refactor.proof import prove
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.paths import Root

ACCOUNT = """class Account:
    def __init__(self):
        self.gross = 1
        self.net = 2

    def tax(self):
        return self.gross - self.net
"""


@pytest.mark.parametrize("new, is_proved", [("whole", True), ("net", False), ("tax", False)])
def test_two_members_of_a_class_do_not_become_one(tmp_path: Path, new: str, is_proved: bool) -> None:
    (tmp_path / "account.py").write_text(ACCOUNT, "utf-8")
    snapshot = Environment().context(Root.of(tmp_path)).snapshot
    finder = Finder(snapshot)
    account = finder.account(finder.target(FilePosition("account.py", Offset(ACCOUNT.index("gross")))))
    edits = Edits.of([TextEdit(each.span, new) for each in account.references.occurrences])
    change = Change((FileEdits("account.py", edits, snapshot.document("account.py").digest),))
    assert all(line.ok for line in prove(finder, account, change, new)) is is_proved
