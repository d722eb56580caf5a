"""What the editor said it can do, read off `initialize` once.

Invariant: nothing is sent that the client did not declare. Where it declares nothing, the protocol's oldest form is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from lsptools.text.lines import PositionEncoding


@dataclass(frozen=True, slots=True)
class Client:
    """The client's abilities and settings."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    """`create`, `rename`, `delete`."""
    annotations: bool = False
    """Change annotations, which let the user confirm edits."""
    location_links: bool = False
    nested_symbols: bool = False
    markdown: bool = False
    watches_files: bool = False
    progress: bool = False
    pulls_diagnostics: bool = False
    applies_edits: bool = False
    refreshes_diagnostics: bool = False
    prepares_rename: bool = False
    code_action_literals: bool = False
    """Are code actions more to it than commands?"""
    resolves_edits: bool = False
    """May the edit of a code action come later?"""
    shows_disabled: bool = False
    """Are code actions that cannot be had shown, with the reason?"""
    has_notebooks: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`initializationOptions`, or what `workspace/didChangeConfiguration` sent since; any JSON."""

    @property
    def shows_possible(self) -> bool:
        """Are references wanted that may be the symbol and cannot be known to be: `{"references": {"possible": true}}`?"""
        references = self.settings.get("references")
        return isinstance(references, dict) and references.get("possible") is True

    @property
    def checks_workspace(self) -> bool:
        """Are diagnostics of all files wanted, not only of open ones: `{"diagnostics": {"workspace": true}}`?"""
        diagnostics = self.settings.get("diagnostics")
        return isinstance(diagnostics, dict) and diagnostics.get("workspace") is True

    @property
    def disabled(self) -> frozenset[str]:
        """Features that the user leaves to another server: `{"disable": ["hover", …]}`."""
        names = self.settings.get("disable")
        return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def client_of(params: types.InitializeParams) -> Client:
    """The abilities that `initialize` declares."""
    declared = params.capabilities
    text, workspace = declared.text_document, declared.workspace
    edits = workspace.workspace_edit if workspace else None
    rename = text.rename if text else None
    symbols = text.document_symbol if text else None
    hover = text.hover if text else None
    definition = text.definition if text else None
    watched = workspace.did_change_watched_files if workspace else None
    pulled = workspace.diagnostics if workspace else None
    action = text.code_action if text else None
    options = params.initialization_options
    return Client(
        encoding=_encoding(declared.general),
        document_changes=bool(edits and edits.document_changes),
        resource_operations=frozenset(
            str(getattr(kind, "value", kind)) for kind in ((edits and edits.resource_operations) or ())
        ),
        annotations=bool(edits and edits.change_annotation_support)
        and bool(rename and rename.honors_change_annotations),
        location_links=bool(definition and definition.link_support),
        nested_symbols=bool(symbols and symbols.hierarchical_document_symbol_support),
        markdown=bool(hover and types.MarkupKind.Markdown in (hover.content_format or ())),
        watches_files=bool(watched and watched.dynamic_registration),
        progress=bool(declared.window and declared.window.work_done_progress),
        pulls_diagnostics=bool(text and text.diagnostic),
        applies_edits=bool(workspace and workspace.apply_edit),
        refreshes_diagnostics=bool(pulled and pulled.refresh_support),
        prepares_rename=bool(rename and rename.prepare_support),
        code_action_literals=bool(action and action.code_action_literal_support),
        resolves_edits=bool(
            action
            and action.data_support
            and action.resolve_support
            and "edit" in action.resolve_support.properties
        ),
        shows_disabled=bool(action and action.disabled_support),
        has_notebooks=declared.notebook_document is not None,
        settings=settings_of(options),
    )


def settings_of(options: object) -> Mapping[str, Any]:
    """The settings in any JSON; editors that send those of all servers have ours under `lsptools`."""
    if not isinstance(options, dict):
        return {}
    own = options.get("lsptools", options)
    return own if isinstance(own, dict) else {}


def _encoding(general: types.GeneralClientCapabilities | None) -> PositionEncoding:
    """The first of the client's choices that there is; what is agreed on is what is used everywhere."""
    for offered in (general.position_encodings or ()) if general else ():
        for known in PositionEncoding:
            if str(getattr(offered, "value", offered)) == known.value:
                return known
    return PositionEncoding.UTF16
