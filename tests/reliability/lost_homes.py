"""Homes that cannot be written, and one that is full: a hook answers, and stores again once it can.

Invariant: the disk is a real one. A namespace of its own (``unshare``) makes a home read-only, or a small file system
of memory that is filled to its last bytes; nothing outside of it is touched. Where there may be no such namespace this
raises, and counts nothing.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from .lost_hooks import STATE, Answer, faults, hook
from .promise import Seen
from .workers import command, results, variables

ROOM = (0, 4_096, 16_384, 65_536, 262_144)
"""Bytes that are left on the full disk, in turn."""
DISK = 4 * 1024 * 1024
HOMES = (("with", 1), ("without", 0))
"""How many events are in a home's journal before it is read-only."""
SESSION = "s-1"


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


# In a namespace of its own; ``is_whole``: all homes, not only the first one


def read_only(folder: str, is_whole: bool) -> Iterator[Counter[str]]:
    """Make a home with a journal in it, and one without, read-only; each can be written again afterwards."""
    repository = Path(folder, "repo")
    repository.mkdir()
    for name, had in HOMES if is_whole else HOMES[:1]:
        home, stored = Path(folder, name), [(SESSION, number) for number in range(had)]
        home.mkdir()
        yield _bad(*(hook(home, event, repository) for event in stored))
        mount("--bind", str(home), str(home))
        mount("-o", "remount,bind,ro", str(home))
        yield _bad(hook(home, (SESSION, 10), repository))
        if had:
            yield faults(home, stored, can_be_written=False)
        mount("-o", "remount,bind,rw", str(home))
        yield _bad(hook(home, (SESSION, 20), repository))
        yield faults(home, [*stored, (SESSION, 20)])


def no_home(folder: str, is_whole: bool) -> Iterator[Counter[str]]:
    """Run hooks without HOME on a machine whose root cannot be written; also with a state folder that is named."""
    mount("-t", "tmpfs", "-o", f"size={DISK}", "upbeat-home", folder)
    mount("-o", "remount,bind,ro", "/")
    repository, home = Path(folder, "repo"), Path(folder, "home")
    repository.mkdir()
    before = Path("/.local").exists()
    yield _bad(hook(None, (SESSION, 0), repository))
    yield _bad(hook(None, (SESSION, 1), repository, XDG_STATE_HOME=str(home / STATE)))
    yield faults(home, [(SESSION, 1)]) + Counter(strays=int(Path("/.local").exists() != before))


def full(folder: str, is_whole: bool) -> Iterator[Counter[str]]:
    """Fill a disk to the last byte, and nearly; each time there is room again afterwards."""
    home, repository = Path(folder, "home"), Path(folder, "repo")
    home.mkdir()
    repository.mkdir()
    mount("-t", "tmpfs", "-o", f"size={DISK}", "upbeat-full", str(home))
    stored: list[tuple[str, int]] = []
    for number, room in enumerate(ROOM if is_whole else ROOM[:1]):
        _fill(home / "filler", room)
        yield _bad(hook(home, (SESSION, 100 * number), repository))
        (home / "filler").unlink()
        stored.append((SESSION, 100 * number + 1))
        yield _bad(hook(home, stored[-1], repository))
        yield faults(home, stored)


def _fill(path: Path, room: int) -> None:
    """Write ``path`` until the disk is full, and leave so many bytes."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            file.truncate(max(file.tell() - room, 0))


def _bad(*answers: Answer) -> Counter[str]:
    return Counter(bad_answers=sum(not answer.is_good for answer in answers), answers=len(answers))


# Outside

KINDS: dict[Callable[[str, bool], Iterator[Counter[str]]], str] = {
    read_only: "A read-only home directory, with a journal in it and without one: hooks answer, what is stored can "
    "be read, and once it can be written the next event is stored",
    no_home: "HOME is not set and nothing else can be written: a hook answers; with XDG_STATE_HOME it stores there",
    full: f"A disk with {', '.join(f'{room:,}' for room in ROOM)} bytes left: hooks answer, nothing acknowledged is "
    "lost, and with room again the next event is stored",
}


def take_homes_away(folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Try each kind of home. Raises RuntimeError where there may be no such namespace."""
    for kind, claim in KINDS.items() if is_whole else [*KINDS.items()][::2]:
        place = folder / kind.__name__
        place.mkdir()
        spaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
        words = ["unshare", *spaces, "--propagation", "private", *command(kind, place, is_whole)]
        try:
            seen = results([words], variables(place), check=True)
        except RuntimeError as error:
            raise RuntimeError(f"a read-only home needs a namespace (root, or user namespaces): {error}") from error
        counts = sum(map(Counter, seen), Counter[str]())
        answers = counts.pop("answers")
        wrong = ", ".join(f"{count} {fault.replace('_', ' ')}" for fault, count in sorted(counts.items()) if count)
        yield Seen(claim, "0 faults", f"{wrong or '0 faults'}; {answers} hooks", not wrong)
