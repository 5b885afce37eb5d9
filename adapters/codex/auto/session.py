"""Which threads a repository goes on with: ``<repository>/.upbeat/codex-session.json``.

Law: what cannot be read is set aside, never overwritten, and a thread id that was stored once is not lost: when an
entry gets another thread, its former one joins ``former``. How the file is written is ``state_folder``'s.

::

    {"schema_version": "1.0",
     "sessions": {"default": {"thread_id": "…", "created_at": "…", "updated_at": "…", "cwd": "…",
                              "usage": {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0},
                              "root": "…", "title": "…"}},
     "former": [{"thread_id": "…", …}]}
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from . import state_folder
from .state_folder import FOLDER, reason_of
from .transport import Usage

FILE = "codex-session.json"
DEFAULT = "default"

MAX_SESSIONS = 500
"""Entries that are kept under a name; beyond them the one that was used least recently becomes a former one."""

MAX_FORMER = 500
"""Threads that are kept without a name; the oldest goes first, and Codex still knows it."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[\w.-]{1,64}")

_Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """One entry. Times are ISO 8601 in UTC; ``usage`` is the thread's total when its last turn ended."""

    thread_id: str
    created_at: str
    updated_at: str
    cwd: str
    usage: Usage | None = None
    root: str = ""
    """The repository that it belongs to, absolute; empty in files of old."""
    title: str = ""
    """The first words of its first prompt, without secrets."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the file says. ``problem`` is why there is no session although there should be one."""

    session: Session | None = None
    problem: str = ""
    is_broken: bool = False
    """The file itself cannot be understood; ``set_aside`` before anything is saved."""


@dataclass(frozen=True, slots=True)
class Stored:
    """All sessions of a repository: by name, and those that lost their name, the newest first."""

    named: dict[str, Session]
    former: tuple[Session, ...] = ()
    names: frozenset[str] = frozenset()
    """All names that are taken, also those of entries without a thread."""


def is_thread_id(text: str) -> bool:
    """Whether ``text`` is a whole UUID. For anything else ``codex exec resume`` starts a new thread, silently."""
    return _UUID.fullmatch(text) is not None


def is_session_name(text: str) -> bool:
    """Whether ``text`` may name a session: up to 64 letters, digits, dots, hyphens, underscores."""
    return _NAME.fullmatch(text) is not None


class SessionFile:
    """The entry ``name`` of the repository at ``root``. Methods that write give the problem, or an empty text."""

    def __init__(self, root: str, name: str = DEFAULT) -> None:
        self._root = root
        self._name = name

    def load(self) -> Loaded:
        """The session to go on with, if there is one."""
        try:
            with state_folder.opened(self._root) as folder:
                sessions = state_folder.read(folder, FILE, "sessions")["sessions"]
        except FileNotFoundError:
            return Loaded()
        except OSError as error:
            return Loaded(problem=self._told("cannot be read", error))
        except ValueError as error:
            return Loaded(problem=f"{FOLDER}/{FILE} is damaged ({error})", is_broken=True)
        if self._name not in sessions:
            return Loaded()
        session = _session(sessions[self._name])
        if session is None:
            return Loaded(problem=f"{FOLDER}/{FILE} has no thread id of Codex for '{self._name}'")
        return Loaded(session)

    def stored(self) -> Stored:
        """Every session of the repository; none where the file is not there or cannot be understood."""
        try:
            with state_folder.opened(self._root) as folder:
                document = state_folder.read(folder, FILE, "sessions")
        except (OSError, ValueError):
            return Stored({})
        sessions = {name: _session(fields) for name, fields in document["sessions"].items()}
        named = {name: session for name, session in sessions.items() if session}
        former = (_session(fields) for fields in _former(document))
        return Stored(named, tuple(session for session in former if session), frozenset(sessions))

    def save(self, session: Session) -> str:
        """Make ``session`` the entry; other entries and unknown fields stay as they are."""
        return self._change(session)

    def forget(self) -> str:
        """Take its name from the entry. Without one nothing is written."""
        loaded = self.load()
        return self._change(None) if loaded.session or (loaded.problem and not loaded.is_broken) else ""

    def set_aside(self, stamp: str) -> str:
        """Rename a damaged file, so that a person can look at it; ``stamp`` makes its name."""
        try:
            with state_folder.opened(self._root) as folder:
                state_folder.set_aside(folder, FILE, stamp)
        except OSError as error:
            return self._told("cannot be set aside", error)
        return ""

    def _change(self, session: Session | None) -> str:
        try:
            with state_folder.opened_to_write(self._root) as folder:
                try:
                    document = state_folder.read(folder, FILE, "sessions")
                except FileNotFoundError:
                    document = {}
                except ValueError:  # damaged since it was loaded
                    state_folder.set_aside(folder, FILE, "meanwhile")
                    document = {}
                state_folder.replace(folder, FILE, _bounded(_changed(document, self._name, session)))
        except OSError as error:
            return self._told("cannot be written", error)
        return ""

    def _told(self, what: str, error: OSError) -> str:
        return f"{self._root}/{FOLDER}/{FILE} {what} ({reason_of(error)})"


def _changed(document: _Fields, name: str, session: Session | None) -> _Fields:
    """``document`` with ``session`` (None: nothing) under ``name``."""
    sessions = {**document.get("sessions", {})}
    dropped: list[Any] = [sessions.pop(name, None)]
    if session:
        entry = asdict(session)
        is_the_same = _id_of(dropped[0]) == session.thread_id.lower()
        sessions[name] = {**dropped.pop(), **entry} if is_the_same else entry
    while len(sessions) > MAX_SESSIONS:
        oldest = min(sessions, key=lambda one: (one == name, _time_of(sessions[one])))
        dropped.append(sessions.pop(oldest))
    in_use = {_id_of(fields) for fields in sessions.values()}
    former = [fields for fields in (*dropped, *_former(document)) if _id_of(fields) and _id_of(fields) not in in_use]
    changed = {**document, "sessions": sessions}
    changed.pop("former", None)
    return {**changed, "former": _unique(former)[:MAX_FORMER]} if former else changed


def _bounded(document: _Fields) -> _Fields:
    """``document`` with as many of its former threads, the newest first, as a file may hold."""
    while (former := _former(document)) and len(state_folder.data_of(document)) > state_folder.MAX_BYTES:
        document = {**document, "former": former[: len(former) * 3 // 4]}
    return document


def _unique(entries: list[_Fields]) -> list[_Fields]:
    by_thread: dict[str, _Fields] = {}
    for fields in entries:
        by_thread.setdefault(_id_of(fields), fields)
    return list(by_thread.values())


def _former(document: _Fields) -> list[Any]:
    former = document.get("former")
    return former if isinstance(former, list) else []


def _id_of(fields: Any) -> str:
    thread_id = fields.get("thread_id") if isinstance(fields, dict) else None
    return thread_id.lower() if isinstance(thread_id, str) else ""


def _time_of(fields: Any) -> str:
    return str(fields.get("updated_at", "")) if isinstance(fields, dict) else ""


def _session(fields: Any) -> Session | None:
    if not isinstance(fields, dict) or not is_thread_id(str(fields.get("thread_id"))):
        return None
    texts = {
        name: str(fields.get(name, "")) for name in ("thread_id", "created_at", "updated_at", "cwd", "root", "title")
    }
    counts = fields.get("usage")
    usage = None
    if isinstance(counts, dict):
        known = {name: value for name, value in counts.items() if name in Usage.__slots__}
        usage = Usage(**known) if all(isinstance(value, int) for value in known.values()) else None
    return Session(**texts, usage=usage)
