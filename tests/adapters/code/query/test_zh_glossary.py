"""Chinese programming terms are translated to the English words of code."""

from __future__ import annotations

import pytest

from upbeat.adapters.code.query.zh_glossary import translate_to_english
from upbeat.core.package_data import load_rows

CASES = [
    ("登录", ("login", "signin", "auth")),
    ("連線", ("connect", "connection")),
    ("连接池", ("pool", "connection")),
    ("用户登录用户", ("user", "login", "signin", "auth")),
    ("你好", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "words"), CASES)
def test_the_longest_entry_wins(text: str, words: tuple[str, ...]) -> None:
    """Both scripts are known, other characters are skipped, and no word comes twice."""
    assert words == translate_to_english(text)


def test_every_row_has_a_term_and_words() -> None:
    """The glossary has two columns, and each term once."""
    rows = load_rows("upbeat.adapters.code.query", "zh_glossary.tsv")

    assert all(len(row) == 2 and row[1].isascii() and not row[0].isascii() for row in rows)
    assert len(rows) == len({term for term, _ in rows})
