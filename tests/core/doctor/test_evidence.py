"""What records show of hooks."""

from __future__ import annotations

from typing import Any

import pytest

from upbeat.core.doctor.evidence import summarize_session, was_refused
from upbeat.core.doctor.findings import HookPoint, SessionActivity
from upbeat.core.journal.record import JournalEntry

MOST = 100
NOW = "2026-01-02T04:00:00.000Z"


def entry(event: str, at: str = "2026-01-02T03:04:05.000Z", about: Any = None, **more: Any) -> JournalEntry:
    body = {"event": event, "at": at, "session_id": "s-1", "event_fields": about or {}} | more
    return JournalEntry(1, body, "", "")


def test_guards_are_counted() -> None:
    """Each event counts for its hook point; the last time of each is kept, and events of no hook point show nothing."""
    told = [
        entry("SessionStarted", "2026-01-02T03:00:00.000Z"),
        entry("ToolStarting", "2026-01-02T03:01:00.000Z"),
        entry("SubagentRequested", "2026-01-02T03:02:00.000Z"),
        entry("SessionEnded", "2026-01-02T03:03:00.000Z"),
    ]
    last = {HookPoint.START: "2026-01-02T03:00:00.000Z", HookPoint.CALLS: "2026-01-02T03:02:00.000Z"}

    assert SessionActivity(
        "s-1", "2026-01-02T03:02:00.000Z", {HookPoint.START: 1, HookPoint.CALLS: 2}, last
    ) == summarize_session(told, MOST, NOW)


def test_what_a_driver_told_is_no_hook() -> None:
    """Events that codex-auto told the core itself show no hook, and that it was there."""
    driven = entry("PromptSubmitted", event_fields={"driver": "codex-auto", "prompt": "p"})
    hooked = entry("PromptSubmitted", event_fields={"origin": "wrapped"})
    seen = summarize_session([driven, hooked], MOST, NOW)

    assert summarize_session([driven, driven], MOST, NOW) is None
    assert seen is not None
    assert ({HookPoint.TURNS: 1}, True) == (seen.counts, seen.is_wrapped)


def test_no_records_show_nothing() -> None:
    """An unknown session, and one of other records only, are none."""
    assert [None, None] == [summarize_session(told, MOST, NOW) for told in ([], [entry("internal_error")])]


def test_a_long_session_is_not_whole() -> None:
    """Where as many records were read as may be, its beginning may be missing."""
    seen = summarize_session([entry("PromptSubmitted")] * 3, 3, NOW)

    assert seen is not None
    assert not seen.is_complete


def test_records_of_other_hooks_show_nothing() -> None:
    """What was seen before the hooks were written is not counted, and the session is not whole."""
    told = [entry("ToolStarting"), entry("PromptSubmitted", "2026-01-02T03:30:00.000Z")]
    last = {HookPoint.TURNS: "2026-01-02T03:30:00.000Z"}
    seen = summarize_session(told, MOST, NOW, since="2026-01-02T03:20:00.000Z")

    assert SessionActivity("s-1", "2026-01-02T03:30:00.000Z", {HookPoint.TURNS: 1}, last, is_complete=False) == seen
    assert summarize_session(told, MOST, NOW, since="2026-01-02T03:40:00.000Z") is None


@pytest.mark.parametrize(
    "at",
    [
        *("", "yesterday", "2026-01-02", "2026-01-02T03:04:05.000", "2026-13-02T03:04:05.000Z"),
        *("2026-01-02T03:04:05.000+05:00", "0001-01-01T00:00:00.000+23:00", "9999-12-31T23:59:59.000Z", 5, None),
    ],
)
def test_records_of_no_time_show_nothing(at: object) -> None:
    """A record whose time is none, or is still to come, is passed over; the others count."""
    seen = summarize_session([entry("ToolStarting", at=at), entry("PromptSubmitted")], MOST, NOW)  # type: ignore[arg-type]

    assert seen is not None
    assert ({HookPoint.TURNS: 1}, False) == (seen.counts, seen.is_complete)


def test_a_refusal_counts_where_the_model_was_told() -> None:
    """A denial in the record and its reason in what the model got; one without the other is none."""
    denied = [entry("ToolStarting", effects=[{"kind": "deny", "text": "Stopped: it deletes the history"}])]
    asked = [entry("ToolStarting", effects=[{"kind": "ask", "text": "Stopped: it deletes the history"}])]

    assert was_refused(denied, '[{"content": "hook error: Stopped: it deletes …"}]')
    assert not was_refused(denied, "Permission to use Bash has been denied")
    assert not was_refused(asked, "Stopped: it deletes the history")
    assert not was_refused([], "Stopped: it deletes the history")
