"""What the index keeps of a file says the same about a question as the file itself."""

from __future__ import annotations

import zlib
from textwrap import dedent

import pytest
from fakes.source_tree import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.features import Profile, Reader
from upbeat.adapters.code.index_doc import Kept, KeptLines, encode, encode_lines, keys_of, read_document
from upbeat.adapters.code.kinds import kind_of
from upbeat.adapters.code.outline import Outline
from upbeat.adapters.code.question import read_question
from upbeat.adapters.code.words import NAME

QUESTIONS = [
    "file upload permissions are wrong: FILE_UPLOAD_PERMISSIONS",
    "FileSystemStorage.save loses content; the name must be given",
    "cannot connect to the broker\n\n    skip_whitespace(token)",
    "the fileuploads and shoppingcart total, 会话 登录",
]


def numbers(profile: Profile) -> dict[str, object]:
    """Everything that a profile says, but the order in which it was found."""
    parts = {position: (part.terms, part.exact, sorted(part.hits)) for position, part in sorted(profile.parts.items())}
    return {
        "terms": profile.terms,
        "names": profile.names,
        "joined": profile.joined,
        "defined": (profile.defined, profile.defined_names, profile.defined_joined),
        "parts": parts,
        "phrases": profile.phrases,
        "owned": profile.owned,
        "length": profile.length,
    }


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("path", FILES)
def test_a_document_says_what_its_text_says(path: str, question: str) -> None:
    """The profile of a document is that of the text, for every kind of file."""
    text = dedent(FILES[path])
    document = read_document(text, kind_of(path).language)
    asked = read_question(question)
    words = dict(enumerate(document.words, 7))
    kept, lines = Kept(encode(document, list(words))), KeptLines(encode_lines(document))

    reader = Reader(asked)
    profile = reader.sketch(path, kept, words)
    reader.complete(profile, kept, lines, words, lambda: text)
    reader.add_hits(profile, kept, lines, words)

    assert numbers(Reader(asked).profile(path, text)) == numbers(profile)


@given(st.text("ab_A1 登录\n\tdef():", max_size=200), st.sampled_from(["python", "go", ""]))
def test_documents_are_read_back(text: str, language: str) -> None:
    """What is encoded comes back equal: words, where they stand, and definitions."""
    document = read_document(text, language)
    ids = [3 * at for at in range(len(document.words))]
    kept, lines = Kept(encode(document, ids)), KeptLines(encode_lines(document))

    assert (document.length, ids, document.definitions) == (
        kept.length,
        list(kept.ids),
        tuple(kept.outline().definitions),
    )
    ends = [0, *document.ends]
    assert [list(document.lines[ends[at] : ends[at + 1]]) for at in range(len(ids))] == [
        list(lines.of(at)) for at in range(len(ids))
    ]
    homes = [kept.homes_of(at) for at in range(len(ids))]
    assert list(document.homes) == [home for its, _ in homes for home in its]
    assert list(document.counts) == [count for _, its in homes for count in its]


def test_words_are_chosen_in_order() -> None:
    """Only the words that are asked for are found, by their positions in the text."""
    kept = Kept(encode(read_document("gamma alpha beta alpha", ""), [30, 10, 20]))

    assert [0, 2] == list(kept.among({20, 30, 40}))


def test_many_hits_are_counted() -> None:
    """A word that stands more often than two bytes can say is counted all the same."""
    document = read_document("a " * 70_000, "")
    kept = Kept(encode(document, [1]))

    assert [70_000] == list(kept.homes_of(0)[1])


@given(st.text("ab_A \n", max_size=200), st.sets(st.integers(1, 2000), max_size=3))
def test_words_are_counted_and_found(text: str, asked: set[int]) -> None:
    """How often a word stands in a document, and whether one of some numbers does, whatever bytes lie beside it."""
    document = read_document(text, "")
    ids = [257 * at + 1 for at in range(len(document.words))]
    kept = Kept(encode(document, ids))

    assert [NAME.findall(text).count(word) for word in document.words] == [kept.count_of(at) for at in range(len(ids))]
    assert bool(asked & set(ids)) == kept.has_any(asked)
    assert [True] * len(ids) == [kept.has_any([0, number]) for number in ids]


def test_outlines_are_not_shared() -> None:
    """The lines that one question adds are not there for the next."""
    kept = Kept(encode(read_document("def a():\n    pass", "python"), [1, 2, 3]))
    kept.outline().lines = ["def a():"]

    assert [] == kept.outline().lines


@given(st.text("ab_ \ndef():", max_size=120))
def test_definitions_are_found_around_lines(text: str) -> None:
    """The kept outline agrees with the one of the text on every line."""
    text = text.replace("d", "def d")
    outline, document = Outline(text, "python"), read_document(text, "python")
    kept = Kept(encode(document, range(len(document.words)))).outline()
    lines = range(1, len(outline.lines) + 1)

    assert [outline.around(line) for line in lines] == [kept.around(line) for line in lines]


@given(st.binary(max_size=60) | st.binary(max_size=60).map(zlib.compress))
def test_anything_else_is_refused(data: bytes) -> None:
    """Bytes that are no document are refused with ValueError."""
    with pytest.raises(ValueError, match="no document"):
        Kept(data)


BAD_LINES = [b"", b"x", zlib.compress(b""), zlib.compress(b"abc"), zlib.compress(b"\1\0\0\0\7\0\0\0")]


@pytest.mark.parametrize("data", BAD_LINES)
def test_lines_that_do_not_fit_are_refused(data: bytes) -> None:
    """Bytes that are no lines, or fewer than they say, are refused with ValueError."""
    with pytest.raises(ValueError, match="no lines"):
        KeptLines(data)


@given(st.data())
def test_one_wrong_byte_is_seen(data: st.DataObject) -> None:
    """A document that is not as it was written is refused, wherever the damage is."""
    body = encode(read_document("def alpha():\n    return beta\n", "python"), range(3))
    at = data.draw(st.integers(0, len(body) - 1))
    wrong = bytearray(body)
    wrong[at] ^= data.draw(st.integers(1, 255))

    with pytest.raises(ValueError, match="no document"):
        Kept(bytes(wrong))


KEYS = [
    ("fileUploads", ("fil", "upload", ".fileupload")),
    ("FILE_UPLOAD", ("fil", "upload", ".fileupload")),
    ("uploads", ("upload",)),
    ("the", ()),
    ("登录", ("登录",)),
]


@pytest.mark.parametrize(("word", "keys"), KEYS)
def test_keys(word: str, keys: tuple[str, ...]) -> None:
    """A word is found by its terms, and by its whole name when that has several parts."""
    assert keys == keys_of(word)


SECRETS = [
    'key = "AKIAQ3EGRT7ZX4MPLW2N"',
    "token: ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ue0Hg3Js7K",
    'PASSWORD = "hunter2horse"',
]

KEY = [f"MIIEowIBAAKCAQEA{number}hunter{'xYz' * 14}" for number in range(6)]


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_not_kept(line: str) -> None:
    """No word of a secret is stored; the lines around it stay where they are."""
    document = read_document(f"first = 1\n{line}\nlast = 2\n", "python")
    kept = dict(zip(document.words, range(len(document.words)), strict=True))
    lines = KeptLines(encode_lines(document))

    assert not [word for word in kept if any(part in word for part in ("AKIAQ", "9aF3kQ7", "hunter2"))]
    assert {"first", "last"} <= set(kept)
    assert [3] == list(lines.of(kept["last"]))


def test_lines_of_a_key_are_not_kept() -> None:
    """A private key goes with all of its lines, and what follows stays where it is."""
    body = "\n".join(KEY)
    text = f'k = """-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"""\nlast = 2\n'

    document = read_document(text, "python")

    assert not [word for word in document.words if "hunter" in word or "xYz" in word]
    kept = dict(zip(document.words, range(len(document.words)), strict=True))
    assert [9] == list(KeptLines(encode_lines(document)).of(kept["last"]))
