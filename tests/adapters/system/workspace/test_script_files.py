"""Scripts are read within bounds."""

from __future__ import annotations

import os
from pathlib import Path

from upbeat.adapters.system.workspace.script_files import MAX_BYTES, MAX_FILES, LocalScriptFiles


def test_what_is_read(tmp_path: Path) -> None:
    """Only small regular text files are read."""
    (tmp_path / "a.sh").write_text("ls")
    (tmp_path / "b").write_bytes(b"\0")
    (tmp_path / "c").write_bytes(b"x" * (MAX_BYTES + 1))
    os.mkfifo(tmp_path / "d")
    files = LocalScriptFiles()

    assert ["ls", None, None, None, None] == [files.read(str(tmp_path / name)) for name in ("a.sh", "b", "c", "d", "e")]


def test_the_number_of_files(tmp_path: Path) -> None:
    """One line reads a limited number of files."""
    (tmp_path / "a.sh").write_text("ls")
    files = LocalScriptFiles()
    for number in range(MAX_FILES):
        files.read(str(tmp_path / f"{number}"))

    assert files.read(str(tmp_path / "a.sh")) is None
