"""`patch`: a diff over files, all of it or nothing."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.edit.patch import plan_patch
from lsptools.errors import BadRequest, ToolError
from lsptools.text.patch import parse_patch
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import Editing


@dataclass(frozen=True, slots=True)
class Params(Editing):
    patch: str = arg(
        "the patch; on the command line a FILE with it, or - for standard input",
        positional=True,
        kind="content",
        metavar="FILE",
    )
    expect: tuple[str, ...] = arg(
        "path and digest of a file of the patch as you know it, instead of having read it in the session; repeat it",
        default=(),
        metavar="PATH=DIGEST",
        group="Safety",
    )


def run(context: Context, params: Params) -> ChangeAnswer:
    """Plan and do it."""
    expected = _expected(params.expect)
    return change(
        context,
        paths(params) or (),
        lambda: plan_patch(
            context.snapshot, context.session, params.patch, expect=expected, allow_broken=params.allow_broken
        ),
        params,
    )


def _expected(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.rpartition("=") for each in given]
    if any(not path or not digest for path, _, digest in pairs):
        raise BadRequest(
            "invalid", "`expect` is a list of PATH=DIGEST", hint="send path=digest, as `read` says it"
        )
    return {path: digest for path, _, digest in pairs}


def paths(params: Params) -> tuple[str, ...] | None:
    """The files that the patch names; none if it cannot be read, for then nothing happens."""
    try:
        files = parse_patch(params.patch)
    except ToolError:
        return ()
    return tuple(name for file in files for name in (file.path, file.move_to) if name)


TOOL = Tool(
    name="patch",
    summary="Apply a patch to files: a unified diff, or *** Begin Patch.",
    guide=(
        "Each hunk is placed by its lines: those that stay and those that go must all be there, one after the other, as they "
        "are in the file. Line numbers only decide between places that are equal, and so does a line named above the hunk "
        "(`@@ def f():`); a hunk that still fits several places is refused. Files can be added, deleted and moved. All "
        "files change or none. Each file that the patch changes or deletes must have been read, and be what was read."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("patch fix.diff --session work", "a diff from a file"),
        Example("patch - --expect app/cfg.py=3f0c9a1b7d24 --check", "from standard input; would it apply?"),
    ),
    found="applied, or with --diff or --check: it would be",
    not_found="refused, or a file is not what was read, and nothing was written",
    files=paths,
    session=True,
)
