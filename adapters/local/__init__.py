"""This machine: settings, repository, tool runner, log."""
