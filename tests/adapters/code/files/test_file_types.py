"""Role and language of a file follow from its path."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.adapters.code.files.file_types import FileKind, FileRole, classify_file

CASES = read_groups(Path(__file__).with_name("file_types_cases.tsv"))["kind"]


@pytest.mark.parametrize(("path", "role", "language"), CASES)
def test_a_path_has_a_role_and_a_language(path: str, role: str, language: str) -> None:
    """Folders, names and extensions decide what a file is for and what it is written in."""
    assert FileKind(FileRole(role), language) == classify_file(path)
