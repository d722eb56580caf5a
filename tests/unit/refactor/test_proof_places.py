"""What the proof finds wrong it names with its place, all of it."""

from contextlib import closing
from pathlib import Path

from lsptools.faces.environment import Environment
from lsptools.languages.names import FilePosition
from lsptools.languages.python.references import Finder
from lsptools.refactor.proof import prove
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.paths import Root

N_USES = 50


def test_every_place_is_named(tmp_path: Path) -> None:
    tmp_path.joinpath("m.py").write_text("value = 1\n" + "print(value)\n" * N_USES, "utf-8")
    snapshot = Environment().context(Root.of(tmp_path)).snapshot
    finder = Finder(snapshot)
    with closing(finder):
        account = finder.account(finder.target(FilePosition("m.py", Offset(0))))
    only_first = Edits.of([TextEdit(Span(Offset(0), Offset(5)), "other")])
    change = Change(edits=(FileEdits("m.py", only_first, snapshot.document("m.py").digest),))
    failed = [line for line in prove(finder, account, change, "other") if not line.ok]
    left = {line.site.line for line in failed if line.site is not None and "was left" in line.says}
    assert left == set(range(2, N_USES + 2))
    assert all(line.conflict.sites for line in failed)
