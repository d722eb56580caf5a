"""Options of the case runner, and the folder of the tests on the import path for the modules they share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cases")
    group.addoption(
        "--update-cases", action="store_true", help="rewrite missing or changed expectations of .case files"
    )
    group.addoption(
        "--case-subprocess",
        action="store_true",
        help="run the cases' command lines as processes of their own",
    )
