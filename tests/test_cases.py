"""Every `.case` file below tests/cases, through every face: what it expects, and the laws that always hold.

`--update-cases` rewrites missing or changed expectations (of cases that are not marked as beyond the program) from what the
case's first face does; read the diff as you read code. `--case-subprocess` runs each command line as a process.
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import casefile
import caselaws
import casetree
import pytest
from casefaces import FACES, CommandLine, Face, Place
from casefile import Case

from lsptools.tools.agents import NOT_FOR_AGENTS

CASES = Path(__file__).parent / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case, or per case and face."""
    folder = Path(metafunc.config.getoption("--cases") or CASES)
    cases = {
        path: casefile.parse(path.read_bytes().decode("utf-8")) for path in sorted(folder.rglob("*.case"))
    }
    names = {path: path.relative_to(folder).with_suffix("").as_posix() for path in cases}
    if "face" in metafunc.fixturenames:
        runs = [
            pytest.param(path, case, face, id=f"{names[path]}-{face.name}")
            for path, case in cases.items()
            for face in faces_of(case)
        ]
        metafunc.parametrize(("path", "case", "face"), runs)
    elif "program" in metafunc.fixturenames:
        programs = [
            pytest.param(case, case.settings["run"].split(), id=names[path])
            for path, case in cases.items()
            if "run" in case.settings
        ]
        metafunc.parametrize(("case", "program"), programs)
    elif "case" in metafunc.fixturenames:
        metafunc.parametrize("case", [pytest.param(case, id=names[path]) for path, case in cases.items()])


def faces_of(case: Case) -> list[Face]:
    """The faces that run a case: those it names, or all, as far as they know its steps."""
    named = case.settings.get("faces", "").split() or [face.name for face in FACES]
    steps = [casefile.arguments(case, step) for step in case.steps]
    return [face for face in FACES if face.name in named and all(map(face.knows, steps))]


def test_case(path: Path, case: Case, face: Face, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if isinstance(face, CommandLine) and request.config.getoption("--case-subprocess"):
        face = replace(face, by_subprocess=True)
    seen = caselaws.run(case, face, Place.below(tmp_path))
    if request.config.getoption("--update-cases") and face.name == faces_of(case)[0].name:
        case = caselaws.updated(case, seen)
        path.write_bytes(case.text.encode("utf-8"))
    complaint = caselaws.complaint(case, seen)
    assert not complaint, f"{case.prose}\n\n{complaint}"


def test_a_case_names_faces_that_exist_and_is_run(case: Case) -> None:
    assert set(case.settings.get("faces", "").split()) <= {face.name for face in FACES}
    assert faces_of(case)


def test_a_case_of_a_tool_for_agents_is_run_through_the_protocol(case: Case) -> None:
    """A case is not silently left out of a face: what agents cannot say are the tools they do not have."""
    tools = {casefile.arguments(case, step)[0] for step in case.steps}
    if "faces" not in case.settings and not tools & NOT_FOR_AGENTS.keys():
        assert "mcp" in [face.name for face in faces_of(case)]


@pytest.mark.slow
def test_the_program_of_a_case_prints_the_same_before_and_after(
    case: Case, program: list[str], tmp_path: Path
) -> None:
    """A witness for the expectation, not for lsptools: a right rename does not change what a program prints."""
    least = tuple(map(int, case.settings.get("python", "3.10").split(".")))
    if sys.version_info < least:
        pytest.skip(f"the program needs Python {case.settings['python']}")
    trees = [casefile.before(case), *(wanted.tree for wanted in casefile.wanted(case) if wanted.tree)]
    printed = []
    for number, tree in enumerate(trees):
        folder = tmp_path / str(number)
        folder.mkdir()
        casetree.write_tree(folder, tree)
        printed.append(output_of(program, folder))
    assert printed[0]
    assert printed == printed[:1] * len(printed)


def output_of(arguments: list[str], folder: Path) -> str:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")
