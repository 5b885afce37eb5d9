"""The sessions of a repository, and the one that this codex-auto works on.

Invariant: no prompt is sent to a session that another codex-auto holds, and no session is replaced silently: whatever
differs from how the user left it becomes a sentence in ``notices`` or ``problems``. A dry run writes nothing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from upbeat.adapters.codex.transport.base import TokenUsage
from upbeat.adapters.codex_auto.sessions.session import DEFAULT_SESSION, Lease, Session, is_thread_id
from upbeat.adapters.codex_auto.sessions.store import Claim, SessionStore, StoredSession
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.messages.layout import clip_to_width
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.truncate import truncate_at_word

MAX_TITLE_COLUMNS = 60
_MAX_TITLE_CHARS = 2_000
_MIN_ID_PREFIX_CHARS = 8
"""Characters of a thread id that are enough to select it."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session that can be resumed. ``name`` is empty for a thread without one; ``updated_at`` is ISO 8601."""

    thread_id: str
    name: str = ""
    updated_at: str = ""
    title: str = ""
    is_current: bool = False
    holder: str = ""
    """The other codex-auto that has it open, as text; empty when it is free."""


class SessionManager:
    """``current`` is the session that the next turn continues (None: a new thread), ``name`` its name.

    ``store`` is None where there is no repository to keep sessions for. With ``is_named`` the user chose the name, so
    no other one replaces it.
    """

    def __init__(
        self,
        store: SessionStore | None,
        name: str,
        texts: Texts,
        now: Callable[[], datetime],
        *,
        is_named: bool = False,
    ) -> None:
        self.name = name
        self.current: Session | None = None
        self.problems: list[str] = []
        """Why a session that should exist is missing."""
        self.notices: list[str] = []
        """What else the user should know."""
        self._store = store
        if store:
            store.problems = self.problems
        self._root = store.root if store else ""
        self._texts = texts
        self._now = now
        self._is_named = is_named
        self._is_open = False
        self._holder: Lease | None = None
        """The other process that holds the session."""
        self._last_listing: tuple[SessionSummary, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether no other process holds the session."""
        return self._holder is None

    # --- at the start and the end ---

    def peek(self) -> None:
        """Find the session that ``open`` would resume, without writing; for dry runs."""
        self.current = next((row.session for row in self._read() if row.name == self.name), None)

    def open(self, *, is_new: bool = False) -> None:
        """Resume the session, or start another one if a different process holds it; ``is_new`` starts a new thread."""
        self._is_open = True
        claim = self._claim(self.name, None)
        self.problems += [claim.problem] if claim.problem else []
        if claim.holder and not self._is_named:
            self._switch_with_notice(claim.holder)
            return
        if claim.holder:
            self.notices.append(self._held_message(self.name, claim.holder))
        self._holder, self.current = claim.holder, claim.session
        if self.current and self.current.root not in ("", self._root):
            self.notices.append(self._texts["session_moved"].format(name=self.name, root=self.current.root))
        if is_new:
            self.start_new_thread()

    def close(self) -> None:
        """Release the session for others."""
        if self._store:
            self._store.release()

    # --- around a turn ---

    def claim(self) -> str:
        """Make sure that this process holds the session; return the other holder as text, or an empty string."""
        if not self._is_open:
            self.open()
        elif self._store:
            was_held = self._holder is not None
            claim = self._claim(self.name, None if was_held else self.current)
            self._holder = claim.holder
            if was_held:
                self.current = claim.session  # the other process may have continued it
        return self._holder_text(self._holder) if self._holder else ""

    def record_thread(self, thread_id: str, cwd: str, prompt: str) -> str:
        """Store that a turn runs on ``thread_id``; return the problem, or an empty string."""
        now, former = format_timestamp(self._now()), self.current
        if former and former.thread_id.lower() == thread_id.lower():
            title = former.title or title_of(prompt)
            self.current = replace(former, updated_at=now, cwd=cwd, root=self._root, title=title)
        else:
            self.current = Session(thread_id, now, now, cwd, TokenUsage(), self._root, title_of(prompt))
        return self.save()

    def save(self) -> str:
        """Store the session; return the problem, or an empty string."""
        return self._claim(self.name, self.current).problem if self.current else ""

    def disable_persistence(self) -> None:
        """Continue without storing anything."""
        self._store = None

    # --- what the user asks for ---

    def start_new_thread(self) -> None:
        """Let the next turn start a new thread. The former thread stays in the list, without the name."""
        if self._holder:
            self._switch_with_notice(self._holder)
            return
        self.current = None
        if self._store:
            try:
                self._store.remove_name(self.name, self._now_seconds())
            except StorageError as error:
                self.problems.append(_storage_problem(error))

    def list_sessions(self, codex_threads: Iterable[SessionSummary] = ()) -> tuple[SessionSummary, ...]:
        """Return all sessions, the latest first; ``codex_threads`` are threads of this folder that only Codex knows.

        ``switch`` understands the numbers of this list, from 1.
        """
        current_id = self.current.thread_id.lower() if self.current else ""
        sessions = [
            SessionSummary(
                row.session.thread_id,
                row.name,
                row.session.updated_at,
                row.session.title,
                row.session.thread_id.lower() == current_id,
                self._holder_text(row.holder) if row.holder else "",
            )
            for row in self._read()
            if row.session
        ]
        known = {summary.thread_id.lower() for summary in sessions}
        others = (thread for thread in codex_threads if thread.thread_id.lower() not in known)
        sessions += [replace(thread, title=title_of(thread.title)) for thread in others]
        self._last_listing = tuple(sorted(sessions, key=lambda summary: summary.updated_at, reverse=True))
        return self._last_listing

    def switch(self, choice: str) -> str:
        """Continue with ``choice``, a number of the last list, a name or a thread id; return the message about it."""
        match = self._find_session(choice)
        if match is None:
            return self._texts["session_unknown"].format(choice=choice)
        if self.current and match.thread_id.lower() == self.current.thread_id.lower():
            return self._texts["session_is_current"].format(name=self.name)
        name = match.name or (self._free_name() if self._holder else self.name)
        now = format_timestamp(self._now())
        session = Session(match.thread_id, now, now, "", None, self._root, match.title)
        claim = self._claim(name, None if match.name else session)
        if claim.holder:
            return self._held_message(name, claim.holder)
        session = claim.session or session
        self.name, self.current, self._holder = name, session, None
        return claim.problem or self._texts["session_switched"].format(name=name, thread=session.thread_id)

    def switch_to_fork(self, thread_id: str) -> str:
        """Continue with ``thread_id``, a fork of the current thread, under a new name; return the message about it."""
        origin, title = self.name, self.current.title if self.current else ""
        now = format_timestamp(self._now())
        problem = self._switch_to_free_name(Session(thread_id, now, now, "", None, self._root, title))
        return problem or self._texts["forked"].format(own=self.name, name=origin)

    def resume_command(self, repo: str | None, *, is_always_named: bool = False) -> str:
        """Return the command that continues this session later."""
        words = ["--repo", repo] if repo else []
        words += ["--session", self.name] if is_always_named or self.name != DEFAULT_SESSION else []
        return shlex.join(["codex-auto", *words])

    # --- helpers ---

    def _now_seconds(self) -> int:
        return int(self._now().timestamp())

    def _read(self) -> tuple[StoredSession, ...]:
        if self._store is None:
            return ()
        try:
            return self._store.read(self._now_seconds())
        except StorageError as error:
            self.problems.append(_storage_problem(error))
            return ()

    def _claim(self, name: str, session: Session | None) -> Claim:
        if self._store is None:
            return Claim(session)
        try:
            claim = self._store.claim(name, session, self._now_seconds())
        except StorageError as error:
            return Claim(session, problem=_storage_problem(error))
        if claim.stale_holder:
            holder = self._holder_text(claim.stale_holder)
            self.notices.append(self._texts["session_reclaimed"].format(name=name, holder=holder))
        return claim

    def _switch_with_notice(self, holder: Lease) -> None:
        name, command = self.name, self.resume_command(None, is_always_named=True)
        self._switch_to_free_name(None)
        text = self._texts["session_renamed"]
        self.notices.append(text.format(name=name, own=self.name, command=command, holder=self._holder_text(holder)))

    def _switch_to_free_name(self, session: Session | None) -> str:
        """Take a name that no session has, the next one if another codex-auto is faster; return the problem."""
        claim = self._claim(name := self._free_name(), session)
        while claim.holder:
            claim = self._claim(name := self._free_name(), session)
        self.name, self.current, self._holder = name, session, None
        return claim.problem

    def _free_name(self) -> str:
        base = self.name.rstrip("0123456789").removesuffix("-") or self.name
        taken = {self.name, *(row.name for row in self._read())}
        return next(name for number in count(2) if (name := f"{base[:55]}-{number}") not in taken)

    def _find_session(self, choice: str) -> SessionSummary | None:
        listed = self._last_listing or self.list_sessions()
        if choice.isdigit() and len(choice) < _MIN_ID_PREFIX_CHARS and 1 <= int(choice) <= len(listed):
            return listed[int(choice) - 1]
        for summary in listed:
            if choice == summary.name or choice.lower() == summary.thread_id.lower():
                return summary
        matches = [summary for summary in listed if summary.thread_id.lower().startswith(choice.lower())]
        if len(choice) >= _MIN_ID_PREFIX_CHARS and len(matches) == 1:
            return matches[0]
        return SessionSummary(choice) if is_thread_id(choice) else None

    def _held_message(self, name: str, lease: Lease) -> str:
        return self._texts["session_held"].format(name=name, holder=self._holder_text(lease))

    def _holder_text(self, lease: Lease) -> str:
        key = "holder" if lease.host == os.uname().nodename else "holder_remote"
        return self._texts[key].format(pid=lease.pid, host=strip_controls(lease.host)[:MAX_TITLE_COLUMNS])


def title_of(prompt: str) -> str:
    """Return the first words of ``prompt``, without secrets, for a list."""
    lines = redact(strip_controls(truncate_at_word(prompt, _MAX_TITLE_CHARS))).text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    return clip_to_width(" ".join(first.split()), MAX_TITLE_COLUMNS)


def _storage_problem(error: StorageError) -> str:
    return f"sessions cannot be stored ({error})"
