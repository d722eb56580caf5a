"""`textDocument/diagnostic`, `workspace/diagnostic`: what is wrong with a file, or with any; with a result id, so that "as before"
is a short answer.

For clients that do not ask, the server publishes the same after each change (`lsp_server`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b

from lsprotocol import types

from lsptools.faces.lsp_documents import key_of
from lsptools.faces.lsp_requests import BROAD, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.search.problems import SYNTAX, problems

FILES_AT_ONCE = 64
"""After so many files their trees are let go."""


def diagnostic(
    views: Views, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    view = views.of(params.text_document.uri)
    items = diagnostics_of(view, view.name(params.text_document.uri))
    identity = _identity(items)
    if identity == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identity)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=identity)


def workspace_diagnostic(
    views: Views, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """A report per file with problems, and per file that had some when the client asked last."""
    known = {key_of(each.uri): each.value for each in params.previous_result_ids}
    seen: set[str] = set()
    reports = [report for view in views.all() for report in _reports(view, known, seen)]
    gone = (each.uri for each in params.previous_result_ids if key_of(each.uri) not in seen)
    reports += [types.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=[]) for uri in gone]
    return types.WorkspaceDiagnosticReport(reports)


Report = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


def _reports(view: View, known: Mapping[str, str], seen: set[str]) -> Iterator[Report]:
    """Those of a folder; `seen` gets the keys of all of its files."""
    globs = tuple(f"*{suffix}" for suffix in PYTHON_SUFFIXES)
    for number, name in enumerate(view.snapshot.files(globs=globs), 1):
        view.snapshot.checkpoint()
        if view.is_notebook(name):
            continue
        items, uri = diagnostics_of(view, name), view.uri(name)
        seen.add(key_of(uri))
        identity, before = _identity(items), known.get(key_of(uri))
        if number % FILES_AT_ONCE == 0:
            view.forget_trees()
        if before == identity:
            yield types.WorkspaceUnchangedDocumentDiagnosticReport(
                uri=uri, result_id=identity, version=view.version(name)
            )
        elif items or before is not None:
            yield types.WorkspaceFullDocumentDiagnosticReport(
                uri=uri, items=items, version=view.version(name), result_id=identity
            )


def _identity(items: list[types.Diagnostic]) -> str:
    return blake2b(repr(items).encode("utf-8", "replace"), digest_size=8).hexdigest()


def diagnostics_of(view: View, name: str) -> list[types.Diagnostic]:
    """The problems of a file of the folder; files outside of the workspace have none."""
    if not name.endswith(PYTHON_SUFFIXES) or not view.folder.writable:
        return []
    return [
        types.Diagnostic(
            range=view.range(name, problem.span),
            message=problem.says,
            severity=types.DiagnosticSeverity.Error
            if problem.kind == SYNTAX
            else types.DiagnosticSeverity.Warning,
            code=problem.kind,
            source="lsptools",
        )
        for problem in problems(view.finder.project, name)
    ]


def _nothing() -> types.RelatedFullDocumentDiagnosticReport:
    return types.RelatedFullDocumentDiagnosticReport(items=[])


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        "diagnostics",
        diagnostic,
        capabilities=lambda client: (
            {
                "diagnostic_provider": types.DiagnosticOptions(
                    inter_file_dependencies=True,
                    workspace_diagnostics=client.checks_workspace,
                    identifier="lsptools",
                )
            }
            if client.pulls_diagnostics
            else {}
        ),
        if_nothing_there=_nothing,
    ),
    Request(
        types.WORKSPACE_DIAGNOSTIC,
        "diagnostics",
        workspace_diagnostic,
        lane=BROAD,
        about_everything=True,
    ),
)
