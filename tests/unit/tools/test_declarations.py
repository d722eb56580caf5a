"""The declarations hold together: what a face, a page or a schema makes of them."""

import dataclasses
import shlex
from typing import Literal

import pytest

from lsptools.faces.commands import Call, parse
from lsptools.faces.render import _RENDERERS
from lsptools.tools import registry
from lsptools.tools.base import Parameter, Tool, arg, parameters


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    one: str = arg("the first", positional=True, kind="path", metavar="FILE")
    maybe: str | None = arg("perhaps", default=None, positional=True)
    many_words: tuple[str, ...] = arg("several", default=(), choices=("a", "b"), name="word")
    one_of: Literal["x", "y"] = arg("which", default="x")
    number: int = arg("how many", default=3, group="Output", short="n")
    flag: bool = arg("whether", default=False)


def sample() -> dict[str, Parameter]:
    tool = Tool("x", "", "", Sample, lambda context, params: None, False, (), "", "")  # type: ignore[arg-type, return-value]  # never run
    return {each.field: each for each in parameters(tool)}


def test_parameters_follow_from_the_fields() -> None:
    found = sample()
    assert list(found) == ["one", "maybe", "many_words", "one_of", "number", "flag"]
    assert [(each.type, each.required, each.repeated) for each in found.values()] == [
        (str, True, False),
        (str, False, False),
        (str, False, True),
        (str, False, False),
        (int, False, False),
        (bool, False, False),
    ]
    assert (found["one"].metavar, found["one"].kind) == ("FILE", "path")
    assert (found["many_words"].name, found["many_words"].choices) == ("word", ("a", "b"))
    assert (found["one_of"].default, found["one_of"].choices) == ("x", ("x", "y"))
    assert (found["number"].default, found["number"].short, found["number"].group) == (3, "n", "Output")


@pytest.mark.parametrize("name", registry.names())
def test_a_tool(name: str) -> None:
    tool = registry.tool(name)
    assert tool.name == name
    assert name in _RENDERERS
    assert tool.summary.endswith(".") and tool.guide.endswith(".") and not tool.found.endswith(".")
    assert tool.examples
    for each in parameters(tool):
        assert each.help[0].islower() or each.help.startswith(("QUERY", "N ")), each.help
        assert not each.help.endswith("."), each.help
        assert each.positional == (each.group == "")
    for example in tool.examples:
        assert example.call.split()[0] == name
        assert isinstance(parse(shlex.split(example.call)), Call)
        assert not example.does.endswith(".")


def test_only_these_write() -> None:
    assert {name for name in registry.names() if registry.tool(name).writes} == {
        *("rename", "move", "signature", "undo", "recover", "run"),
        *("edit", "write", "edit-lines", "edit-symbol", "patch", "candidate", "apply-edit"),
    }


def test_there_is_no_other_tool() -> None:
    with pytest.raises(KeyError):
        registry.tool("refactor")
