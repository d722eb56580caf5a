"""`python -m benchmarks.startup`: what starting `lsptools` costs beyond starting Python.

Whole processes, in turns; the smallest and the median of each. The difference of the smallest is the honest number: it is
what the imports cost when nothing else wants the processor.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "lsptools --version": [str(Path(sys.executable).with_name("lsptools")), "--version"],
    "lsptools --help": [str(Path(sys.executable).with_name("lsptools")), "--help"],
}


def main(n_runs: int = 30) -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for turn in range(n_runs + 1):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if turn:  # the first turn fills the page cache and compiles
                times[name].append(time.perf_counter() - began)
    plain = min(times["python -c pass"])
    for name, seconds in times.items():
        beyond = 1000 * (min(seconds) - plain)
        print(
            f"{name:20} smallest {1000 * min(seconds):6.1f} ms  median {1000 * median(seconds):6.1f} ms  +{beyond:.1f} ms"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
