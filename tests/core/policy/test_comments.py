"""Which lines are comments, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.policy.comments import MAX_COMMENTS, Comment, find_comments

NONE = {name: row for name, *row in read_cases(Path(__file__).with_name("no_comments.tsv"))}

FOUND = {
    "a line": ("/r/a.py", "\n\n# why\nx = 1\n", (Comment(3, "why", "x = 1"),)),
    "several in a row": ("/r/a.go", "// one\n// two\n\nf()", (Comment(1, "one\ntwo", "f()", 2),)),
    "two apart": ("/r/a.sh", "# one\n\n# two\nls", (Comment(1, "one", "# two"), Comment(3, "two", "ls"))),
    "behind code": ("/r/a.c", "int x; // count", (Comment(1, "count", "int x;", is_trailing=True),)),
    "a block in one line": ("/r/a.css.scss", "/* why */\na {}", (Comment(1, "why", "a {}"),)),
    "SQL": ("/r/a.sql", "-- why\nselect 1", (Comment(1, "why", "select 1"),)),
    "at the end": ("/r/a.rb", "x\n# last", (Comment(2, "last", ""),)),
    "behind text in triple quotes": ("/r/a.py", "'''\n# no\n'''\n# yes\nx", (Comment(4, "yes", "x"),)),
    "in capitals": ("/r/A.PY", "# why\nx", (Comment(1, "why", "x"),)),
}


@pytest.mark.parametrize(("path", "text"), NONE.values(), ids=NONE)
def test_no_comment(path: str, text: str) -> None:
    """Documentation, strings and similar text are not comments."""
    assert find_comments(path, text) == ()


@pytest.mark.parametrize(("path", "text", "expected"), FOUND.values(), ids=FOUND)
def test_a_comment(path: str, text: str, expected: tuple[Comment, ...]) -> None:
    """A comment has its line, its text and the adjacent code."""
    assert find_comments(path, text) == expected


def test_comments_are_limited() -> None:
    """The number of comments is limited."""
    assert MAX_COMMENTS <= len(find_comments("/r/a.py", "# a\n\n" * 3000)) <= MAX_COMMENTS + 1


@given(st.sampled_from(["py", "js", "sql"]), st.text("#/-*'\"`\n ab", max_size=80))
def test_every_comment_stands_in_its_line(ending: str, text: str) -> None:
    """For any text, each comment is on the line that it names."""
    lines = text.split("\n")
    for one in find_comments(f"/r/a.{ending}", text):
        parts = one.text.split("\n")
        assert all(part in lines[one.line - 1 + index] for index, part in enumerate(parts))
