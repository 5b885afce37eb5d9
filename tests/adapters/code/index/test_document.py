"""A stored document is the words of a file with their positions, and nothing of its secrets."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.document import (
    IndexedDocument,
    StoredDocument,
    WordLines,
    build_document,
    encode_indexed_document,
    encode_lines,
    index_keys,
)
from upbeat.adapters.code.query.terms import IDENTIFIER_PATTERN
from upbeat.adapters.code.syntax.outline import Outline
from upbeat.adapters.code.syntax.word_roles import WordRole


def stored(document: IndexedDocument, word_ids: Sequence[int] | None = None) -> StoredDocument:
    """Return ``document`` as it is read from an index, by default with the ids 0, 1, …"""
    return StoredDocument(encode_indexed_document(document, word_ids or range(len(document.words))))


@given(st.text("ab_A1 登录\n\tdef():", max_size=200), st.sampled_from(["python", "go", ""]))
def test_a_document_is_decoded_as_it_was_encoded(text: str, language: str) -> None:
    """The words, their lines and positions, and the definitions are equal."""
    document = build_document(text, language)
    ids = [3 * index for index in range(len(document.words))]
    decoded, lines = stored(document, ids), WordLines(encode_lines(document))
    definitions = [decoded.definitions[position] for position in range(len(decoded.definitions.names))]

    assert (document.length, ids, document.definitions) == (decoded.length, list(decoded.word_ids), tuple(definitions))
    ends = [0, *accumulate(document.line_counts)]
    assert [list(document.lines[ends[index] : ends[index + 1]]) for index in range(len(ids))] == [
        list(lines.lines_of(index)) for index in range(len(ids))
    ]
    enclosing = [decoded.enclosing_of(index) for index in range(len(ids))]
    assert list(document.enclosing) == [position for positions, _ in enclosing for position in positions]
    assert list(document.counts) == [count for _, counts in enclosing for count in counts]
    assert list(document.roles) == [role for index in range(len(ids)) for role in decoded.roles_of(index)]


def test_word_ids_are_in_the_order_of_the_words() -> None:
    """The stored ids have the order in which the words occur first."""
    document = build_document("gamma alpha beta alpha", "")

    assert ("gamma", "alpha", "beta") == document.words
    assert [30, 10, 20] == list(stored(document, [30, 10, 20]).word_ids)


def test_counts_can_be_larger_than_two_bytes() -> None:
    """A word that occurs seventy thousand times is counted exactly."""
    assert [70_000] == list(stored(build_document("a " * 70_000, "")).enclosing_of(0)[1])


@given(st.text("ab_A \n", max_size=200), st.sets(st.integers(1, 2000), max_size=3))
def test_words_are_counted_and_found(text: str, wanted: set[int]) -> None:
    """Words are counted, and ids are found whatever bytes are around them."""
    document = build_document(text, "")
    ids = [257 * index + 1 for index in range(len(document.words))]
    decoded = stored(document, ids)

    assert [IDENTIFIER_PATTERN.findall(text).count(word) for word in document.words] == [
        sum(decoded.enclosing_of(index)[1]) for index in range(len(ids))
    ]
    assert bool(wanted & set(ids)) == decoded.has_any(wanted)
    assert all(decoded.has_any([0, number]) for number in ids)


DOCUMENTED = """// limit

import limit // limit

/**
 * limit
 */
@limit
func first() {
  // limit
}
// limit
func second() {}
"""


def test_comments_document_what_follows_them() -> None:
    """The comment at the head of a file documents it; comments and annotations above a definition belong to it."""
    document = build_document(DOCUMENTED, "go")
    decoded, index = stored(document), document.words.index("limit")
    places = zip(*decoded.enclosing_of(index), decoded.roles_of(index), strict=True)

    assert [
        (-1, 1, WordRole.DOC),
        (-1, 1, WordRole.CODE),
        (-1, 1, WordRole.COMMENT),
        (0, 1, WordRole.DOC),
        (0, 1, WordRole.CODE),
        (0, 1, WordRole.COMMENT),
        (1, 1, WordRole.DOC),
    ] == list(places)


@given(st.text("ab_ \ndef():", max_size=120))
def test_lines_have_the_same_enclosing_definitions(text: str) -> None:
    """The decoded definitions agree with the outline of the text on every line."""
    text = text.replace("d", "def d")
    outline, nesting = Outline(text, "python"), stored(build_document(text, "python")).definitions.nesting

    for line in range(1, len(outline.lines) + 1):
        assert outline.enclosing_position(line) == nesting.enclosing_position(line)
        assert outline.enclosing_position(line) == outline.positions_by_line()[line - 1]


def test_occurrences_are_counted_by_role() -> None:
    """Occurrences in all roles are counted apart in each definition."""
    text = "limit = 1\ndef limit(limit):\n    'x'\n    # limit\n    return limit + 'limit limit'\n"
    document = build_document(text, "python")
    decoded, index = stored(document), document.words.index("limit")

    assert 7 == decoded.count_of(index)
    positions, counts = decoded.enclosing_of(index)
    assert [(0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 3, 1), (1, 2, 1), (1, 4, 2)] == list(
        zip(positions, decoded.roles_of(index), counts, strict=True)
    )


@given(st.binary(max_size=60) | st.binary(max_size=60).map(zlib.compress))
def test_other_bytes_are_no_document(data: bytes) -> None:
    """Other bytes are rejected with ValueError."""
    with pytest.raises(ValueError, match="no document"):
        StoredDocument(data)


BAD_LINES = [b"", b"x", zlib.compress(b""), zlib.compress(b"abc"), zlib.compress(b"\1\0\0\0\7\0\0\0")]


@pytest.mark.parametrize("data", BAD_LINES)
def test_other_bytes_are_no_lines(data: bytes) -> None:
    """Bytes that are no lines, or fewer than their header says, are rejected with ValueError."""
    with pytest.raises(ValueError, match="no lines"):
        WordLines(data)


@given(st.data())
def test_a_damaged_document_is_rejected(data: st.DataObject) -> None:
    """One wrong byte is noticed, wherever it is."""
    body = encode_indexed_document(build_document("def alpha():\n    return beta\n", "python"), range(3))
    index = data.draw(st.integers(0, len(body) - 1))
    wrong = bytearray(body)
    wrong[index] ^= data.draw(st.integers(1, 255))

    with pytest.raises(ValueError, match="no document"):
        StoredDocument(bytes(wrong))


KEYS = [
    ("fileUploads", ("fil", "upload", ".fileupload")),
    ("FILE_UPLOAD", ("fil", "upload", ".fileupload")),
    ("uploads", ("upload",)),
    ("the", (".the",)),
    ("登录", ("登录",)),
]


@pytest.mark.parametrize(("word", "keys"), KEYS)
def test_keys(word: str, keys: tuple[str, ...]) -> None:
    """A word has its terms as keys, and its whole name if that has several parts or no term."""
    assert keys == index_keys(word)


SECRETS = [
    'key = "AKIAQ3EGRT7ZX4MPLW2N"',
    "token: ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ue0Hg3Js7K",
    'PASSWORD = "hunter2horse"',
]

KEY = [f"MIIEowIBAAKCAQEA{number}hunter{'xYz' * 14}" for number in range(6)]


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_not_stored(line: str) -> None:
    """No word of a secret is stored; the numbers of other lines stay the same."""
    document = build_document(f"first = 1\n{line}\nlast = 2\n", "python")
    indexes = {word: index for index, word in enumerate(document.words)}
    lines = WordLines(encode_lines(document))

    assert not [word for word in indexes if any(part in word for part in ("AKIAQ", "9aF3kQ7", "hunter2"))]
    assert {"first", "last"} <= set(indexes)
    assert [3] == list(lines.lines_of(indexes["last"]))


def test_lines_of_a_private_key_are_not_stored() -> None:
    """All lines of a private key are left out; the numbers of other lines stay the same."""
    body = "\n".join(KEY)
    text = f'k = """-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"""\nlast = 2\n'

    document = build_document(text, "python")

    assert not [word for word in document.words if "hunter" in word or "xYz" in word]
    indexes = {word: index for index, word in enumerate(document.words)}
    assert [9] == list(WordLines(encode_lines(document)).lines_of(indexes["last"]))


@pytest.mark.parametrize(
    "head", ["# Generated by a tool 1.2", "/* DO NOT EDIT */", "// Code generated from x.idl", "# autogenerated"]
)
def test_a_generated_file_says_so_at_its_head(head: str) -> None:
    """What a program wrote is known in the index; a file that only speaks of it further down is not such a file."""
    assert stored(build_document(f"{head}\nx = 1\n", "python")).is_generated
    assert not stored(build_document("x = 1\n" * 100 + head, "python")).is_generated
    assert not stored(build_document("# generates a report\n", "python")).is_generated
