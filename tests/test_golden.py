"""Generated files are what their source generates."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from golden import ROOT, golden_files


@pytest.mark.parametrize("path", sorted(golden_files()), ids=str)
def test_golden_file_is_current(path: Path) -> None:
    """A generated file equals what its source generates; ``just generate`` brings it up to date."""
    found = (ROOT / path).read_text(encoding="utf-8")

    assert golden_files()[path] == found
