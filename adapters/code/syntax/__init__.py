"""Parses source files with tree-sitter."""
