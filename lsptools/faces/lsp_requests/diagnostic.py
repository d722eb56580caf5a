"""`textDocument/diagnostic`: what is wrong with a file; with a result id, so that "as before" is a short answer.

For clients that do not ask, the server publishes the same after each change (`lsp_server`).
"""

from __future__ import annotations

from hashlib import blake2b

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.search.problems import SYNTAX, problems


def diagnostic(
    views: Views, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    view = views.of(params.text_document.uri)
    items = diagnostics_of(view, view.name(params.text_document.uri))
    identity = blake2b(repr(items).encode("utf-8", "replace"), digest_size=8).hexdigest()
    if identity == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identity)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=identity)


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
                    inter_file_dependencies=True, workspace_diagnostics=False, identifier="lsptools"
                )
            }
            if client.pulls_diagnostics
            else {}
        ),
        if_nothing_there=_nothing,
    ),
)
