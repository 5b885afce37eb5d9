"""Messages about files name the line of a key, or of the table around it, and fit on one line."""

from __future__ import annotations

import pytest

from upbeat.core.settings_layers import Layer, did_you_mean, format_value

LINES = {"a": 1, "a.b": 2, "a.b.c": 3, "x.y": 9}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b.c", "f.toml:3"),
        ("a.b.z", "f.toml:2"),
        ("a.z.z", "f.toml:1"),
        ("x", "f.toml"),
        ("z", "f.toml"),
        ("", "f.toml"),
        ("." * 100_000, "f.toml"),
    ],
)
def test_location_of(name: str, expected: str) -> None:
    """A key without a line of its own has the line of its table."""
    assert expected == Layer("f.toml", {}, LINES).location_of(name)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("x", "'x'"), ("a\nb", "'a\\nb'"), ("\x1b[31m", "'\\x1b[31m'"), (["DEV"], "['DEV']"), ("x" * 99, f"'{'x' * 58}…")],
)
def test_format_value(raw: object, expected: str) -> None:
    """A value is formatted on one line, without control characters, truncated to sixty characters."""
    assert expected == format_value(raw)


@pytest.mark.parametrize(("word", "expected"), [("tets", "; did you mean 'test'?"), ("zzz", ""), ("", "")])
def test_did_you_mean(word: str, expected: str) -> None:
    """Only a similar name is suggested."""
    assert expected == did_you_mean(word, ["test", "build"])
