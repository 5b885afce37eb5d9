"""Views of a text reveal secrets that are escaped, encoded or broken over lines."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.sanitize.secrets.formats import SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.views import decode_base64_runs, decode_escapes, join_wrapped_lines

CASES = read_groups(Path(__file__).with_name("views_cases.tsv"))


@pytest.mark.parametrize(("text", "decoded"), CASES["escapes"])
def test_decode_escapes(text: str, decoded: str) -> None:
    """Escapes of visible ASCII characters are decoded; a text without any has no view."""
    view = decode_escapes(ScannedText(text, None))

    assert decoded == (view.text if view else "")


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


@pytest.mark.parametrize(("text", "joined"), CASES["wrapped"])
def test_join_wrapped_lines(text: str, joined: str) -> None:
    """Lines are joined where a secret could continue: without quotes, operators and line prefixes."""
    lines = join_wrapped_lines(text)

    assert joined == (lines.text if lines else "")
