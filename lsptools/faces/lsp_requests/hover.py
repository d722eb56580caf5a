"""`textDocument/hover`: what stands here, where it comes from, its docstring, and how that is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lsprotocol import types

from lsptools.faces.lsp_requests import Request, null
from lsptools.faces.lsp_requests.definition import file_of
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Symbol
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.references import Target
from lsptools.syntax.outline import Item, flat, outline
from lsptools.syntax.quiet import quiet
from lsptools.text.document import Document

LONGEST_DOCSTRING = 40
"""Lines."""
FEWER = 12
"""So many declarations at most are told of one name."""


def hover(views: Views, params: types.HoverParams) -> types.Hover | None:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    roots = sorted(target.roots, key=by_place)
    symbols = [view.finder.symbol_of(root, target.name) for root in roots]
    parts = [part for symbol in symbols[:FEWER] for part in _told(view, symbol)]
    meaning = view.finder.meanings.of(target.source, target.site)
    if meaning.says:
        parts.append(f"Known because: {meaning.says}.")
    if not meaning.complete:
        parts.append(f"It may be something else, too: {meaning.unknown}.")
    if not views.client.markdown:
        parts = [part.removeprefix("```python\n").removesuffix("\n```") for part in parts]
    kind = types.MarkupKind.Markdown if views.client.markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n\n".join(parts)), _range(view, place.path, target))


def _range(view: View, name: str, target: Target) -> types.Range:
    return view.range(name, target.source.span(target.site.start, target.site.end))


def _told(view: View, symbol: Symbol) -> Iterator[str]:
    if symbol.kind == "builtin":
        yield f"```python\n{symbol.name}\n```"
        yield f"{symbol.kind} `{symbol.qualified}`"
        return
    name = file_of(view, symbol)
    document = _document(view, name)
    item = _item_at(document, symbol) if document is not None else None
    yield f"```python\n{_signature(document, symbol, item)}\n```"
    where = name
    if document is not None and symbol.kind != "module":
        where += f":{document.lines.user_from_offset(symbol.span.start)}"
    yield f"{symbol.kind} `{symbol.qualified}` · {where}"
    docstring = (
        _docstring(document, item) if document is not None and (item or symbol.kind == "module") else ""
    )
    if docstring:
        yield docstring


def _document(view: View, name: str) -> Document | None:
    source = view.finder.project.source(name)
    return source.document if source is not None else None


def _item_at(document: Document, symbol: Symbol) -> Item | None:
    found = (item for _, item in flat(outline(document)) if item.name_span == symbol.span)
    return next(found, None)


def _signature(document: Document | None, symbol: Symbol, item: Item | None) -> str:
    if symbol.kind == "module":
        return f"module {symbol.qualified}"
    if item is not None:
        return item.signature
    if document is None:
        return symbol.name
    return document.lines.line_text(document.lines.line_of(symbol.span.start)).strip()


def _docstring(document: Document, item: Item | None) -> str:
    """The string that a definition, or the module, begins with; of source that does not parse, none."""
    text = document.text if item is None else document.text[item.span.start : item.span.end]
    if item is not None:
        indent = item.span.start - document.lines.starts[document.lines.line_of(item.span.start)]
        text = " " * indent + text if indent else text
        text = f"if True:\n{text}" if indent else text
    try:
        with quiet():
            tree: ast.AST = ast.parse(text.replace("\r\n", "\n").replace("\r", "\n"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    if item is not None:
        found = next((node for node in ast.walk(tree) if isinstance(node, documented)), None)
        return _cut(ast.get_docstring(found) or "") if found is not None else ""
    return _cut(ast.get_docstring(tree) or "") if isinstance(tree, ast.Module) else ""


def _cut(docstring: str) -> str:
    lines = docstring.split("\n")
    return docstring if len(lines) <= LONGEST_DOCSTRING else "\n".join([*lines[:LONGEST_DOCSTRING], "…"])


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_HOVER,
        "hover",
        hover,
        in_cells=True,
        capabilities=lambda _client: {"hover_provider": True},
        if_nothing_there=null,
    ),
)
