"""The past of a user: what the clients' own records tell, and after them what only the journal knows.

Law: the latest record first, one at a time, so that whoever stops has the latest past; nothing is written. Calls that
the journal and a client's record know have the same id, and the client's record, which is not cut, comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from ..core.contract.event import Act, Call, ClientName, Delegated, Event, ToolFinished
from ..core.journal.entry import Entry
from ..core.journal.replay import event_in
from ..core.rules.history import Ended, Fate, Happened, Past
from .local.recordings import MAX_FILES, Recording

TELLS_FAILURES = frozenset({ClientName.CLAUDE_CODE})
"""Clients whose hooks say that a call failed."""

Describer = Callable[[Call, str], Call]


class Records(Protocol):
    """One client's own records."""

    def recordings(self, since: float) -> list[Recording]:
        """The files that changed after ``since`` (seconds since the epoch), the latest first."""

    def read(self, path: str, since: str) -> Iterator[Happened]:
        """What one of them tells of the time after ``since`` (UTC, ISO 8601). Raises nothing."""


@dataclass(frozen=True, slots=True)
class Told:
    """One record of a client, or the journal (``path`` is empty then), with what it tells."""

    path: str
    happened: Iterator[Happened]
    bytes: int = 0


class History:
    """Everything that is on this disk. ``entries`` gives the journal's records since a time, in order."""

    def __init__(
        self,
        clients: tuple[Records, ...],
        entries: Callable[[str], Iterator[Entry]],
        describers: Mapping[ClientName, Describer],
    ) -> None:
        self._clients = clients
        self._entries = entries
        self._describers = describers

    def records(self, since: float) -> tuple[Told, ...]:
        """All that can be read of the time after ``since`` (seconds since the epoch); nothing is read yet."""
        begin = datetime.fromtimestamp(max(since, 0), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        found = [(one, client) for client in self._clients for one in client.recordings(since)]
        found.sort(key=lambda pair: pair[0], reverse=True)
        told = [Told(one.path, client.read(one.path, begin), one.bytes) for one, client in found[:MAX_FILES]]
        return (*told, Told("", self._journal(begin)))

    def _journal(self, begin: str) -> Iterator[Happened]:
        for entry in self._entries(begin):
            event = event_in(entry.body, self._described)
            if event is not None:
                yield from _of_entry(event, entry.body)

    def _described(self, client: ClientName, call: Call, cwd: str) -> Call:
        """``call`` with what it writes, which the journal has as the client's input only."""
        describe = self._describers.get(client)
        return describe(call, cwd) if describe else call


def _of_entry(event: Event, body: Mapping[str, Any]) -> Iterator[Happened]:
    yield Past(event, str(body.get("at", "")), str(body.get("root", "")))
    call = getattr(event, "call", None)
    if call is None:
        return
    if isinstance(event, ToolFinished | Delegated):
        yield Ended(event.source.session_id, call.id, _fate(event))
    elif any(one.get("kind") == "deny" for one in _effects(body)):
        yield Ended(event.source.session_id, call.id, Fate.DENIED)


def _fate(event: ToolFinished | Delegated) -> Fate:
    if event.failed:
        return Fate.FAILED
    if isinstance(event, Delegated):
        return Fate.UNKNOWN
    if event.exit_code is not None:
        return Fate.FAILED if event.exit_code else Fate.SUCCEEDED
    is_told = event.source.client in TELLS_FAILURES and event.call.act is not Act.SHELL
    return Fate.SUCCEEDED if is_told and not event.interrupted else Fate.UNKNOWN


def _effects(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = body.get("effects")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
