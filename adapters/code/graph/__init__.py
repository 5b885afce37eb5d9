"""Calls, references and imports across files."""
