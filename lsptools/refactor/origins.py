"""What a name stands for behind an import under another name: `import numpy as np`, `from m import helper as h`.

For a rename such a name is a symbol of its own; whether two files mean the same by it is decided by what they import.
"""

from __future__ import annotations

from lsptools.languages.python.meaning import Meanings, Root
from lsptools.languages.python.modules import Variable
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Source


def origins(meanings: Meanings, roots: frozenset[Root]) -> frozenset[Root]:
    """The roots, with those that only name an import replaced by what is imported."""
    return frozenset().union(*(_origin(meanings, root) for root in roots))


def _origin(meanings: Meanings, root: Root) -> frozenset[Root]:
    source = meanings.project.source(root.path) if root.kind == "variable" and root.start == -1 else None
    if source is None:
        return frozenset({root})
    sites = Variable(source, source.module_scope, root.name).sites
    if len(sites) != 1 or sites[0].role is not Role.IMPORT_ALIAS:
        return frozenset({root})
    found = meanings.project.imported(source, sites[0])
    if found:
        return meanings.found(found, "").roots
    return frozenset({Root("builtin", "builtins", -1, _written(source, root))})


def _written(source: Source, root: Root) -> str:
    """An import that leads nowhere is known by its text."""
    site = Variable(source, source.module_scope, root.name).sites[0]
    statement = site.ancestor("import_statement", "import_from_statement")
    module = statement.child_by_field_name("module_name") if statement is not None else None
    original = site.leaf.parent.child_by_field_name("name") if site.leaf.parent is not None else None
    return ".".join(source.text(node) for node in (module, original) if node is not None)
