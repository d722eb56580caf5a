"""`textDocument/prepareTypeHierarchy`, `typeHierarchy/supertypes` and `subtypes`: direct bases, and classes that have the
class as a base."""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_requests import SLOW, Request, null
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import FilePosition
from lsptools.languages.python.callables import classes_of
from lsptools.languages.python.classes import Class
from lsptools.languages.python.references import Target
from lsptools.search import hierarchy


def prepare(views: Views, params: types.TypeHierarchyPrepareParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    return [_item(view, cls) for cls in classes_of(view.finder, view.finder.target(place))]


def supertypes(views: Views, params: types.TypeHierarchySupertypesParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.item.uri)
    return [_item(view, base) for base in hierarchy.supertypes(view.finder, _target(view, params.item))]


def subtypes(views: Views, params: types.TypeHierarchySubtypesParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.item.uri)
    return [_item(view, cls) for cls in hierarchy.subtypes(view.finder, _target(view, params.item))]


def _target(view: View, item: types.TypeHierarchyItem) -> Target:
    at = view.offset(item.uri, item.selection_range.start)
    return view.finder.target(FilePosition(view.name(item.uri), at))


def _item(view: View, cls: Class) -> types.TypeHierarchyItem:
    source = cls.source
    return types.TypeHierarchyItem(
        name=cls.name,
        kind=types.SymbolKind.Class,
        uri=view.uri(source.path, cls.name_span),
        range=view.range(source.path, source.span(cls.start, cls.end)),
        selection_range=view.range(source.path, cls.name_span),
        detail=view.finder.project.dotted_name(source.path),
    )


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY,
        "typeHierarchy",
        prepare,
        capabilities=lambda _client: {"type_hierarchy_provider": True},
        if_nothing_there=null,
    ),
    Request(types.TYPE_HIERARCHY_SUPERTYPES, "typeHierarchy", supertypes, if_nothing_there=null),
    Request(types.TYPE_HIERARCHY_SUBTYPES, "typeHierarchy", subtypes, lane=SLOW, if_nothing_there=null),
)
