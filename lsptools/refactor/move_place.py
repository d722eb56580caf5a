"""Where in its new module a definition goes: at the end, or above those who use it already.

Units: bytes of the UTF-8 source.
"""

from __future__ import annotations

import re

from lsptools.errors import Conflict, Refused
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.references import Finder
from lsptools.languages.python.scopes import Source
from lsptools.refactor.move_imports import end_of_header
from lsptools.refactor.move_needs import Need
from lsptools.refactor.move_proof import Moved
from lsptools.refactor.moved_blocks import plain_lines
from lsptools.refactor.places import next_line, place


def put_in_at(
    finder: Finder, moved: Moved, needs: tuple[Need, ...], uses: list[int], *, is_begun: bool
) -> tuple[int, str]:
    """(place, text) of the definition in its new file. `uses` are the places at which that file uses it already.

    `is_begun`: imports come in at the end of that file, above the definition, and may be all there is.
    """
    source = moved.new
    empty = "\n\n" if any(block.is_definition for block in moved.blocks) else "\n"
    if not uses:
        return _at_end(source, moved.text, empty, is_begun=is_begun)
    at = max([end_of_header(source), *(_end_of(source, need) for need in needs)])
    too_early = [use for use in uses if use < at and _is_at_import(source, use)]
    if too_early:
        says = "the new module uses it before what it needs is defined"
        sites = (place(source, too_early[0], "is used here"),)
        raise Refused(
            "name_capture",
            f"`{finder.snapshot.root.relative(source.path)}` cannot hold it: {says}",
            hint="move what it needs, or its use, first",
            conflicts=(Conflict("name_capture", says, sites),),
        )
    behind = plain_lines(source.bytes[at : at + 8].decode("utf-8", "ignore"))
    n_empty = len(behind) - len(behind.lstrip("\n"))
    below = "\n" * max(0, len(empty) - n_empty) if source.bytes[at:].strip() else ""
    head = re.sub(rb"(?m)^from\s[^\r\n]*\simport\s+\w+[ \t\r]*$", b"", source.bytes[:at])
    return at, (empty if head.strip() else "") + moved.text + below


def _end_of(source: Source, need: Need) -> int:
    """The end of what has to be there before the definition is loaded."""
    if not (need.at_import and need.is_defined_there):
        return 0
    sites = Variable(source, source.module_scope, need.name).sites
    end = max((site.path[0][0].end_byte for site in sites), default=0)
    return next_line(source, end)


def _is_at_import(source: Source, at: int) -> bool:
    return source.descend(at)[1].enclosing_function() is None


def _at_end(source: Source, text: str, empty: str, *, is_begun: bool) -> tuple[int, str]:
    """Behind everything; above the `if __name__ == "__main__":` with which a program ends."""
    statements = source.tree.root_node.named_children
    last = next((each for each in reversed(statements) if each.type != "comment"), None)
    if last is not None and last.type == "if_statement":
        condition = last.child_by_field_name("condition")
        if condition is not None and "__name__" in source.text(condition):
            return last.start_byte, text + empty
    if not source.bytes.strip():
        return len(source.bytes), (empty if is_begun else "") + text
    n_empty = len(source.bytes) - len(source.bytes.rstrip(b"\r\n"))
    return len(source.bytes), ("" if n_empty else "\n") + empty + text
