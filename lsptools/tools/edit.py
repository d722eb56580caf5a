"""`edit`: put a new text in the place of one that is quoted."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.edit.replace import Replacement, plan_edit
from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import FileEditing


@dataclass(frozen=True, slots=True)
class Params(FileEditing):
    path: str = arg("the file", positional=True, kind="path")
    old_str: str | None = arg(
        "the text to replace, exactly as it is in the file; empty: create a file that is not there",
        default=None,
        name="old",
        kind="content",
        group="Text",
        metavar="TEXT",
    )
    new_str: str | None = arg(
        "what shall stand there", default=None, name="new", kind="content", group="Text", metavar="TEXT"
    )
    replace_all: bool = arg("replace every occurrence", default=False, group="Text")
    expected_count: int | None = arg(
        "replace every occurrence, and refuse if there are not exactly N",
        default=None,
        name="count",
        metavar="N",
        group="Text",
    )
    edits: tuple[Replacement, ...] | None = arg(
        "one of several edits of the file, as a JSON object with old_str, new_str, replace_all, expected_count; repeat it",
        default=None,
        name="edit",
        metavar="JSON",
        group="Text",
    )


def run(context: Context, params: Params) -> ChangeAnswer:
    """Plan and do the edits, all or none."""
    wanted = _replacements(params)

    return change(
        context,
        [params.path],
        lambda: plan_edit(
            context.snapshot,
            context.session,
            params.path,
            wanted,
            expect=params.expect,
            allow_broken=params.allow_broken,
        ),
        params,
    )


def _replacements(params: Params) -> tuple[Replacement, ...]:
    is_one = params.old_str is not None or params.new_str is not None
    if params.edits is not None and not is_one:
        return params.edits
    if params.edits is None and params.old_str is not None and params.new_str is not None:
        return (Replacement(params.old_str, params.new_str, params.replace_all, params.expected_count),)
    raise BadRequest(
        "invalid",
        "an edit needs `old_str` and `new_str`, or a list `edits` of such pairs, and not both",
        hint="on the command line: --old TEXT --new TEXT, or --edit JSON",
    )


TOOL = Tool(
    name="edit",
    summary="Replace a passage of a file that is quoted, once or everywhere.",
    guide=(
        "The passage must be in the file exactly once, unless all occurrences are asked for; overlapping ones count. It is "
        "looked for character by character (CRLF and LF are the same) and, only if it is not there, once more with "
        "typographic quotes, dashes and spaces, compatible characters and blanks at line ends folded; indentation, inner "
        "blanks, empty lines and case always count. Several edits of one call are all located in the text before the call "
        "and are done together or not at all. Only what differs is written: line ends, encoding, byte order mark, "
        "permission bits and all other bytes stay. A Python file that could be parsed must still be, and a notebook must "
        "stay one; in other languages (JSON, TOML, and those whose tree-sitter grammar is installed) new syntax errors are told. "
        "In a notebook the text is looked for in the cells, and what is written there is escaped; what is in no cell, or is "
        "edited by who has read it with `--raw`, is JSON. The file must have been read (`unread`) and be what "
        "was read (`stale`). A miss says why, and shows the nearest passage."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example(
            "edit app/cfg.py --old 'RETRIES = 3' --new 'RETRIES = 5' --session work",
            "after `read` in that session",
        ),
        Example(
            "edit app/cfg.py --old-from old.txt --new-from new.txt --expect 3f0c9a1b7d24", "texts from files"
        ),
        Example("edit notes.md --old teh --new the --count 3 --session work --diff", "see the diff first"),
    ),
    found="done, or with --diff or --check: it would be",
    not_found="refused, or the file is not what was read, and nothing was written",
    files=lambda params: (params.path,),
    session=True,
)
