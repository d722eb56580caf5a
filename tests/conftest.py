"""Options of the case runner, how long properties are tried, and the folder of the tests on the import path for shared modules."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parent))

# LSPTOOLS_HYPOTHESIS_PROFILE=nightly looks long for what the default, a matter of seconds, has missed.
hypothesis.settings.register_profile("default", max_examples=100, deadline=None)
hypothesis.settings.register_profile("nightly", max_examples=20_000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("LSPTOOLS_HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cases")
    group.addoption(
        "--cases", metavar="DIR", help="run the .case files of this folder instead of tests/cases"
    )
    group.addoption(
        "--update-cases", action="store_true", help="rewrite missing or changed expectations of .case files"
    )
    group.addoption(
        "--case-subprocess",
        action="store_true",
        help="run the cases' command lines as processes of their own",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the laws were tried on: `record_property("law", …)` of each test, wherever it ran."""
    reports = [report for each in ("passed", "failed") for report in terminalreporter.getreports(each)]
    figures = [value for report in reports for name, value in report.user_properties if name == "law"]
    if figures:
        terminalreporter.section("laws")
        for line in sorted(map(str, figures)):
            terminalreporter.write_line(line)
