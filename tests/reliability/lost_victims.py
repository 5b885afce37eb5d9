"""What is written while writers are killed or the disk fails: each file by the product's own function.

A victim is prepared in a folder of its own, hands out writers, and says what is wrong there once one has died. A write
is acknowledged when the function has come back and has not said that it failed.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from journal_values import record, step

from upbeat.adapters.codex_auto.sessions.manager import SessionManager
from upbeat.adapters.codex_auto.sessions.store import SessionStore
from upbeat.adapters.codex_auto.texts import load_texts
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.config.trust import digest_of, trust, trusted_digests
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.workspace.workspace import LocalWorkspace
from upbeat.core.journal.record import Retention

SESSION = "s-1"
Write = Callable[[int], bool]
"""Writes the record with this number; whether that is acknowledged."""


class Victim:
    """One kind of file. ``size`` is of a record or a file, in bytes, before bounds."""

    name: str
    place: str
    """Where in its folder the file is."""

    def prepare(self, folder: Path, size: int) -> None:
        """Make in the empty ``folder`` what a writer finds; nothing if the first writer makes it itself."""

    def refresh(self, folder: Path, size: int) -> None:
        """Make whatever the next writer needs besides; nothing if it goes on with what is there."""

    def writer(self, folder: Path, writer: int, size: int) -> Write:
        """Return what the writer of that number does, from record 0 on."""
        raise NotImplementedError

    def faults(self, folder: Path, writer: int, stored: Iterable[int], size: int) -> Counter[str]:
        """Return what is lost, duplicated or unreadable of what this killed writer has acknowledged."""
        raise NotImplementedError

    def left_behind(self, folder: Path) -> list[str]:
        """Return what should not be there once another writer has written, and what is wrong with the whole file."""
        raise NotImplementedError


class JournalVictim(Victim):
    """The journal: every record once, in order, in a chain that holds; and the session's state with it."""

    name = "journal"
    place = "upbeat"

    def __init__(self) -> None:
        self._acknowledged: set[tuple[int, int]] = set()

    def writer(self, folder: Path, writer: int, size: int) -> Write:
        journal = open_journal(folder)

        def write(number: int) -> bool:
            failures = len(journal.file.failures())
            append(journal, writer, number, size)
            return len(journal.file.failures()) == failures

        return write

    def faults(self, folder: Path, writer: int, stored: Iterable[int], size: int) -> Counter[str]:
        journal = open_journal(folder)
        if not journal.file.path.exists():
            return Counter(lost=len(list(stored)))
        wanted = self.acknowledge(writer, stored)
        return Counter(lost=len(wanted - set(written(journal, last=len(wanted) + 1))))

    def acknowledge(self, writer: int, stored: Iterable[int]) -> set[tuple[int, int]]:
        """Note for ``left_behind`` what this writer has acknowledged; return it as it has to be in the journal."""
        wanted = {(writer, number) for number in stored}
        self._acknowledged |= wanted
        return wanted

    def left_behind(self, folder: Path) -> list[str]:
        journal = open_journal(folder)
        counts = Counter(written(journal))
        wrong = [] if journal.verify().is_intact else ["a chain that does not hold"]
        wrong += [f"{record} is lost" for record in self._acknowledged - set(counts)]
        wrong += [f"{record} is there {count} times" for record, count in counts.items() if count > 1]
        self._acknowledged.clear()
        return [*wrong, *journal.health().damaged_files, *journal.file.failures()]


def open_journal(folder: Path) -> SqliteJournal:
    """The journal below ``folder``, which never prunes."""
    return SqliteJournal(folder, SystemClock(), lambda: Retention(max_days=36500, max_mb=10**6))


def append(journal: SqliteJournal, writer: int, number: int, size: int) -> None:
    """One event of the one session, with ``size`` bytes of text in it."""
    texts = {f"text{at}": "some words " * (min(size - at, 4000) // 11) for at in range(0, size, 4000)}
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(SESSION), number)
        about = {"writer": writer, "number": number, **texts}
        transaction.append(record(SESSION, event_fields=about, facts=facts, explanations=()), state)


def written(journal: SqliteJournal, last: int = 10**9) -> list[tuple[int, int]]:
    """Writer and number of the ``last`` records, in order."""
    bodies = [entry.body["event_fields"] for entry in journal.records(last=last)]
    return [(about["writer"], about["number"]) for about in bodies if "writer" in about]


class SessionVictim(Victim):
    """codex-auto's sessions: every thread that was started is stored, with its name or without, once."""

    name = "sessions"
    place = "state"

    def writer(self, folder: Path, writer: int, size: int) -> Write:
        sessions = SessionManager(_session_store(folder), "default", load_texts("en"), lambda: datetime.now(UTC))
        sessions.open()
        prompt = "some words " * (size // 11)

        def write(number: int) -> bool:
            return not sessions.record_thread(_thread(writer, number), str(folder), prompt)

        return write

    def faults(self, folder: Path, writer: int, stored: Iterable[int], size: int) -> Counter[str]:
        rows = _session_store(folder).read(0)
        threads = Counter(row.session.thread_id for row in rows if row.session)
        wanted = {_thread(writer, number) for number in stored}
        return Counter(lost=len(wanted - set(threads)), duplicated=sum(count > 1 for count in threads.values()))

    def left_behind(self, folder: Path) -> list[str]:
        return sorted(name for name in os.listdir(folder / "state/upbeat") if not name.startswith("journal."))


def _session_store(folder: Path) -> SessionStore:
    return SessionStore(folder / "state", str(folder))


def _thread(writer: int, number: int) -> str:
    return f"01a1fbb9-{writer % 65536:04x}-7d63-9e7f-{number:012x}"


class TasksVictim(Victim):
    """``tasks.md``: every box that was ticked is, no other one is, and no other byte is changed."""

    name = "tasks.md"
    place = "specs/features/in-progress/cart"
    _BOXES = 40

    def prepare(self, folder: Path, size: int) -> None:
        (folder / self.place).mkdir(parents=True)

    def refresh(self, folder: Path, size: int) -> None:
        (folder / self.place / "tasks.md").write_text(self._text(size))

    def writer(self, folder: Path, writer: int, size: int) -> Write:
        specs, path = LocalWorkspace(SystemClock()), folder / self.place / "tasks.md"

        def write(number: int) -> bool:
            specs.tick_tasks(str(folder), "cart", (f"B{number}",))
            return f"[x] B{number}\n" in path.read_text()  # a hook is not told whether a box was ticked

        return write

    def faults(self, folder: Path, writer: int, stored: Iterable[int], size: int) -> Counter[str]:
        text = (folder / self.place / "tasks.md").read_text()
        ticked = {int(number) for number in re.findall(r"^- \[x\] B(\d+)$", text, re.MULTILINE)}
        acknowledged = set(stored)
        return Counter(
            lost=len(acknowledged - ticked),
            duplicated=len(ticked - acknowledged - {max(acknowledged, default=-1) + 1}),
            unreadable=int(text.replace("[x]", "[ ]") != self._text(size)),
        )

    def left_behind(self, folder: Path) -> list[str]:
        return sorted(set(os.listdir(folder / self.place)) - {"tasks.md"})

    def _text(self, size: int) -> str:
        boxes = "".join(f"- [ ] B{number}\n" for number in range(self._BOXES))
        return boxes + f"{'and some prose ' * 20}\n" * ((size - len(boxes)) // 301)


class TrustVictim(Victim):
    """The trust store: every content that was trusted is, and what was trusted before it."""

    name = "trust store"
    place = "home/.local/state/upbeat"
    _PLACES = 8

    def prepare(self, folder: Path, size: int) -> None:
        environment = _home(folder)
        store = environment.state_home / "upbeat/trusted.json"
        store.parent.mkdir(parents=True)
        store.write_text(json.dumps(self._others(size), indent=2))

    def writer(self, folder: Path, writer: int, size: int) -> Write:
        environment = _home(folder)

        def write(number: int) -> bool:
            place = folder / f"settings-{number % self._PLACES}"
            content = _content(writer, number)
            place.write_bytes(content)
            trust(place, content, environment)
            return True

        return write

    def faults(self, folder: Path, writer: int, stored: Iterable[int], size: int) -> Counter[str]:
        digests = trusted_digests(_home(folder))
        last = {number % self._PLACES: number for number in stored}
        following = max(last.values(), default=-1) + 1
        lost = 0
        for place, number in last.items():
            allowed = {number, following} if following % self._PLACES == place else {number}
            path = str((folder / f"settings-{place}").resolve())
            lost += digests.get(path) not in {digest_of(_content(writer, each)) for each in allowed}
        return Counter(lost=lost, unreadable=int(not self._others(size).items() <= digests.items()))

    def left_behind(self, folder: Path) -> list[str]:
        store = _home(folder).state_home / "upbeat"
        return sorted(set(os.listdir(store)) - {"trusted.json", "trusted.json.lock"})

    def _others(self, size: int) -> Mapping[str, str]:
        digest = "sha256:" + "0" * 64
        return {f"/somewhere/{number:06}/.upbeat/auto-tools.toml": digest for number in range(size // 120)}


def _content(writer: int, number: int) -> bytes:
    return f"{writer} {number}".encode()


def _home(folder: Path) -> Environment:
    return read_environment({"HOME": str(folder / "home")})


VICTIMS: tuple[Victim, ...] = (JournalVictim(), SessionVictim(), TasksVictim(), TrustVictim())
SIZES = (400, 8_000, 300_000)
"""Bytes, of a record of the journal, of a prompt, of a file."""


def write_once(name: str, folder: str, number: int, size: int) -> Iterator[str]:
    """Write one record in a process of its own; yield whether it is acknowledged."""
    victim = next(victim for victim in VICTIMS if victim.name == name)
    try:
        is_kept = victim.writer(Path(folder), 0, size)(number)
    except OSError:
        is_kept = False
    yield "kept" if is_kept else "refused"
