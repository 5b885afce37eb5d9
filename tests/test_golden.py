"""Generated files are what their source generates."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from golden import ROOT, golden_files


def test_golden_files_are_current() -> None:
    """A generated file equals what its source generates; ``just generate`` brings it up to date."""
    files = golden_files()
    stale = [str(path) for path, text in files.items() if (ROOT / path).read_text(encoding="utf-8") != text]

    assert files
    assert [] == stale
