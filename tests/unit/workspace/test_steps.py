"""What is where after some steps, without taking them."""

import pytest

from lsptools.workspace.steps import Course, Step, inverse, path_after

STEPS = [
    Step("write", "p/a", before="1", after="2"),
    Step("delete", "p/gone", before="3", mode=0o600),
    Step("move", "p", "q", before=""),
    Step("move", "q/a", "b", before="2"),
    Step("mkdir", "p"),
    Step("create", "p/new", after="4"),
    Step("write", "p/new", before="4", after="5"),
    Step("rmdir", "q", mode=0o755),
    Step("write", "p/new", before="5", after="6"),
]


@pytest.mark.parametrize(
    ("path", "n_steps", "what"),
    [
        ("p/a", 0, ("disk", "p/a", "")),
        ("p/a", 1, ("disk", "p/a", "2")),
        ("p/a", 3, ("nothing", "p/a", "")),
        ("q/a", 3, ("disk", "p/a", "2")),
        ("b", 4, ("disk", "p/a", "2")),
        ("b/c", 4, ("disk", "p/a/c", "")),
        ("q/gone", 3, ("nothing", "p/gone", "")),
        ("q/else", 4, ("disk", "p/else", "")),
        ("p", 4, ("nothing", "p", "")),
        ("p", 8, ("folder", "p", "")),
        ("p/new", 6, ("file", "p/new", "4")),
        ("p/new", 8, ("file", "p/new", "5")),
        ("p/new", 9, ("file", "p/new", "6")),
        ("q", 7, ("disk", "p", "")),
        ("q", 8, ("nothing", "q", "")),
        ("elsewhere", 8, ("disk", "elsewhere", "")),
    ],
)
def test_trace(path: str, n_steps: int, what: tuple[str, str, str]) -> None:
    assert Course(STEPS).trace(path, n_steps) == what
    assert Course(STEPS[:n_steps]).trace(path) == what


def test_the_inverse_of_the_inverse_is_the_same() -> None:
    assert inverse(inverse(STEPS)) == STEPS
    assert inverse(STEPS)[1] == Step("mkdir", "q", mode=0o755)


def test_path_after() -> None:
    assert [path_after(STEPS, path) for path in ("p/a", "p/else", "p", "other")] == [
        "b",
        "q/else",
        "q",
        "other",
    ]
