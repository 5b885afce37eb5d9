"""The project that the tools are tested on."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.polyglot import make_polyglot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project in several languages."""
    return make_polyglot(tmp_path)
