"""From a `Change` to what an editor applies: a `WorkspaceEdit` in the shape that the client declared.

Each edit replaces exactly what changes, never more. Open documents carry the version that the edit was made for, closed
files null. Text edits come first and name files as they are called before; moves follow, in order. Edits that nobody
vouches for carry an annotation that asks the user. A change that the client cannot do whole is refused, never halved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lsprotocol import types

from lsptools.faces.lsp_errors import FAILED, Rejected
from lsptools.faces.lsp_view import View, Views
from lsptools.text.edits import TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import Change, FileEdits


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why some edits have to be confirmed: the label of their group, and what each of them says."""

    label: str
    reasons: Mapping[tuple[str, Span], str] = field(default_factory=dict)


def workspace_edit(view: View, change: Change, doubt: Doubt | None = None) -> types.WorkspaceEdit:
    """The edit that does the change in the editor."""
    view.check_writable()
    _check_possible(view, change)
    doubt = doubt or Doubt("")
    if not view.client.document_changes:
        changes: dict[str, list[types.TextEdit]] = {}
        for file in change.edits:
            for edit in file.edits:
                changes.setdefault(view.uri(file.path, edit.span), []).append(_plain(view, file.path, edit))
        return types.WorkspaceEdit(changes=changes)
    annotations = _Annotations(doubt)
    done: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        edit for file in change.edits for edit in _document_edits(view, file, annotations)
    ]
    for creation in change.creations:
        done += [
            types.CreateFile(view.uri(creation.path)),
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri=view.uri(creation.path), version=None),
                [types.TextEdit(_START, creation.text)],
            ),
        ]
    done += [types.RenameFile(view.uri(move.old), view.folder.uri_of(move.new)) for move in change.moves]
    done += [types.DeleteFile(view.uri(deletion.path)) for deletion in change.deletions]
    return types.WorkspaceEdit(document_changes=done, change_annotations=annotations.used or None)


def say_encodings(views: Views, view: View, change: Change) -> None:
    """Tell the user of closed files that an editor may read, and then write, in another encoding than theirs."""
    told = []
    for file in change.edits:
        if file.path in view.opened:
            continue
        document = view.snapshot.document(file.path)
        if document.errors != "strict":
            told.append(f"{file.path} has bytes that are not {document.encoding}")
        elif document.encoding != "utf-8" and not document.encode().isascii():
            told.append(f"{file.path} is in {document.encoding}")
    if told:
        views.say(
            f"look whether your editor reads them so, before you save: {'; '.join(told)}. "
            "The command lsptools.rename writes files itself, each in its own encoding"
        )


_AnyEdit = types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit
_START = types.Range(types.Position(0, 0), types.Position(0, 0))


class _Annotations:
    """The annotations in use, each made when first needed."""

    def __init__(self, doubt: Doubt) -> None:
        self._doubt = doubt
        self.used: dict[str, types.ChangeAnnotation] = {}

    def of(self, name: str, edit: TextEdit) -> str | None:
        reason = self._doubt.reasons.get((name, edit.span))
        if reason is None:
            return None
        identity = f"possible: {reason}"
        self.used[identity] = types.ChangeAnnotation(
            label=self._doubt.label, needs_confirmation=True, description=reason
        )
        return identity


def _document_edits(
    view: View, file: FileEdits, annotations: _Annotations
) -> Iterator[types.TextDocumentEdit]:
    """One entry for a file, or one for each cell of a notebook."""
    by_document: dict[str, tuple[int | None, list[_AnyEdit]]] = {}
    for edit in file.edits:
        uri, version = view.uri(file.path, edit.span), view.version(file.path, edit.span)
        plain, annotation = _plain(view, file.path, edit), annotations.of(file.path, edit)
        by_document.setdefault(uri, (version, []))[1].append(
            plain if annotation is None else types.AnnotatedTextEdit(annotation, plain.range, plain.new_text)
        )
    for uri, (version, edits) in by_document.items():
        yield types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version), edits
        )


def _plain(view: View, name: str, edit: TextEdit) -> types.TextEdit:
    return types.TextEdit(view.range(name, edit.span), edit.new_text)


def _check_possible(view: View, change: Change) -> None:
    wanted = {
        kind
        for kind, needed in (
            ("rename", change.moves),
            ("create", change.creations),
            ("delete", change.deletions),
        )
        if needed
    }
    missing = wanted - (view.client.resource_operations if view.client.document_changes else frozenset())
    if missing:
        raise Rejected(
            FAILED,
            f"{change.label or 'the change'} has to {' and '.join(sorted(missing))} files, which this editor cannot do "
            "on a server's behalf (workspaceEdit.resourceOperations); half of the change would break the code",
        )
