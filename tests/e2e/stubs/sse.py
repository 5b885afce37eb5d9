"""The pieces of a streamed answer, before they meet a socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Send:
    """One server-sent event."""

    event: str
    data: dict[str, Any]

    def encoded(self) -> bytes:
        """The bytes on the wire."""
        return f"event: {self.event}\ndata: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing for ``seconds``, or until the client hangs up."""

    seconds: float


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Send nothing until another request, in whose newest part ``words`` occur, has been answered."""

    words: str


@dataclass(frozen=True, slots=True)
class Cut:
    """End the connection without finishing the answer."""


Piece = Send | Wait | WaitFor | Cut


def pause_of(action: dict[str, Any]) -> Wait | WaitFor | Cut | None:
    """What an action of the script does to the stream rather than to the answer, if it does."""
    if "wait" in action:
        return Wait(action["wait"])
    if "wait_for" in action:
        return WaitFor(action["wait_for"])
    return Cut() if "cut" in action else None
