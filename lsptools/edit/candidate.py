"""A whole new text that was made elsewhere, by a person, a formatter or another model: shown as a diff, checked, then applied.

The text stands for what the file shall say; its line ends are those of the file where a line stays. If the caller declares
which lines may change, a change outside of them is refused with its place. Nothing is taken over in part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsptools.edit.lines import check_lines_shown
from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import Plan, planned
from lsptools.edit.session import Session
from lsptools.edit.target import opened, target
from lsptools.edit.write import overwritten
from lsptools.errors import BadRequest, Conflict, Refused, Site
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.workspace.snapshot import Snapshot

Region = tuple[int, int]
"""First and last line, 1-based, of the text before."""


def plan_candidate(
    snapshot: Snapshot,
    session: Session,
    path: str,
    text: str,
    *,
    regions: Sequence[Region] = (),
    expect: str | None = None,
    allow_broken: bool = False,
) -> Plan:
    """The plan for a file that shall say `text`. Without regions, all lines may change."""
    at = target(snapshot, path)
    file = opened(snapshot, session, at, expect)
    check_no_placeholder(text, file.document.text)
    plan = overwritten(at, file.document, text)
    if regions:
        check_lines_shown(session, file)
        _check_inside(file.document, at.name, plan.edits, regions)
    return planned(snapshot, [plan], label=f"take over {at.name}", allow_broken=allow_broken)


_REGION = re.compile(r"(\d+)(?:-(\d+))?")


def region_from_text(text: str) -> Region:
    """`12-20` or `12`."""
    found = _REGION.fullmatch(text)
    region = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= region[0] <= region[1]:
        raise BadRequest("invalid", f"{text!r} is no range of lines", hint="write 12-20, or 12")
    return region


def _check_inside(document: Document, name: str, edits: Edits, regions: Sequence[Region]) -> None:
    lines = document.lines
    outside = []
    for edit in edits:
        first = lines.line_of(edit.span.start) + 1
        last = lines.line_of(edit.span.end) + 1
        if edit.span.length and last > first and edit.span.end == lines.starts[last - 1]:
            last -= 1
        # What is inserted right behind a region's last line belongs to it.
        is_behind = not edit.span.length and any(
            edit.span.start == lines.line_span(min(end, lines.n_lines) - 1).end for _, end in regions
        )
        if not is_behind and not any(start <= first and last <= end for start, end in regions):
            outside.append(Site(name, first, 1, f"changed, and not in {_said(regions)}"))
    if outside:
        raise Refused(
            "invalid",
            f"the new text changes {len(outside)} place(s) of {name!r} outside of {_said(regions)}",
            hint="declare these lines, too, or have the text made again",
            conflicts=tuple(Conflict("invalid", str(site), (site,)) for site in outside[:50]),
        )


def _said(regions: Sequence[Region]) -> str:
    return "lines " + ", ".join(f"{first}-{last}" for first, last in regions)
