"""Credential files are known by name; code and templates stay readable."""

from __future__ import annotations

from pathlib import Path

from case_files import read_groups

from upbeat.core.sanitize.sensitive_files import is_credential_path

NAMES = {
    answer: [name for (names,) in rows for name in names.split()]
    for answer, rows in read_groups(Path(__file__).with_name("sensitive_files_cases.tsv")).items()
}


def test_credential_files() -> None:
    """A credential file is known by its name, in any case."""
    assert dict.fromkeys(NAMES["yes"], True) == {path: is_credential_path(path) for path in NAMES["yes"]}


def test_other_files() -> None:
    """Code, templates and files with similar names are read."""
    paths = ["", "/", ".", *NAMES["no"]]

    assert dict.fromkeys(paths, False) == {path: is_credential_path(path) for path in paths}
