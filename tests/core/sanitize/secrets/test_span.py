"""Overlapping spans of secrets are merged."""

from __future__ import annotations

from upbeat.core.sanitize.secrets.span import SecretSpan, merge_spans


def test_overlapping_spans_are_one_secret() -> None:
    """The merged span covers both, and has the kind of the lower rank; adjacent spans stay apart."""
    spans = [
        SecretSpan(20, 25, 0, "c"),
        SecretSpan(5, 12, 1, "b"),
        SecretSpan(0, 10, 2, "a"),
        SecretSpan(25, 30, 0, "d"),
    ]

    assert [SecretSpan(0, 12, 1, "b"), SecretSpan(20, 25, 0, "c"), SecretSpan(25, 30, 0, "d")] == merge_spans(spans)
    assert [] == merge_spans([])
