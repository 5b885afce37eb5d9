"""Read a user's past sessions from the clients' own records, and then from the journal.

Invariant: most recent record first, one at a time, so that a reader that stops early has the most recent past; nothing
is written. A call has the same id in the journal and in a client's record; the client's record comes first because it
is not shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from upbeat.adapters.clients.client import Client
from upbeat.adapters.clients.session_files import MAX_FILES
from upbeat.adapters.system.environment import Environment
from upbeat.core.contract.event import Call, ClientName, Event, SubagentReturned, ToolFinished, ToolKind
from upbeat.core.journal.record import JournalEntry
from upbeat.core.journal.replay import decode_event
from upbeat.core.json_fields import mappings_of
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent


@dataclass(frozen=True, slots=True)
class HistorySource:
    """One record of a client, or the journal (``path`` is empty then), with its events."""

    path: str
    events: Iterator[HistoryItem]
    bytes: int = 0


class SessionHistory:
    """The past sessions on this machine. ``entries`` returns the journal's records since a time, in order."""

    def __init__(
        self,
        clients: Sequence[Client],
        environment: Environment,
        entries: Callable[[str], Iterator[JournalEntry]],
    ) -> None:
        self._histories = [client.history(environment) for client in clients]
        self._client_by_id = {client.id: client for client in clients}
        self._entries = entries

    def sources(self, since: float) -> tuple[HistorySource, ...]:
        """Return all sources with events after ``since`` (seconds since the epoch); nothing is read yet."""
        begin = datetime.fromtimestamp(max(since, 0), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        recordings = [(recording, history) for history in self._histories for recording in history.recordings(since)]
        recordings.sort(key=lambda pair: pair[0], reverse=True)
        sources = [
            HistorySource(recording.path, history.read_events(recording.path, begin), recording.bytes)
            for recording, history in recordings[:MAX_FILES]
        ]
        return (*sources, HistorySource("", self._journal(begin)))

    def _journal(self, begin: str) -> Iterator[HistoryItem]:
        for entry in self._entries(begin):
            event = decode_event(entry.body, self._describe)
            if event is not None:
                client = self._client_by_id.get(event.source.client)
                yield from _entry_events(
                    event, entry.body, reports_failures=bool(client and client.traits.reports_failures)
                )

    def _describe(self, client: ClientName, call: Call, cwd: str) -> Call:
        """Return ``call`` with its paths and edits: the journal has only the client's input."""
        known = self._client_by_id.get(client)
        return known.codec().describe_call(call, cwd) if known else call


def _entry_events(event: Event, body: Mapping[str, Any], *, reports_failures: bool) -> Iterator[HistoryItem]:
    yield RecordedEvent(event, str(body.get("at", "")), str(body.get("root", "")))
    call = getattr(event, "call", None)
    if call is None:
        return
    if isinstance(event, ToolFinished | SubagentReturned):
        yield RecordedCallEnd(event.source.session_id, call.id, _call_status(event, reports_failures=reports_failures))
    elif any(effect.get("kind") == "deny" for effect in mappings_of(body, "effects")):
        yield RecordedCallEnd(event.source.session_id, call.id, CallStatus.DENIED)


def _call_status(event: ToolFinished | SubagentReturned, *, reports_failures: bool) -> CallStatus:
    if event.has_failed:
        return CallStatus.FAILED
    if isinstance(event, SubagentReturned):
        return CallStatus.UNKNOWN
    if event.exit_code is not None:
        return CallStatus.FAILED if event.exit_code else CallStatus.SUCCEEDED
    is_reported = reports_failures and event.call.kind is not ToolKind.SHELL
    return CallStatus.SUCCEEDED if is_reported and not event.was_interrupted else CallStatus.UNKNOWN
