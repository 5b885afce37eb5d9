"""A settings file is changed in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.config.user_file import read_document, write_document
from upbeat.core.errors import UserError


def test_comments_and_order_stay(tmp_path: Path) -> None:
    """What is not changed is written as it was; a missing file is an empty document."""
    path = tmp_path / "new" / "file.toml"
    document = read_document(path)
    document["a"] = 1
    write_document(path, document)
    path.write_text("# why\n" + path.read_text())
    again = read_document(path)
    again["a"] = 2
    write_document(path, again)

    assert "# why\na = 2\n" == path.read_text()


def test_a_broken_file_is_not_overwritten(tmp_path: Path) -> None:
    """What cannot be parsed is refused, with how to fix it."""
    path = tmp_path / "file.toml"
    path.write_text("a = [\n")

    with pytest.raises(UserError, match="fix it with `upbeat config edit`"):
        read_document(path)
