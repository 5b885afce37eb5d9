"""A query is taken apart into weighted terms, names and paths."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.query.parse_query import parse_search_query


def test_first_line_weighs_most_and_noise_least() -> None:
    """The same word weighs more in the first line than in prose, more there than in a fence."""
    question = parse_search_query("upload bug\n\nfails after redirect\n```\ncookie\n```\n    indented trace\n")

    assert question.terms["upload"] > question.terms["redirect"] > question.terms["cooki"] > 0
    assert question.terms["bug"] < question.terms["redirect"]
    assert question.terms["redirect"] > question.terms["indent"] == question.terms["trac"]
    assert "after" not in question.terms


def test_a_long_first_line_is_read_to_its_end() -> None:
    """What stands far behind in one long line still counts, as prose."""
    question = parse_search_query("upload " + "and so on " * 60 + "redirect")

    assert question.terms["upload"] > question.terms["redirect"] > 0
    assert {"zebra"} == set(parse_search_query("x" * 399 + " zebra").terms) - {"x" * 399}
    assert {"upload"} == set(question.title_terms)


def test_names_are_weighed_by_their_look() -> None:
    """What looks like code is meant as a name; ordinary words hardly are."""
    names = parse_search_query("The `retry` in HttpClient calls send_all() and Session for uploads").names

    assert names["HttpClient"] == 1.0
    assert names["send_all"] >= names["retry"] > names["Session"] > names["uploads"] > 0
    assert "the" not in {name.lower() for name in names}


def test_neighbours_are_joined() -> None:
    """Words side by side are tried as one name, not across stop words at the ends."""
    joined = parse_search_query("wrong file upload permissions for the owner").joined_names

    assert joined["fileuploadpermission"] > joined["fileupload"]
    assert "permissionsfor" not in joined


PATHS = [
    ("see core/turn/plan.py for it", ("core/turn/plan.py",)),
    ("修改storage.py的逻辑", ("storage.py",)),
    ('File "/srv/app/views.py", line 3', ("/srv/app/views.py",)),
    ("./run.sh --fast", ("run.sh",)),
    ("nothing here", ()),
]


@pytest.mark.parametrize(("query", "paths"), PATHS)
def test_paths_are_taken_as_written(query: str, paths: tuple[str, ...]) -> None:
    """Paths are found in English, Chinese and traces."""
    assert paths == parse_search_query(query).mentioned_paths


def test_dotted_names_come_in_parts() -> None:
    """Dotted names of several languages are split at their dots."""
    question = parse_search_query("in http.client.HTTPConnection and std::io::Read, via Session#close")

    assert (("http", "client", "HTTPConnection"), ("std", "io", "Read"), ("Session", "close")) == question.dotted_names


def test_what_the_caller_names_is_meant() -> None:
    """files and symbols of the caller count like the first line."""
    question = parse_search_query("why is it slow", ("a/b.py",), ("Cache.fetch_rows",))

    assert ("a/b.py",) == question.mentioned_paths
    assert frozenset({"a/b.py"}) == question.intended_paths
    assert 1.0 == question.names["fetch_rows"] == question.names["Cache"]
    assert question.terms["cach"] == question.terms["fetch"] == question.terms["slow"]
    assert (("Cache", "fetch_rows"),) == question.dotted_names


CHINESE = [
    ("修复登录重试失败的问题", {"login", "retr"}),
    ("修復登入重試", {"login", "retr"}),
    ("数据库迁移报错", {"databas", "migrat"}),
    ("请求头里的缓存配置", {"head", "cach", "config"}),
]


@pytest.mark.parametrize(("query", "terms"), CHINESE)
def test_chinese_words_of_the_craft_are_translated(query: str, terms: set[str]) -> None:
    """Chinese queries reach English code, in both scripts."""
    assert terms <= set(parse_search_query(query).terms)


ASKS_FOR_TESTS = ["add unit tests for the parser", "fix the flaky test in ci", "写一个单元测试", "extend the specs"]
ASKS_FOR_NO_TESTS = ["fix the test client", "pytest crashes", "latest version fails", "this was tested by hand"]


@pytest.mark.parametrize("query", ASKS_FOR_TESTS)
def test_tests_are_asked_for(query: str) -> None:
    """A request for tests is seen."""
    assert FileRole.TEST in parse_search_query(query).wanted_roles


@pytest.mark.parametrize("query", ASKS_FOR_NO_TESTS)
def test_tests_are_not_asked_for(query: str) -> None:
    """The word alone is no request."""
    assert FileRole.TEST not in parse_search_query(query).wanted_roles


LONG = [
    "a",
    "a.",
    "a/",
    "`",
    "a b ",
    "(",
    "a-",
    "登",
    "/a",
    "write ",
    "-",
    "a::",
    "\n\n   ",
    'File "',
    "a_B",
    "x.py ",
    " ",
]


@pytest.mark.parametrize("piece", LONG)
def test_no_query_takes_long(piece: str) -> None:
    """Eight thousand characters of anything are read in a fraction of a second."""
    start = time.process_time()
    parse_search_query("x\n" + piece * (8000 // len(piece)))

    assert time.process_time() - start < 0.5


@given(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=3), st.lists(st.text(max_size=20), max_size=3))
def test_any_query_is_read(query: str, files: list[str], symbols: list[str]) -> None:
    """Any text is a question, with positive weights, each term with a word to show."""
    question = parse_search_query(query, files, symbols)

    assert all(weight > 0 for weight in question.terms.values())
    assert all(0 < weight <= 1 for weight in question.names.values())
    assert set(question.terms) <= set(question.word_by_term)
    assert question == parse_search_query(query, files, symbols)


def test_remarks_of_a_template_are_left_out() -> None:
    """What a form says to its writer is not part of the report, closed or not."""
    question = parse_search_query("upload fails\n<!-- thanks for\nreporting -->\nwith cookies\n<!-- checklist")

    assert {"upload", "cook"} <= set(question.terms)
    assert not {"report", "checklist"} & set(question.terms)


def test_literals_are_more_than_a_word() -> None:
    """Messages, calls and options in quotes are kept as written; a single word is a name already."""
    literals = parse_search_query("`retry` says 'connection lost' after \"--max-retries 3\"").literals

    assert ["connection lost", "--max-retries 3"] == list(literals)
