"""Notebooks: the code cells of one are one module, each edit is that of a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from casefaces import Place
from lspclient import CAPABILITIES, Client, inside

from lsptools.faces.lsp_notebooks import without_commands

CELLS = [
    "from shop import price\n%matplotlib inline\ndef twice(x):\n    return 2 * x",
    '"😀", twice(price(1))',
    "twice(3)\r\n",
]


class Editor:
    """An editor with a notebook of three cells and a markdown cell between them."""

    def __init__(self, place: Place, capabilities: Any = None) -> None:
        self.root = place.root
        (place.root / "shop.py").write_text("def price(x):\n    return x\n", "utf-8")
        (place.root / "nb.ipynb").write_text("{}", "utf-8")
        self.client: Client = inside(place.environment())
        declared = json.loads(json.dumps(CAPABILITIES | {"notebookDocument": {"synchronization": {}}}))
        self.capabilities = self.client.initialize(place.root, capabilities=capabilities or declared)[
            "capabilities"
        ]
        self.notebook = {"uri": (place.root / "nb.ipynb").as_uri(), "version": 1}
        kinds = [(2, 0), (2, 1), (1, 9), (2, 2)]
        self.client.notify(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    **self.notebook,
                    "notebookType": "jupyter-notebook",
                    "cells": [{"kind": kind, "document": self.cell(number)} for kind, number in kinds],
                },
                "cellTextDocuments": [
                    *(self.document(number, text) for number, text in enumerate(CELLS)),
                    {**self.document(9, "twice"), "languageId": "markdown"},
                ],
            },
        )

    def cell(self, number: int) -> str:
        return f"vscode-notebook-cell:{self.root.as_posix()}/nb.ipynb#c{number}"

    def document(self, number: int, text: str) -> dict[str, Any]:
        return {"uri": self.cell(number), "languageId": "python", "version": 4 + number, "text": text}

    def places(self, found: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
        return [
            (
                each["uri"].rpartition("/")[2],
                each["range"]["start"]["line"],
                each["range"]["start"]["character"],
            )
            for each in found
        ]

    def changed(self, cells: dict[str, Any], version: int) -> None:
        notebook = self.notebook | {"version": version}
        self.client.notify(
            "notebookDocument/didChange", {"notebookDocument": notebook, "change": {"cells": cells}}
        )


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    editor = Editor(Place.below(tmp_path))
    yield editor
    editor.client.close()
    editor.client.dispose()


def test_the_sync_is_declared(editor: Editor) -> None:
    assert editor.capabilities["notebookDocumentSync"]["notebookSelector"] == [
        {"cells": [{"language": "python"}]}
    ]


def test_references_and_definition_across_cells(editor: Editor) -> None:
    context = {"includeDeclaration": True}
    found = editor.client.at("references", editor.cell(1), 0, 8, context=context)
    assert editor.places(found) == [("nb.ipynb#c0", 2, 4), ("nb.ipynb#c1", 0, 6), ("nb.ipynb#c2", 0, 0)]
    (link,) = editor.client.at("definition", editor.cell(2), 0, 1)
    assert (link["targetUri"], link["targetRange"]["start"]["line"]) == (editor.cell(0), 2)
    assert link["originSelectionRange"]["start"] == {"line": 0, "character": 0}
    (link,) = editor.client.at("definition", editor.cell(1), 0, 13)
    assert link["targetUri"] == (editor.root / "shop.py").as_uri()
    assert editor.client.at("hover", editor.cell(2), 0, 1)["range"]["start"] == {"line": 0, "character": 0}
    assert len(editor.client.at("documentHighlight", editor.cell(2), 0, 1)) == 1


def test_a_rename_edits_each_cell(editor: Editor) -> None:
    assert editor.client.at("prepareRename", editor.cell(2), 0, 2)["placeholder"] == "twice"
    edit = editor.client.at("rename", editor.cell(2), 0, 2, newName="double")
    told = [
        (
            each["textDocument"]["uri"],
            each["textDocument"]["version"],
            [e["range"]["start"] for e in each["edits"]],
        )
        for each in edit["documentChanges"]
    ]
    assert told == [
        (editor.cell(0), 4, [{"line": 2, "character": 4}]),
        (editor.cell(1), 5, [{"line": 0, "character": 6}]),
        (editor.cell(2), 6, [{"line": 0, "character": 0}]),
    ]


def test_a_rename_in_a_file_reaches_the_cells(editor: Editor) -> None:
    edit = editor.client.at("rename", (editor.root / "shop.py").as_uri(), 0, 4, newName="cost")
    assert [each["textDocument"]["uri"] for each in edit["documentChanges"]] == [
        editor.cell(0),
        editor.cell(1),
        (editor.root / "shop.py").as_uri(),
    ]


def test_cells_change_move_and_go(editor: Editor) -> None:
    edits = [
        {
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
            "text": "# new\n",
        }
    ]
    document = {"uri": editor.cell(2), "version": 7}
    editor.changed({"textContent": [{"document": document, "changes": edits}]}, 2)
    context = {"includeDeclaration": False}
    found = editor.client.at("references", editor.cell(0), 2, 5, context=context)
    assert editor.places(found) == [("nb.ipynb#c1", 0, 6), ("nb.ipynb#c2", 1, 0)]
    structure = {"array": {"start": 1, "deleteCount": 1}, "didClose": [{"uri": editor.cell(1)}]}
    editor.changed({"structure": structure}, 3)
    found = editor.client.at("references", editor.cell(0), 2, 5, context=context)
    assert editor.places(found) == [("nb.ipynb#c2", 1, 0)]
    cells = [{"uri": editor.cell(number)} for number in (0, 2, 9)]
    params = {"notebookDocument": {"uri": editor.notebook["uri"]}, "cellTextDocuments": cells}
    editor.client.notify("notebookDocument/didClose", params)
    assert editor.client.at("references", editor.cell(0), 2, 5, context=context) == []


def test_what_is_about_whole_documents_says_nothing_of_a_cell(editor: Editor) -> None:
    document = {"textDocument": {"uri": editor.cell(0)}}
    assert editor.client.ask("textDocument/documentSymbol", document) == []
    assert editor.client.ask("textDocument/foldingRange", document) == []


def test_positions_behind_the_end_of_a_cell_stay_in_it(editor: Editor) -> None:
    assert editor.client.at("hover", editor.cell(1), 7, 3) is None


@pytest.mark.parametrize(
    ("cell", "module"),
    [
        ("!ls\nx = 1", "#ls\nx = 1"),
        ("  %time f()\n", "  #time f()\n"),
        ("%%bash\nls\n\n", "#%bash\n#s\n\n"),
        ("%%time\nf()", "#%time\nf()"),
        ("x = (1\n% 2)", "x = (1\n% 2)"),
        ("", ""),
    ],
)
def test_commands_are_comments(cell: str, module: str) -> None:
    assert without_commands(cell) == module


def test_a_notebook_is_among_the_callers_and_not_among_the_problems(editor: Editor) -> None:
    uri = (editor.root / "shop.py").as_uri()
    (item,) = editor.client.at("prepareCallHierarchy", uri, 0, 4)
    (caller,) = editor.client.ask("callHierarchy/incomingCalls", {"item": item})
    assert caller["from"]["uri"] == editor.cell(1)
    assert editor.client.ask("workspace/diagnostic", {"previousResultIds": []})["items"] == []
