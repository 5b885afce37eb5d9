"""A project whose parts call each other, once in each of several languages."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from repositories import read_tree, write

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.graph.codebase import CodeBase, ParseCache
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.contract.finding import ToolOutput

FILES = read_tree(Path(__file__).with_suffix(".txt"))


def make_polyglot(root: Path) -> Path:
    """Write the project below ``root``."""
    return write(root, FILES)


def code_of(root: Path, seconds: float = 30.0) -> CodeBase:
    """Return the code below ``root``, with plenty of time."""
    return CodeBase(str(root.resolve()), SourceCache(), ParseCache(1000), threading.Event(), seconds)


def call(root: Path, tool: str, **args: Any) -> ToolOutput:
    """Call ``tool`` on ``root`` through a new provider."""
    return EmbeddedProvider().call(tool, args, str(root), threading.Event())


def places(output: ToolOutput) -> list[tuple[str, str]]:
    """Return the path and symbol of every finding."""
    return [(row.path, row.symbol) for row in output.findings]
