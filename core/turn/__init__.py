"""The steps of a turn: plan tools, sanitize and fuse their results, render the context, assemble the report."""
