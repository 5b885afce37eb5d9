"""Parsers for the rule file formats."""
