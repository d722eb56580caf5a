"""`kill -9` at every step: afterwards the workspace is old or new, never something between, and nothing lies around."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from casefile import Entry, File, Folder, Link, Tree
from changing import Bench, Stop, bench, in_a_process_that_dies, kill_self, quick_folder

from lsptools.errors import Refused
from lsptools.faces.render import Look, answer_text
from lsptools.text.document import digest_of
from lsptools.tools.base import Context
from lsptools.tools.history import TOOL
from lsptools.workspace.change import Change, Creation, Deletion, Move
from lsptools.workspace.journal import history, recover, undo

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork to kill"),
    # Python warns of threads that a fork does not have; the forks here start none and wait for none.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

N_FILES = 20


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    # `kill -9` does not ask what the disk has.
    with quick_folder(tmp_path) as made:
        yield made


def twenty_files(folder: Path) -> tuple[Bench, Change]:
    at = bench(folder, {f"p{n % 3}/m{n}.py": File(b"x = %d\r\n" % n, 0o755) for n in range(N_FILES)})
    return at, Change(tuple(at.replacing(path, "x", "yy") for path in at.tree if path.endswith(".py")))


def all_sorts(folder: Path) -> tuple[Bench, Change]:
    """Every kind of step, and empty files that look the same before and after."""
    at = bench(
        folder,
        {
            "p/__init__.py": b"",
            "p/a.py": b"x",
            "p/sub/b.py": b"x",
            "only/c.py": b"",
            "d.py": b"x",
            "e.py": b"",
            "f.py": b"f",
            "g.py": b"g",
            "p/gone.py": b"",
        },
    )
    change = Change(
        edits=(at.replacing("p/a.py", "x", "y"), at.replacing("d.py", "x", "y")),
        moves=(
            Move("p", "q"),
            Move("p/sub/b.py", "q/b.py"),
            Move("only/c.py", "r/s/c.py"),
            Move("e.py", "r/e.py"),
            Move("f.py", "h.py"),
            Move("g.py", "f.py"),
        ),
        creations=(Creation("e.py", ""), Creation("p/__init__.py", ""), Creation("t/u/new.py", "new")),
        deletions=(at.deleting("p/gone.py"),),
    )
    return at, change


def puzzle(folder: Path) -> tuple[Bench, Change]:
    """Names that are left are taken again, so that they alone say nothing about how far the moves have come."""
    at = bench(folder, {"a.py": b"", "p/__init__.py": b"", "p/m.py": b"", "q/k.py": b"", "e/x.py": b""})
    moves = [("a.py", "n/c.py"), ("q", "r"), ("p", "q"), ("p/__init__.py", "a.py"), ("e/x.py", "p/x.py")]
    return at, Change(moves=tuple(Move(old, new) for old, new in moves))


def exchange(folder: Path) -> tuple[Bench, Change]:
    """Names trade places, links and folders go, and new files take their names."""
    files: dict[str, bytes | Entry] = {"a": b"", "b": b"", "p/x": b"", "q/y": b"", "e/f": Folder()}
    at = bench(folder, {**files, "l": Link("a"), "k": Link("nowhere"), "d": b"d", "g/x": b""})
    moves = (Move("a", "b"), Move("b", "a"), Move("p", "q"), Move("q", "p"))
    gone = (
        Deletion("l", digest_of(b"a"), "link"),
        Deletion("k", digest_of(b"nowhere"), "link"),
        at.deleting("d"),
        at.deleting("g/x"),
        *(Deletion(name, "", "folder") for name in ("e", "e/f", "g")),
    )
    return at, Change((), moves, (Creation("l", "l"), Creation("d", "d"), Creation("g", "")), gone)


def dies(at: Bench, change: Change, step: int) -> None:
    assert in_a_process_that_dies(lambda: at.apply(change, Stop(step, kill_self)))


def check_clean(at: Bench) -> None:
    """No temporary file, and no record of something unfinished."""
    assert not [name for name in at.tree if ".lsptools" in name]
    assert {path.suffix for path in at.state.changes.iterdir()} <= {".done"}
    assert len(list(at.state.changes.iterdir())) == len(history(at.state))


def steps_and_trees(at: Bench, change: Change) -> tuple[list[str], Tree, Tree]:
    """The steps of a change, and the workspace before and after it. It is undone again."""
    old, counted = at.tree, Stop()
    at.apply(change, counted)
    new = at.tree
    undo(at.root, at.state)
    assert at.tree == old
    return counted.steps, old, new


@pytest.mark.parametrize("make", [twenty_files, all_sorts, puzzle, exchange])
def test_killed_at_every_step(folder: Path, make: Callable[[Path], tuple[Bench, Change]]) -> None:
    at, change = make(folder)
    steps, old, new = steps_and_trees(at, change)
    for number, step in enumerate(steps):
        dies(at, change, number)
        repaired = recover(at.root, at.state)
        assert len(repaired) == (step != "journal"), step
        assert all(not each.kept for each in repaired), step
        is_new = number > steps.index("committed")
        assert at.tree == (new if is_new else old), step
        assert all(each.completed == is_new for each in repaired), step
        check_clean(at)
        if is_new:
            undo(at.root, at.state)
            assert at.tree == old


@pytest.mark.parametrize("make", [all_sorts, puzzle, exchange])
@pytest.mark.parametrize("first", ["committed", "tidy"])
def test_killed_again_at_every_step_of_the_repair(
    folder: Path, make: Callable[[Path], tuple[Bench, Change]], first: str
) -> None:
    at, change = make(folder)
    steps, old, new = steps_and_trees(at, change)
    number = next(number for number, step in enumerate(steps) if step.startswith(first))
    n_more, died = 0, True
    while died:
        dies(at, change, number)
        stop = Stop(n_more, kill_self)
        died = in_a_process_that_dies(partial(recover, at.root, at.state, on_step=stop))
        assert not any(each.kept for each in recover(at.root, at.state)), n_more
        assert at.tree == (new if first == "tidy" else old), n_more
        check_clean(at)
        if first == "tidy":
            undo(at.root, at.state)
        n_more += 1


def test_an_undo_is_killed_at_every_step(folder: Path) -> None:
    at, change = all_sorts(folder)
    at.apply(change)
    new, counted = at.tree, Stop()
    undone = undo(at.root, at.state, on_step=counted)
    old = at.tree
    undo(at.root, at.state, undone.id)
    for number, step in enumerate(counted.steps):
        stop = Stop(number, kill_self)
        assert in_a_process_that_dies(partial(undo, at.root, at.state, on_step=stop))
        history(at.state)
        check_clean(at)
        is_done = number > counted.steps.index("committed")
        assert at.tree == (old if is_done else new), step
        if is_done:
            undo(at.root, at.state, history(at.state)[0].id)


def step_number(steps: list[str], of: str) -> int:
    return next(number for number, step in enumerate(steps) if step == of)


def test_whoever_comes_next_repairs(folder: Path) -> None:
    at, change = twenty_files(folder)
    steps, old, _ = steps_and_trees(at, change)
    number = step_number(steps, "write p1/m4.py")

    dies(at, change, number)
    assert len(history(at.state)) == 2
    assert at.tree == old

    dies(at, change, number)
    undo(at.root, at.state, history(at.state)[0].id)
    undo(at.root, at.state)
    assert at.tree == old

    dies(at, change, number)
    applied = at.apply(Change(creations=(Creation("other.py", ""),)))
    assert {name: entry for name, entry in at.tree.items() if name != "other.py"} == old
    assert applied.notes[0].endswith("had been interrupted and was taken back")

    dies(at, change, number)
    at.apply(change)  # made from the old state, which comes back first
    check_clean(at)


def test_repair_comes_before_a_refusal(folder: Path) -> None:
    at, change = twenty_files(folder)
    steps, old, _ = steps_and_trees(at, change)
    dies(at, change, len(steps) // 2)
    with pytest.raises(Refused):
        at.apply(Change(creations=(Creation("p0/m0.py", ""),)))
    assert at.tree == old


def test_what_was_changed_after_the_crash_is_kept_and_named(folder: Path) -> None:
    at, change = all_sorts(folder)
    steps, old, _ = steps_and_trees(at, change)
    dies(at, change, step_number(steps, "committed"))
    assert "d.py" in at.tree
    (at.ws / "d.py").write_bytes(b"mine")
    (at.ws / "t/u/new.py").write_bytes(b"mine too")
    (at.ws / "p/__init__.py").unlink()
    (repaired,) = recover(at.root, at.state)
    assert repaired.kept == ("d.py", "t", "t/u", "t/u/new.py")
    assert "left as they are, because they were changed since: d.py, " in str(repaired)
    mine = {name: at.tree[name] for name in repaired.kept}
    assert mine["d.py"] == File(b"mine")
    assert mine["t/u/new.py"] == File(b"mine too")
    assert at.tree == {**old, **mine}
    check_clean(at)


def test_the_history_says_what_it_repaired(folder: Path) -> None:
    at, change = all_sorts(folder)
    steps, _, _ = steps_and_trees(at, change)
    dies(at, change, step_number(steps, "committed"))
    (at.ws / "d.py").write_bytes(b"mine")
    context = Context(at.snapshot, lambda: at.state)
    answer = TOOL.run(context, TOOL.params())
    (note,) = answer.to_json()["notes"]
    assert "was taken back; left as they are, because they were changed since: d.py" in note
    assert f"note: {note}" in answer_text("history", answer, Look())
    assert TOOL.run(context, TOOL.params()).notes == ()


def test_a_change_under_way_is_waited_for_and_not_repaired(folder: Path) -> None:
    at, change = twenty_files(folder)
    steps, _, new = steps_and_trees(at, change)
    started, go_on = os.pipe(), os.pipe()

    def wait() -> None:
        os.write(started[1], b".")
        os.read(go_on[0], 1)

    child = os.fork()
    if not child:
        try:
            at.apply(change, Stop(step_number(steps, "write p1/m4.py"), wait))
        finally:
            os._exit(0)
    os.read(started[0], 1)
    assert at.state.unfinished()
    reader = os.fork()
    if not reader:
        ids = [entry.undone for entry in history(at.state)]
        os._exit(0 if ids[:1] == [False] and len(ids) == 3 else 1)
    os.write(go_on[1], b".")
    assert os.waitpid(child, 0)[1] == 0
    assert os.waitpid(reader, 0)[1] == 0
    assert at.tree == new
    check_clean(at)


def test_a_workspace_that_is_away_is_repaired_when_it_is_back(folder: Path) -> None:
    at, change = twenty_files(folder)
    steps, old, _ = steps_and_trees(at, change)
    state = at.state
    dies(at, change, step_number(steps, "write p1/m4.py"))
    at.ws.rename(folder / "away")
    assert len(history(state)) == 2
    (folder / "away").rename(at.ws)
    history(state)
    assert at.tree == old
