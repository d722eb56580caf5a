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
    """The text after the change; a program prints the same before and after."""
    source, span = marked(text)
    view = snapshot(memory({"m.py": source}))
    change = plan(Project(view), "m.py", span)
    after = change.after(view).document("m.py").text
    assert printed(after) == printed(source)
    return after


def printed(source: str) -> str:
    """What a program prints, and how it fails."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "m.py", "exec"), {"__name__": "m"})
        except Exception as error:  # noqa: BLE001  # whatever it is, it has to be the same
            out.write(repr(error))
    return out.getvalue()
