"""Sends a question about a session to the transcripts of the client that the session is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.contract.event import ClientName, Source
from ..core.ports import Transcripts

if TYPE_CHECKING:
    from ..core.policies.look import Use


class TranscriptsOfClients:
    """Implements ``core.ports.Transcripts`` for several clients; one that nobody knows tells nothing."""

    def __init__(self, by_client: Mapping[ClientName, Transcripts]) -> None:
        self._by_client = by_client

    def tokens(self, source: Source) -> int | None:
        """Tokens that the session has used in all; None when its transcript does not tell."""
        transcripts = self._by_client.get(source.client)
        return transcripts.tokens(source) if transcripts and source.transcript else None

    def context(self, source: Source) -> Use | None:
        """How full the window is of the agent that the event happened in; None when its transcript does not tell."""
        transcripts = self._by_client.get(source.client)
        return transcripts.context(source) if transcripts and source.transcript else None

    def agent_of(self, source: Source, call_id: str) -> str:
        """The id of the agent that a delegating call became; empty when the transcript does not tell."""
        transcripts = self._by_client.get(source.client)
        return transcripts.agent_of(source, call_id) if transcripts and source.transcript and call_id else ""

    def exit_codes(self, source: Source, call_ids: frozenset[str]) -> Mapping[str, int]:
        """The exit codes of those shell commands whose end the transcript has."""
        transcripts = self._by_client.get(source.client)
        return transcripts.exit_codes(source, call_ids) if transcripts and source.transcript and call_ids else {}
