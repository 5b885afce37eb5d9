"""Start, limit and end child processes."""
