"""Parameters that change: what the cases of whole programs do not show."""

from __future__ import annotations

import pytest
from editing import memory, snapshot

from lsptools.languages.names import FilePosition
from lsptools.refactor.rename import Policy
from lsptools.refactor.signature_renames import plan_parameters
from lsptools.refactor.signature_request import parse_edit
from lsptools.text.lines import Offset


@pytest.mark.parametrize(
    ("renames", "add", "call"),
    [
        ([("url", "path")], [], "C(url='\0')"),  # only the search for the keyword meets it
        ([("url", "path")], ["m=2"], "C('\0')"),  # only the search for calls does
        ([], ["m=2"], "C('\0')"),
    ],
)
def test_a_search_that_was_not_complete_is_told(
    renames: list[tuple[str, str]], add: list[str], call: str
) -> None:
    made = "class C:\n    def __init__(self, url): ...\n"
    view = snapshot(memory({"a.py": made, "odd.py": f"from a import C\n{call}\n"}))
    at = FilePosition("a.py", Offset(made.index("__init__")))
    plan = plan_parameters(view, at, parse_edit(add, [], "", []), renames, Policy())
    assert not plan.complete
    assert [each.partition(" ")[0] for each in plan.incomplete_because] == ["odd.py"]
    assert plan.change.edits
