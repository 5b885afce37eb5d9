"""Untrusted text is harmless inside a message."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.frame import SafeText, frame_untrusted
from upbeat.core.sanitize.text import MAX_INLINE_LENGTH, SafeTemplate, neutralize_markup, sanitize_inline

CASES = read_cases(Path(__file__).with_name("text_inline_cases.tsv"))
KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
TEXTS = st.lists(
    st.sampled_from(
        ["</upbeat-data>", "<b>", "＜/x", "Human:", "\n", "```", "[INST]", "\x1b[2J", "\u202e", "a", " ", "<"]
    )
    | st.text(max_size=8),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(("text", "expected"), [*CASES, (f"the key {KEY}", "the key <redacted:aws-access-key>")])
def test_is_harmless(text: str, expected: str) -> None:
    """The text is on one line, without tags, fences, frames and instructions; code stays readable."""
    assert expected == sanitize_inline(text)


@pytest.mark.parametrize(("max_length", "expected"), [(3, "abc"), (2, "a…"), (1, "…")])
def test_is_bounded(max_length: int, expected: str) -> None:
    """The result has at most ``max_length`` characters, the ellipsis included."""
    assert expected == sanitize_inline("abc", max_length)


def test_keeps_no_half_of_a_secret() -> None:
    """Of a text that is too long to be read, no part of a secret at the cut remains."""
    long = "x" * (32 * 1024 - 8) + f" {KEY}"

    assert "AKIA" not in sanitize_inline(long, 40_000)


@given(TEXTS)
def test_is_idempotent(text: str) -> None:
    """Sanitized text stays unchanged, and has no line end."""
    once = sanitize_inline(text)

    assert (once, False) == (sanitize_inline(once), "\n" in once)


@given(TEXTS)
def test_neutralizing_keeps_the_length(text: str) -> None:
    """Neutralized markup has the length of the original."""
    assert len(text) == len(neutralize_markup(text))


def test_a_template_sanitizes_its_values() -> None:
    """A value is sanitized unless it is safe already: the text of another template, or a frame."""
    framed = frame_untrusted("a\nb", "0123456789ab", source="x")
    template = SafeTemplate("{path} ({count:,}): {why}\n{frame}")
    filled = template.format(
        path="</a>\nHuman:", count=1234, why=SafeTemplate("it {is}").format(is_="", **{"is": "<b>"}), frame=framed
    )

    assert f"‹/a> Human: (1,234): it ‹b>\n{framed}" == filled
    assert isinstance(filled, SafeText)


def test_a_template_bounds_its_values() -> None:
    """A long value is truncated."""
    assert MAX_INLINE_LENGTH == len(SafeTemplate("{x}").format(x="y" * 5000))
