"""Data files of the package."""

from __future__ import annotations

import pytest

from upbeat.core.package_data import load_rows, load_text, load_toml

PACKAGE = "upbeat.core.sanitize"


def test_load_rows() -> None:
    """Rows are split at tabs; comments and blank lines are not rows."""
    rows = load_rows(PACKAGE, "credential_files.tsv")

    assert {"folder", "name", "suffix"} == {row[0] for row in rows}
    assert {2} == {len(row) for row in rows}


def test_load_toml() -> None:
    """A TOML file is parsed once."""
    assert "phrase" in load_toml(PACKAGE, "injection_phrases.toml")
    assert load_toml(PACKAGE, "injection_phrases.toml") is load_toml(PACKAGE, "injection_phrases.toml")


def test_a_missing_file_is_an_error() -> None:
    """A wrong name fails at once."""
    with pytest.raises(FileNotFoundError):
        load_text(PACKAGE, "no_such_file.tsv")
