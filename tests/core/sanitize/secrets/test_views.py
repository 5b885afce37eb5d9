"""Views of a text reveal secrets that are escaped, encoded or broken over lines."""

from __future__ import annotations

import base64

import pytest

from upbeat.core.sanitize.secrets.formats import SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.views import decode_base64_runs, decode_escapes, join_wrapped_lines


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("a%3Db %2541 &#65;&#x42;", "a=b A AB"),
        ("&quot;x&quot; &amp; \\u0041 \\\\x42 \\/", '"x" & A B /'),
        ("a=3Db=\nc", "a=bc"),
        ("%20%07 100% &nbsp;", None),
    ],
)
def test_decode_escapes(text: str, decoded: str | None) -> None:
    """Escapes of visible ASCII characters are decoded; a text without any has no view."""
    view = decode_escapes(ScannedText(text, None))

    assert decoded == (view.text if view else None)


def test_a_span_of_a_view_covers_whole_escapes() -> None:
    """A span in the view is the span of all its escapes in the original."""
    text = "v=%41bc%64;"
    view = decode_escapes(ScannedText(text, None))

    assert view is not None
    span = view.original_span(SecretSpan(2, 6, 1, "kind"))
    assert ("Abcd", "%41bc%64") == (view.text[2:6], text[span.start : span.end])


def test_decode_base64_runs() -> None:
    """Only a run that encodes visible ASCII is decoded."""
    plain = "user name: someone else"
    run = base64.b64encode(plain.encode()).decode()

    assert [(3, 3 + len(run), plain)] == list(decode_base64_runs(ScannedText(f"a: {run} {'A1b2' * 12}", None)))


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("abc\ndef", "abcdef"),
        ("> abc\n> def", "> abcdef"),
        ('k = "abc" +\n    "def"', 'k = "abcdef"'),
        ("run abc\\\ndef", "run abcdef"),
        ("f(abc)\n(def)", None),
        ("one line", None),
    ],
)
def test_join_wrapped_lines(text: str, joined: str | None) -> None:
    """Lines are joined where a secret could continue: without quotes, operators and line prefixes."""
    lines = join_wrapped_lines(text)

    assert joined == (lines.text if lines else None)
