"""Rename a module after the one thing that it defines: the class `OrderBook` lives in `order_book.py`.

Offered where the module has one public class or function at its top. The rename itself is that of the module, with all that is
checked there.
"""

from __future__ import annotations

import posixpath
import re

from lsptools.errors import Refused
from lsptools.languages.names import FilePosition
from lsptools.languages.python.modules import Project
from lsptools.refactor.rename import Policy, RenamePlan, plan_rename
from lsptools.refactor.selection import source_of
from lsptools.text.lines import Offset
from lsptools.workspace.snapshot import Snapshot

_DEFINITIONS = ("class_definition", "function_definition")


def file_name_for(project: Project, at: FilePosition) -> str:
    """What the module should be called, without a suffix, for the definition whose name is at a place.

    `Refused` (`undecided`, `no_change`) where the name is not that of the module's only public class or function, or is the module's.
    """
    source = source_of(project, at.path)
    stem, suffix = posixpath.splitext(posixpath.basename(at.path))
    if stem.startswith("__") or suffix not in (".py", ".pyi"):
        raise Refused("undecided", f"the name of {at.path} has a meaning of its own")
    found: list[tuple[str, int, int]] = []
    for node in source.tree.root_node.named_children:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        name = inner.child_by_field_name("name") if inner is not None and inner.type in _DEFINITIONS else None
        if name is not None and not source.text(name).startswith("_"):
            found.append((source.text(name), name.start_byte, name.end_byte))
    byte = source.byte(at.offset)
    if len(found) != 1 or not found[0][1] <= byte <= found[0][2]:
        raise Refused("undecided", "the place does not name the only public class or function of the module")
    wanted = snake_case(found[0][0])
    if wanted == stem:
        raise Refused("no_change", f"the module is called {stem} already")
    return wanted


def plan_file_of_symbol(snapshot: Snapshot, project: Project, at: FilePosition, policy: Policy) -> RenamePlan:
    """The plan that renames the module after its definition; raises as `plan_rename`."""
    name = file_name_for(project, at)
    return plan_rename(snapshot, FilePosition(at.path, Offset(0), is_module=True), name, policy)


def snake_case(name: str) -> str:
    """`HTTPServer` is `http_server`; what is in lower case stays."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return parted.lower()
