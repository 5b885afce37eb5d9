"""The ``upbeat`` command: one file a subcommand."""
