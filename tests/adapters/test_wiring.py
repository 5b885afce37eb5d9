"""The parts are put together from an environment; nothing is opened before it is used."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from journal_values import record
from own_servers import odd, settings

from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.wiring import (
    OLDER_THRESHOLD,
    YOUNG_THRESHOLD,
    ServerLifetime,
    build_application,
    build_journal,
)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path / "home")})


@pytest.fixture(autouse=True)
def collection_as_before() -> Iterator[None]:
    """Garbage collection is reset after each test."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.parametrize("is_long_lived", [False, True])
def test_building_opens_nothing(environment: Environment, is_long_lived: bool) -> None:
    """Neither building nor closing an application creates a file; only a long-lived one has an index for turns."""
    application = build_application(environment, is_long_lived=is_long_lived)
    application.close()

    assert is_long_lived is (application.runtime.index is not None)
    assert not environment.home.exists()


def test_the_retention_is_that_of_the_user(environment: Environment) -> None:
    """The journal keeps records as long as the user's settings say, by default longer than ten days."""
    journal = build_journal(environment)
    with journal.transaction() as transaction:
        transaction.append(record(at=(datetime.now(UTC) - timedelta(days=10)).strftime("%Y-%m-%dT%H:%M:%S.000Z")))
        transaction.append(record(at=""))

    assert 0 == journal.prune().records

    settings(environment.home, "[journal]\nmax_days = 1\n")

    assert 1 == journal.prune().records


@pytest.mark.parametrize("text", ['enabled = "off"\n', 'mode = "plan"\n', "enabled = 5\n"])
def test_servers_start_only_for_turns_that_may_query_them(environment: Environment, tmp_path: Path, text: str) -> None:
    """Where upbeat is off, only plans, or has invalid settings, no server is warmed up."""
    settings(environment.home, text + odd("fine", str(tmp_path / "starts")))
    application = build_application(environment, server_lifetime=ServerLifetime.SESSION)
    application.warm_up_servers(str(tmp_path))

    assert application.user_servers is not None
    assert {} == application.user_servers._connections

    application.close()


def test_a_long_lived_process_collects_seldom(environment: Environment) -> None:
    """What is loaded is excluded from collections; cycles are still found before more than the bound exist."""
    build_application(environment, is_long_lived=True).close()

    assert gc.get_freeze_count() > 10_000
    assert (True, (YOUNG_THRESHOLD, OLDER_THRESHOLD, OLDER_THRESHOLD)) == (gc.isenabled(), gc.get_threshold())

    for _ in range(3 * YOUNG_THRESHOLD):
        cycle: list[object] = []
        cycle.append(cycle)

    assert gc.get_count()[0] <= YOUNG_THRESHOLD
