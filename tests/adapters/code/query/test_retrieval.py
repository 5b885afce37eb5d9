"""The first pass keeps every file that deserves a careful look."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.retrieval import RetrievalResult, retrieve
from upbeat.adapters.code.query.working_tree_source import WorkingTreeSource


def scanned(root: Path, query: str, files: list[str]) -> RetrievalResult:
    tree = WorkingTree(str(root.resolve()), SourceCache())
    search_query = parse_search_query(query)
    source = WorkingTreeSource(tree, files, search_query, threading.Event(), time.monotonic() + 5)
    return retrieve(source, search_query, threading.Event())


def test_tests_are_read_when_the_sources_say_too_little(tmp_path: Path) -> None:
    """What no source mentions is looked for in tests and documentation."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text("def resize(): pass\n")
    (tmp_path / "tests" / "test_a.py").write_text("def test_thumbnails(): pass\n")
    files = ["a.py", "tests/test_a.py"]

    assert ["tests/test_a.py"] == [path for path, _ in scanned(tmp_path, "thumbnails", files).candidates]


def test_long_questions_are_cut_to_what_tells_files_apart(tmp_path: Path) -> None:
    """Among a hundred words that every file has, the one that only one file has decides."""
    common = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(10)]
    for number in range(40):
        (tmp_path / f"m{number:02}.py").write_text("\n".join(common) + ("\nzebra\n" if number == 17 else "\n"))
    files = [f"m{number:02}.py" for number in range(40)]

    assert "m17.py" == scanned(tmp_path, " ".join([*common, "zebra"]), files).candidates[0][0]
