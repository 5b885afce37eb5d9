"""Values that are secrets, and values that are not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.sanitize.secrets.values import is_made_of_words, is_placeholder, is_secret

VALUES = read_groups(Path(__file__).with_name("value_cases.tsv"))
PLACEHOLDERS = VALUES.pop("placeholder")


@pytest.mark.parametrize(
    ("group", "is_user_chosen", "is_literal", "expected"),
    [
        ("no password", True, True, False),
        ("password", True, True, True),
        ("no token", False, True, False),
        ("token", False, True, True),
        ("code without quotes", True, False, False),
        ("password without quotes", True, False, True),
        ("number without quotes", False, False, False),
    ],
)
def test_is_secret(group: str, is_user_chosen: bool, is_literal: bool, expected: bool) -> None:
    """A value is a secret if its form is neither that of a word nor, without quotes, that of code."""
    values = [value for (value,) in VALUES[group]]

    assert dict.fromkeys(values, expected) == {
        value: is_secret(value, is_user_chosen=is_user_chosen, is_literal=is_literal) for value in values
    }


def test_is_placeholder() -> None:
    """References, templates, masks and ordinary words stand for a secret."""
    assert dict(PLACEHOLDERS) == {value: "yes" if is_placeholder(value) else "no" for value, _ in PLACEHOLDERS}


def test_a_long_run_of_letters_takes_linear_time() -> None:
    """A run of letters that turns out not to be words is not split in every possible way."""
    started = time.process_time()

    assert not is_made_of_words("x" * 20_000 + "A1b")
    assert time.process_time() - started < 1
