"""Measure command hooks that find no server: processor time of each, and many at once on two cores.

    python -m benchmarks.hooks [--quick] [ROUNDS] [AT_ONCE]

Each hook is a process, as a client starts it. Its processor time is that of the process and its children, by ``wait4``,
beside that of a bare interpreter. At once, all are guards of the same harmful command: each must deny, or the journal
must have a record that it did not. The limit is the client's for a guard, after which it kills the hook.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from processes import SHIM, environment
from repositories import make_repository

from upbeat.adapters.claude.install import CALL_HOOK_TIMEOUT_SECONDS
from upbeat.adapters.install.byte_code import compile_missing
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import UNANSWERED_EVENT, SqliteJournal

ROUNDS, QUICK_ROUNDS = 15, 3
AT_ONCE, QUICK_AT_ONCE = (16, 30, 60), (4,)
CORES = 2
HOOK = [sys.executable, "-I", "-S", str(SHIM), "claude-code"]
BARE = [sys.executable, "-I", "-c", "pass"]
HARMFUL = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}
EVENTS: dict[str, dict[str, Any]] = {
    "guard: rm -rf ~": {"hook_event_name": "PreToolUse", **HARMFUL},
    "guard: ls -la": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls -la"}},
    "guard: a file is written": {
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "a.py", "content": "x = 1\n"},
    },
    "guard: ls -la, in a workflow": {
        "hook_event_name": "PreToolUse",
        "session_id": "workflow",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -la"},
    },
    "result of a command": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a.py\n", "stderr": "", "interrupted": False},
    },
    "prompt: thanks": {"hook_event_name": "UserPromptSubmit", "prompt": "thanks"},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("rounds", type=int, nargs="?")
    parser.add_argument("at_once", type=int, nargs="?")
    options = parser.parse_args()
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    counts = (options.at_once,) if options.at_once else QUICK_AT_ONCE if options.quick else AT_ONCE
    compile_missing()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        repository = make_repository(base / "repo", {"a.py": "x = 0\n"})
        measure_each(base / "home", repository, rounds)
        lost = sum(measure_at_once(base / f"home-{count}", repository, count) for count in counts)
    return 1 if lost else 0


def payload(repository: Path, fields: dict[str, Any], number: int) -> bytes:
    common = {"session_id": f"s{number % 4}", "cwd": str(repository), "tool_use_id": f"t{number}"}
    return json.dumps(common | fields).encode()


def measure_each(home: Path, repository: Path, rounds: int) -> None:
    """Print the processor time of one hook at each event, in turn with a bare interpreter."""
    workflow = {"hook_event_name": "UserPromptSubmit", "session_id": "workflow", "prompt": "/upbeat:quick add retries"}
    processor_ms(HOOK, payload(repository, workflow, 0), home)
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        times.setdefault("a bare interpreter", []).append(processor_ms(BARE, b"", home))
        for name, fields in EVENTS.items():
            times.setdefault(name, []).append(processor_ms(HOOK, payload(repository, fields, number), home))
    print(f"{'one hook without a server':32} median ms  least ms of processor time ({rounds} rounds)")
    for name, each in times.items():
        print(f"{name:32} {statistics.median(each):9.0f} {min(each):9.0f}")


def processor_ms(command: list[str], stdin: bytes, home: Path) -> float:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment(home)) as process:
        assert process.stdin
        process.stdin.write(stdin)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (used.ru_utime + used.ru_stime) * 1000


def measure_at_once(home: Path, repository: Path, count: int) -> int:
    """Print how ``count`` guards at once end on two cores; return how many neither denied nor left a record."""
    cores = set(sorted(os.sched_getaffinity(0))[:CORES]) if hasattr(os, "sched_setaffinity") else set()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    processes = [
        subprocess.Popen(
            HOOK,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(home),
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
        )
        for _ in range(count)
    ]
    fields = {"hook_event_name": "PreToolUse", **HARMFUL}
    for number, process in enumerate(processes):
        assert process.stdin
        process.stdin.write(payload(repository, fields, number))
        process.stdin.close()
        process.stdin = None
    ends: Counter[str] = Counter()
    for process in processes:
        left = max(began + CALL_HOOK_TIMEOUT_SECONDS - time.monotonic(), 0)
        try:
            output = process.communicate(timeout=left)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
        ends["denied" if b'"deny"' in output else "allowed"] += 1
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    needed = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / CORES
    state_home = home / ".local/state"
    recorded = Counter(
        record.text_field("event") for record in SqliteJournal(state_home, SystemClock()).records(last=999)
    )
    print(
        f"{count:3} guards at once on {CORES} cores: {ends['denied']} denied, {ends['allowed']} not within "
        f"{CALL_HOOK_TIMEOUT_SECONDS} s, of which {recorded[UNANSWERED_EVENT]} with a record; {seconds:.1f} s, "
        f"{needed:.1f} s on free cores"
    )
    return max(count - recorded["ToolStarting"] - recorded[UNANSWERED_EVENT], 0)


if __name__ == "__main__":
    sys.exit(main())
