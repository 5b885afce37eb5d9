"""The journal's head (the number and hash of its last record), kept outside of its file.

Each place has a file with a line for the present journal; a line above it is the head of one that was cut or replaced
before it was written on. Invariant: a head is a lower bound, written after the commit, and nothing here raises: a head
that is not written costs the notice of what is taken off from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.adapters.system.files.lock import try_lock
from upbeat.core.journal.record import ChainBreak
from upbeat.core.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

MAX_LINES = 20
_LINE_BYTES = 12 + 1 + 64 + 1
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a journal."""

    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class JournalHeads:
    """The files that keep the head of one journal."""

    paths: tuple[Path, ...]

    def remember(self, before: Head, after: Head, database: Database) -> None:
        """Keep ``after``, which a transaction on the journal ``before`` has committed."""
        for path in self.paths:
            with suppress(OSError, ValueError), _locked(path) as descriptor:
                lines = _read(descriptor)
                last = lines[-1] if lines else Head(0, "")
                if lines and not _follows(before, last) and not _contains(database, last):
                    os.pwrite(descriptor, _format(after), min(len(lines), MAX_LINES - 1) * _LINE_BYTES)
                elif after.seq > last.seq:
                    os.pwrite(descriptor, _format(after), max(len(lines) - 1, 0) * _LINE_BYTES)

    def reset(self) -> None:
        """Forget everything: the user has pruned the journal."""
        for path in self.paths:
            with suppress(OSError), _locked(path) as descriptor:
                os.ftruncate(descriptor, 0)

    def find_loss(self, database: Database | None) -> ChainBreak | None:
        """Return what the journal lacks of what the heads remember; None if it lacks nothing."""
        for head in sorted({head for path in self.paths for head in _read_file(path)}, key=lambda head: head.seq):
            if database is None:
                return ChainBreak(1, f"is gone: the journal had {head.seq} records and was removed or emptied")
            if not _contains(database, head):
                return ChainBreak(head.seq, "was the last one, and is gone: the end was taken off, or everything")
        return None


def head_paths(folder: Path, data_home: Path | None) -> tuple[Path, ...]:
    """Return where the head of the journal in ``folder`` is kept: beside it, and in the data folder."""
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    elsewhere = (data_home / "upbeat" / f"journal-{name}.head",) if data_home else ()
    return (folder / "journal.head", *elsewhere)


def remove_heads(data_home: Path) -> None:
    """Remove the heads in the data folder, and the folder if nothing else is in it. Raises OSError."""
    folder = data_home / "upbeat"
    for path in folder.glob("journal-*.head"):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it, or it is gone
        folder.rmdir()


def _follows(before: Head, last: Head) -> bool:
    """Return whether a journal that ended at ``before`` had the record ``last``, as far as the numbers tell."""
    return last == before if last.seq == before.seq else last.seq < before.seq


def _contains(database: Database, head: Head) -> bool:
    """Return whether the journal has the record, or has pruned it."""
    row = database.row("SELECT hash FROM records WHERE seq = ?", head.seq)
    if row:
        return bool(row[0] == head.digest)
    anchor = database.row("SELECT seq, hash FROM anchor") or (0, "")
    return head.seq < anchor[0] or (head.seq, head.digest) == tuple(anchor)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file, created with its folder if needed, and lock it. Raises OSError if another process has it."""
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        os.makedirs(path.parent, mode=0o700, exist_ok=True)
        descriptor = os.open(path, _FLAGS, 0o600)
    try:
        if try_lock(descriptor) is False:
            raise BlockingIOError
        yield descriptor
    finally:
        os.close(descriptor)


def _format(head: Head) -> bytes:
    return f"{head.seq:012} {head.digest:64}\n".encode("ascii")


def _read(descriptor: int) -> list[Head]:
    return list(_parse(os.pread(descriptor, MAX_LINES * _LINE_BYTES, 0)))


def _read_file(path: Path) -> list[Head]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        return _read(descriptor)
    except OSError:  # not a regular file
        return []
    finally:
        os.close(descriptor)


def _parse(data: bytes) -> Iterator[Head]:
    for line in data.decode("ascii", "replace").splitlines():
        seq, _, digest = line.partition(" ")
        if seq.isdigit() and len(digest) == 64:
            yield Head(int(seq), digest)
