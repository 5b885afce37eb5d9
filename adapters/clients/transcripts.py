"""Route questions about a session to the transcripts of its client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from upbeat.core.contract.event import EventSource
from upbeat.core.engine.ports import Transcripts

if TYPE_CHECKING:
    from upbeat.core.policy.queries import ContextUsage


class TranscriptsByClient:
    """Implements ``core.engine.ports.Transcripts`` for several clients; for an unknown client everything is unknown."""

    def __init__(self, by_client: Mapping[str, Transcripts]) -> None:
        self._by_client = by_client

    def total_tokens(self, source: EventSource) -> int | None:
        """Return the tokens that the session has used; None if they are unknown."""
        transcripts = self._find(source)
        return transcripts.total_tokens(source) if transcripts else None

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """Return the context usage of the agent of the event; None if it is unknown."""
        transcripts = self._find(source)
        return transcripts.context_usage(source) if transcripts else None

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        """Return the id of the agent that a delegating call started; empty if it is unknown."""
        transcripts = self._find(source)
        return transcripts.agent_id_of(source, call_id) if transcripts and call_id else ""

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        """Return the exit codes of those shell commands that have ended."""
        transcripts = self._find(source)
        return transcripts.exit_codes(source, call_ids) if transcripts and call_ids else {}

    def _find(self, source: EventSource) -> Transcripts | None:
        return self._by_client.get(source.client) if source.transcript_path else None
