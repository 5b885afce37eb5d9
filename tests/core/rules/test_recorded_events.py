"""Recorded events as values."""

from __future__ import annotations

from past import AT, call, here

from upbeat.core.contract.event import TurnEnding
from upbeat.core.rules.recorded_events import CallStatus, RecordedCallEnd, RecordedEvent


def test_equal_records_are_one() -> None:
    """The same event at the same time is equal; at another place it is another record."""
    event = TurnEnding(here(), "Done.", False)

    assert RecordedEvent(event, AT, "/a") == RecordedEvent(event, AT, "/a")
    assert RecordedEvent(event, AT, "/a") != RecordedEvent(event, AT, "/b")


def test_statuses_are_stored_words() -> None:
    """A status is read back from its stored word."""
    words = ["succeeded", "failed", "denied", "unknown"]

    assert list(CallStatus) == [CallStatus(word) for word in words]


def test_an_end_names_its_call() -> None:
    """The end of a call has the session and the id of the recorded call."""
    end = call("ls", CallStatus.DENIED, "c1", "s1")[-1]

    assert RecordedCallEnd("s1", "c1", CallStatus.DENIED) == end
