"""Adapters to this machine: processes, files, git, configuration, the terminal and the tool runner."""
