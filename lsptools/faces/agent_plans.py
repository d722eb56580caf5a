"""Plans of previews, kept until they are done: what `apply` does is exactly what was shown, or nothing.

A plan's id is made from the plan itself (every edit, and the digest of every file it was made from), so the same preview has the
same id, and another one has not. What is kept is bounded; a plan that was dropped has to be made again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from lsptools.errors import BadRequest, Refused, Stale
from lsptools.tools.base import Answer, Context, Tool
from lsptools.tools.writing import Writing
from lsptools.workspace.change import Change, stale_error

if TYPE_CHECKING:
    from lsptools.edit.plan import Plan
    from lsptools.tools.changes import ChangeAnswer

MOST_PLANS = 64
MOST_CHARACTERS = 32_000_000
"""Of all new texts in plans that are kept."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan that can be done later."""

    root: Path
    tool: str
    """The declared tool that made it."""
    change: Change
    do: Callable[[Context, Writing], Answer]
    size: int


class Plans:
    """The plans of one server, the oldest first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def keep(self, tool: Tool[Any], answer: Answer, params: object, context: Context) -> str | None:
        """The id of the plan that a preview has made; `None` if it made none (it would change nothing)."""
        change: Change = answer.plan.change  # type: ignore[attr-defined]  # every tool with `diff` has one
        if not change:
            return None
        root = context.snapshot.root.path
        plan = answer.plan  # type: ignore[attr-defined]  # as above
        doing = _editing(plan) if hasattr(plan, "files") else _planning_again(tool, answer, params)
        kept = Kept(root, tool.name, change, doing, _size(change))
        id = blake2b(repr((str(root), change)).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        with self._lock:
            self._kept[id] = kept
            self._kept.move_to_end(id)
            while len(self._kept) > 1 and (
                len(self._kept) > MOST_PLANS
                or sum(each.size for each in self._kept.values()) > MOST_CHARACTERS
            ):
                self._kept.popitem(last=False)
        return id

    def of(self, id: str, root: Path) -> Kept:
        """The plan with this id, made in this workspace."""
        with self._lock:
            found = self._kept.get(id)
            latest = next(reversed(self._kept), None)
        if found is None:
            hint = f"the last plan is {latest}" if latest else "a call with dry_run=true makes one"
            raise BadRequest("not_found", f"there is no plan {id!r}", hint=hint)
        if found.root != root:
            raise BadRequest(
                "invalid", f"plan {id} is for another workspace", hint=f'send root="{found.root}" with it'
            )
        return found


def _size(change: Change) -> int:
    texts = sum(len(edit.new_text) for file in change.edits for edit in file.edits)
    return texts + sum(len(file.text) for file in change.creations) + 1


def _editing(plan: Plan) -> Callable[[Context, Writing], ChangeAnswer]:
    """Digests of every file concerned are in the change; whoever applies it compares them."""

    def do(context: Context, asked: Writing) -> ChangeAnswer:
        from lsptools.tools.changes import change

        return change(context, [file.target.name for file in plan.files], lambda: plan, asked)

    return do


def _planning_again(tool: Tool[Any], answer: Any, params: Any) -> Callable[[Context, Writing], Answer]:
    """A change of a symbol rests on files that it does not touch, too: it is planned once more, and must come to the same.

    The answers of such tools (`rename`, `move`) have a plan with a `Change`, and what was made of it.
    """
    change: Change = answer.plan.change

    def do(context: Context, asked: Writing) -> Answer:
        from lsptools.tools.refactoring import carry_out

        try:
            again: Any = tool.run(context, replace(params, diff=True, verify=None))  # as `answer`
        except (BadRequest, Refused) as error:
            raise Stale(
                "stale", f"the plan cannot be made any more: {error.message}", hint="make the preview again"
            ) from error
        if again.plan.change != change:
            raise stale_error(_differing(change, again.plan.change), "is not what the plan was made from")
        answered: Answer = carry_out(context, again, asked)
        return answered

    return do


def _differing(old: Change, new: Change) -> list[str]:
    then, now = ({file.path: file for file in change.edits} for change in (old, new))
    paths = [path for path in {**then, **now} if then.get(path) != now.get(path)]
    return paths or sorted({*old.paths(), *new.paths()})
