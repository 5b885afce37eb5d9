"""Signals are scaled and added up; only files that rank well as a whole are compared in detail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import read_tree

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query import rank
from upbeat.adapters.code.query.features import FeatureExtractor
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import WorkingTreeSource
from upbeat.adapters.code.query.retrieval import RetrievalResult

SOURCES = read_tree(Path(__file__).with_name("sources.txt"))
UPLOADS, OTHER = SOURCES["uploads.py"], SOURCES["other.py"]


def signals(query: str, **texts: str) -> dict[str, dict[str, float]]:
    """Return the signals of each of ``texts`` for ``query``, by its name."""
    search_query = parse_search_query(query)
    extractor = FeatureExtractor(search_query)
    features = [extractor.extract(f"{name}.py", text) for name, text in texts.items()]
    corpus = rank.compute_corpus_statistics(features, search_query, RetrievalResult(scanned_count=len(features)))
    details = rank.compute_detail_signals(features, corpus, len(features))
    return {
        name: rank.compute_file_signals(file, search_query, corpus, 0.0) | row
        for name, file, row in zip(texts, features, details, strict=True)
    }


@given(st.lists(st.tuples(st.floats(0.1, 9.0), st.sets(st.integers(1, 9))), max_size=8))
def test_the_best_line_is_found(terms: list[tuple[float, set[int]]]) -> None:
    """Lines that are not looked at for the lightest terms could not be the best one."""
    gains = {str(number): gain for number, (gain, _) in enumerate(terms)}
    lines = {str(number): found for number, (_, found) in enumerate(terms)}
    sums = [sum(gain for gain, found in terms if line in found) for line in range(10)]

    assert max(sums) == pytest.approx(rank.best_line_gain(lines | {"other": {1}}, gains))


def test_terms_on_one_line_count_more() -> None:
    """The best line is the one with most of the query."""
    signal = signals("alpha beta gamma", near="x\nalpha beta gamma", apart="alpha\nbeta\ngamma")

    assert signal["near"]["line"] > signal["apart"]["line"] > 0


def test_a_definition_counts_by_its_name() -> None:
    """A name that the query covers completely counts more than its parts in several names."""
    signal = signals("the size limit of an upload", uploads=UPLOADS, other=OTHER)

    assert signal["uploads"]["definition"] > signal["other"]["definition"] > 0
    assert signal["uploads"]["compound"] > signal["other"]["compound"] == 0


def test_a_literal_is_matched_as_written() -> None:
    """A quoted text is matched as a whole, with its case."""
    query = 'it says "the upload is over its limit" wrongly'
    signal = signals(query, uploads=UPLOADS, lower=UPLOADS.replace("upload is over", "Upload is over"), other=OTHER)

    assert signal["uploads"]["literals"] > 0
    assert (0, 0) == (signal["lower"]["literals"], signal["other"]["literals"])


def test_identifiers_and_other_words_have_their_own_signals() -> None:
    """A word that looks like an identifier is a name, any other is a word."""
    signal = signals("save_upload gets no chunk", uploads=UPLOADS, other=OTHER)

    assert signal["uploads"]["names_used"] > 0 < signal["uploads"]["words_used"]
    assert signal["uploads"]["names_defined"] > 0
    assert (0, 0) == (signal["other"]["names_used"], signal["other"]["names_defined"])


def test_scale_divides_by_the_largest() -> None:
    """Each signal is divided by its maximum; one that is 0 everywhere stays 0."""
    rows = [{"body": 2.0, "title": 0.0}, {"body": 8.0, "title": 0.0}]
    rank.scale_columns(rows)

    assert [{"body": 0.25, "title": 0.0}, {"body": 1.0, "title": 0.0}] == rows


def test_siblings_are_other_files_of_the_folder() -> None:
    """The signal is the average of the best three other files in the folder."""
    paths = ["a/1", "a/2", "b/3"]
    rows = [{"body": 0.9}, {"body": 0.6}, {"body": 0.3}]
    rank.add_sibling_signal(paths, rows)

    assert [0.6 / 3, 0.9 / 3, 0.0] == [row["siblings"] for row in rows]


def test_flags_follow_the_path() -> None:
    """Configuration, other languages and declarations are distinguished from the main sources."""
    rows = [dict[str, float](), {}, {}]
    rank.add_path_signals(["a.c", "a.h", "web/a.js"], parse_search_query("x"), {}, rows)

    assert [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)] == [(row["is_other_language"], row["is_declaration"]) for row in rows]


def test_other_roles_rank_behind_sources_unless_they_are_meant() -> None:
    """Requested tests rank slightly behind sources, a file that is named does not, and documentation ranks last."""
    paths = ["a.py", "setup.cfg", "tests/test_a.py", "tests/test_b.py", "README.md"]
    rows = [dict[str, float]() for _ in paths]
    query = parse_search_query("add unit tests like tests/test_b.py")
    rank.add_path_signals(paths, query, {"tests/test_b.py": 1.0}, rows)

    assert [0.0, 0.0, rank.REQUESTED_ROLE_PENALTY, 0.0, 1.0] == [row["role_penalty"] for row in rows]


def test_history_counts_less_for_long_queries() -> None:
    """Beyond the usual length of a message its weight falls, most for the signal of all messages."""
    short = [{"history_similar": 1.0, "history_messages": 1.0, "body": 1.0}]
    long = [dict(short[0])]
    rank.damp_history(short, rank.HISTORY_DAMPING_CHARS)
    rank.damp_history(long, 4 * rank.HISTORY_DAMPING_CHARS)

    assert (1.0, 1.0) == (short[0]["history_similar"], short[0]["history_messages"])
    assert (0.5, 0.25, 1.0) == (long[0]["history_similar"], long[0]["history_messages"], long[0]["body"])


@given(st.lists(st.floats(-20, 20), max_size=20))
def test_scores_keep_the_order(totals: list[float]) -> None:
    """Scores lie in 0..1, the best is 1, and more is never less."""
    scores = rank.to_scores(totals)

    assert all(0 <= score <= 1 for score in scores)
    assert max(scores, default=1.0) == 1.0
    assert sorted(scores) == [score for _, score in sorted(zip(totals, scores, strict=True))]


QUERY = parse_search_query("the upload has no limit")


@pytest.mark.parametrize("count", [0, 1, 5, rank.MAX_DETAILED_FILES + 16])
def test_only_the_best_are_compared_in_detail(tmp_path: Path, count: int) -> None:
    """The answer has the files that rank best as a whole, up to a limit, with the hits of their definitions."""
    paths = [f"a{number:02}.py" for number in range(count)]
    for number, path in enumerate(paths):
        (tmp_path / path).write_text("def upload():\n    pass\n" + "upload limit\n" * number)
    tree = WorkingTree(str(tmp_path.resolve()), SourceCache(0))
    source = WorkingTreeSource(tree, paths, QUERY, threading.Event(), float("inf"))
    ranked, _ = rank.rank_candidates(source, QUERY, RetrievalResult(paths), {}, threading.Event())

    assert set(paths[-rank.MAX_DETAILED_FILES :]) == {file.features.path for file in ranked}
    assert all(file.features.definition_hits for file in ranked)
    assert [1.0] * bool(count) == [file.score for file in ranked[:1]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where are outdated keys removed?", True),
        ("旧的键在哪里删除？", True),
        ("where does `evict_old` remove keys?", False),
        ("why are the keys not removed? " * 8, False),
        ("the keys are not removed", False),
        ("where do the docs say how keys are removed?", False),
    ],
)
def test_short_queries_without_identifiers_are_questions(query: str, expected: bool) -> None:
    """Queries of plain words have weights of their own; identifiers and long reports have the others."""
    search_query = parse_search_query(query)

    assert rank.is_plain_question(search_query) == expected
    questions = rank.select_weights(search_query, has_history=True) is rank.QUESTION_WEIGHTS_WITH_HISTORY
    assert questions == expected
