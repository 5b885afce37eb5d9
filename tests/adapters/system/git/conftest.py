"""The folder of the git tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty folder, by its real path."""
    return tmp_path.resolve()
