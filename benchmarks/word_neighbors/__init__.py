"""Builds the table of word neighbors that a search adds to a question."""
