"""Every language-server case, over the standard streams of a process."""

from __future__ import annotations

import json
from pathlib import Path

import lspcases
import pytest
from casefaces import Place

CASES = [
    pytest.param(
        case, id=case["id"], marks=[pytest.mark.slow] if "generate" in json.dumps(case["steps"]) else []
    )
    for case in lspcases.cases()
]


def test_there_are_cases() -> None:
    assert len(CASES) >= 42


@pytest.mark.parametrize("case", CASES)
def test_case(case: lspcases.Json, tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    complaints = lspcases.complaints(case, place.root, place.environment())
    assert not complaints, "\n".join([case["title"], *complaints])
