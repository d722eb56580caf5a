"""Where the demo is shown: titles, commands, tables of evidence, diffs, promises.

Everything goes to one console and, unless a scene is out of the picture, to a second one that records. The picture is made
from the second, which does not depend on the terminal, the environment or the time.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from examples.demo.painting import LINE, STYLE, Place, columns, counted, diff, indented, prose
from lsptools.languages.names import Evidence, References
from lsptools.text.lines import Lines

WIDTH = 110
"""Columns, of the picture and at most of the terminal."""


class Broken(Exception):
    """Something was not as promised."""


class Stage:
    """What is shown, in the order of the calls."""

    def __init__(self) -> None:
        self._console = _terminal()
        self._picture = Console(
            file=io.StringIO(),
            record=True,
            width=WIDTH,
            height=100,
            force_terminal=True,
            force_jupyter=False,
            color_system="truecolor",
            legacy_windows=False,
            no_color=False,
            highlight=False,
        )
        self._pictured = True
        self.n_kept = 0
        """How many promises were kept so far."""

    @contextmanager
    def out_of_picture(self) -> Iterator[None]:
        """What is shown in the block is not recorded."""
        before, self._pictured = self._pictured, False
        try:
            yield
        finally:
            self._pictured = before

    def svg(self) -> str:
        """What was recorded, as a picture that loads nothing from elsewhere."""
        svg = self._picture.export_svg(title="lsptools", unique_id="lsptools", clear=False)
        return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).rstrip() + "\n"

    # ------------------------------------------------------------------ words

    def title(self, text: str) -> None:
        """Above everything."""
        self._show(Text(text, style="bold"))

    def act(self, text: str) -> None:
        """Above a part."""
        self._show(Text(), Rule(Text(f" {text} ", style="bold magenta"), align="left", style="magenta"))

    def tell(self, text: str) -> None:
        """A sentence."""
        self._show(Text(), prose(text))

    def command(self, text: str) -> None:
        """A command line that is carried out next."""
        self._show(Text(), Text.assemble(("$ ", "bright_black"), (text, "bold")))

    def output(self, text: str) -> None:
        """What a program printed."""
        self._show(indented(Text(text.rstrip("\n"), style="bright_black")))

    def promise(self, says: str, kept: bool, otherwise: str = "") -> None:
        """Something that has been checked; the demo ends here if it does not hold, with what was seen instead."""
        if not kept:
            self._show(indented(Text(f"✗ {says}", style="bold red")))
            raise Broken(f"{says}\n{otherwise}".rstrip())
        self._show(indented(Text.assemble(("✓ ", "bold green"), prose(says))))
        self.n_kept += 1

    def failure(self, text: str) -> None:
        """Why the demo ends early."""
        self._show(Text(), Text(text, style="bold red"))

    # ------------------------------------------------------------------ answers

    def evidence(self, references: References, lines_of: Callable[[str], Lines], *, at_most: int) -> None:
        """Occurrences with their class and reason, those that matter first, and how many there are of each class."""
        order = list(Evidence)
        occurrences = sorted(references.occurrences, key=lambda each: order.index(each.evidence))
        step = -(-len(occurrences) // at_most)
        table = columns((24, LINE, 9, 34), ("place", "line", "class", "because"))
        for each in occurrences[::step]:
            place = Place.of(lines_of(each.path), each.path, each.span)
            style = STYLE[each.evidence]
            reason = prose(each.reason, style if each.evidence is Evidence.UNRELATED else "default")
            table.add_row(place.where, place.painted(style), Text(each.evidence.value, style), reason)
        self._show(indented(table, above=1))
        if step > 1:
            self._show(indented(Text(f"… one in {step}; the others are found alike", "bright_black")))
        counts = [Text(f"{n} {name}", STYLE[Evidence(name)]) for name, n in references.counts().items() if n]
        total = Text(" · ", "bright_black").join(counts)
        self._show(indented(total.append(f" in {counted(references.n_files, 'file')}", "default"), above=1))

    def table(self, heads: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> None:
        """A table of anything."""
        table = columns(widths, heads)
        for row in rows:
            table.add_row(*row)
        self._show(indented(table, above=1))

    def refusal(self, kind: str, places: Iterable[tuple[Place, str]], hint: str) -> None:
        """A refusal, with the lines concerned and what is to be said of each."""
        table = columns((24, LINE, 42))
        for place, says in places:
            table.add_row(place.where, place.painted("yellow"), prose(says))
        self._show(indented(Text.assemble(("refused ", "bold red"), (kind, "bold"))), indented(table))
        self._show(indented(Text.assemble(("hint ", "cyan"), prose(hint))))

    def diff(self, text: str, *, pictured: str, at_most: int) -> None:
        """A unified diff of at most so many lines. In the picture is the file `pictured` only."""
        whole = text.removesuffix("\n").split("\n")
        _print_diff(self._console, whole[:at_most], len(whole))
        if self._pictured:
            files = [part.removesuffix("\n").split("\n") for part in re.split(r"(?m)^(?=diff )", text)[1:]]
            (chosen,) = (lines for lines in files if lines[0].endswith(f"b/{pictured}"))
            _print_diff(self._picture, chosen, len(whole))

    def _show(self, *shown: RenderableType) -> None:
        for each in shown:
            self._console.print(each)
            if self._pictured:
                self._picture.print(each)


def _terminal() -> Console:
    """The console of whoever looks: colour as terminal and NO_COLOR have it; as wide as the picture where it can be."""
    console = Console(highlight=False)
    is_narrow = console.is_terminal and console.width < WIDTH
    return console if is_narrow else Console(highlight=False, width=WIDTH)


def _print_diff(console: Console, lines: Sequence[str], n_lines: int) -> None:
    console.print(indented(diff(lines)))
    if len(lines) < n_lines:
        more = f"… and {counted(n_lines - len(lines), 'line')} more"
        console.print(indented(Text(more, "bright_black")))
