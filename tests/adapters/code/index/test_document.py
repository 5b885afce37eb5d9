"""What the index keeps of a file says the same about a question as the file itself."""

from __future__ import annotations

import zlib

import pytest
from fakes.source_tree import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.index.document import (
    StoredDocument,
    WordLines,
    build_document,
    encode_indexed_document,
    encode_lines,
    index_keys,
)
from upbeat.adapters.code.query.features import FeatureExtractor, FileFeatures
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.terms import IDENTIFIER_PATTERN
from upbeat.adapters.code.syntax.outline import Outline

QUESTIONS = [
    "file upload permissions are wrong: FILE_UPLOAD_PERMISSIONS",
    "FileSystemStorage.save loses content; the name must be given",
    "cannot connect to the broker\n\n    skip_whitespace(token)",
    "the fileuploads and shoppingcart total, 会话 登录",
]


def numbers(profile: FileFeatures) -> dict[str, object]:
    """Everything that a profile says, but the order in which it was found."""
    parts = {
        position: (part.terms, part.exact_names, sorted(part.line_terms))
        for position, part in sorted(profile.definition_hits.items())
    }
    return {
        "terms": profile.term_counts,
        "names": profile.name_counts,
        "joined": profile.joined_names,
        "defined": (profile.terms_by_defined_name, profile.defined_names),
        "parts": parts,
        "phrases": profile.phrases,
        "owned": profile.qualified_positions,
        "length": profile.document.length,
    }


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("path", FILES)
def test_a_document_says_what_its_text_says(path: str, question: str) -> None:
    """The profile of a document is that of the text, for every kind of file."""
    text = FILES[path]
    document = build_document(text, classify_file(path).language)
    asked = parse_search_query(question)
    words = dict(enumerate(document.words, 7))
    kept, lines = StoredDocument(encode_indexed_document(document, list(words))), WordLines(encode_lines(document))

    reader = FeatureExtractor(asked)
    reader.add_words(words)
    profile = reader.extract_summary(path, kept)
    reader.add_details(profile, lines, lambda: text)
    reader.add_line_terms(profile, text)

    assert numbers(FeatureExtractor(asked).extract(path, text)) == numbers(profile)


@given(st.text("ab_A1 登录\n\tdef():", max_size=200), st.sampled_from(["python", "go", ""]))
def test_documents_are_read_back(text: str, language: str) -> None:
    """What is encoded comes back equal: words, where they stand, and definitions."""
    document = build_document(text, language)
    ids = [3 * at for at in range(len(document.words))]
    kept, lines = StoredDocument(encode_indexed_document(document, ids)), WordLines(encode_lines(document))

    assert (document.length, ids, document.definitions) == (
        kept.length,
        list(kept.word_ids),
        tuple(kept.definitions[position] for position in range(len(kept.definitions.names))),
    )
    ends = [0, *document.line_ends]
    assert [list(document.lines[ends[at] : ends[at + 1]]) for at in range(len(ids))] == [
        list(lines.lines_of(at)) for at in range(len(ids))
    ]
    homes = [kept.enclosing_of(at) for at in range(len(ids))]
    assert list(document.enclosing) == [home for its, _ in homes for home in its]
    assert list(document.counts) == [count for _, its in homes for count in its]


def test_words_are_chosen_in_order() -> None:
    """Only the words that are asked for are found, by their positions in the text."""
    kept = StoredDocument(encode_indexed_document(build_document("gamma alpha beta alpha", ""), [30, 10, 20]))

    assert [0, 2] == list(kept.positions_of({20, 30, 40}))


def test_many_hits_are_counted() -> None:
    """A word that stands more often than two bytes can say is counted all the same."""
    document = build_document("a " * 70_000, "")
    kept = StoredDocument(encode_indexed_document(document, [1]))

    assert [70_000] == list(kept.enclosing_of(0)[1])


@given(st.text("ab_A \n", max_size=200), st.sets(st.integers(1, 2000), max_size=3))
def test_words_are_counted_and_found(text: str, asked: set[int]) -> None:
    """Words are counted, and ids are found whatever bytes surround them."""
    document = build_document(text, "")
    ids = [257 * at + 1 for at in range(len(document.words))]
    kept = StoredDocument(encode_indexed_document(document, ids))

    assert [IDENTIFIER_PATTERN.findall(text).count(word) for word in document.words] == [
        sum(kept.enclosing_of(at)[1]) for at in range(len(ids))
    ]
    assert bool(asked & set(ids)) == kept.has_any(asked)
    assert [True] * len(ids) == [kept.has_any([0, number]) for number in ids]


@given(st.text("ab_ \ndef():", max_size=120))
def test_definitions_are_found_around_lines(text: str) -> None:
    """The kept outline agrees with the one of the text on every line."""
    text = text.replace("d", "def d")
    outline, document = Outline(text, "python"), build_document(text, "python")
    kept = StoredDocument(encode_indexed_document(document, range(len(document.words)))).definitions.nesting
    lines = range(1, len(outline.lines) + 1)

    assert [outline.enclosing_position(line) for line in lines] == [kept.enclosing_position(line) for line in lines]


@given(st.binary(max_size=60) | st.binary(max_size=60).map(zlib.compress))
def test_anything_else_is_refused(data: bytes) -> None:
    """Bytes that are no document are refused with ValueError."""
    with pytest.raises(ValueError, match="no document"):
        StoredDocument(data)


BAD_LINES = [b"", b"x", zlib.compress(b""), zlib.compress(b"abc"), zlib.compress(b"\1\0\0\0\7\0\0\0")]


@pytest.mark.parametrize("data", BAD_LINES)
def test_lines_that_do_not_fit_are_refused(data: bytes) -> None:
    """Bytes that are no lines, or fewer than they say, are refused with ValueError."""
    with pytest.raises(ValueError, match="no lines"):
        WordLines(data)


@given(st.data())
def test_one_wrong_byte_is_seen(data: st.DataObject) -> None:
    """A damaged document is rejected, wherever the damage is."""
    body = encode_indexed_document(build_document("def alpha():\n    return beta\n", "python"), range(3))
    at = data.draw(st.integers(0, len(body) - 1))
    wrong = bytearray(body)
    wrong[at] ^= data.draw(st.integers(1, 255))

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
    """A word is found by its terms, and by its whole name when that has several parts."""
    assert keys == index_keys(word)


SECRETS = [
    'key = "AKIAQ3EGRT7ZX4MPLW2N"',
    "token: ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ue0Hg3Js7K",
    'PASSWORD = "hunter2horse"',
]

KEY = [f"MIIEowIBAAKCAQEA{number}hunter{'xYz' * 14}" for number in range(6)]


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_not_kept(line: str) -> None:
    """No word of a secret is stored; the lines around it stay where they are."""
    document = build_document(f"first = 1\n{line}\nlast = 2\n", "python")
    kept = dict(zip(document.words, range(len(document.words)), strict=True))
    lines = WordLines(encode_lines(document))

    assert not [word for word in kept if any(part in word for part in ("AKIAQ", "9aF3kQ7", "hunter2"))]
    assert {"first", "last"} <= set(kept)
    assert [3] == list(lines.lines_of(kept["last"]))


def test_lines_of_a_key_are_not_kept() -> None:
    """A private key goes with all of its lines, and what follows stays where it is."""
    body = "\n".join(KEY)
    text = f'k = """-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"""\nlast = 2\n'

    document = build_document(text, "python")

    assert not [word for word in document.words if "hunter" in word or "xYz" in word]
    kept = dict(zip(document.words, range(len(document.words)), strict=True))
    assert [9] == list(WordLines(encode_lines(document)).lines_of(kept["last"]))
