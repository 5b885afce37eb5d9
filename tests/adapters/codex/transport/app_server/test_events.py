"""Notifications of the app-server become events; unknown ones have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.transport.app_server import events as event
from upbeat.adapters.codex.transport.base import Delta

PLACE = {"threadId": "t", "turnId": "u"}


CASES = read_groups(Path(__file__).with_name("events_cases.tsv"))

NAMES = ["turn", "item", "tokenUsage", "run", "plan", "error", "changes", "type", "id", "status", "summary", "entries"]


@pytest.mark.parametrize(("method", "fields", "events"), CASES["notification"])
def test_notifications_become_events(method: str, fields: str, events: str) -> None:
    """Each notification has its events."""
    assert events == repr(event.decode(method, json.loads(fields)).events)


def test_thread_and_turn_are_read() -> None:
    """A notification belongs to a thread and a turn, wherever the turn is named."""
    assert event.DecodedNotification("t", "u", (event.ServerTurnStarted(),)) == event.decode(
        "turn/started", {"threadId": "t", "turn": {"id": "u"}}
    )
    assert event.DecodedNotification("t", "u", (Delta("", ""),)) == event.decode("item/agentMessage/delta", PLACE)
    assert event.DecodedNotification("", "", ()) == event.decode("error", {})


def test_errors_have_a_reason() -> None:
    """The protocol's error names and HTTP codes become reasons with a remedy."""
    assert CASES["failure"] == [
        (info, event.failure_reason_from_info(json.loads(info))) for info, _ in CASES["failure"]
    ]


@given(
    st.sampled_from(sorted(event.KNOWN_METHODS)) | st.text(),
    st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON)),
)
def test_decode_is_total(method: str, fields: dict[str, Any]) -> None:
    """Any notification with any fields is decoded."""
    assert isinstance(event.decode(method, fields), event.DecodedNotification)


def test_no_decoded_notification_is_opted_out_of() -> None:
    """The server is not asked to withhold notifications that are decoded."""
    assert set() == event.KNOWN_METHODS & set(event.OPT_OUT_METHODS)
