"""The server: state that the reader keeps, and requests that it hands to the lanes.

The reader (one thread) takes notifications at once and in order; a request gets the state of that moment and goes to a
lane. When what its answer would speak of has changed meanwhile, `ContentModified` is sent, as soon as that is known. Requests
of ours that need nothing but the state (`lsptools/documentText`) are answered by the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lsprotocol import types

from lsptools.errors import BadRequest
from lsptools.faces import lsp_errors
from lsptools.faces.environment import Environment
from lsptools.faces.lsp_client import Client, client_of, settings_of
from lsptools.faces.lsp_documents import Documents, Replacement, is_unsaved
from lsptools.faces.lsp_errors import Rejected, log
from lsptools.faces.lsp_folders import Folders
from lsptools.faces.lsp_lanes import Job, Lane
from lsptools.faces.lsp_notebooks import Notebooks
from lsptools.faces.lsp_parent import watch
from lsptools.faces.lsp_progress import Progress
from lsptools.faces.lsp_protocol import Begin, Conversation, Handlers, Tell
from lsptools.faces.lsp_requests import BROAD, NOTEBOOKS, QUICK, SLOW, Request, all_requests
from lsptools.faces.lsp_requests.diagnostic import diagnostics_of
from lsptools.faces.lsp_view import Kept, Moment, Services, Views
from lsptools.faces.lsp_wire import Writer
from lsptools.text.lines import LspPos
from lsptools.version import __version__

DOCUMENT_TEXT = "lsptools/documentText"
DIAGNOSTICS = "diagnostics"
WATCHED = "**/*.{py,pyi,pyw}"


class Server:
    """One server, for one client."""

    def __init__(self, environment: Environment, writer: Writer, on_orphaned: Callable[[], None]) -> None:
        self._on_orphaned = on_orphaned
        """Called when the editor's process is gone."""
        self._unwatch: Callable[[], None] = lambda: None
        self._documents = Documents()
        self._notebooks = Notebooks()
        self._folders = Folders(environment)
        self._client = Client()
        self._disabled: frozenset[str] = frozenset()
        self._lanes = {name: Lane(name) for name in (QUICK, SLOW, BROAD)}
        self._kept = {name: Kept() for name in self._lanes}
        self._requests = tuple(all_requests())
        self._asked: dict[Hashable, _Asked] = {}
        """Requests in the lanes, by who waits. A lane takes out what it has answered."""
        self.conversation = Conversation(self._handlers(), writer)
        self._services = Services(
            self.conversation.tell, self.conversation.ask, environment.state, environment.context
        )

    # The start

    def _initialize(self, who: Hashable, params: types.InitializeParams, tell: Tell) -> None:
        self._client = client_of(params)
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        self._folders.add(uris)
        self._disabled = self._client.disabled
        self.conversation.stage = "running"
        if params.process_id is not None:
            self._unwatch = watch(params.process_id, self._on_orphaned)
        tell(types.InitializeResult(self._capabilities(), types.ServerInfo("lsptools", __version__)), None)

    def _capabilities(self) -> types.ServerCapabilities:
        members: dict[str, Any] = {}  # each of a type of its own
        for request in self._requests:
            if request.feature not in self._disabled:
                members.update(request.capabilities(self._client))
        return types.ServerCapabilities(
            position_encoding=types.PositionEncodingKind(self._client.encoding.value),
            text_document_sync=types.TextDocumentSyncOptions(
                open_close=True,
                change=types.TextDocumentSyncKind.Incremental,
                save=types.SaveOptions(include_text=False),
            ),
            notebook_document_sync=_CELLS if self._takes_notebooks else None,
            **_with_workspace(members),
        )

    def _initialized(self, _params: object) -> None:
        if self._client.watches_files:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
            registration = types.Registration(
                "watched-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
            )
            self.conversation.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))

    def _shutdown(self, _who: Hashable, _params: object, tell: Tell) -> None:
        self.conversation.stage, self.conversation.exit_code = "shut", 0
        tell(None, None)
        self._close_lanes()

    def close(self) -> None:
        """No more answers, and nobody is watched any more."""
        self._unwatch()
        self._close_lanes()

    def _close_lanes(self) -> None:
        for lane in self._lanes.values():
            lane.close()

    # Documents and folders

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._documents.add(document.uri, str(document.language_id), document.version, document.text)
        self._publish(document.uri)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        changes = [_replacement(change) for change in params.content_changes]
        if not self._documents.change(document.uri, document.version, changes, self._client.encoding):
            log.warning("a change of %s was dropped: it is not open, or newer", document.uri)
            return
        self._publish(document.uri)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if self._documents.close(uri) and self._publishes:
            self.conversation.tell(
                types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, types.PublishDiagnosticsParams(uri, [])
            )

    # Notebooks

    @property
    def _takes_notebooks(self) -> bool:
        return self._client.has_notebooks and NOTEBOOKS not in self._disabled

    def _notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        notebook = params.notebook_document
        self._add_cells(params.cell_text_documents)
        cells = tuple(cell.document for cell in notebook.cells)
        self._notebooks.add(notebook.uri, notebook.version, cells)

    def _notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        notebook, cells = params.notebook_document, params.change.cells
        structure = cells.structure if cells is not None else None
        if structure is not None:
            for closed in structure.did_close or ():
                self._documents.close(closed.uri)
            self._add_cells(structure.did_open or ())
        for each in (cells.text_content if cells is not None else None) or ():
            changes = [_replacement(change) for change in each.changes]
            self._documents.change(each.document.uri, each.document.version, changes, self._client.encoding)
        array = structure.array if structure is not None else None
        self._notebooks.change(notebook.uri, notebook.version, array)
        self._documents.touch()

    def _notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self._documents.close(cell.uri)
        self._notebooks.close(params.notebook_document.uri)

    def _add_cells(self, cells: Iterable[types.TextDocumentItem]) -> None:
        for cell in cells:
            self._documents.add(cell.uri, str(cell.language_id), cell.version, cell.text)

    # Diagnostics, for clients that do not ask for them

    @property
    def _publishes(self) -> bool:
        return not self._client.pulls_diagnostics and DIAGNOSTICS not in self._disabled

    def _publish(self, uri: str) -> None:
        """Find out what is wrong with a document and publish it, unless it changes meanwhile."""
        opened = self._documents.get(uri)
        if opened is None or opened.path is None or not self._publishes:
            return
        moment = self._moment()

        def work(job: Job) -> object:
            if self._documents.generation != moment.generation:
                return None  # the next change has a job of its own
            view = Views(moment, self._kept[QUICK], self._services, job.checkpoint).of(uri)
            items = diagnostics_of(view, view.name(uri))
            return types.PublishDiagnosticsParams(opened.uri, items, version=opened.version)

        def told(found: object, error: BaseException | None) -> None:
            if error is not None:
                log.warning("diagnostics of %s: %s", uri, error)
            elif found is not None and self._documents.get(uri) == opened:
                self.conversation.tell(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, found)

        self._lanes[QUICK].submit((DIAGNOSTICS, uri), (DIAGNOSTICS, uri, moment.generation), work, told)

    def _touched(self, _params: object) -> None:
        self._documents.touch()

    def _configured(self, params: types.DidChangeConfigurationParams) -> None:
        """New settings; which features there are was settled in the beginning."""
        settings = settings_of(params.settings)
        if settings:
            self._client = replace(self._client, settings=settings)
            self._documents.touch()

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        self._folders.remove(folder.uri for folder in params.event.removed)
        self._folders.add(folder.uri for folder in params.event.added)
        self._documents.touch()

    def _document_text(self, _who: Hashable, params: object, tell: Tell) -> None:
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        if not isinstance(uri, str):
            raise Rejected(
                lsp_errors.INVALID_PARAMS, f'the params of {DOCUMENT_TEXT} are {{"textDocument": {{"uri"}}}}'
            )
        opened = self._documents.get(uri)
        if opened is None:
            raise BadRequest("not_found", f"{uri} is not open")
        tell({"text": opened.text, "version": opened.version}, None)

    # Requests

    def _handlers(self) -> Handlers:
        requests: dict[str, Begin] = {request.method: self._begin(request) for request in self._requests}
        return Handlers(
            {
                **requests,
                types.INITIALIZE: self._initialize,
                types.SHUTDOWN: self._shutdown,
                DOCUMENT_TEXT: self._document_text,
            },
            {
                types.INITIALIZED: self._initialized,
                types.TEXT_DOCUMENT_DID_OPEN: self._and_tell_outdated(self._opened),
                types.TEXT_DOCUMENT_DID_CHANGE: self._and_tell_outdated(self._changed),
                types.TEXT_DOCUMENT_DID_CLOSE: self._and_tell_outdated(self._closed),
                types.TEXT_DOCUMENT_DID_SAVE: self._touched,
                types.NOTEBOOK_DOCUMENT_DID_OPEN: self._and_tell_outdated(self._notebook_opened),
                types.NOTEBOOK_DOCUMENT_DID_CHANGE: self._and_tell_outdated(self._notebook_changed),
                types.NOTEBOOK_DOCUMENT_DID_SAVE: self._touched,
                types.NOTEBOOK_DOCUMENT_DID_CLOSE: self._and_tell_outdated(self._notebook_closed),
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._touched,
                types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configured,
                types.WORKSPACE_DID_RENAME_FILES: self._touched,
                types.WORKSPACE_DID_CREATE_FILES: self._touched,
                types.WORKSPACE_DID_DELETE_FILES: self._touched,
                types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
            },
            self._leave,
        )

    def _leave(self, who: Hashable) -> bool:
        self._asked.pop(who, None)
        return any(lane.leave(who) for lane in self._lanes.values())

    def _moment(self) -> Moment:
        return Moment(
            self._client,
            self._documents.all(),
            self._folders.frozen(),
            self._documents.generation,
            self._notebooks.all(),
        )

    def _begin(self, request: Request) -> Begin:
        def begin(who: Hashable, params: Any, tell: Tell) -> None:  # those of the method
            if request.feature in self._disabled:
                raise Rejected(
                    lsp_errors.METHOD_NOT_FOUND, f"{request.feature} is switched off in the settings"
                )
            moment = self._moment()
            key = (request.method, repr(params), moment.generation)
            self._asked[who] = _Asked(request, moment, params, tell)
            self._lanes[request.lane].submit(
                who,
                key,
                lambda job: self._work(request, moment, params, job),
                self._fresh(who, request, moment, params, tell),
            )

        return begin

    def _work(self, request: Request, moment: Moment, params: Any, job: Job) -> object:
        kept = self._kept[request.lane]
        views = Views(moment, kept, self._services, job.checkpoint)
        progress = Progress(self.conversation.tell, params)
        finished = False
        progress.begin(request.feature)
        try:
            if not request.in_cells:
                views.check_no_cell(params)
            answer = request.answer(views, params)
            finished = True
        except BadRequest as error:
            if request.if_nothing_there is None or error.kind not in lsp_errors.NOTHING_THERE:
                raise
            answer = request.if_nothing_there()
            finished = True
        finally:
            kept.trim(interrupted=not finished)
            progress.end()
        return progress.told_in_parts(answer) if request.in_parts else answer

    def _fresh(self, who: Hashable, request: Request, moment: Moment, params: Any, tell: Tell) -> Tell:
        """Tells the answer, unless what it speaks of has changed since."""

        def told(answer: object, error: BaseException | None) -> None:
            self._asked.pop(who, None)
            if error is None and (
                self._is_outdated(request, moment, params)
                or (request.about_everything and self._is_more_unsaved(moment))
            ):
                error = _modified()
            tell(answer, error)

        return told

    def _is_more_unsaved(self, moment: Moment) -> bool:
        """Has a document been opened since whose text is not that of the file, which the answer is about?"""
        now = self._documents.all()
        return any(is_unsaved(now[key]) for key in now.keys() - moment.documents.keys())

    def _and_tell_outdated(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Takes a notification; then whoever waits for an answer that cannot be given any more is told so."""

        def taken(params: Any) -> None:  # those of the method
            take(params)
            for who, asked in list(self._asked.items()):
                if self._is_outdated(asked.request, asked.moment, asked.params):
                    self._leave(who)
                    asked.tell(None, _modified())

        return taken

    def _is_outdated(self, request: Request, moment: Moment, params: Any) -> bool:
        now = self._documents.all()
        if request.about_everything:
            others = any(now.get(key) != document for key, document in moment.documents.items())
            return others or moment.notebooks != self._notebooks.all()
        document = getattr(params, "text_document", None)
        if document is None:
            return False
        before = next((d for d in moment.documents.values() if d.uri == document.uri), None)
        after = self._documents.get(document.uri)
        return before is not None and after is not None and before.version != after.version


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request on its way."""

    request: Request
    moment: Moment
    params: Any
    """Those of the method."""
    tell: Tell


def _modified() -> Rejected:
    return Rejected(lsp_errors.CONTENT_MODIFIED, "the text was changed meanwhile")


_CELLS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])], save=True
)


def _replacement(
    change: types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument,
) -> Replacement:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return Replacement(change.text)
    start, end = change.range.start, change.range.end
    return Replacement(change.text, LspPos(start.line, start.character), LspPos(end.line, end.character))


def _with_workspace(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members, those of `workspace` put together."""
    done = dict(members)
    done["workspace"] = types.WorkspaceOptions(
        workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True),
        file_operations=done.pop("file_operations", None),
    )
    return done
