"""``upbeat mcp``: the stdio server that answers hooks and serves the ``ci_*`` tools."""
