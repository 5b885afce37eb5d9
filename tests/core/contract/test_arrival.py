"""How an event reached upbeat."""

from __future__ import annotations

from upbeat.core.contract.arrival import Arrival, Route


def test_nothing_is_proven_by_default() -> None:
    """An arrival of which only the route is known has no sender."""
    assert ("", frozenset(), False) == (
        Arrival(Route.SOCKET).sender,
        Arrival(Route.SOCKET).sender_ancestors,
        Arrival(Route.SOCKET).is_client,
    )


def test_routes_have_stored_names() -> None:
    """Records keep the names of routes."""
    assert ["server", "socket", "command"] == [route.value for route in Route]
