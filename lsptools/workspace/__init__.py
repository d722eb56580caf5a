"""Files as the project sees them: confinement, the file system, ripgrep, snapshots, changes and their undo."""
