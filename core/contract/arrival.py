"""How an event reached upbeat, as far as the system proves it."""

from __future__ import annotations

from enum import StrEnum

from upbeat.core.lazy_dataclass import dataclass


class Route(StrEnum):
    """The way of an event."""

    SERVER = "server"
    """A call on the connection of the server that the client started."""
    SOCKET = "socket"
    """A command hook that asked that server."""
    COMMAND = "command"
    """A command hook that answered in its own process."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The route of an event, and the process that sent it.

    ``sender`` identifies the process at the other end of the pipe that the event came through, if it is the parent of
    the process that received it; empty if the event came from anything else, such as a file. ``sender_ancestors`` are
    the processes that the sender descends from. ``is_client``: its program has the name of the client.
    """

    route: Route
    sender: str = ""
    sender_ancestors: frozenset[str] = frozenset()
    is_client: bool = False
