"""`edit-lines`: whole lines by their numbers."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.edit.lines import LineEdit, plan_lines
from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import FileEditing


@dataclass(frozen=True, slots=True)
class Params(FileEditing):
    path: str = arg("the file", positional=True, kind="path")
    start: int | None = arg("the first line", default=None, metavar="N", group="Lines")
    end: int | None = arg(
        "the last line; one less than the first inserts before it", default=None, metavar="N", group="Lines"
    )
    new_text: str | None = arg(
        "the new lines; empty deletes the old ones",
        default=None,
        name="new",
        kind="content",
        group="Lines",
        metavar="TEXT",
    )
    edits: tuple[LineEdit, ...] | None = arg(
        "one of several edits of the file, as a JSON object with start, end, new_text; repeat it",
        default=None,
        name="edit",
        metavar="JSON",
        group="Lines",
    )


def run(context: Context, params: Params) -> ChangeAnswer:
    """Plan and do the edits, all or none."""
    wanted = _line_edits(params)
    return change(
        context,
        [params.path],
        lambda: plan_lines(
            context.snapshot,
            context.session,
            params.path,
            wanted,
            expect=params.expect,
            allow_broken=params.allow_broken,
        ),
        params,
    )


def _line_edits(params: Params) -> tuple[LineEdit, ...]:
    one = (params.start, params.end, params.new_text)
    if params.edits is not None and one == (None, None, None):
        return params.edits
    if params.edits is None and params.start is not None and params.new_text is not None:
        end = params.start if params.end is None else params.end
        return (LineEdit(params.start, end, params.new_text),)
    raise BadRequest(
        "invalid",
        "an edit of lines needs `start` and `new_text` (and `end`), or a list `edits` of such, and not both",
        hint="on the command line: --start N --end N --new TEXT, or --edit JSON",
    )


TOOL = Tool(
    name="edit-lines",
    summary="Replace, delete or insert whole lines by their numbers.",
    guide=(
        "The numbers are those of `read`, and all ranges of a call speak of the file as it was read; ranges that overlap "
        "are refused. An `end` of one less than `start` inserts before `start`, which may be one past the last line. The "
        "file must have been read and be what was read, so a number never means another line than it did; a notebook, of which "
        "`read` shows cells, must have been read with `--raw`. For a passage "
        "that is short enough to quote, `edit` is safer."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example(
            "edit-lines app/cfg.py --start 12 --end 14 --new 'RETRIES = 5' --session work",
            "three lines become one",
        ),
        Example(
            "edit-lines app/cfg.py --start 1 --end 0 --new '# made by hand' --expect 3f0c9a1b7d24",
            "insert at the top",
        ),
    ),
    found="done, or with --diff or --check: it would be",
    not_found="refused, or the file is not what was read, and nothing was written",
    files=lambda params: (params.path,),
    session=True,
)
