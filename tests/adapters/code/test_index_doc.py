"""What the index keeps of a file says the same about a question as the file itself."""

from __future__ import annotations

import zlib
from textwrap import dedent

import pytest
from fakes.source_tree import FILES
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.features import Profile, Reader
from upbeat.adapters.code.index_doc import KeptOutline, decode, encode, keys_of, read_document
from upbeat.adapters.code.kinds import kind_of
from upbeat.adapters.code.outline import Outline
from upbeat.adapters.code.question import read_question

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
        "defined": (profile.defined_terms, profile.defined_names, profile.defined_joined),
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
    terms = set(asked.terms)
    words = {word for word in document.words if terms & set(keys_of(word))} | set(document.words)

    reader = Reader(asked)
    kept = reader.profile_of(path, decode(encode(document)), words, lambda: text)
    reader.add_hits(kept, document, words)

    assert numbers(Reader(asked).profile(path, text)) == numbers(kept)


@given(st.text("ab_A1 登录\n\tdef():", max_size=200), st.sampled_from(["python", "go", ""]))
def test_documents_are_read_back(text: str, language: str) -> None:
    """What is encoded comes back equal."""
    document = read_document(text, language)

    assert document == decode(encode(document))


@given(st.text("ab_ \ndef():", max_size=120))
def test_definitions_are_found_around_lines(text: str) -> None:
    """The kept outline agrees with the one of the text on every line."""
    text = text.replace("d", "def d")
    outline, document = Outline(text, "python"), read_document(text, "python")
    kept = KeptOutline(document.definitions)
    lines = range(1, len(outline.lines) + 1)

    assert [outline.around(line) for line in lines] == [kept.around(line) for line in lines]


@given(st.binary(max_size=60) | st.binary(max_size=60).map(zlib.compress))
def test_anything_else_is_refused(data: bytes) -> None:
    """Bytes that are no document are refused with ValueError."""
    with pytest.raises(ValueError, match="no document"):
        decode(data)


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


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_not_kept(line: str) -> None:
    """No word of a secret is stored; the lines around it stay where they are."""
    document = read_document(f"first = 1\n{line}\nlast = 2\n", "python")
    kept = dict(zip(document.words, range(len(document.words)), strict=True))

    assert not [word for word in kept if any(part in word for part in ("AKIAQ", "9aF3kQ7", "hunter2"))]
    assert {"first", "last"} <= set(kept)
    assert [3] == list(document.lines_of(kept["last"]))
