"""`textDocument/prepareTypeHierarchy`, `typeHierarchy/supertypes` and `subtypes`: direct bases, and classes that have the
class as a base."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from lsptools.errors import BadRequest
from lsptools.faces.lsp_requests import SLOW, Request, null
from lsptools.faces.lsp_requests.type_definition import name_end
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Evidence, FilePosition, References
from lsptools.languages.python.classes import Class, class_of
from lsptools.languages.python.closure import variable_at
from lsptools.languages.python.references import Target
from lsptools.languages.python.roles import Role


def prepare(views: Views, params: types.TypeHierarchyPrepareParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    return [_item(view, cls) for cls in _classes(view, view.finder.target(place))]


def supertypes(views: Views, params: types.TypeHierarchySupertypesParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.item.uri)
    classes = _classes(view, _target(view, params.item))
    bases = dict.fromkeys(base for cls in classes for base in view.finder.evaluator.base_classes(cls))
    return [_item(view, base) for base in bases]


def subtypes(views: Views, params: types.TypeHierarchySubtypesParams) -> list[types.TypeHierarchyItem]:
    view = views.of(params.item.uri)
    found = view.finder.account(_target(view, params.item), only_python=True).references
    return [_item(view, cls) for cls in subclasses(view, found)]


def subclasses(view: View, found: References) -> Iterator[Class]:
    """The classes among whose bases a class is named."""
    for each in found.occurrences:
        if each.evidence not in (Evidence.CERTAIN, Evidence.LIKELY) or not each.path.endswith(
            (".py", ".pyi")
        ):
            continue
        source = view.finder.project.source(each.path)
        if source is None:
            continue
        path, _ = source.descend(source.byte(each.span.start))
        for index, (_, field) in enumerate(path):
            if field == "superclasses" and index:
                # A base is a name, the end of a dotted one, or what is subscripted; not an argument or keyword.
                cls = class_of(source, path[index - 1][0])
                if any(source.byte(each.span.start) >= base.start_byte for base in cls.base_nodes):
                    yield cls


def _target(view: View, item: types.TypeHierarchyItem) -> Target:
    at = view.offset(item.uri, item.selection_range.start)
    return view.finder.target(FilePosition(view.name(item.uri), at))


def _classes(view: View, target: Target) -> list[Class]:
    """The classes that the target's declarations are."""
    found: list[Class] = []
    for root in target.roots:
        variable = variable_at(view.finder.project, root)
        for site in variable.sites if variable is not None else ():
            if variable is not None and site.role is Role.CLASS:
                found.append(class_of(variable.source, site.path[-2][0]))
    if not found:
        raise BadRequest("not_a_symbol", f"`{target.name}` is no class")
    return found


def _item(view: View, cls: Class) -> types.TypeHierarchyItem:
    source = cls.source
    return types.TypeHierarchyItem(
        name=cls.name,
        kind=types.SymbolKind.Class,
        uri=view.uri(source.path),
        range=view.range(source.path, source.span(cls.start, cls.end)),
        selection_range=view.range(source.path, source.span(cls.name_start, name_end(cls))),
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
