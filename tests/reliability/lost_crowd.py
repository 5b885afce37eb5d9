"""Many hooks at once: of one session, of twenty sessions, and through one server.

Invariant: these are processes, all running before the first is waited for. Where each loads the whole core they wait
for the processors first, and a hook as it is installed gives up after nine seconds: its event is not acknowledged
then, and it says so. So it is tried both ways, with that deadline and without. Where a server answers each must keep
within ten seconds, which is what the client gives a hook.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcp_pipe import Pipe
from processes import read_log

from upbeat.adapters.system.journal.store import UNANSWERED_EVENT

from .lost_hooks import HOOK, UNHURRIED, Answer, Event, faults, hook
from .promise import Seen

DEADLINE = 10_000.0
"""Milliseconds that a client gives a hook."""
SOCKET_PATIENCE = 20.0
CLIENT = {"name": "crowd", "version": "1"}
EACH = "exit 0, valid output, every event recorded once, the chain holds"


def run_crowds(folder: Path, amount: tuple[int, int, int]) -> Iterator[Seen]:
    """Run so many hooks at once, so many sessions of so many hooks, and as many as first where a server runs."""
    many, sessions, each = amount
    events = [("s-1", number) for number in range(many)]
    claim = f"{many} hooks of one session at once, none with a server"
    home, repository = _folders(folder / "unhurried")
    yield _seen(claim, EACH, home, events, at_once(home, repository, events, UNHURRIED))
    home, repository = _folders(folder / "sessions")
    of_sessions = [[(f"s-{session}", number) for number in range(each)] for session in range(sessions)]
    answers = one_after_another(home, repository, of_sessions)
    session_events = [event for of_session in of_sessions for event in of_session]
    yield _seen(f"{sessions} sessions at once with {each} hooks each", EACH, home, session_events, answers)
    home, repository = _folders(folder / "hurried")
    bound = EACH.replace("every event", "every event that was answered")
    answers = at_once(home, repository, events, HOOK)
    yield _seen(f"{claim}, each with its own deadline of nine seconds", bound, home, events, answers)
    home, repository = _folders(folder / "served")
    with Pipe(repository, home=home) as server:
        server.answer("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT})
        _wait_for_socket()
        answers = at_once(home, repository, events, HOOK)
        is_served = _is_listening() and not any(answer.milliseconds > DEADLINE or answer.gave_up for answer in answers)
        claim = f"{many} hooks of one session at once, answered by the session's server"
        yield _seen(claim, f"{EACH}; each within the client's 10 s", home, events, answers, is_served=is_served)


def at_once(home: Path, folder: Path, events: list[Event], command: list[str]) -> list[Answer]:
    """Return the answers to ``events``, each by a process of its own, all at the same time."""
    start = threading.Barrier(len(events))

    def answer(event: Event) -> Answer:
        start.wait()
        return hook(home, event, folder, command)

    with ThreadPoolExecutor(len(events)) as crowd:
        return list(crowd.map(answer, events))


def one_after_another(home: Path, folder: Path, sessions: list[list[Event]]) -> list[Answer]:
    """Return the answers of sessions that run side by side, each of which has one event at a time."""
    with ThreadPoolExecutor(len(sessions)) as crowd:
        answers = crowd.map(lambda events: [hook(home, event, folder) for event in events], sessions)
        return [answer for of_session in answers for answer in of_session]


def _seen(
    claim: str, bound: str, home: Path, events: list[Event], answers: list[Answer], *, is_served: bool = True
) -> Seen:
    """Return one promise, with what the answers say, and the journal of the events that were acknowledged."""
    acknowledged = [event for event, answer in zip(events, answers, strict=True) if not answer.gave_up]
    wrong: Counter[str] = faults(home, acknowledged)
    times = sorted(answer.milliseconds for answer in answers)
    late, gave_up = sum(time > DEADLINE for time in times), sum(answer.gave_up for answer in answers)
    bad = sum(not answer.is_good for answer in answers)
    told = sum(record["event"] == UNANSWERED_EVENT for record in read_log(home))
    p50, p99 = times[len(times) // 2], times[min(len(times) * 99 // 100, len(times) - 1)]
    figure = (
        f"{bad} of {len(answers)} answers bad, {wrong['lost']} lost, {wrong['duplicated']} duplicated, "
        f"{wrong['unreadable'] + wrong['set_aside']} files damaged; p50 {p50:,.0f} ms, p99 {p99:,.0f} ms, "
        f"{late} over 10 s, {gave_up} gave up"
    ) + (f", {told} of them with a record" if gave_up else "")
    return Seen(claim, bound, figure, is_served and not bad and not any(wrong.values()))


def _folders(folder: Path) -> tuple[Path, Path]:
    """Make a home and a repository."""
    home, repository = folder / "home", folder / "repo"
    home.mkdir(parents=True)
    repository.mkdir()
    return home, repository


def _is_listening() -> bool:
    return Path(f"/tmp/upbeat-{os.getuid()}/claude-code-{os.getpid()}.sock").exists()


def _wait_for_socket() -> None:
    """Wait until the server listens. Raises TimeoutError: without it this would try something else."""
    end = time.monotonic() + SOCKET_PATIENCE
    while not _is_listening():
        if time.monotonic() > end:
            raise TimeoutError("the server does not listen for hooks")
        time.sleep(0.01)
