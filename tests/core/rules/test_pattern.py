"""Regular expressions of users match in linear time."""

from __future__ import annotations

from time import process_time

import pytest

from upbeat.core.rules.pattern import MAX_PATTERN_CHARS, Pattern, find_pattern_problem


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (Pattern("a.c", is_anchored=True), "abc x", True),
        (Pattern("a.c", is_anchored=True), "x abc", False),
        (Pattern("a|b", is_anchored=True), "xb", False),
        (Pattern("a.*c", is_anchored=True), "a\nc", True),
        (Pattern("b.d"), "abcd", True),
        (Pattern("^b"), "a\nb", True),
        (Pattern("a.b"), "a\nb", False),
        (Pattern("ABC", ignores_case=True), "xabc", True),
        (Pattern("(?i)ABC"), "xabc", True),
        (Pattern("é+"), "caféé", True),
        (Pattern(""), "", True),
    ],
)
def test_matches(pattern: Pattern, text: str, matches: bool) -> None:
    """An anchored pattern matches from the beginning, any other anywhere and line by line."""
    assert matches is pattern.matches(text.encode())


@pytest.mark.parametrize("source", ["(a+)+$", "(a|aa)+$", "(.*)(.*)(.*)(.*)x", "(a?){50}a{50}"])
def test_matching_is_linear(source: str) -> None:
    """Expressions that hang backtracking engines are matched in linear time."""
    before = process_time()
    Pattern(source).matches(b"a" * 50_000 + b"!")

    assert process_time() - before < 5


@pytest.mark.parametrize(
    "source", ["(?=a)", "(?<!a)b", "(a)\\1", "(?P=x)", "(", "a{1001}", "x" * (MAX_PATTERN_CHARS + 1), "\x00", "\ud800"]
)
def test_invalid_patterns(source: str) -> None:
    """A pattern that is not supported has a problem that says so."""
    assert find_pattern_problem(source)
