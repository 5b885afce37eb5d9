"""A fake app-server for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.codex.app_server_bench import Bench, app_server_bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Yield a folder with a fake app-server, of which no process may remain."""
    with app_server_bench(tmp_path) as made:
        yield made
