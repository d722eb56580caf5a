"""Meaning, per language."""
