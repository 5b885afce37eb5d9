"""Timestamps are one text for one moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from upbeat.core.contract.timestamp import EPOCH, format_timestamp


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (EPOCH, "1970-01-01T00:00:00Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05.000Z"),
        (datetime(2026, 1, 2, 1, 4, 5, 9000, tzinfo=timezone(timedelta(hours=8))), "2026-01-01T17:04:05.009Z"),
    ],
)
def test_timestamp(moment: datetime, shown: str) -> None:
    """Times are UTC with milliseconds; the epoch is plain."""
    assert shown == format_timestamp(moment)
