"""The doors: command line and Python. What they say to each other's callers follows from `lsptools.tools`."""
