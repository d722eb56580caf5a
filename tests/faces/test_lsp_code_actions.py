"""What an editor is offered where the cursor or the selection is, and what it gets when it chooses one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from casefaces import Place
from lspclient import CAPABILITIES, Failed, inside

ACTIONS = {
    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["refactor"]}},
    "dataSupport": True,
    "disabledSupport": True,
    "resolveSupport": {"properties": ["edit"]},
}
TEXT = 'def price(a):\r\n\tprint("😀", a.b + 1)\r\n\tx = a.c\r\n\treturn x\r\n'


class Editor:
    """A client with `m.py` open, at version 5."""

    def __init__(self, place: Place, **actions: Any) -> None:
        self.root = place.root
        self.uri = (place.root / "m.py").as_uri()
        self.client = inside(place.environment())
        declared = json.loads(json.dumps(CAPABILITIES))
        declared["textDocument"]["codeAction"] = ACTIONS | actions
        self.capabilities = self.client.initialize(place.root, capabilities=declared)["capabilities"]
        self.text = TEXT
        self.client.open(self.uri, TEXT, version=5)

    def offered(self, start: tuple[int, int], end: tuple[int, int], **context: Any) -> list[dict[str, Any]]:
        span = {
            side: {"line": line, "character": character}
            for side, (line, character) in (("start", start), ("end", end))
        }
        params = {"textDocument": {"uri": self.uri}, "range": span, "context": {"diagnostics": []} | context}
        answer: list[dict[str, Any]] = self.client.ask("textDocument/codeAction", params)
        return answer

    def done(self, action: dict[str, Any]) -> str:
        """The text of the document after the action."""
        edit = self.client.ask("codeAction/resolve", action)["edit"]
        (entry,) = edit["documentChanges"]
        assert entry["textDocument"] == {"uri": self.uri, "version": 5}
        return spliced(self.text, entry["edits"])


def spliced(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits whose positions count UTF-16 units."""
    lines = text.split("\r\n")

    def offset(at: dict[str, int]) -> int:
        line = lines[at["line"]].encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le")
        return sum(len(each) + 2 for each in lines[: at["line"]]) + len(line)

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_bytes(b"")  # the editor has the text
    editor = Editor(place)
    yield editor
    editor.client.close()
    editor.client.dispose()


def test_the_kinds_are_declared(editor: Editor) -> None:
    assert editor.capabilities["codeActionProvider"] == {
        "codeActionKinds": ["refactor.extract", "refactor.inline", "refactor.move"],
        "resolveProvider": True,
        "workDoneProgress": False,
    }


def test_an_expression_is_named_or_becomes_a_function(editor: Editor) -> None:
    variable, function = editor.offered((1, 13), (1, 20))
    assert (variable["kind"], variable["title"]) == ("refactor.extract.variable", "Extract variable value")
    assert "edit" not in variable
    assert editor.done(variable) == (
        'def price(a):\r\n\tvalue = a.b + 1\r\n\tprint("😀", value)\r\n\tx = a.c\r\n\treturn x\r\n'
    )
    assert (function["kind"], function["title"]) == (
        "refactor.extract.function",
        "Extract function _extracted",
    )
    assert editor.done(function).startswith(
        'def _extracted(a):\r\n\treturn a.b + 1\r\n\r\n\r\ndef price(a):\r\n\tprint("😀", _extracted(a))\r\n'
    )


def test_statements_become_a_function(editor: Editor) -> None:
    (action,) = editor.offered((1, 0), (3, 0), only=["refactor.extract.function"])
    assert editor.done(action) == (
        'def _extracted(a):\r\n\tprint("😀", a.b + 1)\r\n\tx = a.c\r\n\treturn x\r\n\r\n\r\n'
        "def price(a):\r\n\tx = _extracted(a)\r\n\treturn x\r\n"
    )


def test_a_variable_is_inlined(editor: Editor) -> None:
    (action,) = editor.offered((2, 1), (2, 1), only=["refactor.inline"])
    assert action["title"] == "Inline variable x"
    assert editor.done(action) == 'def price(a):\r\n\tprint("😀", a.b + 1)\r\n\treturn a.c\r\n'


def test_what_cannot_be_had_is_not_offered_or_says_why(editor: Editor) -> None:
    assert editor.offered((0, 0), (0, 3)) == []
    (disabled,) = editor.offered((0, 10), (0, 10), only=["refactor.inline"])
    assert disabled["disabled"]["reason"] == "`a` is not set once, by an assignment"
    assert editor.offered((1, 13), (1, 20), only=["source"]) == []


def test_an_action_is_not_done_to_another_text(editor: Editor) -> None:
    (action,) = editor.offered((2, 1), (2, 1), only=["refactor.inline"])
    change = {"textDocument": {"uri": editor.uri, "version": 6}, "contentChanges": [{"text": "y = 1\n"}]}
    editor.client.notify("textDocument/didChange", change)
    with pytest.raises(Failed) as failed:
        editor.client.ask("codeAction/resolve", action)
    assert failed.value.code == -32801


@pytest.mark.parametrize("data", [None, 1, {}, {"kind": "refactor.inline.variable", "uri": 3}])
def test_data_of_others_is_refused(editor: Editor, data: object) -> None:
    with pytest.raises(Failed) as failed:
        editor.client.ask("codeAction/resolve", {"title": "x", "data": data})
    assert failed.value.code == -32602


def test_without_resolve_the_edit_comes_at_once(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_bytes(b"")
    editor = Editor(place, resolveSupport=None)
    (action,) = editor.offered((2, 1), (2, 1), only=["refactor.inline"])
    assert action["edit"]["documentChanges"][0]["textDocument"]["version"] == 5
    editor.client.close()
    editor.client.dispose()


def test_a_client_without_literals_is_offered_nothing(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = inside(place.environment())
    assert "codeActionProvider" not in client.initialize(place.root)["capabilities"]
    client.close()
    client.dispose()


def test_a_file_is_named_after_its_class(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_text("class OrderBook:\n    pass\n", "utf-8")
    (place.root / "use.py").write_text("from m import OrderBook\n", "utf-8")
    editor = Editor(place)
    editor.client.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri}})
    (action,) = editor.offered((0, 6), (0, 6), only=["refactor.move.file"])
    assert action["title"] == "Rename file to order_book.py"
    edits, moved = editor.client.ask("codeAction/resolve", action)["edit"]["documentChanges"]
    assert edits["edits"][0]["newText"] == "order_book"
    assert (moved["kind"], moved["newUri"]) == ("rename", (place.root / "order_book.py").as_uri())
    assert editor.offered((0, 6), (0, 6), triggerKind=2) == []
    editor.client.close()
    editor.client.dispose()


def test_a_definition_moves_to_who_imports_it(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_text("def price():\n    return 1\n\n\nx = 2\n", "utf-8")
    (place.root / "use.py").write_text("from m import price\n\nprint(price())\n", "utf-8")
    editor = Editor(place)
    editor.client.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri}})
    (action,) = editor.offered((0, 4), (0, 4), only=["refactor.move.symbol"])
    assert action["title"] == "Move price to use.py"
    entries = editor.client.ask("codeAction/resolve", action)["edit"]["documentChanges"]
    assert {entry["textDocument"]["uri"] for entry in entries} == {
        (place.root / name).as_uri() for name in ("m.py", "use.py")
    }
    applied: list[Any] = []
    editor.client.apply_edit = lambda edit: bool(applied.append(edit)) or True
    where = {"uri": editor.uri, "position": {"line": 0, "character": 4}, "module": "use"}
    move = {"command": "lsptools.move", "arguments": [where]}
    assert editor.client.ask("workspace/executeCommand", move) is True
    assert len(applied[0]["documentChanges"]) == 2
    editor.client.close()
    editor.client.dispose()
