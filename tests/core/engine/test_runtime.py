"""What a turn is prepared with has the defaults of a call without a client."""

from __future__ import annotations

from fakes.runtime import fake_world

from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.runtime import NO_CAP, TurnRequest
from upbeat.core.sanitize.truncate import truncate_to_limit


def test_a_request_without_a_client_has_no_cap() -> None:
    """Nothing is cut for a caller that names no limit."""
    request = TurnRequest(EventSource(ClientName.CLI, "/repo"), "why?")

    assert (NO_CAP, False, frozenset()) == (request.cap, request.is_plan, request.shown_excerpts)
    assert "x" * 100_000 == truncate_to_limit("x" * 100_000, request.cap)[0]


def test_a_runtime_may_lack_what_few_events_need() -> None:
    """Handoffs, evidence and the index are optional."""
    assert (None, None) == (fake_world().runtime.index, fake_world().runtime.handoffs)
