"""The sessions of a repository, and the one that this codex-auto has.

Law: nobody works on a session that another codex-auto has, and none is replaced in silence: what is not as the
person left it becomes a sentence in ``news`` or ``lost``. In plan mode nothing is written.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from ....core.turn.redact import redact
from ....core.turn.report import timestamp
from ....core.turn.strip import strip
from ....core.turn.truncate import whole_words
from .leases import Lease, Leases, Taken
from .session import DEFAULT, FILE, Session, SessionFile, Stored, is_thread_id
from .show import clip
from .state_folder import FOLDER
from .texts import Texts
from .transport import Usage

TITLE_COLUMNS = 60
_TITLE_CHARS = 2_000
_ID_DIGITS = 8
"""So many characters of a thread id are enough to name it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A session that can be taken up. ``name`` is empty for a thread without one; ``updated_at`` is ISO 8601."""

    thread_id: str
    name: str = ""
    updated_at: str = ""
    title: str = ""
    is_current: bool = False
    holder: str = ""
    """Which other codex-auto has it, in words; empty when it is free."""


class Sessions:
    """``current`` is what the next turn goes on with (None: a new thread), ``name`` its name.

    ``is_named``: the person chose the name, so no other is taken instead. ``is_kept`` is False where there is no
    repository to keep a file in.
    """

    def __init__(
        self,
        root: str,
        name: str,
        texts: Texts,
        now: Callable[[], datetime],
        *,
        is_named: bool = False,
        is_kept: bool = True,
    ) -> None:
        self.root = root
        self.name = name
        self.current: Session | None = None
        self.lost: list[str] = []
        """Why a session that should be there is not."""
        self.news: list[str] = []
        """What else the person should know."""
        self._texts = texts
        self._now = now
        self._is_named = is_named
        self._is_kept = is_kept
        self._leases = Leases(root)
        self._is_open = False
        self._holder: Lease | None = None
        """Who has the session instead of us."""
        self._listed: tuple[Known, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether nobody else has the session."""
        return self._holder is None

    # --- at the start and the end ---

    def look(self) -> None:
        """See which session would be taken up; for plans."""
        if self._is_kept:
            loaded = self._file().load()
            self.current = loaded.session
            self.lost += [loaded.problem] if loaded.problem else []

    def open(self, *, new: bool = False) -> None:
        """Take up the session, or another one beside it if somebody else has it. ``new``: with a new thread."""
        self._is_open = True
        if not self._is_kept:
            return
        loaded = self._file().load()
        problem = loaded.problem
        if loaded.is_broken:
            stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
            problem += "; " + (self._file().set_aside(stamp) or f"set aside as {FILE}.broken-{stamp}")
        self.lost += [problem] if problem and (loaded.is_broken or not new) else []
        stored = loaded.session
        if self._is_copied(stored) and not self._is_named and not new:
            self._begin_beside(self._texts.session_copied, root=stored.root if stored else "")
            return
        taken = self._take(self.name, stored)
        if taken.holder and not self._is_named:
            self._begin_beside(self._texts.session_beside, holder=self._told(taken.holder))
            return
        if taken.holder:
            self.news.append(self._held(taken.holder))
        self._holder = taken.holder
        self._adopt(stored)
        if new:
            self.forget()

    def close(self) -> None:
        """Let others have the session."""
        self._leases.release()

    # --- around a turn ---

    def claim(self) -> str:
        """Make sure that the session is ours; who has it instead, in words, or an empty text."""
        if not self._is_kept:
            return ""
        if not self._is_open:
            self.open()
            return self._told(self._holder) if self._holder else ""
        was_held = self._holder is not None
        if was_held:
            self.current = self._file().load().session  # it went on without us
        self._holder = self._take(self.name, self.current).holder
        return self._told(self._holder) if self._holder else ""

    def begin(self, thread_id: str, cwd: str, prompt: str) -> str:
        """Store that a turn runs on ``thread_id``; the problem, or an empty text."""
        now = timestamp(self._now())
        former = self.current
        if former and former.thread_id.lower() == thread_id.lower():
            self.current = replace(
                former, updated_at=now, cwd=cwd, root=self.root, title=former.title or title_of(prompt)
            )
        else:
            self.current = Session(thread_id, now, now, cwd, Usage(), self.root, title_of(prompt))
            if self._is_kept:
                self._take(self.name, self.current)
        return self.save()

    def save(self) -> str:
        """Store the session as it is; the problem, or an empty text."""
        return self._file().save(self.current) if self._is_kept and self.current else ""

    def stop_keeping(self) -> None:
        """Go on without the file: it cannot be written."""
        self._is_kept = False

    # --- what the person asks for ---

    def forget(self) -> None:
        """Let the next turn start a new thread. The former one is still listed, without the name."""
        if self._holder:
            self._begin_beside(self._texts.session_beside, holder=self._told(self._holder))
            return
        self.current = None
        if self._is_kept and (problem := self._file().forget()):
            self.lost.append(problem)

    def listed(self, elsewhere: Iterable[Known] = ()) -> tuple[Known, ...]:
        """All sessions, the latest first; ``elsewhere`` are threads of this folder that only Codex knows of.

        ``take_up`` understands the numbers of this list, from 1.
        """
        stored = self._file().stored() if self._is_kept else Stored({})
        leases = self._leases.living(self._seconds())
        found = [self._known(session, name, leases) for name, session in stored.named.items()]
        found += [self._known(session, "", leases) for session in stored.former]
        ours = {known.thread_id.lower() for known in found}
        found += [replace(one, title=title_of(one.title)) for one in elsewhere if one.thread_id.lower() not in ours]
        self._listed = tuple(sorted(found, key=lambda known: known.updated_at, reverse=True))
        return self._listed

    def take_up(self, choice: str) -> str:
        """Go on with the session ``choice``: a number of the last list, a name, or a thread id; what came of it."""
        found = self._chosen(choice)
        if found is None:
            return self._texts.session_unknown.format(choice=choice)
        if self.current and found.thread_id.lower() == self.current.thread_id.lower():
            return self._texts.session_is_current.format(name=self.name)
        name = found.name or (self._free_name() if self._holder else self.name)
        stored = self._file().stored().named.get(name) if found.name else None
        now = timestamp(self._now())
        session = stored or Session(found.thread_id, now, now, "", None, self.root, found.title)
        taken = self._take(name, session)
        if taken.holder:
            return self._texts.session_held.format(name=name, holder=self._told(taken.holder))
        self.name, self.current, self._holder = name, session, None
        problem = "" if stored else self.save()
        return problem or self._texts.session_taken.format(name=name, thread=session.thread_id)

    def branch(self, thread_id: str) -> str:
        """Go on with ``thread_id``, a fork of the present thread, under a name of its own; the sentence about it."""
        origin, title = self.name, self.current.title if self.current else ""
        now = timestamp(self._now())
        self._go_beside(Session(thread_id, now, now, "", None, self.root, title))
        return self.save() or self._texts.forked.format(own=self.name, name=origin)

    def command(self, repo: str | None, *, always_named: bool = False) -> str:
        """The command that goes on with this session later."""
        words = ["--repo", repo] if repo else []
        words += ["--session", self.name] if always_named or self.name != DEFAULT else []
        return shlex.join(["codex-auto", *words])

    # --- in detail ---

    def _file(self) -> SessionFile:
        return SessionFile(self.root, self.name)

    def _seconds(self) -> int:
        return int(self._now().timestamp())

    def _take(self, name: str, session: Session | None) -> Taken:
        try:
            taken = self._leases.take(name, session.thread_id if session else "", self._seconds())
        except OSError:  # then the session cannot be stored either, and that is said; Codex lets only one write
            return Taken()
        if taken.former:
            self.news.append(self._texts.session_reclaimed.format(name=name, holder=self._told(taken.former)))
        return taken

    def _adopt(self, session: Session | None) -> None:
        self.current = session
        if session and session.root and session.root != self.root:
            self.news.append(self._texts.session_moved.format(name=self.name, root=session.root))

    def _is_copied(self, session: Session | None) -> bool:
        """Whether the session is of a repository that is still there, elsewhere."""
        if session is None or session.root in ("", self.root):
            return False
        return os.path.isdir(os.path.join(session.root, FOLDER))

    def _begin_beside(self, sentence: str, **blanks: str) -> None:
        name = self.name
        command = self.command(None, always_named=True)
        self._go_beside(None)
        self.news.append(sentence.format(name=name, own=self.name, command=command, **blanks))

    def _go_beside(self, session: Session | None) -> None:
        """Take a name that nobody has; if another codex-auto is faster, the next one."""
        name = self._free_name()
        while self._take(name, session).holder:
            name = self._free_name()
        self.name, self.current, self._holder = name, session, None

    def _free_name(self) -> str:
        """A name beside our own that no session has, and nobody is about to give to one."""
        base = self.name.rstrip("0123456789").removesuffix("-") or self.name
        taken = {*self._file().stored().names, *self._leases.living(self._seconds()), self.name}
        return next(name for number in count(2) if (name := f"{base[:55]}-{number}") not in taken)

    def _chosen(self, choice: str) -> Known | None:
        listed = self._listed or self.listed()
        if choice.isdigit() and len(choice) < _ID_DIGITS and 1 <= int(choice) <= len(listed):
            return listed[int(choice) - 1]
        for known in listed:
            if choice == known.name or choice.lower() == known.thread_id.lower():
                return known
        alike = [known for known in listed if known.thread_id.lower().startswith(choice.lower())]
        if len(choice) >= _ID_DIGITS and len(alike) == 1:
            return alike[0]
        return Known(choice) if is_thread_id(choice) else None

    def _known(self, session: Session, name: str, leases: dict[str, Lease]) -> Known:
        ids = {lease.thread_id.lower(): lease for lease in leases.values() if lease.thread_id}
        lease = leases.get(name) if name else None
        lease = lease or ids.get(session.thread_id.lower())
        is_current = self.current is not None and self.current.thread_id.lower() == session.thread_id.lower()
        holder = self._told(lease) if lease else ""
        return Known(session.thread_id, name, session.updated_at, session.title, is_current, holder)

    def _held(self, lease: Lease) -> str:
        return self._texts.session_held.format(name=self.name, holder=self._told(lease))

    def _told(self, lease: Lease) -> str:
        is_here = lease.host == os.uname().nodename
        return (self._texts.holder if is_here else self._texts.holder_there).format(
            pid=lease.pid, host=strip(lease.host)[:TITLE_COLUMNS]
        )


def title_of(prompt: str) -> str:
    """The first words of ``prompt``, without secrets, for a list."""
    lines = redact(strip(whole_words(prompt, _TITLE_CHARS))).text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    return clip(" ".join(first.split()), TITLE_COLUMNS)
