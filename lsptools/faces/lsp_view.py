"""What a request works on: the workspace as the editor had it when it asked, with positions in the editor's units.

A `Moment` is frozen by the reader; a lane makes a `View` of a folder from it, whose snapshot has every open document of
the folder laid over the disk. What was parsed for earlier requests is kept by the lane and used again where the text is
the same (`Kept`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FuturesTimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsptools.errors import BadRequest, Refused, Site, Unavailable
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_documents import Opened, is_inside_character, key_of, path_of
from lsptools.faces.lsp_folders import Folder, Folders
from lsptools.faces.lsp_notebooks import Joined, Notebook, joined
from lsptools.languages.names import FilePosition
from lsptools.languages.python.references import Finder
from lsptools.languages.python.scopes import Source
from lsptools.search.definitions import Definitions
from lsptools.text.document import Document
from lsptools.text.lines import (
    Lines,
    LspPos,
    Offset,
    PositionEncoding,
    Span,
    n_utf8_bytes,
    n_utf16_units,
)
from lsptools.workspace.disk import Derived
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import realpath
from lsptools.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsptools.tools.base import Context
    from lsptools.workspace.journal import State
    from lsptools.workspace.paths import Root

KEPT_BYTES = 32 << 20
"""So much source stays parsed in each lane, per folder."""
KEPT_TREES = 8 << 20
"""So much of it keeps its trees."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What the editor had told when it asked."""

    client: Client
    documents: Mapping[str, Opened]
    folders: Folders
    generation: int
    notebooks: Mapping[str, Notebook] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Services:
    """What a request may do beside answering."""

    tell: Callable[[str, object], None]
    """Send a notification."""
    ask: Callable[[str, object], Future[Any]]
    """Send a request to the editor."""
    state: Callable[[Root], State]
    """Journal and locks of a folder."""
    context: Callable[[Root], Context]
    """What the tools of the command line work on in a folder: files as they are on the disk."""


class Kept:
    """What a lane keeps from one request to the next, by folder."""

    def __init__(self) -> None:
        self._derived: dict[Path, dict[str, Derived]] = {}

    def derived(self, folder: Folder) -> dict[str, Derived]:
        """What was made of the documents of a folder, for its next snapshot."""
        return self._derived.setdefault(folder.root.path, {})

    def trim(self, *, interrupted: bool) -> None:
        """Between requests: let go of what is too much, and of what was half done when a request was interrupted."""
        for derived in self._derived.values():
            n_bytes = n_trees = 0
            for path, source in reversed(list(derived.items())):
                if not isinstance(source, Source):
                    continue
                if interrupted:
                    source.memo.clear()
                n_bytes += len(source.bytes)
                has_tree = "tree" in vars(source)
                n_trees += len(source.bytes) if has_tree else 0
                if n_bytes > KEPT_BYTES:
                    del derived[path]
                elif has_tree and n_trees > KEPT_TREES:
                    source.release()


class Views:
    """The folders of a moment, as one request sees them."""

    def __init__(
        self, moment: Moment, kept: Kept, services: Services, checkpoint: Callable[[], None]
    ) -> None:
        self.moment = moment
        self.services = services
        self.client = moment.client
        self._kept = kept
        self._checkpoint = checkpoint
        self._views: dict[Path, View] = {}

    def say(self, message: str) -> None:
        """Show the user something beside the answer."""
        shown = types.ShowMessageParams(types.MessageType.Warning, message)
        self.services.tell(types.WINDOW_SHOW_MESSAGE, shown)

    def note(self, message: str) -> None:
        """Put something into the editor's log."""
        noted = types.LogMessageParams(types.MessageType.Info, message)
        self.services.tell(types.WINDOW_LOG_MESSAGE, noted)

    def wait(self, asked: Future[Any], *, limit_s: float = 60.0) -> Any:  # plain JSON
        """The editor's result to a request of ours; `Unavailable` if it takes longer."""
        for _ in range(int(limit_s * 10)):
            self._checkpoint()
            with suppress(TimeoutError, FuturesTimeoutError):
                return asked.result(timeout=0.1)
        raise Unavailable("timed_out", f"the editor did not answer within {limit_s:.0f} s")

    @cached_property
    def _cells(self) -> Mapping[str, Notebook]:
        """The notebook of each cell."""
        return {key_of(cell): each for each in self.moment.notebooks.values() for cell in each.cells}

    def check_no_cell(self, params: object) -> None:
        """`not_found` for a request about a cell of a notebook."""
        document = getattr(params, "text_document", None)
        if document is not None and key_of(document.uri) in self._cells:
            raise BadRequest("not_found", "this is not known of a cell of a notebook")

    def of(self, uri: str) -> View:
        """The view of the folder that a document, or the notebook of a cell, belongs to."""
        notebook = self._cells.get(key_of(uri))
        path = path_of(uri) if notebook is None else notebook.path
        folder = self.moment.folders.of(path) if path is not None else None
        if folder is None:
            raise BadRequest(
                "outside_workspace", f"{uri} is no file", hint="save it in a folder of the workspace"
            )
        return self._view(folder)

    def all(self) -> Iterator[View]:
        """One view per folder of the workspace."""
        return map(self._view, self.moment.folders.all)

    def _view(self, folder: Folder) -> View:
        known = self._views.get(folder.root.path)
        if known is None:
            derived = self._kept.derived(folder)
            known = self._views[folder.root.path] = View(self.moment, folder, derived, self._checkpoint)
        return known


class View:
    """One folder at one moment."""

    def __init__(
        self, moment: Moment, folder: Folder, derived: dict[str, Derived], checkpoint: Callable[[], None]
    ) -> None:
        self.client = moment.client
        self.folder = folder
        self._lines: dict[str, Lines] = {}
        self._uris: dict[str, str] = {}
        self.opened: dict[str, Opened] = {}
        """The open documents of the folder, by the names of their files."""
        for document in moment.documents.values():
            name = folder.name_of(document.path) if document.path is not None else None
            if name is not None:
                self.opened[name] = document
        self._notebooks: dict[str, Joined] = {}
        self._cells: dict[str, str] = {}
        """The module of each cell."""
        for notebook in moment.notebooks.values():
            self._add(notebook, moment.documents)
        self.snapshot = Snapshot(
            folder.root,
            LocalOperations(),
            folder.rg,
            {name: document.text for name, document in self.opened.items()},
            folder.search_path,
            checkpoint=checkpoint,
            derived=derived,
        )

    def _add(self, notebook: Notebook, documents: Mapping[str, Opened]) -> None:
        found = self.folder.name_of(notebook.path) if notebook.path is not None else None
        module = joined(notebook, documents) if found is not None else None
        if module is None:
            return
        name = f"{found}.py"
        self._notebooks[name] = module
        self._cells.update((key_of(cell.uri), name) for cell in module.cells)
        self.opened[name] = Opened(notebook.uri, notebook.path, "python", notebook.version, module.text)

    def is_notebook(self, name: str) -> bool:
        """Is it the module that the cells of a notebook are?"""
        return name in self._notebooks

    @cached_property
    def finder(self) -> Finder:
        """Answers about names in the snapshot."""
        return Finder(self.snapshot)

    @cached_property
    def definitions(self) -> Definitions:
        """What the files of the snapshot define."""
        return Definitions(self.finder)

    def forget_trees(self) -> None:
        """Let go of what was parsed so far; it is parsed again where it is needed."""
        for source in (self.snapshot.derived or {}).values():
            if isinstance(source, Source):
                source.release()

    # In

    def name(self, uri: str) -> str:
        """The file that a URI names, relative to the folder; of a cell, the module that its notebook is."""
        if key_of(uri) in self._cells:
            return self._cells[key_of(uri)]
        path = path_of(uri)
        name = self.folder.name_of(path) if path is not None else None
        if name is None:
            raise BadRequest("outside_workspace", f"{uri} is not in {self.folder.uri}")
        return name

    def document(self, uri: str) -> Document:
        """The text of a document, as the editor has it."""
        return self.snapshot.document(self.name(uri))

    def offset(self, uri: str, position: types.Position) -> Offset:
        """Where a position is. Past the end of a line means its end."""
        at = self._at(uri, position)
        return self.document(uri).lines.offset_from_lsp(at, self.client.encoding)

    def _at(self, uri: str, position: types.Position) -> LspPos:
        """A position as one of the file; of a cell, as one of its module."""
        module = self._notebooks.get(self._cells.get(key_of(uri), ""))
        if module is None:
            return LspPos(position.line, position.character)
        start, n_lines = module.start_of(uri)
        if position.line >= n_lines:  # the end of the cell
            return LspPos(start + n_lines - 1, len(module.text))
        return LspPos(start + position.line, position.character)

    def place(self, uri: str, position: types.Position) -> FilePosition:
        """The place of a name that is asked about; inside a character there is none."""
        lines = self.document(uri).lines
        if is_inside_character(lines, self._at(uri, position), self.client.encoding):
            raise BadRequest("not_a_symbol", "the position is inside of a character, where no name is")
        return FilePosition(self.name(uri), self.offset(uri, position))

    # Out

    def lines(self, name: str) -> Lines:
        """The lines of a file of the folder, or of one outside by its absolute name."""
        known = self._lines.get(name)
        if known is None:
            outside = Path(name) if Path(name).is_absolute() else None
            document = self.snapshot.external_document(outside) if outside else self.snapshot.document(name)
            known = self._lines[name] = document.lines
        return known

    def range(self, name: str, span: Span) -> types.Range:
        """A span as the editor counts; in a notebook, from the beginning of the cell."""
        found = range_of(self.lines(name), span, self.client)
        module = self._notebooks.get(name)
        if module is None:
            return found
        first = module.cell_at(self.lines(name), span)[1]
        start, end = found.start, found.end
        return types.Range(
            types.Position(start.line - first, start.character),
            types.Position(end.line - first, end.character),
        )

    def uri(self, name: str, span: Span | None = None) -> str:
        """The URI of a file, spelled as the editor spells it; of a span in a notebook, that of the cell."""
        if span is not None and name in self._notebooks:
            return self._notebooks[name].cell_at(self.lines(name), span)[0].uri
        known = self._uris.get(name)
        if known is None:
            opened = self.opened.get(name)
            known = self._uris[name] = opened.uri if opened is not None else self.folder.uri_of(name)
        return known

    def location(self, name: str, span: Span) -> types.Location:
        return types.Location(self.uri(name, span), self.range(name, span))

    def version(self, name: str, span: Span | None = None) -> int | None:
        """The version of an open document, or of the cell with a span; None for a file on the disk."""
        if span is not None and name in self._notebooks:
            return self._notebooks[name].cell_at(self.lines(name), span)[0].version
        opened = self.opened.get(name)
        return opened.version if opened is not None else None

    def check_writable(self, uri: str | None = None) -> None:
        """Files outside of the workspace's folders are never changed, also if a link in a folder leads to them."""
        if self.folder.writable:
            return
        path = path_of(uri) if uri is not None else None
        real = realpath(path) if path is not None else self.folder.path
        says = f"{path} leads to {real}, which is" if path not in (None, real) else f"{real} is"
        raise Refused(
            "outside_workspace",
            f"{says} outside of the workspace, and is not changed",
            hint="open the folder that holds it as a folder of the workspace",
            sites=(Site(real, 1, 1, "is outside of the workspace"),),
        )


def range_of(lines: Lines, span: Span, client: Client) -> types.Range:
    """A span of a text as the editor counts."""
    start = lines.lsp_from_offset(span.start, client.encoding)
    covered = lines.text[span.start : span.end]
    if "\n" in covered or "\r" in covered:
        end = lines.lsp_from_offset(span.end, client.encoding)
    else:  # a name, almost always: there may be very many
        end = LspPos(start.line, start.character + _N_UNITS[client.encoding](covered))
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


_N_UNITS = {
    PositionEncoding.UTF8: n_utf8_bytes,
    PositionEncoding.UTF16: n_utf16_units,
    PositionEncoding.UTF32: len,
}
