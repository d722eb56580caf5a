"""A rename to watch, from evidence to undo: ``make demo``, or ``python -m examples.demo``.

Everything it says is checked while it runs: what does not hold is shown in red and ends it with exit code 1. It works on
copies in a temporary folder, keeps the journal there, too, and leaves nothing behind.
"""
