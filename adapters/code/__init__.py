"""The embedded code-intelligence provider: the ``ci_*`` tools without a server."""
