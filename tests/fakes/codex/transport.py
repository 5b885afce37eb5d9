"""A way to Codex without a Codex: each turn plays the next list of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from upbeat.adapters.codex.transport.base import CodexRequestError, Failed, TurnEvent, TurnInput


class FakeTransport:
    """Implements ``transport.Transport``. ``asked`` is what was sent, ``turns`` what comes of it."""

    name = "fake"

    def __init__(self, turns: Sequence[Sequence[TurnEvent]] = (), room: int = 1000) -> None:
        self.turns = list(turns)
        self.asked: list[TurnInput] = []
        self._room = room
        self.forks: list[str | Failed] = []
        """What comes of the next forks: the new thread, or why there is none."""
        self.forked: list[str] = []
        self.is_closed = False

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        return f"fake {thread_id} {effort}".strip()

    def remaining_chars(self, prompt: str) -> int:
        return self._room - len(prompt)

    def send(self, ask: TurnInput) -> Iterator[TurnEvent]:
        self.asked.append(ask)
        yield from self.turns.pop(0)

    def fork(self, thread_id: str) -> str:
        self.forked.append(thread_id)
        found = self.forks.pop(0)
        if isinstance(found, Failed):
            raise CodexRequestError(found)
        return found

    def close(self) -> None:
        self.is_closed = True
