"""Renames in published packages, judged by the packages' own tests: `python -m benchmarks.real_renames`."""
