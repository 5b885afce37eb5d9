"""Credential files are known by name; code and templates stay readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.sanitize.sensitive_files import is_credential_path

CASES = read_groups(Path(__file__).with_name("sensitive_files_cases.tsv"))


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_credential_files(answer: str) -> None:
    """A credential file is known by its name in any case; code, templates and similar names are read."""
    paths = ["", "/", "."] * (answer == "no") + [path for (paths,) in CASES[answer] for path in paths.split()]

    assert dict.fromkeys(paths, answer == "yes") == {path: is_credential_path(path) for path in paths}
