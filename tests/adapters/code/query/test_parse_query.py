"""A query is parsed into weighted terms, names and paths."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.query.parse_query import parse_search_query, without_regex

CASES = read_groups(Path(__file__).with_name("cases.tsv"))


def test_first_line_weighs_most_and_noise_least() -> None:
    """The same word weighs more in the first line than in prose, more there than in a fence."""
    search_query = parse_search_query("upload bug\n\nfails after redirect\n```\ncookie\n```\n    indented trace\n")

    assert search_query.terms["upload"] > search_query.terms["redirect"] > search_query.terms["cooki"] > 0
    assert search_query.terms["bug"] < search_query.terms["redirect"]
    assert search_query.terms["redirect"] > search_query.terms["indent"] == search_query.terms["trac"]
    assert "after" not in search_query.terms


def test_the_end_of_a_long_first_line_is_prose() -> None:
    """A first line is a title only up to a limit, and no word of it is lost."""
    search_query = parse_search_query("upload " + "and so on " * 60 + "redirect")

    assert search_query.terms["upload"] > search_query.terms["redirect"] > 0
    assert {"zebra"} == set(parse_search_query("x" * 399 + " zebra").terms) - {"x" * 399}
    assert {"upload"} == set(search_query.title_terms)


def test_names_are_weighed_by_their_form() -> None:
    """A word that looks like code is likely meant as a name, an ordinary word hardly."""
    names = parse_search_query("The `retry` in HttpClient calls send_all() and Session for uploads").names

    assert names["HttpClient"] == 1.0
    assert names["send_all"] >= names["retry"] > names["Session"] > names["uploads"] > 0
    assert "the" not in {name.lower() for name in names}


def test_adjacent_words_are_joined() -> None:
    """Adjacent words can form one name, which does not begin or end with a stop word."""
    joined = parse_search_query("wrong file upload permissions for the owner").joined_names

    assert joined["fileuploadpermission"] > joined["fileupload"]
    assert "permissionsfor" not in joined


@pytest.mark.parametrize(("query", "paths"), CASES["paths"])
def test_paths_are_taken_as_written(query: str, paths: str) -> None:
    """Paths are found in English, Chinese and traces."""
    assert tuple(paths.split()) == parse_search_query(query).mentioned_paths


def test_dotted_names_are_split() -> None:
    """Dotted names of several languages are split at their dots."""
    search_query = parse_search_query("in http.client.HTTPConnection and std::io::Read, via Session#close")

    assert (
        ("http", "client", "HTTPConnection"),
        ("std", "io", "Read"),
        ("Session", "close"),
    ) == search_query.dotted_names


def test_files_and_symbols_of_the_caller_are_meant() -> None:
    """They count like those of the first line."""
    search_query = parse_search_query("why is it slow", ("a/b.py",), ("Cache.fetch_rows",))

    assert ("a/b.py",) == search_query.mentioned_paths
    assert frozenset({"a/b.py"}) == search_query.intended_paths
    assert 1.0 == search_query.names["fetch_rows"] == search_query.names["Cache"]
    assert search_query.terms["cach"] == search_query.terms["fetch"] == search_query.terms["slow"]
    assert (("Cache", "fetch_rows"),) == search_query.dotted_names


@pytest.mark.parametrize(("query", "terms"), CASES["chinese"])
def test_chinese_programming_terms_are_translated(query: str, terms: str) -> None:
    """Chinese queries match English code, in both scripts."""
    assert set(terms.split()) <= set(parse_search_query(query).terms)


@pytest.mark.parametrize(("query", "answer"), CASES["tests"])
def test_a_query_can_ask_for_tests(query: str, answer: str) -> None:
    """A request for tests is recognized; the word alone is none."""
    assert (answer == "yes") == (FileRole.TEST in parse_search_query(query).wanted_roles)


@pytest.mark.parametrize("piece", [piece for (piece,) in CASES["long"]])
def test_no_query_takes_long(piece: str) -> None:
    """Any eight thousand characters are parsed in bounded processor time."""
    started = time.process_time()
    parse_search_query("x\n" + piece * (8000 // len(piece)))

    assert time.process_time() - started < 2


@given(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=3), st.lists(st.text(max_size=20), max_size=3))
def test_any_query_is_parsed(query: str, files: list[str], symbols: list[str]) -> None:
    """Any text gives positive weights, each term with a word of the query, and always the same."""
    search_query = parse_search_query(query, files, symbols)

    assert all(weight > 0 for weight in search_query.terms.values())
    assert all(0 < weight <= 1 for weight in search_query.names.values())
    assert set(search_query.terms) <= set(search_query.word_by_term)
    assert search_query == parse_search_query(query, files, symbols)


def test_comments_of_a_template_are_left_out() -> None:
    """HTML comments are not part of the report, closed or not."""
    search_query = parse_search_query("upload fails\n<!-- thanks for\nreporting -->\nwith cookies\n<!-- checklist")

    assert {"upload", "cook"} <= set(search_query.terms)
    assert not {"report", "checklist"} & set(search_query.terms)


def test_literals_are_more_than_a_word() -> None:
    """Messages, calls and options in quotes are kept as written; a single word is a name already."""
    literals = parse_search_query("`retry` says 'connection lost' after \"--max-retries 3\"").literals

    assert ["connection lost", "--max-retries 3"] == list(literals)


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        (r"def \w+_auth\(", "def  _auth("),
        (r"class .*Adapter\b", "class  Adapter "),
        (r"TempPath\.mktemp", "TempPath.mktemp"),
        (r"fix D:\Work\django\tests, see a..b and 1.5", r"fix D:\Work\django\tests, see a..b and 1.5"),
    ],
)
def test_what_is_left_of_a_regular_expression_is_no_word(query: str, plain: str) -> None:
    """Classes and escapes of a pattern are removed; paths of Windows and prose stay as they are."""
    assert plain == without_regex(query)


def test_traditional_characters_find_simplified_ones() -> None:
    """Pairs of characters count as written and in simplified form: comments may have either."""
    assert {"訂單", "订单"} <= parse_search_query("訂單編號在哪裡產生").terms.keys()
