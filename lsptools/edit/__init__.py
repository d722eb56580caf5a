"""Changing text on request: every module plans and returns values; only `workspace/apply.py` writes."""
