"""A small project in several languages, for tests of code search."""

from __future__ import annotations

from pathlib import Path

from repositories import read_tree, write

FILES = read_tree(Path(__file__).with_suffix(".txt"))


def make_source_tree(root: Path) -> Path:
    """Write the project below ``root``."""
    return write(root, FILES)
