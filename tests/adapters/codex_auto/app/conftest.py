"""The workbench of the tests that run codex-auto."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.codex.workbench import Workbench, make_workbench


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b")
