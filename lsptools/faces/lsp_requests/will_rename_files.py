"""`workspace/willRenameFiles`: the edits in other files that a file's or package's new name needs.

The editor moves the file itself, so the edit holds no `RenameFile`. A file may get another name, another folder, or both; a
package only another name. A package that moves to another folder, and a module that stops being one, is left to the user, who is told
so. What stands against a change is an error with its places: the editor shows it, and goes on as it likes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace

from lsprotocol import types

from lsptools.errors import BadRequest, Refused
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_edits import workspace_edit
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_requests.rename import LISTED
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import FilePosition
from lsptools.languages.python.roles import Role
from lsptools.refactor.move_file import plan_move_file
from lsptools.refactor.rename import SKIP, Policy, plan_rename
from lsptools.workspace.change import Change

SUFFIXES = (".py", ".pyi")
IMPORTS = frozenset(
    {Role.IMPORT_NAME, Role.IMPORT_MODULE, Role.IMPORT_ORIGINAL, Role.MODULE_PART, Role.IMPORT_ALIAS}
)


def will_rename_files(views: Views, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    edits = [edit for file in params.files if (edit := _edit(views, file)) is not None]
    if len(edits) > 1:
        views.say("imports follow when files are renamed one at a time")
    return edits[0] if len(edits) == 1 else None


def _edit(views: Views, file: types.FileRename) -> types.WorkspaceEdit | None:
    view = views.of(file.old_uri)
    old, new = view.name(file.old_uri), view.name(file.new_uri)
    if not _is_module(view, old):
        return None
    folder, new_name = posixpath.dirname(new), posixpath.basename(new)
    if folder != posixpath.dirname(old) and _stays_module(view, old, new):
        change = plan_move_file(view.snapshot, old, new)
        if change.notes:
            views.say("; ".join(change.notes[:LISTED]))
        return workspace_edit(view, replace(change, moves=())) if change.edits else None
    for suffix in SUFFIXES:
        new_name = new_name.removesuffix(suffix)
    if folder != posixpath.dirname(old) or not new_name.isidentifier():
        views.say(f"imports of {old} were not changed: a package keeps its folder, a module its kind")
        return None
    change = _plan(view, old, new_name)
    return workspace_edit(view, change) if change.edits else None


def _stays_module(view: View, old: str, new: str) -> bool:
    """Is a plain module of the workspace one afterwards, too?"""
    stem, suffix = posixpath.splitext(posixpath.basename(new))
    is_plain = view.snapshot.is_file(old) and not posixpath.basename(old).startswith("__")
    return is_plain and suffix == posixpath.splitext(old)[1] and stem.isidentifier()


def _is_module(view: View, name: str) -> bool:
    return name.endswith(SUFFIXES) or view.snapshot.is_dir(name)


def _plan(view: View, name: str, new_name: str) -> Change:
    place = _import_of(view, name)
    if place is None:
        return Change()
    try:
        plan = plan_rename(view.snapshot, place, new_name, Policy(possible=SKIP))
    except Refused as error:
        raise Refused(
            error.kind,
            f"imports of {name} would break: {error.message}",
            hint=error.hint,
            conflicts=error.conflicts,
        ) from None
    return replace(plan.change, moves=())


def _import_of(view: View, name: str) -> FilePosition | None:
    """A place where the module's own name stands in an import."""
    stem = posixpath.basename(name)
    for suffix in SUFFIXES:
        stem = stem.removesuffix(suffix)
    places = {name, *(f"{name}/__init__{suffix}" for suffix in SUFFIXES)}
    for source in view.finder.sources_with(stem):
        for site in source.sites(stem):
            if site.role not in IMPORTS:
                continue
            place = FilePosition(source.path, source.span(site.start, site.end).start)
            try:
                roots = view.finder.target(place).roots
            except BadRequest:
                continue
            if any(root.kind == "module" and root.path in places for root in roots):
                return place
    return None


def _capabilities(_client: Client) -> Mapping[str, object]:
    filters = [
        types.FileOperationFilter(types.FileOperationPattern("**/*.{py,pyi}"), scheme="file"),
        types.FileOperationFilter(
            types.FileOperationPattern("**", matches=types.FileOperationPatternKind.Folder), scheme="file"
        ),
    ]
    options = types.FileOperationRegistrationOptions(filters)
    return {"file_operations": types.FileOperationOptions(will_rename=options, did_rename=options)}


REQUESTS = (
    Request(
        types.WORKSPACE_WILL_RENAME_FILES,
        "willRenameFiles",
        will_rename_files,
        lane=SLOW,
        capabilities=_capabilities,
        about_everything=True,
    ),
)
