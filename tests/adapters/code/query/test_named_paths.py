"""A query that names a file finds it by path, file name or module name."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.query.named_paths import match_named_paths, names_in_query, names_of_path
from upbeat.adapters.code.query.parse_query import parse_search_query

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


@pytest.mark.parametrize(("query", "expected"), NAMED)
def test_named_paths(query: str, expected: list[str]) -> None:
    """A path, the end of one, a file name and a dotted name lead to their file first."""
    named = match_named_paths(FILES, parse_search_query(query))
    best = max(named.values(), default=0.0)

    assert expected == [path for path, degree in named.items() if degree == best]
    assert all(0 < degree <= 1 for degree in named.values())


def test_a_name_of_many_files_says_less() -> None:
    """models.py, which two files are called, names each of them less than a name of its own would."""
    named = match_named_paths(FILES, parse_search_query("models.py and storage.py"))

    assert named["shop/storage.py"] == 1.0
    assert named["shop/models.py"] == named["blog/models.py"] < 1.0


@pytest.mark.parametrize(("query", "expected"), NAMED)
def test_a_named_path_shares_a_name_with_the_query(query: str, expected: list[str]) -> None:
    """An index can look named paths up by name: each has one of the names in the query."""
    names = names_in_query(parse_search_query(query))

    assert all(names & names_of_path(path) for path in expected)
