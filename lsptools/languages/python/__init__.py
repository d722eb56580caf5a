"""Python: scopes, modules, classes, families of declarations, and the occurrences of one name."""
