"""The working tree and the index are two sources for the same scorer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from repositories import write

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.index.store import IndexStore
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import LENGTH_K1, IndexSource, PostingSource, WorkingTreeSource
from upbeat.adapters.code.query.retrieval import build_needles, retrieve

FILES = {
    "shop/upload.py": "def save_upload(limit):\n    return limit\n",
    "shop/money.py": "def total(limit):\n    return limit + limit\n",
    "shop/copy.py": "def total(limit):\n    return limit + limit\n",
    "tests/test_upload.py": "def test_upload():\n    assert limit\n",
}
QUERY = parse_search_query("the upload limit is wrong")


@contextmanager
def open_source(kind: str, root: Path, state: Path) -> Iterator[PostingSource]:
    never = threading.Event()
    tree = WorkingTree(str(root), SourceCache(0))
    if kind == "scan":
        yield WorkingTreeSource(tree, sorted(FILES), QUERY, never, float("inf"))
        return
    manager = IndexManager(state)
    assert manager.build(str(root)).is_complete
    with manager.open_view(str(root)) as view:
        assert view
        yield IndexSource(tree, view, QUERY, never)
    manager.close()


@pytest.fixture(params=["scan", "index"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PostingSource]:
    root = write(tmp_path.resolve() / "project", FILES)
    with open_source(request.param, root, tmp_path / "state") as opened:
        yield opened


def test_a_group_has_the_files_of_its_roles(source: PostingSource) -> None:
    """Count and length are those of the readable files with the roles."""
    group = source.group(frozenset({FileRole.SOURCE}))

    assert (3, sum(len(text) for path, text in FILES.items() if path.startswith("shop"))) == (
        group.file_count,
        group.byte_count,
    )


def test_hits_are_counted_in_every_file(source: PostingSource) -> None:
    """Identical files each have their own hits."""
    group = source.group(frozenset({FileRole.SOURCE}))
    needle = next(needle for needle in build_needles(QUERY) if needle.key == "limit")
    hits = source.hits(needle, group)
    expected = {"shop/upload.py": 2, "shop/money.py": 3, "shop/copy.py": 3}
    norms = dict(zip(group.paths, group.length_norms, strict=True))

    assert hits
    assert expected.keys() == {group.paths[position] for position in hits.positions}
    for path, count in expected.items():
        saturation = hits.saturation(group.paths.index(path))
        assert count * (LENGTH_K1 + 1) / (count + norms[path]) == saturation
    others = {*range(len(group.paths))} - {*hits.positions}
    assert 0.0 == max(map(hits.saturation, others), default=0.0)
    assert source.rarity(needle, group) > 0


def test_hits_of_an_index_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second query with the same word does not read its postings again."""
    calls: list[str] = []
    read = IndexStore.postings
    monkeypatch.setattr(IndexStore, "postings", lambda store, key: calls.append(key) or read(store, key))
    root = write(tmp_path.resolve() / "project", FILES)
    with open_source("index", root, tmp_path / "state") as source:
        first = retrieve(source, QUERY, threading.Event()).candidates
        number = len(calls)
        second = retrieve(source, QUERY, threading.Event()).candidates

    assert first == second
    assert len(calls) == number > 0


def test_the_words_of_an_index_are_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that are read later, for names in the query, need no other words."""
    calls = []
    load = IndexStore.words_of_keys
    monkeypatch.setattr(IndexStore, "words_of_keys", lambda *args: calls.append(1) or load(*args))
    root = write(tmp_path.resolve() / "project", FILES)
    with open_source("index", root, tmp_path / "state") as source:
        first = dict(source.documents(["shop/upload.py"]))["shop/upload.py"]
        second = dict(source.documents(["shop/money.py"]))["shop/money.py"]

        assert ["save_upload", "limit"] == [match.word for _, match in source.extractor.matching_words(first)]
        assert ["limit"] == [match.word for _, match in source.extractor.matching_words(second)]
    assert [1] == calls


def test_candidates_are_the_same(source: PostingSource) -> None:
    """The file with both words leads; every candidate has a document with the matching words."""
    candidates = retrieve(source, QUERY, threading.Event()).candidates
    documents = dict(source.documents(candidates))
    features = source.extractor.extract_summary("shop/upload.py", documents["shop/upload.py"])

    assert "shop/upload.py" == candidates[0]
    assert {"shop/money.py", "shop/copy.py", "tests/test_upload.py"} == {*candidates[1:]}
    assert {"upload": 1, "limit": 2} == features.term_counts
    assert documents.keys() == source.word_lines(candidates).keys()
