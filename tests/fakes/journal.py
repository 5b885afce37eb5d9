"""A journal in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from upbeat.core.engine.ports import Transaction
from upbeat.core.journal.record import Record
from upbeat.core.workflow.state import NEW_SESSION, PeerSession, SessionState


@dataclass
class MemoryJournal:
    """Implements ``core.engine.ports.Journal``: keeps whole ``records`` and ``states``, the latest last."""

    records: list[Record] = field(default_factory=list)
    states: dict[str, SessionState] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        draft = MemoryJournal(list(self.records), dict(self.states), dict(self.times), dict(self.roots))
        yield MemoryTransaction(draft)
        self.records[:] = draft.records
        self.states, self.times, self.roots = draft.states, draft.times, draft.roots


class MemoryTransaction:
    """Implements ``core.engine.ports.Transaction`` on a copy, which counts when the block has ended."""

    problem = ""

    def __init__(self, draft: MemoryJournal) -> None:
        self._draft = draft

    def state(self, session_id: str) -> SessionState:
        return self._draft.states.get(session_id, NEW_SESSION)

    def peer_sessions(self, root: str) -> tuple[PeerSession, ...]:
        """``updated_at`` is the time of the session's last record; of records of one time the later counts."""
        draft = self._draft
        peers = [
            PeerSession(session_id, state, draft.times[session_id])
            for session_id, state in draft.states.items()
            if state.run and draft.roots[session_id] == root
        ]
        return tuple(sorted(peers, key=lambda peer: -peer.updated_at)[:50])

    def append(self, record: Record, state: SessionState | None = None) -> None:
        draft, key = self._draft, record.session_id
        draft.records.append(record)
        if key:
            known = state or self.state(key)
            draft.states[key] = known
            at = datetime.fromisoformat(record.at).timestamp()
            draft.times[key] = at + len(draft.records) / 1_000_000
            draft.roots[key] = known.root or draft.roots.get(key) or record.root
