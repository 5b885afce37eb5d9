"""Kills codex-auto, Codex, or both in the middle of turns, goes on, and says what it saw, one JSON object a line.

Run by ``codex_kill.py`` inside the namespace: ``codex_kill_rounds.py ROUNDS SEED``. In each round a turn is killed with
SIGKILL at a random moment, and another run goes on with the session. Only the standard library is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TRANSPORTS = ("exec", "app-server")
VICTIMS = ("wrapper", "codex", "both")
KINDS = ("text", "tool")
ROUNDS_PER_SESSION = 8
MOST_DELAY = 0.8
"""Seconds after the anchor (Codex runs, or its request is there) at which the kill comes at the latest."""
SETTLE_SECONDS = 5.0
PATIENCE = 60.0

JOURNAL = Path.home() / ".local/state/upbeat/journal.db"


def main() -> None:
    rounds, seed, record = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    chance = random.Random(seed)
    number = done = 0
    while done < rounds:
        line = one_round(number, done, chance, record)
        done += line["landed"]
        number += 1
        print(json.dumps(line), flush=True)


def one_round(number: int, done: int, chance: random.Random, record: Path) -> dict[str, Any]:
    """One killed turn and the turn after it. ``landed`` is False when the turn was over before the kill."""
    transport, victim = TRANSPORTS[done % 2], VICTIMS[done // 2 % 3]
    session, kind = f"s{done // ROUNDS_PER_SESSION}", chance.choice(KINDS)
    anchor, delay = chance.choice(("codex", "request")), chance.uniform(0, MOST_DELAY)
    marker = f"round-{number:03}"
    before = thread_of(session)
    arguments = ["--session", session, "--transport", transport]
    killed = start(arguments, f"{marker}-a-{kind}: what does total_price do?")
    reached = wait_for(lambda: killed.poll() is not None or has_begun(anchor, f"{marker}-a", record))
    time.sleep(delay)
    landed = reached and killed.poll() is None and bool(codex_processes())
    kill(killed, victim, chance)
    is_hung = not wait_for(lambda: killed.poll() is not None)
    orphans = settle()
    acknowledged = thread_of(session)
    resumed = start(["--session", session, "--transport", chance.choice(TRANSPORTS)], f"{marker}-b: go on")
    wait_for(lambda: resumed.poll() is not None)
    out, err = (stream.read().decode("utf-8", "replace") for stream in (resumed.stdout, resumed.stderr) if stream)
    return {
        "round": marker,
        "session": session,
        "transport": transport,
        "victim": victim,
        "kind": kind,
        "anchor": anchor,
        "delay": round(delay, 3),
        "landed": landed,
        "hung": is_hung,
        "orphans": orphans,
        "before": before,
        "acknowledged": acknowledged,
        "after": thread_of(session),
        "exit_code": resumed.poll(),
        "answered": "went on" in out,
        "stderr": err[-2000:],
        "drafts": [path.name for path in Path(".upbeat").glob("*")],
        "left": settle(),
    }


def start(arguments: list[str], prompt: str) -> subprocess.Popen[bytes]:
    """codex-auto with ``prompt`` on its standard input."""
    process = subprocess.Popen(
        ["codex-auto", "--once", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin
    process.stdin.write(prompt.encode())
    process.stdin.close()
    return process


def has_begun(anchor: str, marker: str, record: Path) -> bool:
    return bool(codex_processes()) if anchor == "codex" else marker.encode() in record.read_bytes()


def kill(wrapper: subprocess.Popen[bytes], victim: str, chance: random.Random) -> None:
    """SIGKILL, to both in any order."""
    victims = [*([wrapper.pid] if victim != "codex" else []), *(codex_processes() if victim != "wrapper" else [])]
    chance.shuffle(victims)
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def thread_of(session: str) -> str:
    """The thread that codex-auto would continue; a damaged database ends the run."""
    if not JOURNAL.exists():
        return ""
    with contextlib.closing(sqlite3.connect(JOURNAL)) as database:
        rows = database.execute("SELECT thread_id FROM codex_sessions WHERE name = ?", (session,)).fetchall()
    return str(rows[0][0]) if rows else ""


def processes() -> dict[int, list[str]]:
    """The command lines of everything in this namespace but the launcher and us."""
    own = os.readlink("/proc/self/ns/net")
    command_lines = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (os.getpid(), os.getppid()):
            continue
        try:
            if os.readlink(entry / "ns/net") == own and (argv := (entry / "cmdline").read_bytes()):
                command_lines[int(entry.name)] = argv.decode("utf-8", "replace").rstrip("\0").split("\0")
        except OSError:
            continue  # it has ended meanwhile
    return command_lines


def codex_processes() -> list[int]:
    return [pid for pid, argv in processes().items() if os.path.basename(argv[0]) == "codex"]


def settle() -> list[list[str]]:
    """What still runs after the time that it has to notice; it is ended then."""
    wait_for(lambda: not processes(), SETTLE_SECONDS)
    left = processes()
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return list(left.values())


def wait_for(condition: Any, seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


if __name__ == "__main__":
    main()
