"""Checking a change: the ladder of rungs from cheap to dear, each of which says what it proved and what it did not."""
