"""Recorded events of past sessions, from the journal and the clients' own records. Invariant: values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.contract.event import Event


class CallStatus(StrEnum):
    """The outcome of a call."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    """It did not run: the user, a rule or a hook denied it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as a hook would have reported it. ``timestamp`` is UTC, ISO 8601; ``root`` is the repository."""

    event: Event
    timestamp: str
    root: str


@dataclass(frozen=True, slots=True)
class RecordedCallEnd:
    """The outcome of the call ``call_id`` of a session."""

    session_id: str
    call_id: str
    status: CallStatus


HistoryItem = RecordedEvent | RecordedCallEnd
