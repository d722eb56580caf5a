"""What each request answers, through the protocol; positions are written as markers in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from casefaces import Place
from lspclient import Client, Failed, inside

SHOP = '''"""A shop."""
from __future__ import annotations
from pkg import nothing, thing
from pkg.missing import x
__all__ = ["Base", "gone"]

class <base>Base:
    """A base."""
    def <run>run(self, x: int) -> str:
        """Runs.

        For long.
        """
        return <used>helper(x)

class <sub>Sub(Base):
    def <over>run(self, x):
        return super().run(x)

def <helper>helper(x):
    return str(x)

b = Sub()
<b>b.<call>run(1)
def g(q):
    return q.run(2)
'''


class Shop:
    """An editor with one file open, and the places marked in it."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client = client
        self.root = root
        self.uri = (root / "shop.py").as_uri()
        self.places: dict[str, tuple[int, int]] = {}
        lines = []
        for number, line in enumerate(SHOP.split("\n")):
            while found := re.search(r"<(\w+)>", line):
                self.places[found[1]] = (number, found.start())
                line = line[: found.start()] + line[found.end() :]
            lines.append(line)
        self.text = "\n".join(lines)

    def at(self, method: str, place: str, **members: Any) -> Any:
        return self.client.at(method, self.uri, *self.places[place], **members)

    def starts(self, answer: Any) -> list[str]:
        """The names of the places at which ranges start."""
        by_place = {at: name for name, at in self.places.items()}
        found = []
        for each in answer:
            ranged = each.get("selectionRange") or each.get("targetSelectionRange") or each["range"]
            at = (ranged["start"]["line"], ranged["start"]["character"])
            found.append(by_place.get(at, str(at)))
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    place = Place.below(tmp_path)
    client = inside(place.environment())
    shop = Shop(client, place.root)
    (place.root / "pkg").mkdir()
    (place.root / "pkg/__init__.py").write_text("thing = 1\n", "utf-8")
    (place.root / "shop.py").write_text("", "utf-8")  # the editor has the text, the disk has not
    client.initialize(place.root)
    client.open(shop.uri, shop.text)
    yield shop
    client.close()
    client.dispose()


def test_hover_says_what_it_is_and_how_that_is_known(shop: Shop) -> None:
    told = shop.at("hover", "call")["contents"]["value"]
    assert "def run(self, x)" in told
    assert "method `shop.Sub.run`" in told
    assert "`b` is instance of `Sub`" in told
    assert "Runs.\n\nFor long." in shop.at("hover", "run")["contents"]["value"]
    assert shop.client.at("hover", shop.uri, 5, 0) is None


def test_definitions(shop: Shop) -> None:
    assert shop.starts(shop.at("definition", "call")) == ["over"]
    assert shop.starts(shop.at("declaration", "used")) == ["helper"]
    assert shop.starts(shop.at("typeDefinition", "b")) == ["sub"]
    assert shop.starts(shop.at("implementation", "run")) == ["run", "over"]
    assert shop.starts(shop.at("implementation", "base")) == ["sub"]


def test_references_with_and_without_the_declaration(shop: Shop) -> None:
    context = {"includeDeclaration": True}
    assert shop.starts(shop.at("references", "helper", context=context)) == ["used", "helper"]
    context = {"includeDeclaration": False}
    assert shop.starts(shop.at("references", "helper", context=context)) == ["used"]


def test_references_in_parts(shop: Shop) -> None:
    context = {"includeDeclaration": True}
    tokens = {"partialResultToken": "parts", "workDoneToken": "work"}
    assert shop.at("references", "helper", context=context, **tokens) == []
    told = [note["params"] for note in shop.client.notes if note["method"] == "$/progress"]
    assert [each["value"].get("kind") for each in told if each["token"] == "work"] == ["begin", "end"]
    (part,) = (each["value"] for each in told if each["token"] == "parts")
    assert shop.starts(part) == ["used", "helper"]


def test_highlights_tell_reading_from_writing(shop: Shop) -> None:
    answer = shop.at("documentHighlight", "helper")
    assert list(zip(shop.starts(answer), [each["kind"] for each in answer], strict=True)) == [
        ("used", 2),
        ("helper", 3),
    ]


def test_symbols(shop: Shop) -> None:
    document = {"textDocument": {"uri": shop.uri}}
    symbols = shop.client.ask("textDocument/documentSymbol", document)
    assert [each["name"] for each in symbols] == ["__all__", "Base", "Sub", "helper", "b", "g"]
    assert [each["name"] for each in symbols[1]["children"]] == ["run"]
    (found,) = shop.client.ask("workspace/symbol", {"query": "elper"})
    assert (found["name"], found["kind"]) == ("helper", 12)
    assert shop.client.ask("workspace/symbol", {"query": "a b"}) == []


def test_ranges(shop: Shop) -> None:
    document = {"textDocument": {"uri": shop.uri}}
    folds = shop.client.ask("textDocument/foldingRange", document)
    line = shop.places["base"][0]
    assert (line, line + 7) in [(each["startLine"], each["endLine"]) for each in folds]
    at = {"line": shop.places["used"][0], "character": shop.places["used"][1] + 1}
    (step,) = shop.client.ask("textDocument/selectionRange", document | {"positions": [at]})
    spans = []
    while step:
        spans.append(step["range"])
        step = step.get("parent")
    assert spans[0]["start"] == spans[0]["end"] == at
    assert spans[1]["end"]["character"] - spans[1]["start"]["character"] == len("helper")
    assert spans[-1]["start"] == {"line": 0, "character": 0}


def test_hierarchies(shop: Shop) -> None:
    (item,) = shop.at("prepareCallHierarchy", "helper")
    (caller,) = shop.client.ask("callHierarchy/incomingCalls", {"item": item})
    assert (caller["from"]["name"], shop.starts([caller["from"]])) == ("run", ["run"])
    (item,) = shop.at("prepareCallHierarchy", "over")
    (called,) = shop.client.ask("callHierarchy/outgoingCalls", {"item": item})
    assert shop.starts([called["to"]]) == ["run"]
    (item,) = shop.at("prepareTypeHierarchy", "base")
    assert shop.starts(shop.client.ask("typeHierarchy/subtypes", {"item": item})) == ["sub"]
    (item,) = shop.at("prepareTypeHierarchy", "sub")
    assert shop.starts(shop.client.ask("typeHierarchy/supertypes", {"item": item})) == ["base"]
    assert shop.at("prepareTypeHierarchy", "helper") is None


def test_diagnostics_are_pulled_with_a_result_id(shop: Shop) -> None:
    document = {"textDocument": {"uri": shop.uri}}
    report = shop.client.ask("textDocument/diagnostic", document)
    assert [(each["code"], each["range"]["start"]["line"]) for each in report["items"]] == [
        ("no_name", 2),
        ("no_module", 3),
        ("no_export", 4),
    ]
    again = shop.client.ask("textDocument/diagnostic", document | {"previousResultId": report["resultId"]})
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}
    change = {"textDocument": {"uri": shop.uri, "version": 2}, "contentChanges": [{"text": "def f(:\n"}]}
    shop.client.notify("textDocument/didChange", change)
    (broken,) = shop.client.ask("textDocument/diagnostic", document)["items"]
    assert (broken["code"], broken["severity"]) == ("syntax", 1)


def test_a_rename_asks_about_what_cannot_be_known(shop: Shop) -> None:
    edit = shop.at("rename", "run", newName="go")
    (entry,) = edit["documentChanges"]
    asked = [each for each in entry["edits"] if "annotationId" in each]
    assert len(entry["edits"]) == 5
    assert [each["range"]["start"]["line"] for each in asked] == [shop.places["call"][0] + 2]
    note = edit["changeAnnotations"][asked[0]["annotationId"]]
    assert note["needsConfirmation"]
    assert "shop.Base.run" in note["label"]


def test_a_refusal_names_the_places(shop: Shop) -> None:
    with pytest.raises(Failed) as failed:
        shop.at("rename", "helper", newName="b")
    assert failed.value.code == -32803
    assert failed.value.data["kind"] == "name_clash"
    assert f"shop.py:{shop.places['b'][0]}:1" in failed.value.message
    assert "--" not in failed.value.message


def test_prepare_rename(shop: Shop) -> None:
    assert shop.at("prepareRename", "helper")["placeholder"] == "helper"
    with pytest.raises(Failed, match="string"):
        shop.client.at("prepareRename", shop.uri, 0, 5)


def test_commands(shop: Shop) -> None:
    where = {"uri": shop.uri, "position": dict(zip(("line", "character"), shop.places["run"], strict=True))}
    found = shop.client.ask(
        "workspace/executeCommand", {"command": "lsptools.evidence", "arguments": [where]}
    )
    assert {each["class"] for each in found["occurrences"]} >= {"certain", "possible"}
    assert shop.client.ask("workspace/executeCommand", {"command": "lsptools.history"}) == []


def test_a_rename_on_the_disk_is_undone(shop: Shop) -> None:
    applied = []
    shop.client.apply_edit = lambda edit: bool(applied.append(edit)) or True
    (shop.root / "other.py").write_bytes(b"from shop import helper\r\n")
    where = {
        "uri": shop.uri,
        "position": dict(zip(("line", "character"), shop.places["helper"], strict=True)),
    }
    rename = {"command": "lsptools.rename", "arguments": [where | {"newName": "aid", "apply": "disk"}]}
    done = shop.client.ask("workspace/executeCommand", rename)
    assert done["files"] == ["other.py"]
    assert (shop.root / "other.py").read_bytes() == b"from shop import aid\r\n"
    assert [entry["textDocument"]["uri"] for entry in applied[0]["documentChanges"]] == [shop.uri]
    shop.client.ask("workspace/executeCommand", {"command": "lsptools.undo"})
    assert (shop.root / "other.py").read_bytes() == b"from shop import helper\r\n"


def test_an_editor_that_declines_gets_nothing(shop: Shop) -> None:
    (shop.root / "other.py").write_text("from shop import helper\n", "utf-8")
    where = {
        "uri": shop.uri,
        "position": dict(zip(("line", "character"), shop.places["helper"], strict=True)),
    }
    rename = {"command": "lsptools.rename", "arguments": [where | {"newName": "aid", "apply": "disk"}]}
    with pytest.raises(Failed, match="did not take"):
        shop.client.ask("workspace/executeCommand", rename)
    assert (shop.root / "other.py").read_text("utf-8") == "from shop import helper\n"


def test_features_can_be_left_to_another_server(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = inside(place.environment())
    (place.root / "m.py").write_text("x = 1\n", "utf-8")
    options = {"lsptools": {"disable": ["hover"], "references": {"possible": True}}}
    result = client.initialize(place.root, initializationOptions=options)
    assert "hoverProvider" not in result["capabilities"]
    with pytest.raises(Failed) as failed:
        client.at("hover", (place.root / "m.py").as_uri(), 0, 0)
    assert failed.value.code == -32601
    client.close()
    client.dispose()


def test_diagnostics_are_published_to_a_client_that_does_not_ask(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = inside(place.environment())
    client.initialize(place.root, capabilities={})
    uri = (place.root / "m.py").as_uri()
    client.open(uri, "def f(:\n", version=3)
    published = client.wait_for("textDocument/publishDiagnostics")
    assert (published["uri"], published["version"], len(published["diagnostics"])) == (uri, 3, 1)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.wait_for("textDocument/publishDiagnostics", nth=2)["diagnostics"] == []
    client.close()
    client.dispose()


@pytest.mark.parametrize(
    ("position", "new_name"),
    [
        ({"line": "0", "character": 0}, "x"),
        ({"line": True, "character": 0}, "x"),
        ({"line": 0, "character": 0.5}, "x"),
        ({"line": 0, "character": 0}, 3),
        ({"line": 0, "character": None}, "x"),
    ],
)
def test_params_of_a_wrong_type_are_refused(shop: Shop, position: object, new_name: object) -> None:
    where = {"textDocument": {"uri": shop.uri}, "position": position, "newName": new_name}
    with pytest.raises(Failed) as failed:
        shop.client.ask("textDocument/rename", where)
    assert failed.value.code == -32602


def test_a_newer_client_may_name_what_is_not_known_yet(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = inside(place.environment())
    edit = {"documentChanges": True, "resourceOperations": ["copy", "rename"], "failureHandling": "later"}
    (place.root / "m.py").write_text("import n\n", "utf-8")
    (place.root / "n.py").write_text("", "utf-8")
    client.initialize(place.root, capabilities={"workspace": {"workspaceEdit": edit}})
    done = client.at("rename", (place.root / "m.py").as_uri(), 0, 7, newName="other")["documentChanges"]
    assert [change.get("kind") for change in done] == [None, "rename"]
    client.close()
    client.dispose()
    client = inside(place.environment())
    wrong = {"workspace": {"workspaceEdit": edit | {"failureHandling": 5}}}
    with pytest.raises(Failed) as failed:
        client.initialize(place.root, capabilities=wrong)
    client.notify("exit")
    client.dispose()
    assert failed.value.code == -32602


def test_a_token_is_a_number_or_a_text(shop: Shop) -> None:
    where = {"textDocument": {"uri": shop.uri}, "position": {"line": 0, "character": 0}}
    for token in ({"x": 1}, [], True):
        for name in ("workDoneToken", "partialResultToken"):
            with pytest.raises(Failed) as failed:
                shop.client.ask(
                    "textDocument/references", where | {"context": {"includeDeclaration": True}, name: token}
                )
            assert failed.value.code == -32602


def test_a_whole_number_may_be_written_with_a_point(shop: Shop) -> None:
    line, character = shop.places["used"]
    where = {
        "textDocument": {"uri": shop.uri},
        "position": {"line": float(line), "character": float(character)},
    }
    assert shop.client.ask("textDocument/prepareRename", where)["placeholder"] == "helper"


def test_a_file_behind_a_link_is_the_file_itself(shop: Shop) -> None:
    (shop.root / "pkg/deep.py").write_text("def f():\n    return f\n", "utf-8")
    (shop.root / "link").symlink_to("pkg")
    edit = shop.client.at("rename", (shop.root / "link/deep.py").as_uri(), 0, 4, newName="g")
    (entry,) = edit["documentChanges"]
    assert entry["textDocument"]["uri"] == (shop.root / "pkg/deep.py").as_uri()
    assert len(entry["edits"]) == 2


def test_a_link_that_leads_out_is_refused_with_the_place(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def f():\n    return f\n", "utf-8")
    (shop.root / "link.py").symlink_to(outside)
    with pytest.raises(Failed) as failed:
        shop.client.at("rename", (shop.root / "link.py").as_uri(), 0, 4, newName="g")
    assert failed.value.data["kind"] == "outside_workspace"
    assert [site["path"] for site in failed.value.data["sites"]] == [str(outside.resolve())]


def test_a_change_on_the_disk_is_verified(shop: Shop) -> None:
    (shop.root / "other.py").write_text("def one():\n    return one\n", "utf-8")
    where = {"uri": (shop.root / "other.py").as_uri(), "position": {"line": 0, "character": 4}}
    rename = {"command": "lsptools.rename", "arguments": [where | {"newName": "two", "apply": "disk"}]}
    done = shop.client.ask("workspace/executeCommand", rename)
    verify = {"command": "lsptools.verify", "arguments": [{"id": done["id"]}]}
    report = shop.client.ask("workspace/executeCommand", verify)
    assert report["standing"] == "passed"
    assert [each["rung"] for each in report["verdicts"]] == ["scope", "syntax", "names"]
    with pytest.raises(Failed) as failed:
        verify = {"command": "lsptools.verify", "arguments": [{"rungs": 3}]}
        shop.client.ask("workspace/executeCommand", verify)
    assert failed.value.code == -32602


def test_diagnostics_of_the_whole_workspace(shop: Shop) -> None:
    (shop.root / "closed.py").write_text("def f(:\n", "utf-8")
    reports = shop.client.ask("workspace/diagnostic", {"previousResultIds": []})["items"]
    assert [(each["uri"], each["version"], len(each["items"])) for each in reports] == [
        ((shop.root / "closed.py").as_uri(), None, 1),
        (shop.uri, 1, 3),
    ]
    known = [{"uri": each["uri"], "value": each["resultId"]} for each in reports]
    (shop.root / "closed.py").write_text("def f(): ...\n", "utf-8")
    again = shop.client.ask("workspace/diagnostic", {"previousResultIds": known})["items"]
    assert [(each["kind"], each.get("items")) for each in again] == [("full", []), ("unchanged", None)]
    (shop.root / "closed.py").unlink()
    gone = shop.client.ask("workspace/diagnostic", {"previousResultIds": known})["items"]
    assert [(each["kind"], each["uri"]) for each in gone] == [
        ("unchanged", shop.uri),
        ("full", (shop.root / "closed.py").as_uri()),
    ]


def test_imports_follow_a_file_to_another_folder(shop: Shop) -> None:
    (shop.root / "pkg/deep.py").write_text("from . import thing\n", "utf-8")
    (shop.root / "use.py").write_text("from pkg.deep import thing\n", "utf-8")
    (shop.root / "lib").mkdir()
    (shop.root / "lib/__init__.py").write_text("", "utf-8")
    old, new = ((shop.root / name).as_uri() for name in ("pkg/deep.py", "lib/deep.py"))
    edit = shop.client.ask("workspace/willRenameFiles", {"files": [{"oldUri": old, "newUri": new}]})
    told = {entry["textDocument"]["uri"]: entry["edits"][0]["newText"] for entry in edit["documentChanges"]}
    assert told == {old: "pkg", (shop.root / "use.py").as_uri(): "lib.deep"}
    (shop.root / "use.py").write_text("import pkg.deep\npkg.deep.thing\n", "utf-8")
    with pytest.raises(Failed) as failed:
        shop.client.ask("workspace/willRenameFiles", {"files": [{"oldUri": old, "newUri": new}]})
    assert failed.value.data["kind"] == "undecided"
    assert "use.py:1:" in failed.value.message


def new_texts(edit: Any, root: Path) -> dict[str, list[str]]:
    """What an edit puts where, by file."""
    return {
        entry["textDocument"]["uri"].removeprefix(f"{root.as_uri()}/"): [e["newText"] for e in entry["edits"]]
        for entry in edit["documentChanges"]
    }


def renamed_together(shop: Shop, *names: tuple[str, str]) -> Any:
    uris = [{"oldUri": f"{shop.root.as_uri()}/{o}", "newUri": f"{shop.root.as_uri()}/{n}"} for o, n in names]
    return shop.client.ask("workspace/willRenameFiles", {"files": uris})


def test_imports_follow_several_files_at_once(shop: Shop) -> None:
    for name, text in {
        "pkg/one.py": "from .two import b\n",
        "pkg/two.py": "from . import one\nb = 1\n",
        "use.py": "from pkg import one, two\nimport pkg.two as t\n",
        "notes.txt": "",
    }.items():
        (shop.root / name).write_text(text, "utf-8")
    together = [("pkg/one.py", "pkg/first.py"), ("notes.txt", "read.txt"), ("pkg/two.py", "pkg/second.py")]
    assert new_texts(renamed_together(shop, *together), shop.root) == {
        "pkg/one.py": ["second"],
        "pkg/two.py": ["first"],
        "use.py": ["first", "second", "second"],
    }


def test_files_that_meet_are_renamed_one_at_a_time(shop: Shop) -> None:
    for name, text in {
        "pkg/one.py": "from .two import b\n",
        "pkg/two.py": "b = 1\n",
        "lib/__init__.py": "",
        "use.py": "from pkg import one\nfrom lib import other\n",
        "lib/other.py": "",
    }.items():
        (shop.root / name).parent.mkdir(exist_ok=True)
        (shop.root / name).write_text(text, "utf-8")
    for together, says in (
        # Both write the import in `one`, each as if the other stayed.
        ([("pkg/one.py", "lib/one.py"), ("pkg/two.py", "lib/two.py")], "pkg/one.py"),
        # `use` would have two of the name.
        ([("pkg/one.py", "pkg/same.py"), ("lib/other.py", "lib/same.py")], "same.py"),
    ):
        with pytest.raises(Failed) as failed:
            renamed_together(shop, *together)
        assert (failed.value.data["kind"], says in failed.value.message) == ("undecided", True)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"# coding: latin-1\nfrom pkg import thing  # \xe9\n", "use.py is in iso8859-1"),
        (b"from pkg import thing  # \xe9\n", "use.py has bytes that are not utf-8"),
        (b"# coding: latin-1\nfrom pkg import thing\n", ""),
        (b"\xef\xbb\xbffrom pkg import thing  # \xc3\xa9\n", ""),
    ],
)
def test_files_that_an_editor_may_misread_are_named(shop: Shop, data: bytes, says: str) -> None:
    (shop.root / "use.py").write_bytes(data)
    uri = (shop.root / "pkg/__init__.py").as_uri()
    assert shop.client.at("rename", uri, 0, 0, newName="renamed")
    shown = [
        note["params"]["message"] for note in shop.client.notes if note["method"] == "window/showMessage"
    ]
    assert [says in text for text in shown] == ([True] if says else [])
