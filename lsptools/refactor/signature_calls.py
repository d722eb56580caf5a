"""What one call has to become when the parameters of its function change.

The call's arguments are bound to the parameters as they are, and written down again for the parameters as they will be: each
parameter that stays gets the expression it has. An argument that no longer follows the ones before it is given by keyword.
Nothing is guessed: where unpacked arguments may fill what changes, the call cannot be decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsptools.languages.python.arguments import DOUBLE_STAR, KEYWORD, POSITIONAL, Argument, Bound
from lsptools.languages.python.classes import Parameter
from lsptools.refactor.separated import Element
from lsptools.refactor.signature_request import Added, Entry, SignatureEdit


@dataclass(slots=True)
class Rewritten:
    """The arguments of a call as they are to be, or why that cannot be known."""

    elements: tuple[Element, ...] = ()
    stays: dict[str, tuple[Argument, ...]] = field(default_factory=dict)
    """What each parameter gets that stays."""
    gives: dict[str, str] = field(default_factory=dict)
    """What new parameters get."""
    undecided: str = ""
    """Why the call cannot be rewritten."""
    danger: str = ""
    """What the rewritten call does otherwise than the one before, beside the change that was asked for."""
    needs: str = ""
    """A new parameter that the call has to give, and for which no value was said."""
    is_changed: bool = False


def rewrite(
    edit: SignatureEdit,
    before: Sequence[Parameter],
    after: Sequence[Entry],
    bound: Bound,
    n_filled: int,
) -> Rewritten:
    """Write a call's arguments for the parameters `after`; they are bound to those `before`."""
    return _Writer(edit, before, after, bound, n_filled).written()


class _Writer:
    def __init__(
        self,
        edit: SignatureEdit,
        before: Sequence[Parameter],
        after: Sequence[Entry],
        bound: Bound,
        n_filled: int,
    ) -> None:
        self.edit = edit
        self.before = before
        self.after = after
        self.bound = bound
        self.n_filled = n_filled
        self.numbers = {argument.start: number for number, argument in enumerate(bound.arguments)}
        self.added: dict[str, Added] = {each.name: each for each in edit.added}
        self.gap = False
        """Was a parameter left out, so that those behind it cannot be given by place?"""
        self.positional: list[Element] = []
        self.named: list[Element] = []
        """Arguments that were given by place and are given by keyword now."""
        self.new: list[Element] = []
        """Arguments of new parameters that are given by keyword."""
        self.out = Rewritten()

    def written(self) -> Rewritten:
        out = self.out
        out.undecided = self._unknown()
        if out.undecided:
            return out
        self._by_place()
        self._by_keyword()
        kept = [a for a in self.bound.arguments if a.kind != POSITIONAL and not self._is_removed(a)]
        late = [self._element(a) for a in kept if a.kind == DOUBLE_STAR]
        early = [self._element(a) for a in kept if a.kind != DOUBLE_STAR]
        out.elements = (*self.positional, *self.named, *early, *self.new, *late)
        origins = [element.origin for element in out.elements]
        is_prefixed = any(element.text for element in out.elements if element.origin is not None)
        out.is_changed = is_prefixed or origins != list(range(len(self.bound.arguments)))
        out.danger = out.danger or self._effects(out.elements)
        self._expect()
        return out

    # ------------------------------------------------------------------ what cannot be known

    def _unknown(self) -> str:
        if self.bound.left_over or self.bound.missing:
            return "the call does not fit the parameters as they are"
        for name in sorted(self.edit.removed):
            if self.bound.may_be_filled(self.before, name):
                return f"`{name}` may be given by unpacked arguments"
        rest = next((each.name for each in self.before if each.kind == "kwargs"), None)
        for added in self.edit.added:
            given = [a for a in self.bound.by_parameter.get(rest or "", ()) if a.name == added.name]
            if given:
                return f"it gives `{added.name}` already, which goes to `**{rest}` now"
            if rest is not None and self.bound.open_keywords and not self.edit.is_harmless:
                return f"unpacked keywords may give `{added.name}` already"
        return self._unknown_places() if self.bound.open_from is not None else ""

    def _unknown_places(self) -> str:
        """Unpacked positional arguments: what they may fill has to stay in its place."""
        start = self.bound.open_from
        assert start is not None, "the caller asked"
        old = [each.name for each in self.before if each.kind in ("positional", "either")]
        new = [each.name for each in self.after if each.kind in ("positional", "either")]
        head = [name for name in old[:start] if name not in self.edit.removed]
        tail = old[start:]
        spills = any(each.kind == "args" for each in self.before)
        rest = new[len(head) :]
        same_head = set(new[: len(head)]) == set(head)
        added_behind = all(name in self.added and not spills for name in rest[len(tail) :])
        if same_head and rest[: len(tail)] == tail and added_behind:
            return ""
        return "unpacked arguments may fill parameters that change their places"

    # ------------------------------------------------------------------ writing

    def _by_place(self) -> None:
        names = [entry for entry in self.after if entry.kind in ("positional", "either")]
        rest_name = next((each.name for each in self.before if each.kind == "args"), "")
        rest = () if rest_name in self.edit.removed else self.bound.by_parameter.get(rest_name, ())
        for entry in names[self.n_filled :]:
            argument = self.bound.of(entry.name) if entry.name not in self.added else None
            if entry.name in self.added:
                self._give_new(self.added[entry.name], must=bool(rest))
            elif argument is None or argument.kind == KEYWORD:
                self.gap = True
            elif not self.gap:
                self.positional.append(self._element(argument))
            elif entry.kind == "either" and not rest:
                self.named.append(self._element(argument, f"{entry.name}="))
            else:
                self.out.undecided = f"`{entry.name}` cannot be given by keyword"
        for argument in rest:
            if self.gap:
                self.out.undecided = f"what goes to `*{rest_name}` would fill a parameter that is left out"
            self.positional.append(self._element(argument))

    def _give_new(self, added: Added, *, must: bool) -> None:
        """The argument of a new positional parameter."""
        text = added.argument or (added.default if must else "")
        if must and not added.argument and added.default:
            self.out.danger = (
                f"`{added.name}` has to be given here, since arguments for `*` follow: its default is"
            )
        if not text:
            if not added.default:
                self.out.needs = added.name
            self.gap = True
            return
        self.out.gives[added.name] = text
        if self.gap or self.bound.open_from is not None:
            self.new.append(Element(f"{added.name}={text}"))
        else:
            self.positional.append(Element(text))

    def _by_keyword(self) -> None:
        for added in self.edit.added:
            if not added.keyword_only:
                continue
            if added.argument:
                self.new.append(Element(f"{added.name}={added.argument}"))
                self.out.gives[added.name] = added.argument
            elif not added.default:
                self.out.needs = added.name

    def _element(self, argument: Argument, text: str = "") -> Element:
        return Element(text, self.numbers[argument.start])

    def _is_removed(self, argument: Argument) -> bool:
        return any(argument in self.bound.by_parameter.get(name, ()) for name in self.edit.removed)

    # ------------------------------------------------------------------ what is said of it

    def _effects(self, elements: Sequence[Element]) -> str:
        """An expression that does something and goes, or two that change their order."""
        arguments = self.bound.arguments
        kept = [element.origin for element in elements if element.origin is not None]
        for number, argument in enumerate(arguments):
            if argument.has_effects and number not in kept:
                return f"`{_short(argument.text)}` would not be evaluated any more"
        active = [number for number in kept if arguments[number].has_effects]
        if active != sorted(active):
            texts = " and ".join(f"`{_short(arguments[number].text)}`" for number in sorted(active)[:2])
            return f"{texts} would be evaluated in another order"
        return ""

    def _expect(self) -> None:
        for parameter in self.before:
            given = self.bound.by_parameter.get(parameter.name, ())
            if given and parameter.name not in self.edit.removed:
                self.out.stays[parameter.name] = given


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "…"
