"""Outputs within bounds: what is shown, what is in the file, what is handed on."""

from pathlib import Path

import pytest

from lsptools.workspace.output import MOST_BYTES, MOST_FILES, MOST_LINES, Files, Output, Shown, shown_text


def written(folder: Path, *pieces: bytes) -> Shown:
    output = Output(Files(folder))
    for piece in pieces:
        output.feed(piece)
    output.finish()
    output.close()
    return output.shown()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"plain\n", "plain\n"),
        ("é — 漢\n".encode(), "é — 漢\n"),
        (b"a\xffb\n", "a\\xffb\n"),
        (b" 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07x\n", "red x\n"),
        (b"a\x00b\x07\n", "a\\x00b\\x07\n"),
        ("a\u2028b\x0cc\n".encode(), "a\u2028b\\x0cc\n"),
    ],
)
def test_what_is_shown(data: bytes, text: str) -> None:
    assert shown_text(data) == text


def test_short_output_is_shown_whole_and_needs_no_file(tmp_path: Path) -> None:
    shown = written(tmp_path / "out", b"a\n", b"b\n")
    assert (shown.text, shown.is_cut, shown.file) == ("a\nb\n", False, None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("n_lines", [3_000, 200_000])
def test_long_output_has_head_tail_and_a_file(tmp_path: Path, n_lines: int) -> None:
    data = b"".join(b"%d\n" % number for number in range(n_lines))
    shown = written(tmp_path / "out", *(data[at : at + 7_000] for at in range(0, len(data), 7_000)))
    lines = shown.text.split("\n")
    assert shown.is_cut and shown.n_bytes == len(data)
    assert lines[:2] == ["0", "1"] and lines[-2:] == [str(n_lines - 1), ""]
    assert len(lines) <= MOST_LINES + 2 and len(shown.text.encode()) <= MOST_BYTES + 500
    assert shown.file is not None and shown.file in shown.text
    assert Path(shown.file).read_bytes() == data
    assert Path(shown.file).stat().st_mode & 0o777 == 0o600


def test_an_endless_line_is_cut_in_the_middle(tmp_path: Path) -> None:
    shown = written(tmp_path, b"start\n", *[b"x" * 65536] * 50, b"\n\ntail\n")
    assert shown.text.startswith("start\nxxx") and shown.text.endswith("\ntail\n")
    assert "characters …]" in shown.text and len(shown.text) < 6_000


def test_a_character_split_over_writes_is_one(tmp_path: Path) -> None:
    pieces: list[str] = []
    output = Output(stream=pieces.append)
    output.feed(b"a \xe2")
    output.tick()
    output.feed(b"\x80\x94 b")
    output.finish()
    assert "".join(pieces) == "a — b" and output.shown().text == "a — b"


def test_pieces_are_not_handed_on_more_often_than_every_tenth_of_a_second() -> None:
    pieces: list[str] = []
    output = Output(stream=pieces.append)
    for number in range(50):
        output.feed(b"%d " % number)
        output.tick()
    output.finish()
    assert len(pieces) <= 3 and "".join(pieces).split() == [str(number) for number in range(50)]


def test_memory_is_bounded_and_the_data_of_a_huge_output_is_gone() -> None:
    output = Output()
    for _ in range(200):
        output.feed(b"y" * 65536)
    assert output.data is None and output._n_tail < 1 << 20
    assert output.shown().file is None


def test_old_files_go(tmp_path: Path) -> None:
    files = Files(tmp_path / "out")
    for _ in range(MOST_FILES + 5):
        _, file = files.new()
        file.close()
    assert len(list((tmp_path / "out").iterdir())) == MOST_FILES
