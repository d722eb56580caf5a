"""`write`: a whole file at once."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.edit.write import plan_write
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import FileEditing


@dataclass(frozen=True, slots=True)
class Params(FileEditing):
    path: str = arg("the file", positional=True, kind="path")
    content: str = arg(
        "the whole new text; on the command line a FILE with it, or - for standard input",
        positional=True,
        kind="content",
        metavar="FILE",
    )
    allow_omissions: bool = arg(
        "write lines that look as if they stand for text left out (`... rest unchanged`)",
        default=False,
        group="Safety",
    )


def run(context: Context, params: Params) -> ChangeAnswer:
    """Plan and do it."""
    return change(
        context,
        [params.path],
        lambda: plan_write(
            context.snapshot,
            context.session,
            params.path,
            params.content,
            expect=params.expect,
            allow_broken=params.allow_broken,
            allow_omissions=params.allow_omissions,
        ),
        params,
    )


TOOL = Tool(
    name="write",
    summary="Create a file, or give one a whole new text.",
    guide=(
        "Folders above a new file are made. A file that is there must have been read, and keeps its encoding, permission "
        "bits, and the line ends of lines that stay; a new file is written as given, in UTF-8. To change a part of a file "
        "use `edit`: it is safer and shorter. A Python file that could be parsed must still be, and a notebook is written as the "
        "JSON it is, not as the cells that `read` shows. Lines like `# ... rest of the code unchanged` are refused."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("write notes/todo.md - --session work", "from standard input"),
        Example("write app/cfg.py new.py --expect 3f0c9a1b7d24 --diff", "what would change"),
    ),
    found="created, overwritten, or unchanged",
    not_found="refused, or the file is not what was read, and nothing was written",
    files=lambda params: (params.path,),
    session=True,
)
