"""Trees without meaning; the only importer of tree_sitter."""
