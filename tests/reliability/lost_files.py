"""Every file on a disk that refuses: each call of a process to the system that would write fails in turn.

Invariant: the calls fail in the system's own place (``strace`` answers them with ENOSPC or EIO), in processes as users
and clients start them. A first run tells which calls there are; then each of them fails, in a run of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from processes import UPBEAT, environment

from .killing import require_strace
from .lost_hooks import COUNTED, UNHURRIED, Answer, faults, hook
from .lost_victims import VICTIMS, Victim, write_once
from .promise import Seen, none_counted
from .workers import TESTS, command

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
SESSION = "s-1"
KEPT = b'"kept"\n'
"""What ``write_once`` prints of a record that is acknowledged."""

_CALL = re.compile(r"(?P<process>\d+) +(?P<name>\w+)\((?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class Point:
    """The ``number``-th ``call`` (from 1); ``shown`` is how it went."""

    call: str
    number: int
    shown: str = ""


# A deed writes, in a folder of its own: ``prepare`` makes what is there before, with something acknowledged in it,
# ``run`` does it under strace, and ``faults`` says what is wrong afterwards, and does it once more on a disk that
# works. Those calls fail that name ``place``, or what is in it.


class HookDeed:
    """A hook for whose session ``had`` events are stored already."""

    def __init__(self, name: str, had: int) -> None:
        self.name = name
        self._stored = [(SESSION, number) for number in range(had)]

    def prepare(self, folder: Path) -> None:
        (folder / "repo").mkdir()
        for event in self._stored or [(SESSION, 0)]:  # so that its byte code is there
            assert hook(folder, event, folder / "repo").is_good
        if not self._stored:
            shutil.rmtree(folder / ".local/state/upbeat")

    def place(self, folder: Path) -> Path:
        return folder / ".local/state"

    def run(self, folder: Path, strace: list[str]) -> Answer:
        return hook(folder, (SESSION, 2), folder / "repo", [*strace, *UNHURRIED], **COUNTED)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        following = hook(folder, (SESSION, 3), folder / "repo")
        wrong = faults(folder, [*self._stored, (SESSION, 3)])
        return wrong + Counter(raised=int(not answer.is_good) + int(not following.is_good))


class VictimDeed:
    """Record 2 of a writer whose records 0 and 1 are acknowledged; record 3 is the next one."""

    def __init__(self, victim: Victim) -> None:
        self.name = f"a write of the {victim.name}"
        self._victim = victim

    def prepare(self, folder: Path) -> None:
        self._victim.prepare(folder, SIZE)
        self._victim.refresh(folder, SIZE)
        for number in range(2):
            assert KEPT == self._write(folder, number, []).stdout

    def place(self, folder: Path) -> Path:
        return folder / self._victim.place

    def run(self, folder: Path, strace: list[str]) -> Answer:
        return self._write(folder, 2, strace)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        wrong = Counter(raised=int(answer.stdout not in (KEPT, b'"refused"\n') or bool(answer.stderr)))
        stored = [0, 1, *([2] if answer.stdout == KEPT else [])]
        wrong += self._victim.faults(folder, 0, stored, SIZE)
        following = self._write(folder, 3, [])
        after = self._victim.faults(folder, 0, [*stored, 3], SIZE)
        if len(stored) == 2:
            after.pop("duplicated", None)  # refused, and there all the same: only its last step had failed
        behind = len(self._victim.left_behind(folder))
        return wrong + after + Counter(not_stored_after=int(following.stdout != KEPT), left_behind=behind)

    def _write(self, folder: Path, number: int, strace: list[str]) -> Answer:
        words = [*strace, *command(write_once, self._victim.name, folder, number, SIZE)]
        env = environment(folder, {"PYTHONPATH": str(TESTS), **(COUNTED if strace else {})})
        done = subprocess.run(words, env=env, capture_output=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)


class CommandDeed:
    """A command that makes ``made`` with ``word`` in it, whole or not at all, and says so."""

    def __init__(self, words: str, place: str, made: str, word: bytes) -> None:
        self._words, self._place, self._made, self._word = words.split(), place, made, word
        self.name = f"upbeat {' '.join(self._words[:2])}"

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
        words = [*strace, UPBEAT, *self._words]
        done = subprocess.run(words, cwd=folder / "repo", env=env, capture_output=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    def faults(self, folder: Path, answer: Answer) -> Counter[str]:
        path = folder / self._made
        is_reported = answer.code == 1 and answer.stderr.startswith(b"upbeat: ") and answer.stderr.count(b"\n") == 1
        wrong = Counter(
            raised=int(not (is_reported or answer.code == 0)),
            lost=int(answer.code == 0 and not path.exists()),
            unreadable=int(path.exists() and self._word not in path.read_bytes()),
        )
        if not path.exists():
            wrong["not_stored_after"] = int(self.run(folder, []).code != 0 or self._word not in path.read_bytes())
            wrong["left_behind"] = sum(".upbeat-" in part.name for part in self.place(folder).rglob("*"))
        return wrong


ADD_RULE = (
    "rules add no-todo --user --no-backtest --event before-tool --action deny --pattern x --where path --text todo"
)
TASKS = "repo/specs/features/backlog/cart/tasks.md"
Deed = HookDeed | VictimDeed | CommandDeed
DEEDS: tuple[Deed, ...] = (
    HookDeed("the first hook of a user", 0),
    HookDeed("a hook", 2),
    *(VictimDeed(victim) for victim in VICTIMS[1:]),
    CommandDeed(ADD_RULE, ".config", ".config/upbeat/rules/no-todo.md", b"\ntodo\n"),
    CommandDeed("features new cart", "repo/specs", TASKS, b"workflow: standard"),
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
        """Return every call that would write below the deed's place, as a run without faults shows them."""
        folder = self.fresh()
        trace = f"trace={','.join(WRITING)}"
        self.deed.run(folder, ["strace", "-f", "-y", "-s", "300", "-o", str(self._log), "-e", trace])
        place = str(self.deed.place(folder))
        counts: Counter[tuple[str, str]] = Counter()
        points = {}
        for line in self._log.read_text(errors="replace").splitlines():
            if call := _CALL.match(line):
                name, number = call["name"], counts[call["process"], call["name"]] + 1
                counts[call["process"], name] = number
                if place in call["rest"] and (name != "openat" or "O_CREAT" in call["rest"]):
                    points[name, number] = Point(name, number, call["rest"][:120].replace(str(folder), ""))
        return list(points.values())

    def fail(self, points: list[Point], errors: tuple[str, ...]) -> Counter[str]:
        """Return what was wrong after runs in which one point each failed with one error."""
        counts: Counter[str] = Counter()
        for point, error in product(points, errors):
            folder = self.fresh()
            answer = self.deed.run(folder, _failing(point, error))
            wrong = +self.deed.faults(folder, answer)
            counts += wrong + Counter(tried=1)
            if wrong:
                print(f"{self.deed.name}: {point} {error}: {dict(wrong)} {answer}", file=sys.stderr)
        return counts


def _failing(point: Point, error: str) -> list[str]:
    """Return the command line of strace that lets the call of ``point`` fail."""
    when = f"{point.number}+" if point.call in STAYING and error == "ENOSPC" else str(point.number)
    inject = ["-e", f"trace={point.call}", "-e", f"inject={point.call}:error={error}:when={when}"]
    return ["strace", "-f", "-qq", "-o", "/dev/null", *inject]


BAD = ("raised", "lost", "duplicated", "unreadable", "set_aside", "not_stored_after", "left_behind")


def _try_deed(deed: Deed, folder: Path, is_whole: bool) -> tuple[list[Point], Counter[str]]:
    """Return the calls of a deed, and what was wrong after they failed; two at a time in a whole run."""
    sides = [folder / side for side in ("a", "b")[: 2 if is_whole else 1]]
    for side in sides:
        side.mkdir(parents=True)
    with ThreadPoolExecutor(2) as pool:
        benches = list(pool.map(Bench, [deed] * len(sides), sides))
        points = benches[0].points()
        chosen = points if is_whole else points[:: max(len(points) // FEW, 1)][:FEW]
        shares = [chosen[number :: len(benches)] for number in range(len(benches))]
        errors = ERRORS if is_whole else ERRORS[:1]
        return points, sum(pool.map(lambda bench, share: bench.fail(share, errors), benches, shares), Counter())


def fail_calls(folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Let all calls of each deed fail, with both errors; some of them where little time is."""
    require_strace()
    for deed in DEEDS if is_whole else DEEDS[1::2]:
        points, counts = _try_deed(deed, folder / deed.name, is_whole)
        calls = ", ".join(f"{count} {name}" for name, count in Counter(point.call for point in points).items())
        yield none_counted(
            f"Each call of {deed.name} that would write fails in turn, with ENOSPC and with EIO: no exception, nothing "
            "acknowledged lost, no partially written file, and it works once there is room",
            f"0 faults; {len(points)} calls ({calls})",
            counts,
            BAD,
            f"{counts['tried']} runs",
            holds=counts["tried"] > 0,
        )
