"""Fixtures of the end-to-end tests, and the rule that a machine without the means for them skips or fails."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from .clients import CLIENTS, ClientsUnavailable, install, require_clients
from .sandbox import Sandbox, make_sandbox

SECONDS_PER_TEST = 180


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is an end-to-end test, also where a test lacks the marker."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.e2e)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(SECONDS_PER_TEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """All tests of a file on one worker, because they look at the same runs."""
    return LoadFileScheduling(config, log)


@pytest.fixture(scope="session")
def client_programs() -> dict[str, Path]:
    """The native programs of all pinned clients by name; without them the test is skipped, or fails in CI."""
    try:
        require_clients()
        return {name: install(name) for name in CLIENTS}
    except ClientsUnavailable as reason:
        if os.environ.get("UPBEAT_E2E_REQUIRED") == "1":
            pytest.fail(f"UPBEAT_E2E_REQUIRED=1, but {reason}")
        pytest.skip(str(reason))


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    """The name of each pinned client in turn."""
    name: str = request.param
    return name


@pytest.fixture(params=["exec", "app-server"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each way in which codex-auto talks with Codex."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, client_programs: dict[str, Path]) -> Callable[[], Sandbox]:
    """Makes fresh sandboxes for runs that several tests of a file look at."""
    base = tmp_path_factory.mktemp("shared")
    numbers = itertools.count(1)
    return lambda: make_sandbox(base / str(next(numbers)), client_programs)


@pytest.fixture
def sandbox(tmp_path: Path, client_programs: dict[str, Path]) -> Sandbox:
    """A fresh sandbox with all clients on its ``PATH``."""
    return make_sandbox(tmp_path / "s", client_programs)
