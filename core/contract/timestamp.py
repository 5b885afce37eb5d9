"""Timestamps as records and reports have them."""

from __future__ import annotations

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of every plan."""


def format_timestamp(moment: datetime) -> str:
    """Return UTC with milliseconds in ISO 8601; the epoch without milliseconds."""
    if moment == EPOCH:
        return "1970-01-01T00:00:00Z"
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
