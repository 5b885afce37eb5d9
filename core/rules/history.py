"""What happened in a user's own sessions, as the records that clients keep tell it. Law: values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..contract.event import Event


class Fate(StrEnum):
    """What became of a call."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    """It did not run: its user said no, or a rule or hook of theirs did."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Past:
    """An event as a hook would have told it. ``at`` is UTC, ISO 8601; ``root`` the repository that it happened in."""

    event: Event
    at: str
    root: str


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of the call ``call_id`` of a session."""

    session_id: str
    call_id: str
    fate: Fate


Happened = Past | Ended
