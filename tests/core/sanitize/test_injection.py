"""Lines that address the model are filtered; code that talks about instructions stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.injection import filter_injection

CASES = read_groups(Path(__file__).with_name("injection_cases.tsv"))
SEGMENTS = CASES["segment"]
HARMLESS, ADDRESSED = ([text for (text,) in CASES[group]] for group in ("harmless", "addressed"))


def test_leaves_harmless_text_unchanged() -> None:
    """Code and prose about instructions stay unchanged."""
    assert {text: (text, 0) for text in HARMLESS} == {text: filter_injection(text) for text in HARMLESS}


def test_filters() -> None:
    """A line that addresses the model is filtered, and the lines around it stay."""
    filtered = {line: filter_injection(f"def f():\n{line}\n    return 1\n") for line in ADDRESSED}

    assert dict.fromkeys(ADDRESSED, ("def f():\n[filtered]\n    return 1\n", 1)) == filtered


@pytest.mark.parametrize(("text", "expected", "dropped"), SEGMENTS)
def test_filters_no_more_than_the_segment(text: str, expected: str, dropped: str) -> None:
    """Each line, or sentence of a long line, is filtered on its own."""
    assert (expected, int(dropped)) == filter_injection(text)


@given(
    st.lists(st.one_of(st.sampled_from([*ADDRESSED, *HARMLESS, "\n", ". ", "x" * 250]), st.text(max_size=5))).map(
        "".join
    )
)
def test_is_idempotent(text: str) -> None:
    """Filtered text stays as it is."""
    once, _count = filter_injection(text)

    assert (once, 0) == filter_injection(once)


@given(st.lists(st.sampled_from(HARMLESS[2:]), max_size=5), st.sampled_from(ADDRESSED[:6]))
def test_keeps_every_other_line(lines: list[str], order: str) -> None:
    """All lines but the injected one stay."""
    assert ("\n".join([*lines, "[filtered]", *lines]), 1) == filter_injection("\n".join([*lines, order, *lines]))
