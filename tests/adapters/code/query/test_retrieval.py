"""The first pass selects every file that deserves a closer look, among them those that the query names."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import WorkingTreeSource
from upbeat.adapters.code.query.retrieval import match_named_paths, retrieve
from upbeat.adapters.code.query.terms import names_of_path


def retrieve_paths(root: Path, query: str, files: list[str]) -> list[str]:
    """Return the candidates for ``query`` among ``files`` of ``root``, best first."""
    tree = WorkingTree(str(root.resolve()), SourceCache())
    search_query = parse_search_query(query)
    source = WorkingTreeSource(tree, files, search_query, threading.Event(), time.monotonic() + 5)
    return retrieve(source, search_query, threading.Event()).candidates


def test_tests_are_read_when_the_sources_say_too_little(tmp_path: Path) -> None:
    """What no source mentions is looked for in tests and documentation."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text("def resize(): pass\n")
    (tmp_path / "tests" / "test_a.py").write_text("def test_thumbnails(): pass\n")
    files = ["a.py", "tests/test_a.py"]

    assert ["tests/test_a.py"] == retrieve_paths(tmp_path, "thumbnails", files)


def test_long_questions_are_cut_to_what_tells_files_apart(tmp_path: Path) -> None:
    """Among a hundred words that every file has, the one that only one file has decides."""
    common = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(10)]
    for number in range(40):
        (tmp_path / f"m{number:02}.py").write_text("\n".join(common) + ("\nzebra\n" if number == 17 else "\n"))
    files = [f"m{number:02}.py" for number in range(40)]

    assert "m17.py" == retrieve_paths(tmp_path, " ".join([*common, "zebra"]), files)[0]


FILES = [
    "shop/storage.py",
    "shop/http/__init__.py",
    "shop/http/client.py",
    "admin/http/client.py",
    "shop/models.py",
    "blog/models.py",
    "web/index.ts",
]

NAMED = [
    ("see shop/storage.py", ["shop/storage.py"]),
    ('File "/srv/app/shop/storage.py", line 3', ["shop/storage.py"]),
    ("in STORAGE.PY", ["shop/storage.py"]),
    ("shop.http.client.send fails", ["shop/http/client.py"]),
    ("shop.http is slow", ["shop/http/__init__.py"]),
    ("nothing of the kind", []),
    ("e.g. this or i.e. that", []),
]


def named_paths(query: str) -> dict[str, float]:
    """Return the ``FILES`` that ``query`` names, looked up by name as an index does it."""
    return match_named_paths(
        lambda names: [path for path in FILES if names & names_of_path(path)], parse_search_query(query)
    )


@pytest.mark.parametrize(("query", "expected"), NAMED)
def test_named_paths(query: str, expected: list[str]) -> None:
    """A path, the end of one, a file name and a dotted name lead to their file first."""
    named = named_paths(query)
    best = max(named.values(), default=0.0)

    assert expected == [path for path, degree in named.items() if degree == best]
    assert all(0 < degree <= 1 for degree in named.values())
    assert named == match_named_paths(lambda _names: FILES, parse_search_query(query))


def test_a_name_of_many_files_says_less() -> None:
    """models.py, which two files are called, names each of them less than a name of its own would."""
    named = named_paths("models.py and storage.py")

    assert named["shop/storage.py"] == 1.0
    assert named["shop/models.py"] == named["blog/models.py"] < 1.0
