"""Many hooks at once: of one session, of twenty sessions, and through one server.

Invariant: these are processes, all running before the first is waited for. Where each loads the whole core they wait
for the processors first, and a hook as it is installed gives up after nine seconds: its event is not acknowledged
then, and it says so. So it is tried both ways, with that deadline and without. Where a server answers each must keep
within ten seconds, which is what the client gives a hook.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcp_pipe import Pipe

from .lost_hooks import HOOK, UNHURRIED, Answer, faults, hook, payload
from .promise import Seen

DEADLINE = 10_000.0
"""Milliseconds that a client gives a hook."""
SOCKET_PATIENCE = 20.0

Event = tuple[str, int]


def at_once(home: Path, folder: Path, events: list[Event], command: list[str]) -> list[Answer]:
    """The answers to ``events``, each by a process of its own, all at the same time."""
    start = threading.Barrier(len(events))

    def answered(event: Event) -> Answer:
        start.wait()
        return hook(home, payload(*event, folder), folder, command)

    with ThreadPoolExecutor(len(events)) as crowd:
        return list(crowd.map(answered, events))


def one_after_another(home: Path, folder: Path, sessions: list[list[Event]]) -> list[Answer]:
    """The answers of sessions that run side by side, each of which has one event at a time."""
    with ThreadPoolExecutor(len(sessions)) as crowd:
        answers = crowd.map(lambda events: [hook(home, payload(*event, folder), folder) for event in events], sessions)
        return [answer for of_session in answers for answer in of_session]


def seen(claim: str, bound: str, answers: list[Answer], wrong: Counter[str], *, in_time: bool = False) -> Seen:
    """One promise, with what the answers and the journal say."""
    times = sorted(answer.milliseconds for answer in answers)
    late, gave_up = sum(one > DEADLINE for one in times), sum(answer.gave_up for answer in answers)
    bad = sum(not answer.is_good for answer in answers)
    p50, p99 = times[len(times) // 2], times[min(len(times) * 99 // 100, len(times) - 1)]
    figure = (
        f"{bad} of {len(answers)} answers bad, {wrong['lost']} lost, {wrong['doubled']} doubled, "
        f"{wrong['unreadable'] + wrong['set_aside']} files damaged; p50 {p50:,.0f} ms, p99 {p99:,.0f} ms"
    )
    holds = not bad and not any(wrong.values()) and not (in_time and (late or gave_up))
    return Seen(claim, bound, f"{figure}, {late} over 10 s, {gave_up} gave up", holds)


def look(full: bool) -> Iterator[Seen]:
    """200 at once, 20 sessions of 50, and 200 at once where a server runs."""
    many, sessions, each = (200, 20, 50) if full else (4, 2, 1)
    every = "exit 0, valid output, every event recorded once, the chain holds"
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        home, folder = folders(name)
        events = [("s-1", number) for number in range(many)]
        answers = at_once(home, folder, events, UNHURRIED)
        yield seen(f"{many} hooks of one session at once, none with a server", every, answers, faults(home, events))
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        home, folder = folders(name)
        of_sessions = [[(f"s-{session}", number) for number in range(each)] for session in range(sessions)]
        answers = one_after_another(home, folder, of_sessions)
        wrong = faults(home, [event for events in of_sessions for event in events])
        yield seen(f"{sessions} sessions at once with {each} hooks each", every, answers, wrong)
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        home, folder = folders(name)
        answers = at_once(home, folder, events, HOOK)
        wrong = faults(home, acknowledged(events, answers))
        claim = f"{many} hooks of one session at once, none with a server, each with its own deadline of nine seconds"
        yield seen(claim, every.replace("every event", "every event that was answered"), answers, wrong)
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        home, folder = folders(name)
        answers, wrong = through_a_server(home, folder, events)
        claim = f"{many} hooks of one session at once, answered by the session's server"
        yield seen(claim, f"{every}; each within the client's 10 s", answers, wrong, in_time=True)


def acknowledged(events: list[Event], answers: list[Answer]) -> list[Event]:
    """The events whose hooks came to an answer."""
    return [event for event, answer in zip(events, answers, strict=True) if not answer.gave_up]


def folders(name: str) -> tuple[Path, Path]:
    """A home and a repository."""
    home, folder = Path(name, "home"), Path(name, "repo")
    home.mkdir()
    folder.mkdir()
    return home, folder


def through_a_server(home: Path, folder: Path, events: list[Event]) -> tuple[list[Answer], Counter[str]]:
    """The answers of hooks whose client, this process, also runs a server; and what is wrong afterwards."""
    with Pipe(folder, home=home) as server:
        server.answer("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT})
        wait_for_socket()
        answers = at_once(home, folder, events, HOOK)
        wrong = faults(home, acknowledged(events, answers))
        wrong["unserved"] = int(not is_listening())
    return answers, wrong


CLIENT = {"name": "crowd", "version": "1"}


def is_listening() -> bool:
    return Path(f"/tmp/upbeat-{os.getuid()}/claude-code-{os.getpid()}.sock").exists()


def wait_for_socket() -> None:
    """Until the server listens. Raises TimeoutError: without it this would try something else."""
    end = time.monotonic() + SOCKET_PATIENCE
    while not is_listening():
        if time.monotonic() > end:
            raise TimeoutError("the server does not listen for hooks")
        time.sleep(0.01)
