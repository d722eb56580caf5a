"""Text as a value: positions and their units, documents and their bytes, edits, differences.

No input or output, nothing third-party. Every layer above speaks in these values.
"""
