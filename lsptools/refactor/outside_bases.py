"""Members of classes with a base that was not found: that may declare the member too, or call it by its name.

Nothing can be looked up there, so nothing is refused; whoever renames is told, once. Private names are left out: bases
do not share them. Where it stops: a base that was found is looked at (`closure`), a metaclass is not.
"""

from __future__ import annotations

from lsptools.languages.python import closure
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.references import Account, Finder


def notes_on_bases(account: Account, finder: Finder) -> tuple[str, ...]:
    """A sentence about the bases that were not found, if a member of their subclasses is renamed."""
    name = account.target.name
    if name.startswith("_"):
        return ()
    found = (closure.class_at(finder.project, root) for root in sorted(account.family, key=by_place))
    bases = {
        f"`{owner.source.text(node)}` of `{cls.name}`": None
        for cls in found
        if cls is not None
        for owner, node in finder.evaluator.missing_bases(cls)
    }
    if not bases:
        return ()
    said = ", ".join(list(bases)[:3]) + (", …" if len(bases) > 3 else "")
    return (
        f"the base {said} was not found: if it declares `{name}`, or calls it, it will not find it any more",
    )
