"""`textDocument/typeDefinition`: the classes that the value of what stands here may have, as far as they are derived."""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import Views
from lsptools.languages.python.receivers import Evaluator
from lsptools.languages.python.roles import BINDING, Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.values import ClassValue, InstanceValue, SuperValue, Types


def type_definition(views: Views, params: types.TypeDefinitionParams) -> list[types.Location]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    found = _values(view.finder.evaluator, target.source, target.site)
    classes = dict.fromkeys(
        value.cls for value in found.values if isinstance(value, (ClassValue, InstanceValue, SuperValue))
    )
    return [view.location(cls.source.path, cls.name_span) for cls in classes]


def _values(evaluator: Evaluator, source: Source, site: Site) -> Types:
    if site.role in BINDING:
        return evaluator.binding(source, site)
    if site.role is Role.ATTRIBUTE and site.leaf.parent is not None:
        return evaluator.at(source, site.leaf.parent)
    return evaluator.at(source, site.leaf)


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_TYPE_DEFINITION,
        "typeDefinition",
        type_definition,
        in_cells=True,
        capabilities=lambda _client: {"type_definition_provider": True},
        if_nothing_there=list,
    ),
)
