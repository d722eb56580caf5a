"""The story: three renames of a small shop, and one of a package that is installed.

Each scene checks what it says. The scenes of the shop say the same on every machine, for they are in the picture; what the
last one says depends on the version of the package.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from examples.demo.bench import Bench, Printed, contents
from examples.demo.painting import Place, counted
from examples.demo.stage import Broken, Stage
from lsptools.errors import Refused, Site
from lsptools.languages.names import Evidence, References
from lsptools.text.lines import Offset, Span, UserPos
from lsptools.tools.base import Positions

SHOP = Path(__file__).parent.parent / "shop"
PACKAGE = "rich"
"""The installed package of which a copy is refactored: it draws the demo itself."""
OLD_CLASS, NEW_CLASS = "Style", "Appearance"
PROGRAM = Path(__file__).parent / "program.py"
"""What is run on the copy of the package."""


# ------------------------------------------------------------------ the shop


def shop(stage: Stage, home: Path) -> None:
    """The scenes of the shop."""
    bench = Bench(SHOP, home, "shop")
    before = bench.python("-m", "shop")
    _two_letters(stage, bench, before, home)
    with stage.out_of_picture():
        _overrides(stage, bench, before)
    _captured(stage, bench)


def _two_letters(stage: Stage, bench: Bench, before: Printed, home: Path) -> None:
    """A field with a name of two letters."""
    stage.act("User.id shall be User.user_id")
    with stage.out_of_picture():
        stage.tell("A small package, examples/shop, and what it prints:")
        stage.command("python -m shop")
        stage.output(before.out)
        stage.promise("it runs", before.exit_code == 0, before.error)
    found = _evidence(stage, bench, "lsptools refs shop.models.User.id", at_most=40)
    n_words = _count(r"\bid\b", bench.bytes())
    stage.promise(
        f"each of the {n_words} words `id` in the package is accounted for (counted by other means)",
        found.complete and len(found.occurrences) == n_words,
    )
    with stage.out_of_picture():
        _replace_all(stage, bench, before, home)
    command = "lsptools rename shop.models.User.id user_id"
    stage.command(command)
    error = _refused(bench, command)
    stage.refusal(error.kind, _possible_places(error, bench), error.hint)
    stage.promise("nothing was written", bench.bytes() == contents(SHOP))
    stage.tell("A person looks: `newest` is only ever given users. So that one is included.")
    _rename(stage, bench, f"{command} --possible include", before, pictured="shop/payments.py")


def _replace_all(stage: Stage, bench: Bench, before: Printed, home: Path) -> None:
    """What replacing text would have done."""
    files = bench.bytes()
    letters = bench.replaced("id", "user_id", home, "letters").python("-m", "shop")
    words = bench.replaced(r"\bid\b", "user_id", home, "words").python("-m", "shop")
    hit = sorted(
        {word.decode() for text in files.values() for word in re.findall(rb"\w*id\w*", text)} - {"id"}
    )
    changed = next((line for line in words.out.split("\n") if "user_id" in line), "")
    stage.tell("What replacing text would have done, tried on copies:")
    rows = [
        ("all letters `id`", str(_count("id", files)), letters.last_words),
        ("all words `id`", str(_count(r"\bid\b", files)), changed),
    ]
    stage.table(("replace", "places", "and then `python -m shop` says"), (20, 8, 70), rows)
    stage.promise(
        f"by letters it no longer starts; also hit: {', '.join(hit)}",
        letters.exit_code != 0 and "uuuser_id" in letters.error,
    )
    stage.promise(
        "by words it runs, but bookkeeping gets another key, and nobody is told; also hit: Order.id",
        words.exit_code == 0 and words.out != before.out,
    )


def _overrides(stage: Stage, bench: Bench, before: Printed) -> None:
    """A method that subclasses override."""
    stage.act("Provider.fee shall be surcharge, with its overrides")
    found = _evidence(stage, bench, "lsptools refs shop.payments.Provider.fee", at_most=40)
    owners = sorted(symbol.qualified.split(".")[-2] for symbol in found.declarations)
    stage.promise(
        f"one name, declared in {', '.join(f'`{owner}`' for owner in owners)}",
        owners == ["Card", "Invoice", "Provider"],
    )
    _rename(stage, bench, "lsptools rename shop.payments.Card.fee surcharge", before)


def _captured(stage: Stage, bench: Bench) -> None:
    """A name that is free where the symbol is defined, and not where it is used."""
    stage.act("vat shall be tax: refused")
    command = "lsptools rename shop.pricing.vat tax"
    stage.command(command)
    error = _refused(bench, command)
    positions = bench.context().positions
    places = [(_place(positions, site), site.says) for conflict in error.conflicts for site in conflict.sites]
    stage.refusal(error.kind, places, error.hint)
    stage.promise("nothing was written", error.kind == "name_capture" and bench.bytes() == contents(SHOP))


# ------------------------------------------------------------------ an installed package


def package(stage: Stage, home: Path) -> None:
    """The scene of a package that others wrote."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise Broken(f"{PACKAGE} is not installed")
    installed = Path(spec.origin).parent
    untouched = contents(installed)
    bench = Bench(installed, home, "package", inside=PACKAGE)
    before = bench.python(str(PROGRAM))
    stage.act(f"A copy of {PACKAGE}, the package that draws this: {OLD_CLASS} shall be {NEW_CLASS}")
    stage.tell("A program draws with the copy, and says with which classes:")
    stage.output(before.out)
    stage.promise("it runs, with the copy", before.exit_code == 0 and OLD_CLASS in before.out)
    found = _evidence(stage, bench, f"lsptools refs {PACKAGE}.style.{OLD_CLASS}", at_most=12)
    n_letters = _count(
        OLD_CLASS, {path: text for path, text in bench.bytes().items() if path.endswith(".py")}
    )
    stage.tell(f"The letters `{OLD_CLASS}` stand in {n_letters} places.")
    counts = found.counts()
    stage.promise(
        "nothing is left to guess", found.complete and not counts["possible"] and not counts["likely"]
    )
    renamed = before.out.replace(f"class {OLD_CLASS}", f"class {NEW_CLASS}")
    _rename(
        stage,
        bench,
        f"lsptools rename {PACKAGE}.style.{OLD_CLASS} {NEW_CLASS}",
        Printed(renamed, "", 0),
        program=(str(PROGRAM),),
        says=f"the program runs and draws the same, and the class is called {NEW_CLASS}",
        n_diff_lines=24,
    )
    stage.promise("the installed package was not touched", contents(installed) == untouched)


# ------------------------------------------------------------------ steps that scenes have in common


def _evidence(stage: Stage, bench: Bench, command: str, *, at_most: int) -> References:
    """Show a command `refs`, and its answer."""
    stage.command(command)
    answer = bench.run(command)
    found: References = answer.references
    stage.evidence(found, answer.positions.lines, at_most=at_most)
    return found


def _rename(
    stage: Stage,
    bench: Bench,
    command: str,
    expected: Printed,
    *,
    program: tuple[str, ...] = ("-m", "shop"),
    says: str = "`python -m shop` prints what it printed before",
    pictured: str = "",
    n_diff_lines: int = 200,
) -> None:
    """Show the diff of a rename, prove it, do it, run the program, and take it back."""
    before = bench.bytes()
    stage.command(f"{command} --diff")
    answer = bench.run(f"{command} --diff")
    stage.diff(answer.diff, pictured=pictured, at_most=n_diff_lines)
    stage.promise("nothing was written yet", bench.bytes() == before)
    stage.command(command)
    answer = bench.run(command)
    for line in answer.plan.proof:
        stage.promise(f"proof: {line.says}", line.ok)
    changed = {path for path, content in bench.bytes().items() if content != before[path]}
    stage.promise(
        f"{counted(len(changed), 'file')} written, all or none",
        changed == {file.path for file in answer.applied.files},
    )
    after = bench.python(*program)
    stage.promise(says, after == expected, after.out + after.error)
    stage.command("lsptools undo")
    bench.run("lsptools undo")
    stage.promise("every byte is as it was before", bench.bytes() == before)


def _refused(bench: Bench, command: str) -> Refused:
    """The refusal of a command that must be refused."""
    try:
        bench.run(command)
    except Refused as error:
        return error
    raise Broken(f"{command} should have been refused")


def _possible_places(error: Refused, bench: Bench) -> Iterator[tuple[Place, str]]:
    """The occurrences that have to be decided on."""
    positions = bench.context().positions
    if isinstance(error.details, References):
        for each in error.details.occurrences:
            if each.evidence is Evidence.POSSIBLE:
                yield Place.of(positions.lines(each.path), each.path, each.span), each.reason


def _place(positions: Positions, site: Site) -> Place:
    lines = positions.lines(site.path)
    start = lines.offset_from_user(UserPos(site.line, site.column))
    word = re.compile(r"\w*").match(lines.text, start)
    end = word.end() if word else start
    return Place.of(lines, site.path, Span(start, Offset(end)))


def _count(pattern: str, files: Mapping[str, bytes]) -> int:
    return sum(len(re.findall(pattern.encode(), text)) for text in files.values())
