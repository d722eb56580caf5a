"""`candidate`: take over a whole new text that was made elsewhere."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lsptools.edit.candidate import plan_candidate, region_from_text
from lsptools.edit.target import document_of, target
from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import FileEditing


@dataclass(frozen=True, slots=True)
class Params(FileEditing):
    path: str = arg("the file", positional=True, kind="path")
    content: str | None = arg(
        "the whole new text; on the command line a FILE with it, or - for standard input",
        default=None,
        positional=True,
        kind="content",
        metavar="FILE",
    )
    instructions: str | None = arg(
        "have the text made by the program that LSPTOOLS_CANDIDATE_COMMAND names, which is told this",
        default=None,
        metavar="TEXT",
        group="Text",
    )
    regions: tuple[str, ...] = arg(
        "lines that may change, like 12-20; repeat it; without it all may",
        default=(),
        name="region",
        metavar="LINES",
        group="Safety",
    )
    timeout: int = arg("how many seconds the program may take", default=60, metavar="SECONDS", group="Text")


def run(context: Context, params: Params) -> ChangeAnswer:
    """Get the text, plan and do it."""
    regions = [region_from_text(each) for each in params.regions]
    if (params.content is None) == (params.instructions is None):
        raise BadRequest(
            "invalid",
            "a candidate is a text, or instructions for the program that makes one, and not both",
            hint="send `content` or `instructions`",
        )
    text = params.content if params.content is not None else _made(context, params)
    return change(
        context,
        [params.path],
        lambda: plan_candidate(
            context.snapshot,
            context.session,
            params.path,
            text,
            regions=regions,
            expect=params.expect,
            allow_broken=params.allow_broken,
        ),
        params,
    )


def _made(context: Context, params: Params) -> str:
    """What the user's program makes of the file: it reads JSON with path, text and instructions, and writes the new text."""
    from lsptools.workspace.program import filtered

    if not context.candidate_command:
        raise BadRequest(
            "invalid",
            "no program is set that makes texts",
            hint="set LSPTOOLS_CANDIDATE_COMMAND, or send the `content`",
        )
    at = target(context.snapshot, params.path)
    text = document_of(context.snapshot, at).text
    asked = {
        "path": at.name,
        "text": text,
        "instructions": params.instructions,
        "regions": list(params.regions),
    }
    out = filtered(
        context.candidate_command,
        json.dumps(asked).encode("ascii"),
        folder=str(context.snapshot.root.path),
        timeout_s=params.timeout,
    )
    if text.strip() and not out.strip():
        raise BadRequest(
            "invalid",
            f"{context.candidate_command[0]!r} succeeded and wrote nothing, which would empty {at.name!r}",
            hint="see whether it writes the whole new text to standard output; `write` with an empty text empties a file",
        )
    return out.decode("utf-8", "surrogateescape")


TOOL = Tool(
    name="candidate",
    summary="Take over a whole new text of a file that was made elsewhere, after a look at what it changes.",
    guide=(
        "For the output of a formatter, of a person's editor, or of a model that writes whole files. `--diff` shows what it "
        "changes, `--region` names the lines that may change; a change outside of them is refused. Otherwise it is like "
        "`write`: the file must have been read and be what was read, lines that stay keep their line ends, and a Python file "
        "that could be parsed must still be. With `--instructions` the text is made by the program in "
        "LSPTOOLS_CANDIDATE_COMMAND, started without a shell in the workspace's root. On standard input it gets one JSON "
        "object, in ASCII: `path` (relative to the root), `text` (the whole file), `instructions` (what was passed) and "
        "`regions` (a list of strings such as `12-20`, empty if all lines may change). It writes the whole new text, in UTF-8, "
        "to standard output and ends with 0; another exit code, more time than `--timeout`, or nothing at all for a file that "
        "says something is an error, and the file stays."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("candidate app/cart.py formatted.py --session work --diff", "what a formatter would change"),
        Example("candidate app/cart.py new.py --region 10-40 --session work", "only in these lines"),
    ),
    found="done or unchanged, or with --diff or --check: it would be",
    not_found="refused, or the file is not what was read, and nothing was written",
    files=lambda params: (params.path,),
    session=True,
)
