"""What holds for every test: what may be imported, how long a search may take, how many run at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
from repositories import make_repository

settings.register_profile(
    "upbeat",
    max_examples=int(os.environ.get("UPBEAT_EXAMPLES", "20")),
    deadline=None,  # a busy machine is no bug
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="UPBEAT_EXAMPLES" not in os.environ,  # the same examples every time, unless more are asked for
)
settings.load_profile("upbeat")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three workers for two processors, because part of the suite's time is waiting for processes and disks.

    Only one for each of the real clients: they have deadlines of their own, Claude Code 1.5 s for what ends a session.
    """
    processors = os.cpu_count() or 1
    return processors if config.option.markexpr == "e2e" else max(2, processors * 3 // 2)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository that the tests of a file share."""
    return make_repository(tmp_path_factory.mktemp("r") / "a repo 仓库")
