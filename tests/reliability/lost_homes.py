"""Homes that cannot be written, and one that is full: a hook answers, and stores again once it can.

Invariant: the disk is a real one. A namespace of its own (``unshare``) makes a home read-only, or a small file system
of memory that is filled to its last bytes; nothing outside of it is touched. Where there may be no such namespace this
raises, and counts nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from processes import ROOT, environment

from .lost_hooks import STATE, Answer, faults, hook, payload
from .promise import Seen

ROOM = (0, 4_096, 16_384, 65_536, 262_144)
"""Bytes that are left on the full disk, in turn."""
DISK = 4 * 1024 * 1024
HOMES = (("with", 1), ("without", 0))
"""How many events are in a home's journal before it is read-only."""
SESSION = "s-1"


def inside(kind: str, folder: Path, *, few: bool) -> Counter[str]:
    """What was wrong in a namespace of its own, with homes of that kind; ``few``: with the first one only."""
    spaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *spaces, "--propagation", "private", sys.executable, "-m", "reliability.lost_homes", kind, folder]
        + ["few"] * few,
        cwd=ROOT,
        env=environment(folder, {"PYTHONPATH": str(ROOT / "tests")}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(
            "a home that is read-only or full needs a namespace (unshare --mount) and mounts in it; run this as root, "
            f"or allow user namespaces: {done.stderr.strip()[-300:]}"
        )
    return Counter(json.loads(done.stdout))


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


# Inside


def read_only(folder: Path, few: bool) -> Counter[str]:
    """A home with a journal in it, and one without; each can be written again afterwards."""
    figures: Counter[str] = Counter()
    for name, had in HOMES[:1] if few else HOMES:
        home, repository = folder / name, folder / "repo"
        home.mkdir()
        repository.mkdir(exist_ok=True)
        figures += _bad([_happen(home, repository, number) for number in range(had)])
        mount("--bind", str(home), str(home))
        mount("-o", "remount,bind,ro", str(home))
        figures += _bad([_happen(home, repository, 10)])
        if had:
            figures += faults(home, [(SESSION, number) for number in range(had)], can_be_written=False)
        mount("-o", "remount,bind,rw", str(home))
        figures += _bad([_happen(home, repository, 20)])
        figures += faults(home, [(SESSION, number) for number in (*range(had), 20)])
    return figures


def no_home(folder: Path, few: bool) -> Counter[str]:
    """HOME is not set, on a machine whose root cannot be written; and with a state folder that is named instead."""
    mount("-t", "tmpfs", "-o", f"size={DISK}", "upbeat-home", str(folder))
    mount("-o", "remount,bind,ro", "/")
    repository, home = folder / "repo", folder / "home"
    repository.mkdir()
    before = Path("/.local").exists()
    nowhere = hook(None, payload(SESSION, 0, repository), repository)
    named = hook(None, payload(SESSION, 1, repository), repository, XDG_STATE_HOME=str(home / STATE))
    return (
        _bad([nowhere, named]) + faults(home, [(SESSION, 1)]) + Counter(strays=int(Path("/.local").exists() != before))
    )


def full(folder: Path, few: bool) -> Counter[str]:
    """A disk without room, and with little; each time there is room again afterwards."""
    home, repository = folder / "home", folder / "repo"
    home.mkdir()
    repository.mkdir()
    mount("-t", "tmpfs", "-o", f"size={DISK}", "upbeat-full", str(home))
    figures: Counter[str] = Counter()
    stored: list[tuple[str, int]] = []
    for at, room in enumerate(ROOM[:1] if few else ROOM):
        _fill(home / "filler", room)
        figures += _bad([_happen(home, repository, 100 * at)])
        (home / "filler").unlink()
        stored.append((SESSION, 100 * at + 1))
        figures += _bad([_happen(home, repository, 100 * at + 1)])
        figures += faults(home, stored)
    return figures


def _fill(path: Path, room: int) -> None:
    """Write ``path`` until the disk is full, and leave so many bytes."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            file.truncate(max(file.tell() - room, 0))


def _happen(home: Path, repository: Path, number: int) -> Answer:
    return hook(home, payload(SESSION, number, repository), repository)


def _bad(answers: list[Answer]) -> Counter[str]:
    return Counter(bad_answers=sum(not answer.is_good for answer in answers), answers=len(answers))


FEW = ("read-only", "full")
KINDS = {"read-only": read_only, "no-home": no_home, "full": full}
CLAIMS = {
    "read-only": "A home that can only be read, with a journal in it and without one: hooks answer, what is stored can "
    "be read, and once it can be written the next event is stored",
    "no-home": "HOME is not set and nothing else can be written: a hook answers; with XDG_STATE_HOME it stores there",
    "full": f"A disk with {', '.join(f'{room:,}' for room in ROOM)} bytes left: hooks answer, nothing acknowledged is "
    "lost, and with room again the next event is stored",
}


def look(full: bool) -> Iterator[Seen]:
    """Each kind of home."""
    for kind in KINDS if full else FEW:
        with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
            found = inside(kind, Path(name), few=not full)
        answers = found.pop("answers")
        faults = ", ".join(f"{count} {fault.replace('_', ' ')}" for fault, count in sorted(found.items()) if count)
        yield Seen(CLAIMS[kind], "0 faults", f"{faults or '0 faults'}; {answers} hooks", not +found and answers > 0)


if __name__ == "__main__":
    print(json.dumps(KINDS[sys.argv[1]](Path(sys.argv[2]), "few" in sys.argv[3:])))
