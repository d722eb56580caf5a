"""Finding: by name, by text, by structure."""
