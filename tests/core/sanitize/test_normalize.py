"""Normalized text is for matching: offsets stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.normalize import normalize

CASES = read_cases(Path(__file__).with_name("normalize_cases.tsv"))


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_normalize(text: str, expected: str) -> None:
    """Letters that only look different become plain letters."""
    assert expected == normalize(text)


@given(st.text(max_size=100))
def test_keeps_the_length(text: str) -> None:
    """Normalized text has the length of the original."""
    assert len(text) == len(normalize(text))
