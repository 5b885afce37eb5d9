"""What records show of hooks."""

from __future__ import annotations

from typing import Any

import pytest

from upbeat.core.doctor.evidence import session_seen, was_refused
from upbeat.core.doctor.findings import Guard, SessionSeen
from upbeat.core.journal.entry import Entry

MOST = 100
NOW = "2026-01-02T04:00:00.000Z"


def entry(event: str, at: str = "2026-01-02T03:04:05.000Z", about: Any = None, **more: Any) -> Entry:
    body = {"event": event, "at": at, "session_id": "s-1", "about": about or {}} | more
    return Entry(1, body, "", "")


def test_guards_are_counted() -> None:
    """Each event counts for its guard; the last time of each is kept, and events of no guard show nothing."""
    told = [
        entry("SessionStarted", "2026-01-02T03:00:00.000Z"),
        entry("ToolStarting", "2026-01-02T03:01:00.000Z"),
        entry("Delegating", "2026-01-02T03:02:00.000Z"),
        entry("SessionEnded", "2026-01-02T03:03:00.000Z"),
    ]
    last = {Guard.START: "2026-01-02T03:00:00.000Z", Guard.CALLS: "2026-01-02T03:02:00.000Z"}

    assert SessionSeen("s-1", "2026-01-02T03:02:00.000Z", {Guard.START: 1, Guard.CALLS: 2}, last) == session_seen(
        told, MOST, NOW
    )


def test_what_a_driver_told_is_no_hook() -> None:
    """Events that codex-auto told the core itself show no hook, and that it was there."""
    driven = entry("PromptSubmitted", about={"driver": "codex-auto", "prompt": "p"})
    hooked = entry("PromptSubmitted", about={"origin": "wrapped"})
    seen = session_seen([driven, hooked], MOST, NOW)

    assert session_seen([driven, driven], MOST, NOW) is None
    assert seen is not None
    assert ({Guard.TURNS: 1}, True) == (seen.counts, seen.is_wrapped)


def test_no_records_show_nothing() -> None:
    """An unknown session, and one of other records only, are none."""
    assert [None, None] == [session_seen(told, MOST, NOW) for told in ([], [entry("could_not_evaluate")])]


def test_a_long_session_is_not_whole() -> None:
    """Where as many records were read as may be, its beginning may be missing."""
    seen = session_seen([entry("PromptSubmitted")] * 3, 3, NOW)

    assert seen is not None
    assert not seen.is_whole


def test_records_of_other_hooks_show_nothing() -> None:
    """What was seen before the hooks were written is not counted, and the session is not whole."""
    told = [entry("ToolStarting"), entry("PromptSubmitted", "2026-01-02T03:30:00.000Z")]
    last = {Guard.TURNS: "2026-01-02T03:30:00.000Z"}
    seen = session_seen(told, MOST, NOW, since="2026-01-02T03:20:00.000Z")

    assert SessionSeen("s-1", "2026-01-02T03:30:00.000Z", {Guard.TURNS: 1}, last, is_whole=False) == seen
    assert session_seen(told, MOST, NOW, since="2026-01-02T03:40:00.000Z") is None


@pytest.mark.parametrize(
    "at",
    [
        *("", "yesterday", "2026-01-02", "2026-01-02T03:04:05.000", "2026-13-02T03:04:05.000Z"),
        *("2026-01-02T03:04:05.000+05:00", "0001-01-01T00:00:00.000+23:00", "9999-12-31T23:59:59.000Z", 5, None),
    ],
)
def test_records_of_no_time_show_nothing(at: object) -> None:
    """A record whose time is none, or is still to come, is passed over; the others count."""
    seen = session_seen([entry("ToolStarting", at=at), entry("PromptSubmitted")], MOST, NOW)  # type: ignore[arg-type]

    assert seen is not None
    assert ({Guard.TURNS: 1}, False) == (seen.counts, seen.is_whole)


def test_a_refusal_counts_where_the_model_was_told() -> None:
    """A denial in the record and its reason in what the model got; one without the other is none."""
    denied = [entry("ToolStarting", effects=[{"kind": "deny", "text": "Stopped: it deletes the history"}])]
    asked = [entry("ToolStarting", effects=[{"kind": "ask", "text": "Stopped: it deletes the history"}])]

    assert was_refused(denied, '[{"content": "hook error: Stopped: it deletes …"}]')
    assert not was_refused(denied, "Permission to use Bash has been denied")
    assert not was_refused(asked, "Stopped: it deletes the history")
    assert not was_refused([], "Stopped: it deletes the history")
