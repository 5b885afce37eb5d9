"""A JSON file of another program is read as far as it is valid."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from upbeat.adapters.system.files.json_file import read_json_object


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "[" * 100_000, "\x00"])
def test_what_is_no_object_is_empty(tmp_path: Path, text: str) -> None:
    """Whatever stands in the file, nothing is raised."""
    path = tmp_path / "settings.json"
    path.write_text(text)

    assert {} == read_json_object(path)


def test_what_is_no_file_is_empty(tmp_path: Path) -> None:
    """Nothing, a folder, a pipe that nobody writes to: none is waited for."""
    os.mkfifo(tmp_path / "pipe")

    assert [{}, {}, {}] == [read_json_object(path) for path in (tmp_path / "none", tmp_path, tmp_path / "pipe")]


def test_a_link_is_followed(tmp_path: Path) -> None:
    """People keep their settings in another folder."""
    (tmp_path / "kept.json").write_text('{"a": 1}')
    (tmp_path / "settings.json").symlink_to(tmp_path / "kept.json")

    assert {"a": 1} == read_json_object(tmp_path / "settings.json")
