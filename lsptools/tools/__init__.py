"""The operations for callers who speak names and JSON: one file, one tool."""
