"""Several processes change the same files, under different names: nothing is lost, torn or stuck."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from casefile import File, Link
from changing import Bench, bench
from filelock import Timeout

from lsptools.errors import Stale, Unavailable
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace import state
from lsptools.workspace.apply import apply
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.journal import history, undo
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import State
from lsptools.workspace.state import held as taken

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    # Python warns of threads that a fork does not have; the forks here start none and wait for none.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

N_TIMES = 12
PADDING = b"# " + b"-" * 20_000 + b"\n"


def in_processes(*jobs: Callable[[], None]) -> None:
    """Run the jobs at once, each in its own process; all must end well within a time."""
    children = []
    for job in jobs:
        child = os.fork()
        if not child:
            status = 1
            try:
                job()
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(jobs)


def count_up(root: Root, state: State, paths: tuple[str, ...]) -> None:
    """Increase the number in each file, all at once, `N_TIMES` times; read again when someone was faster."""
    n_done, deadline = 0, time.monotonic() + 600
    while n_done < N_TIMES:
        assert time.monotonic() < deadline
        snapshot = Snapshot(root)
        edits = []
        for path in paths:
            document = snapshot.document(path)
            assert document.text.endswith("#end\n"), "torn"
            digits = document.text[len(PADDING) :].removesuffix("#end\n")
            span = Span(Offset(len(PADDING)), Offset(len(PADDING) + len(digits)))
            edits.append(FileEdits(path, Edits.of([TextEdit(span, str(int(digits) + 1))]), document.digest))
        try:
            apply(snapshot, Change(tuple(edits)), state, timeout_s=60)
        except Stale:
            continue
        n_done += 1


def test_no_update_is_lost_whatever_the_files_are_called(tmp_path: Path) -> None:
    content = File(PADDING + b"0#end\n")
    at = bench(
        tmp_path,
        {
            "p/a.py": content,
            "p/b.py": content,
            "link_to_a.py": Link("p/a.py"),
            "folder": Link("p"),
            "q/c.py": content,
        },
    )
    (tmp_path / "another").symlink_to("ws")
    through_link = Root.of(tmp_path / "another")
    # The inner root has a state folder of its own; only the files' locks are common.
    inner = Root.of(at.ws / "p")
    inner_state = State.of(tmp_path / "state", inner)
    assert inner_state.folder != at.state.folder
    in_processes(
        lambda: count_up(at.root, at.state, ("p/a.py", "p/b.py")),
        lambda: count_up(
            through_link, State.of(tmp_path / "state", through_link), ("p/b.py", "link_to_a.py")
        ),
        lambda: count_up(inner, inner_state, ("b.py", "a.py")),
        lambda: count_up(at.root, at.state, ("folder/a.py", "q/c.py", "folder/b.py")),
    )
    numbers = {name: (at.ws / name).read_bytes()[len(PADDING) :] for name in ("p/a.py", "p/b.py", "q/c.py")}
    assert numbers == {
        "p/a.py": b"%d#end\n" % (4 * N_TIMES),
        "p/b.py": b"%d#end\n" % (4 * N_TIMES),
        "q/c.py": b"%d#end\n" % N_TIMES,
    }
    assert len(history(at.state)) == 3 * N_TIMES
    assert len(history(inner_state)) == N_TIMES
    assert {name for name in at.tree if ".lsptools" in name} == set()


def held(at: Bench, act: Callable[[], None]) -> None:
    """Do something while another process holds the file `a.py`."""
    started, go_on = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        try:
            with at.state.hold_files([str(at.ws / "a.py")], timeout_s=1):
                os.write(started[1], b".")
                os.read(go_on[0], 1)
        finally:
            os._exit(0)
    os.read(started[0], 1)
    try:
        act()
    finally:
        os.write(go_on[1], b".")
        os.waitpid(child, 0)


def test_waiting_ends(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x", **{f"b{number}.py": b"x" for number in range(9)}})
    # Files may share a lock by chance; one that does not is wanted.
    held_lock = state._lock_number(str(at.ws / "a.py"))
    names = (f"b{number}.py" for number in range(9))
    free = next(name for name in names if state._lock_number(str(at.ws / name)) != held_lock)

    def try_both() -> None:
        with pytest.raises(Unavailable) as caught:
            apply(at.snapshot, Change((at.replacing("a.py", "x", "y"),)), at.state, timeout_s=0.1)
        assert caught.value.kind == "timed_out"
        apply(at.snapshot, Change((at.replacing(free, "x", "y"),)), at.state, timeout_s=0.1)

    held(at, try_both)
    assert (at.tree["a.py"], at.tree[free]) == (File(b"x"), File(b"y"))
    at.apply(Change((at.replacing("a.py", "x", "y"),)))
    assert at.tree["a.py"] == File(b"y")


def test_a_process_that_dies_holds_nothing(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})

    def die() -> None:
        with at.state.hold(timeout_s=1), at.state.hold_files(None, timeout_s=1):
            os._exit(0)

    in_processes(die)
    apply(at.snapshot, Change((at.replacing("a.py", "x", "y"),)), at.state, timeout_s=0.1)
    assert at.tree == {"a.py": File(b"y")}


class Busy:
    """A lock that others hold so many times, one after the other if they take turns."""

    def __init__(self, turns: Path, n_times: int, *, takes_turns: bool) -> None:
        self.turns, self.n_left, self.takes_turns = turns, n_times, takes_turns
        self.is_ours = False

    def acquire(self, *, timeout: float, poll_interval: float) -> None:
        if not self.n_left:
            self.is_ours = True
            return
        time.sleep(timeout)
        self.n_left -= 1
        if self.takes_turns:
            self.turns.touch()
            os.utime(self.turns, ns=(0, self.n_left + 1))
        raise Timeout(str(self.turns))

    def release(self) -> None:
        self.is_ours = False


def busy(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *n_times: int, takes_turns: bool = True
) -> dict[str, Busy]:
    """Locks in the folder, by name, which are what `held` takes."""
    locks = {
        str(number): Busy(folder / f"{number}.turn", n, takes_turns=takes_turns)
        for number, n in enumerate(n_times)
    }
    monkeypatch.setattr("filelock.FileLock", lambda path, mode: locks[path.name])
    return locks


@pytest.mark.parametrize(
    ("n_times", "takes_turns", "says"),
    [
        ([0], False, ""),
        ([30], False, "another process has been changing these files for more than 0.05 s"),
        ([8], True, ""),
        ([10_000], True, "other processes have been changing these files for 1"),
        ([0, 8, 3], True, ""),
        ([8, 8, 8, 8], True, "other processes have been changing these files for 1"),
    ],
    ids=["free", "held by one", "taken in turns", "for ever", "several", "too much together"],
)
def test_who_waits_among_many_that_take_turns_waits_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_times: list[int], takes_turns: bool, says: str
) -> None:
    """But not for ever, however many locks are wanted; and what is said of the wait is true."""
    locks = busy(monkeypatch, tmp_path, *n_times, takes_turns=takes_turns)
    began = time.monotonic()
    try:
        with taken([tmp_path / name for name in locks], timeout_s=0.05):
            assert all(lock.is_ours for lock in locks.values()) and not says
    except Unavailable as error:
        assert says and error.kind == "timed_out" and error.message.startswith(says)
    assert time.monotonic() - began < 2.5
    assert not any(lock.is_ours for lock in locks.values())


def test_who_waits_may_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While others hold what he wants, he is asked; then nothing is held any more."""
    n_asked = 0

    def leave() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 2:
            raise Unavailable("cancelled", "whoever asked has left")

    locks = busy(monkeypatch, tmp_path, 0, 10_000)
    with (
        pytest.raises(Unavailable, match="has left"),
        taken([tmp_path / name for name in locks], timeout_s=60, checkpoint=leave),
    ):
        raise AssertionError("it is not ours")
    assert n_asked == 2 and not locks["0"].is_ours


def test_a_change_that_waits_may_be_cancelled(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})
    at.apply(Change((at.replacing("a.py", "x", "y"),)))
    change = Change((at.replacing("a.py", "y", "z"),))

    def leave() -> None:
        raise Unavailable("cancelled", "whoever asked has left")

    def try_both() -> None:
        with pytest.raises(Unavailable, match="has left"):
            apply(replace(at.snapshot, checkpoint=leave), change, at.state)
        with pytest.raises(Unavailable, match="has left"):
            undo(at.snapshot.root, at.state, checkpoint=leave)

    held(at, try_both)
    assert at.tree == {"a.py": File(b"y")}
    undo(at.snapshot.root, at.state, checkpoint=leave)  # nobody is waited for
    assert at.tree == {"a.py": File(b"x")}
