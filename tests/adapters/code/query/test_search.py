"""Only candidates that rank well as whole files are examined in detail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query.parse_query import SearchQuery, parse_search_query
from upbeat.adapters.code.query.retrieval import RetrievalResult
from upbeat.adapters.code.query.search import MAX_DETAILED_FILES, Candidates, rank_candidates
from upbeat.adapters.code.query.working_tree_source import WorkingTreeSource

QUERY = parse_search_query("the upload has no limit")


def candidates(root: Path, count: int, query: SearchQuery = QUERY) -> Candidates:
    """Files with the words of the query, the later ones with more of them."""
    paths = [f"a{number:02}.py" for number in range(count)]
    for number, path in enumerate(paths):
        (root / path).write_text("def upload():\n    pass\n" + "upload limit\n" * number)
    tree = WorkingTree(str(root.resolve()), SourceCache(0))
    return Candidates(WorkingTreeSource(tree, paths, query, threading.Event(), float("inf")), paths)


def test_only_the_best_get_details(tmp_path: Path) -> None:
    """As many files as get details are in the answer: those that rank best as whole files."""
    found = candidates(tmp_path, MAX_DETAILED_FILES + 16)
    ranked, _ = rank_candidates(found, QUERY, RetrievalResult(), {}, threading.Event())

    assert MAX_DETAILED_FILES == sum(bool(file.definition_hits) for file in found.features) == len(ranked)
    assert {file.features.path for file in ranked} == {file.path for file in found.features[16:]}
    assert 1.0 == ranked[0].score


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_candidates_are_all_in_the_answer(tmp_path: Path, count: int) -> None:
    """Fewer candidates than get details are all ranked."""
    found = candidates(tmp_path, count)

    assert count == len(rank_candidates(found, QUERY, RetrievalResult(), {}, threading.Event())[0])
