"""Every file on a disk that refuses: each call of a process to the system that would write fails in turn.

Invariant: the calls fail in the system's own place (``strace`` answers them with ENOSPC or EIO), in processes as users
and clients start them. A first run tells which calls there are; then each of them fails, in a run of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Protocol

from processes import ROOT, UPBEAT, environment

from .lost_hooks import COUNTED, UNHURRIED, Answer, faults, hook, payload
from .lost_victims import VICTIMS, Victim
from .promise import Seen

WRITING = (
    *("write", "pwrite64", "ftruncate", "fsync", "fdatasync", "openat", "fchmod"),
    *("?rename", "?renameat", "renameat2", "?link", "linkat", "?mkdir", "mkdirat", "?unlink", "unlinkat"),
)
STAYING = ("pwrite64", "fsync", "fdatasync")
"""Of these also every later one fails: nothing else in such a process needs them."""
ERRORS = ("ENOSPC", "EIO")
FEW = 1
"""Calls of each deed that fail where little time is."""
SIZE = 8_000

_CALL = re.compile(r"(?P<process>\d+) +(?P<name>\w+)\((?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class Point:
    """The ``number``-th ``call`` (from 1); ``shown`` is how it went."""

    call: str
    number: int
    shown: str = ""


class Deed(Protocol):
    """Something that writes, in a folder of its own."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make what is there before, with something acknowledged in it."""

    def place(self, folder: Path) -> Path:
        """Calls that name this folder or what is in it are those that fail."""

    def run(self, folder: Path, strace: list[str]) -> Answer:
        """Do it, under ``strace``."""

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        """What is wrong afterwards; does it once more on a disk that works."""


class HookDeed:
    name = "a hook"

    def prepare(self, folder: Path) -> None:
        (folder / "repo").mkdir()
        for number in range(2):
            assert hook(folder, payload("s-1", number, folder / "repo"), folder / "repo").is_good

    def place(self, folder: Path) -> Path:
        return folder / ".local/state"

    def run(self, folder: Path, strace: list[str]) -> Answer:
        return hook(folder, payload("s-1", 2, folder / "repo"), folder / "repo", [*strace, *UNHURRIED], **COUNTED)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        following = hook(folder, payload("s-1", 3, folder / "repo"), folder / "repo")
        found = faults(folder, [("s-1", 0), ("s-1", 1), ("s-1", 3)])
        return found + Counter(raised=int(not answer.is_good) + int(not following.is_good))


class FirstHookDeed(HookDeed):
    name = "the first hook of a user"

    def prepare(self, folder: Path) -> None:
        (folder / "repo").mkdir()
        assert hook(folder, payload("s-1", 0, folder / "repo"), folder / "repo").is_good  # its byte code is there
        shutil.rmtree(folder / ".local/state/upbeat")

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        following = hook(folder, payload("s-1", 3, folder / "repo"), folder / "repo")
        found = faults(folder, [("s-1", 3)])
        return found + Counter(raised=int(not answer.is_good) + int(not following.is_good))


class VictimDeed:
    """Record 2 of a writer whose records 0 and 1 are acknowledged; record 3 is the next one."""

    def __init__(self, victim: Victim) -> None:
        self.name = f"a write of the {victim.name}"
        self._victim = victim

    def prepare(self, folder: Path) -> None:
        self._victim.prepare(folder, SIZE)
        self._victim.refresh(folder, SIZE)
        for number in range(2):
            assert b"kept\n" == self._write(folder, number, []).stdout

    def place(self, folder: Path) -> Path:
        return folder / self._victim.place

    def run(self, folder: Path, strace: list[str]) -> Answer:
        return self._write(folder, 2, strace)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        found = Counter(raised=int(answer.stdout not in (b"kept\n", b"refused\n") or bool(answer.stderr)))
        told = [0, 1, *([2] if answer.stdout == b"kept\n" else [])]
        found += self._victim.faults(folder, 0, told, SIZE)
        following = self._write(folder, 3, [])
        after = self._victim.faults(folder, 0, [*told, 3], SIZE)
        if len(told) == 2:
            after.pop("doubled", None)  # refused, and there all the same: only its last step had failed
        behind = len(self._victim.left_behind(folder))
        return found + after + Counter(not_stored_after=int(following.stdout != b"kept\n"), left_behind=behind)

    def _write(self, folder: Path, number: int, strace: list[str]) -> Answer:
        module = [sys.executable, "-m", "reliability.lost_victims"]
        words = [self._victim.name, str(folder), "0", str(number), str(SIZE)]
        env = environment(folder, {"PYTHONPATH": str(ROOT / "tests"), **(COUNTED if strace else {})})
        done = subprocess.run([*strace, *module, *words], env=env, capture_output=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr, 0.0)


class CommandDeed:
    """A command that makes ``made`` with ``word`` in it, whole or not at all, and says so."""

    def __init__(self, words: tuple[str, ...], place: str, made: str, word: bytes) -> None:
        self.name = f"upbeat {' '.join(words[:2])}"
        self._words = words
        self._place = place
        self._made = made
        self._word = word

    def prepare(self, folder: Path) -> None:
        (folder / "repo/.git").mkdir(parents=True)
        self.place(folder).mkdir(parents=True)
        self.run(folder, [])  # so that its byte code is there
        shutil.rmtree(self.place(folder))
        self.place(folder).mkdir()

    def place(self, folder: Path) -> Path:
        return folder / self._place

    def run(self, folder: Path, strace: list[str]) -> Answer:
        env = environment(folder, COUNTED if strace else {})
        command = [*strace, UPBEAT, *self._words]
        done = subprocess.run(command, cwd=folder / "repo", env=env, capture_output=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr, 0.0)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        path = folder / self._made
        is_told = answer.code == 1 and answer.stderr.startswith(b"upbeat: ") and answer.stderr.count(b"\n") == 1
        found = Counter(
            raised=int(not (is_told or answer.code == 0)),
            lost=int(answer.code == 0 and not path.exists()),
            unreadable=int(path.exists() and self._word not in path.read_bytes()),
        )
        if not path.exists():
            found["not_stored_after"] = int(self.run(folder, []).code != 0 or self._word not in path.read_bytes())
            names = {part.name for part in self.place(folder).rglob("*")}
            found["left_behind"] = sum(".upbeat-" in name for name in names)
        return found


RULE = (
    "--user",
    "--no-backtest",
    "--event",
    "before-tool",
    "--action",
    "deny",
    "--pattern",
    "x",
    "--where",
    "path",
    "--text",
    "no todos",
)
DEEDS: tuple[Deed, ...] = (
    FirstHookDeed(),
    HookDeed(),
    *(VictimDeed(victim) for victim in VICTIMS[1:]),
    CommandDeed(("rules", "add", "no-todo", *RULE), ".config", ".config/upbeat/rules/no-todo.md", b"\nno todos\n"),
    CommandDeed(
        ("features", "new", "cart"), "repo/specs", "repo/specs/features/backlog/cart/tasks.md", b"workflow: standard"
    ),
)


class Bench:
    """A deed in a folder whose path stays the same, and which is as it was prepared before each run."""

    def __init__(self, deed: Deed, folder: Path) -> None:
        self.deed = deed
        self._folder = folder / "folder"
        self._prepared = folder / "prepared"
        self._log = folder / "strace.log"
        self._folder.mkdir()
        deed.prepare(self._folder)
        shutil.copytree(self._folder, self._prepared, symlinks=True)

    def fresh(self) -> Path:
        shutil.rmtree(self._folder)
        shutil.copytree(self._prepared, self._folder, symlinks=True)
        return self._folder

    def points(self) -> list[Point]:
        """Every call that would write below the deed's place, as a run without faults shows them."""
        folder = self.fresh()
        trace = f"trace={','.join(WRITING)}"
        self.deed.run(folder, ["strace", "-f", "-y", "-s", "300", "-o", str(self._log), "-e", trace])
        place = str(self.deed.place(folder))
        seen: Counter[tuple[str, str]] = Counter()
        found = {}
        for line in self._log.read_text(errors="replace").splitlines():
            if call := _CALL.match(line):
                name = call["name"]
                seen[call["process"], name] += 1
                if place in call["rest"] and (name != "openat" or "O_CREAT" in call["rest"]):
                    at = Point(name, seen[call["process"], name], call["rest"][:120].replace(str(folder), ""))
                    found[at.call, at.number] = at
        return list(found.values())

    def fail(self, points: list[Point], errors: tuple[str, ...]) -> Counter[str]:
        """What was wrong after runs in which one point each failed with one error."""
        figures: Counter[str] = Counter()
        for point, error in product(points, errors):
            folder = self.fresh()
            answer = self.deed.run(folder, failing(point, error))
            wrong = +self.deed.faults(folder, answer)
            figures += wrong + Counter(tried=1)
            if wrong:
                print(f"{self.deed.name}: {point} {error}: {dict(wrong)} {answer}", file=sys.stderr)
        return figures


def failing(point: Point, error: str) -> list[str]:
    """strace, which lets the call of ``point`` fail."""
    when = f"{point.number}+" if point.call in STAYING and error == "ENOSPC" else str(point.number)
    meant = ["-e", f"trace={point.call}", "-e", f"inject={point.call}:error={error}:when={when}"]
    return ["strace", "-f", "-qq", "-o", "/dev/null", *meant]


BAD = ("raised", "lost", "doubled", "unreadable", "set_aside", "not_stored_after", "left_behind")


def tried(deed: Deed, *, full: bool) -> tuple[list[Point], Counter[str]]:
    """The calls of a deed, and what was wrong after they failed; two at a time."""
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name, ThreadPoolExecutor(2) as two:
        folders = [Path(name, side) for side in ("a", "b")[: 2 if full else 1]]
        for folder in folders:
            folder.mkdir()
        benches = list(two.map(Bench, [deed] * len(folders), folders))
        found = benches[0].points()
        chosen = found if full else found[:: max(len(found) // FEW, 1)][:FEW]
        errors = ERRORS if full else ERRORS[:1]
        shares = [chosen[side :: len(benches)] for side in range(len(benches))]
        sides = two.map(lambda bench, share: bench.fail(share, errors), benches, shares)
        return found, sum(sides, Counter())


def look(full: bool) -> Iterator[Seen]:
    """For each deed, all calls and both errors."""
    if not shutil.which("strace"):
        raise RuntimeError("strace lets calls to the system fail here; install it (apt-get install strace)")
    for deed in DEEDS if full else DEEDS[1::2]:
        found, figures = tried(deed, full=full)
        faults = ", ".join(f"{figures[fault]} {fault.replace('_', ' ')}" for fault in BAD)
        calls = ", ".join(f"{count} {name}" for name, count in Counter(point.call for point in found).items())
        yield Seen(
            f"Each call of {deed.name} that would write fails in turn, with ENOSPC and with EIO: no exception, nothing "
            "acknowledged lost, no file half, and it works once there is room",
            f"0 faults; {len(found)} calls ({calls})",
            f"{faults}; {figures['tried']} runs",
            not any(figures[fault] for fault in BAD) and figures["tried"] > 0,
        )
