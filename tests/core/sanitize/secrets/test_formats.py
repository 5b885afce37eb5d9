"""The table of published secret formats."""

from __future__ import annotations

import re

import pytest
from planted.formats import templates

from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, make_possessive


def test_every_row_compiles() -> None:
    """Each format has a kind in kebab case, a literal, and patterns that compile."""
    assert len(SECRET_FORMATS) > 300
    for secret_format in SECRET_FORMATS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", secret_format.kind)
        assert secret_format.literal
        assert "{A" not in secret_format.pattern.pattern
        assert secret_format.unanchored_pattern.pattern.startswith(re.escape(secret_format.literal))


def test_there_are_as_many_formats_as_promised() -> None:
    """150 kinds are promised, and as many formats are planted in tests."""
    assert len({secret_format.kind for secret_format in SECRET_FORMATS}) >= 150
    assert len(set(templates())) >= 150


def test_a_prefix_has_its_width() -> None:
    """Only a format with a prefix has a width, and its secret begins inside the match."""
    for secret_format in SECRET_FORMATS:
        assert bool(secret_format.prefix) == bool(secret_format.prefix_length)
        assert 0 <= secret_format.secret_offset <= secret_format.prefix_length + len(secret_format.literal)


def test_prefilters_are_expressions_of_re2() -> None:
    """A prefilter has no lookaround, which RE2 lacks, and no open repetition, which would cost time."""
    for secret_format in SECRET_FORMATS:
        prefilter = secret_format.prefilter_pattern
        outside_classes = re.sub(r"\[[^\]]*\]|\\.", "", prefilter)
        assert re.compile(prefilter)
        assert not re.search(r"\(\?[!<=]", prefilter)
        assert not re.search(r"[*+?]|\{\d+,\d*\}", outside_classes), prefilter


@pytest.mark.parametrize(
    ("source", "expected"),
    [("[a-z]{2,}", "[a-z]{2,}+"), ("a{3}", "a{3}"), ("(?:x)?", "(?:x)?+"), (r"\+[+*]", r"\+[+*]")],
)
def test_make_possessive(source: str, expected: str) -> None:
    """Quantifiers become possessive; classes, escapes and exact counts stay."""
    assert expected == make_possessive(source)
