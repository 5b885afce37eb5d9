"""The postings and the words of a key are decoded as they were encoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.posting import decode_postings, decode_words, encode_postings, encode_words

ROWS = st.lists(
    st.tuples(st.integers(1, 300) | st.integers(1, 1 << 31), st.integers(1, 70_000)), min_size=1, max_size=20
)
WORDS = st.dictionaries(st.integers(1, 1 << 31), st.text("ab_XY登录", min_size=1, max_size=9), min_size=1, max_size=40)


@given(ROWS)
def test_postings_are_decoded_as_they_were_encoded(rows: list[tuple[int, int]]) -> None:
    """Documents and counts of any size come back."""
    rows = sorted(rows)
    docs, counts = decode_postings(encode_postings([doc for doc, _ in rows], [count for _, count in rows]), len(rows))

    assert rows == list(zip(docs, counts, strict=True))


@given(st.data())
def test_damaged_postings_are_rejected(data: st.DataObject) -> None:
    """A wrong byte behind the checksum, a missing end and another number of documents are errors."""
    body = encode_postings([1, 2, 300], [1, 1, 7])
    index = data.draw(st.integers(2, len(body) - 1))
    wrong = bytearray(body)
    wrong[index] ^= data.draw(st.integers(1, 255))

    for damaged, number in ((bytes(wrong), 3), (body[:index], 3), (body, 4)):
        with pytest.raises(ValueError, match="a posting"):
            decode_postings(damaged, number)


@given(WORDS)
def test_words_are_decoded_as_they_were_encoded(words: dict[int, str]) -> None:
    """Few words and many come back with their ids."""
    decoded = decode_words(encode_words(list(words.values()), list(words)))

    assert [*words.items()] == [*decoded.items()]


@pytest.mark.parametrize("body", [b"", b"\0a", b"\2a\0\0", b"\7ab", b"\4ab"])
def test_other_bytes_are_no_words(body: bytes) -> None:
    """Bytes that are no words are rejected with ValueError."""
    with pytest.raises(ValueError, match="no words"):
        decode_words(body)
