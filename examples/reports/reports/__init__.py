"""Reports of what happened, newest first."""
