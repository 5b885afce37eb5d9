"""The first pass selects every file that deserves a closer look, among them those that the query names."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query import retrieval
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import WorkingTreeSource, make_hits
from upbeat.adapters.code.query.retrieval import CountedNeedle, add_hits, match_named_paths, retrieve
from upbeat.adapters.code.query.terms import names_of_path


def retrieve_paths(root: Path, query: str, files: list[str]) -> list[str]:
    """Return the candidates for ``query`` among ``files`` of ``root``, best first."""
    tree = WorkingTree(str(root.resolve()), SourceCache())
    search_query = parse_search_query(query)
    source = WorkingTreeSource(tree, files, search_query, threading.Event(), time.monotonic() + 5)
    return retrieve(source, search_query, threading.Event()).candidates


def test_tests_are_searched_when_sources_do_not_match(tmp_path: Path) -> None:
    """A word that no source contains is searched in tests and documentation."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text("def rotate(): pass\n")
    (tmp_path / "tests" / "test_a.py").write_text("def test_thumbnails(): pass\n")
    files = ["a.py", "tests/test_a.py"]

    assert ["tests/test_a.py"] == retrieve_paths(tmp_path, "thumbnails", files)


def test_a_long_query_is_reduced_to_rare_words(tmp_path: Path) -> None:
    """Among a hundred words that every file has, the one word of a single file decides."""
    common = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(10)]
    for number in range(40):
        (tmp_path / f"m{number:02}.py").write_text("\n".join(common) + ("\nzebra\n" if number == 17 else "\n"))
    files = [f"m{number:02}.py" for number in range(40)]

    assert "m17.py" == retrieve_paths(tmp_path, " ".join([*common, "zebra"]), files)[0]


COUNTS = st.dictionaries(st.integers(0, 19), st.integers(1, 9))


@given(st.lists(st.tuples(st.floats(0.01, 9.0), COUNTS), max_size=9))
def test_no_candidate_is_missed(needles: list[tuple[float, dict[int, int]]]) -> None:
    """Files whose hits are not all counted could not be among the best; the best have their complete totals."""
    norms = [0.5 + number / 10 for number in range(20)]
    counted = [CountedNeedle(gain, gain, make_hits(counts.items(), norms)) for gain, counts in needles]
    counted.sort(key=lambda item: len(item.hits.positions))
    whole = [sum(item.gain * item.hits.saturation(position) for item in counted) for position in range(20)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "MAX_CANDIDATES", 3)
        totals = [0.0] * 20
        found = add_hits(totals, counted)
    best = sorted((total for total in whole if total), reverse=True)[:3]

    assert best == pytest.approx(sorted((totals[position] for position in found), reverse=True)[:3])
    assert [whole[position] for position in found] == pytest.approx([totals[position] for position in found])


FILES = [
    *("shop/storage.py", "shop/http/__init__.py", "shop/http/client.py", "admin/http/client.py"),
    *("shop/models.py", "blog/models.py", "web/index.ts"),
]

NAMED = read_groups(Path(__file__).with_name("cases.tsv"))["named"]


def named_paths(query: str) -> dict[str, float]:
    """Return the ``FILES`` that ``query`` names, looked up by name as an index does it."""
    return match_named_paths(
        lambda names: [path for path in FILES if names & names_of_path(path)], parse_search_query(query)
    )


@pytest.mark.parametrize(("query", "expected"), NAMED)
def test_named_paths(query: str, expected: str) -> None:
    """A path, the end of one, a file name and a dotted name lead to their file first."""
    named = named_paths(query)
    best = max(named.values(), default=0.0)

    assert expected.split() == [path for path, share in named.items() if share == best]
    assert all(0 < share <= 1 for share in named.values())
    assert named == match_named_paths(lambda _names: FILES, parse_search_query(query))


def test_a_name_of_many_files_counts_less() -> None:
    """A file name that two files share names each of them less than a unique one."""
    named = named_paths("models.py and storage.py")

    assert named["shop/storage.py"] == 1.0
    assert named["shop/models.py"] == named["blog/models.py"] < 1.0
