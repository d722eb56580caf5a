"""What the tests of local refactorings share: a selection marked in a program, and the program after it.

`«` and `»` mark what is selected; `|` in front of a name is not needed: the start of the selection is the place.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

from editing import memory, snapshot

from lsptools.languages.python.modules import Project
from lsptools.text.lines import Offset, Span
from lsptools.workspace.change import Change

Plan = Callable[[Project, str, Span], Change]


def marked(text: str) -> tuple[str, Span]:
    """The program without its marks, and the span between them."""
    start, end = text.index("«"), text.index("»") - 1
    return text.replace("«", "").replace("»", ""), Span(Offset(start), Offset(end))


def refactored(plan: Plan, text: str) -> str:
    """The text after the change; a program prints the same before and after, and other line ends make no difference."""
    source, span = marked(text)
    after = _after(plan, source, span)
    assert printed(after) == printed(source)
    for end in ("\r\n", "\r") if "\r" not in text else ():
        assert _after(plan, *marked(text.replace("\n", end))) == after.replace("\n", end)
    return after


def _after(plan: Plan, source: str, span: Span) -> str:
    view = snapshot(memory({"m.py": source}))
    return plan(Project(view), "m.py", span).after(view).document("m.py").text


def printed(source: str) -> str:
    """What a program prints, and how it fails."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "m.py", "exec"), {"__name__": "m"})
        except Exception as error:  # noqa: BLE001  # whatever it is, it has to be the same
            out.write(repr(error))
    return out.getvalue()
