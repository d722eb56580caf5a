"""`workspace/willRenameFiles`: the edits in other files that a file's or package's new name needs.

The editor moves the file itself, so the edit holds no `RenameFile`. A file may get another name, another folder, or both; a
package only another name. Of several files each is planned alone; the edits are one where they do not meet. A package that moves to another folder, and a module that stops being one, is left to the user, who is told
so. What stands against a change is an error with its places: the editor shows it, and goes on as it likes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from lsprotocol import types

from lsptools.errors import BadRequest, Refused
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_edits import say_encodings, workspace_edit
from lsptools.faces.lsp_folders import Folder
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_requests.rename import LISTED
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import FilePosition
from lsptools.languages.python.roles import Role
from lsptools.refactor.move_file import plan_move_file
from lsptools.refactor.rename import SKIP, Policy, plan_rename
from lsptools.text.edits import Edits
from lsptools.workspace.change import Change, FileEdits

SUFFIXES = (".py", ".pyi")
IMPORTS = frozenset(
    {Role.IMPORT_NAME, Role.IMPORT_MODULE, Role.IMPORT_ORIGINAL, Role.MODULE_PART, Role.IMPORT_ALIAS}
)


def will_rename_files(views: Views, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    planned: dict[Folder, tuple[View, list[Change]]] = {}
    for file in params.files:
        view = views.of(file.old_uri)
        change = _change(views, view, file)
        if change.edits:
            planned.setdefault(view.folder, (view, []))[1].append(change)
    _check_names(params.files)
    edits = []
    for view, changes in planned.values():
        change = _together(changes)
        say_encodings(views, view, change)
        edits.append(workspace_edit(view, change))
    return _joined(edits) if edits else None


def _check_names(files: Sequence[types.FileRename]) -> None:
    """Each plan looks at what there is, not at the new names of the others; two of one name could meet in a scope."""
    news = [_base(file.new_uri) for file in files if _base(file.old_uri) != _base(file.new_uri)]
    twice = next((new for number, new in enumerate(news) if new in news[:number]), None)
    if twice is not None:
        raise _one_at_a_time(f"two files get the name {twice}")


def _together(changes: Sequence[Change]) -> Change:
    """Changes that were planned one beside the other, as one. Each is right alone; where two edit the same text, neither knows
    of the other."""
    if len(changes) == 1:
        return changes[0]
    by_path: dict[str, list[FileEdits]] = {}
    for file in (file for change in changes for file in change.edits):
        by_path.setdefault(file.path, []).append(file)
    return Change(edits=tuple(_merged(files) for files in by_path.values()), label=changes[0].label)


def _merged(files: Sequence[FileEdits]) -> FileEdits:
    edits = sorted({edit for file in files for edit in file.edits}, key=attrgetter("span"))
    for one, other in pairwise(edits):
        if other.span.start < one.span.end or other.span.start == one.span.start:
            raise _one_at_a_time(f"both change the same import in {files[0].path}")
    return FileEdits(files[0].path, Edits.of(edits), files[0].base_digest)


def _one_at_a_time(why: str) -> Refused:
    return Refused(
        "undecided",
        f"imports cannot follow all of these files at once: {why}",
        hint="rename the files one at a time",
    )


def _joined(edits: Sequence[types.WorkspaceEdit]) -> types.WorkspaceEdit:
    """The edits in several folders, as one; a client has one shape for all of them."""
    if all(edit.document_changes is None for edit in edits):
        return types.WorkspaceEdit(
            changes={uri: list(done) for edit in edits for uri, done in (edit.changes or {}).items()}
        )
    return types.WorkspaceEdit(
        document_changes=[each for edit in edits for each in edit.document_changes or ()]
    )


def _base(uri: str) -> str:
    return posixpath.basename(uri.rstrip("/"))


def _change(views: Views, view: View, file: types.FileRename) -> Change:
    """The edits that one new name needs."""
    old, new = view.name(file.old_uri), view.name(file.new_uri)
    if not _is_module(view, old):
        return Change()
    folder, new_name = posixpath.dirname(new), posixpath.basename(new)
    if folder != posixpath.dirname(old) and _stays_module(view, old, new):
        change = plan_move_file(view.snapshot, old, new)
        if change.notes:
            views.say("; ".join(change.notes[:LISTED]))
        return replace(change, moves=())
    for suffix in SUFFIXES:
        new_name = new_name.removesuffix(suffix)
    if folder != posixpath.dirname(old) or not new_name.isidentifier():
        views.say(f"imports of {old} were not changed: a package keeps its folder, a module its kind")
        return Change()
    return _plan(view, old, new_name)


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
