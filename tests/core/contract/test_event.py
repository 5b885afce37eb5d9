"""Events of clients."""

from __future__ import annotations

from upbeat.core.contract.event import Call, ClientName, EventSource, ToolFinished


def test_the_short_agent_id_is_the_end_of_the_id() -> None:
    """Notes use the last twelve characters; the main agent has none."""
    assert "123456789012" == EventSource(ClientName.CLI, "/", agent_id="agent-123456789012").short_agent_id
    assert "" == EventSource(ClientName.CLI, "/").short_agent_id


def test_the_raw_response_is_not_part_of_an_event() -> None:
    """Two events are equal whatever the client's own response is, and it is not printed."""
    source, call = EventSource(ClientName.CLI, "/"), Call("1", "Bash", {})
    event = ToolFinished(source, call, raw={"key": "value"})

    assert ToolFinished(source, call) == event
    assert "value" not in repr(event)
