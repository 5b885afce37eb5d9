"""Whatever comes in, by whatever route: no client is harmed, delayed, or told what it cannot read."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from own_servers import settings
from processes import read_log
from repositories import PROMPT, make_repository

from upbeat.adapters.hook_entry.answer import answer_payload
from upbeat.adapters.hook_entry.shim import EXIT_AFTER_SECONDS, socket_path
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal import store
from upbeat.adapters.wiring import build_application
from upbeat.core.policies import POLICIES_BY_NAME

from .hook_answers import fault_of, is_noise
from .hook_routes import (
    BROKEN,
    CONDITIONS,
    SLOW_CONDITIONS,
    WRITES_NO_LOG,
    Tally,
    run_hook,
    shim,
    upbeat_hook,
    without,
)
from .hook_socket import frames, intruders
from .malformed import CLIENTS, payloads
from .mcp_lines import Speaker, speak
from .promise import Scenario, Seen, none_of
from .workers import command, results, variables

PART = "Hooks never block the client"
SEED = 7
HOOK_SECONDS = 7.25
"""What the slowest payload may take in process: a turn's own limit and a quarter of a second."""
STUCK_SECONDS = 120


def answer_in_process(folder: Path, count: int) -> Iterator[Seen]:
    """Answer ``count`` malformed payloads of both clients side by side, each in a process of its own."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git") or "/usr/bin/git")  # no other program: none is to be started
    commands = [command(answers, client, count // 2, folder / client) for client in CLIENTS]
    seen: list[dict[str, Any]] = results(commands, variables(folder) | {"PATH": str(tools)})
    faults = [fault for worker in seen for fault in worker["faults"]]
    slowest, megabytes = (max((worker[name] for worker in seen), default=0) for name in ("slowest", "megabytes"))
    total, unreadable, answered = (sum(worker[name] for worker in seen) for name in ("count", "unreadable", "answered"))
    yield none_of(
        "A malformed payload is an answer that its client takes, or none, and a line in the log",
        f"0 otherwise, none over {HOOK_SECONDS} s",
        faults,
        f"of {total:,} ({unreadable:,} unreadable, {answered:,} answers), slowest {slowest:.1f} s, {megabytes} MB",
        holds=len(seen) == len(CLIENTS) and slowest <= HOOK_SECONDS,
    )


def answers(client: str, count: int, folder: str) -> Iterator[dict[str, Any]]:
    """Answer malformed payloads with the settings as they are, and as many with every policy on; in its own process."""
    home = Path(folder)
    home.mkdir()
    repo = make_repository(home / "repo")
    settings(home / "all", f"[policies]\non = {json.dumps(sorted(POLICIES_BY_NAME))}\n")
    recorded = _watch_journal()
    counts = dict.fromkeys(("answered", "unreadable"), 0)
    faults: list[str] = []
    slowest = 0.0
    for name in ("plain", "all"):
        application = build_application(read_environment({"HOME": str(home / name)}))
        for payload in payloads(client, SEED, count // 2, str(repo)):
            recorded.clear()
            faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
            started = time.perf_counter()
            try:
                output, fault = answer_payload(client, payload, application), ""
            except BaseException as error:  # a promise: nothing is raised, whatever came in
                output, fault = b"", f"raised {type(error).__name__}: {error}"
            slowest = max(slowest, time.perf_counter() - started)
            fault = fault or fault_of(client, payload, output)
            if not recorded and not is_noise(client, payload):
                fault = fault or "left no record"
            if "internal_error" in recorded:
                fault = fault or "could not be evaluated"
            counts["answered"] += bool(output)
            counts["unreadable"] += "invalid_payload" in recorded
            faults += [f"{fault}: {payload[:200]!r}"] if fault else []
        faults += [] if application.runtime.journal.verify().is_intact else ["stored wrongly"]
    faulthandler.cancel_dump_traceback_later()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    yield {"count": count, **counts, "faults": faults, "slowest": slowest, "megabytes": megabytes}


def _watch_journal() -> list[str]:
    """Let every transaction of this process note the events that it stores; return the list that they note them in."""
    recorded: list[str] = []

    def watched(append: Callable[..., None]) -> Callable[..., None]:
        def noting(transaction: object, record: Any, *more: Any) -> None:
            recorded.append(record.event)
            append(transaction, record, *more)

        return noting

    for transaction in (store._StoredTransaction, store._MemoryTransaction):
        transaction.append = watched(transaction.append)  # type: ignore[method-assign]
    return recorded


def answer_by_processes(folder: Path, counts: tuple[int, int, int]) -> Iterator[Seen]:
    """Put payloads through the command hook alone, through ``upbeat hook``, and through a running server."""
    alone, by_name, served = counts
    repo, home, tally = make_repository(folder / "repo"), folder / "hooks", Tally()
    home.mkdir()
    for client in CLIENTS:
        routes = [("shim", shim(client))] * (alone // 2) + [("upbeat hook", upbeat_hook(client))] * (by_name // 2)
        _run_all(tally, client, routes, home, payloads(client, SEED + 1, len(routes), str(repo)))
        speaker = Speaker(folder / f"{client} server", client)
        _wait_for_socket(client, speaker)
        routes = [("shim and server", shim(client))] * (served // 2)
        _run_all(tally, client, routes, home, payloads(client, SEED + 2, len(routes), str(repo)))
        speaker.end(tally)
    yield tally.seen(
        "The same through real processes: exit code 0, an answer that its client takes or none, before it gives up",
        "0 otherwise, none over 10 s",
    )


def _run_all(
    tally: Tally, client: str, routes: list[tuple[str, list[str]]], home: Path, given: Iterator[bytes]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        running = [
            (route, payload, pool.submit(run_hook, words, payload, home))
            for (route, words), payload in zip(routes, given, strict=True)
        ]
        for route, payload, future in running:
            tally.note_process(route, client, payload, *future.result())


def answer_over_mcp(folder: Path, counts: tuple[int, int]) -> Iterator[Seen]:
    """Send so many malformed hooks and odd lines to the server of each client."""
    hooks, odd = counts
    repo, tally = make_repository(folder / "repo"), Tally()
    for client in CLIENTS:
        speak(tally, client, SEED, folder / client, hooks // 2, odd // 2, repo)
    yield tally.seen(
        "Malformed hooks and lines over MCP: the server goes on, answers requests and writes nothing but messages",
        "0 otherwise, none over 10 s",
    )


def attack_socket(folder: Path, count: int) -> Iterator[Seen]:
    """Send ``count`` broken frames to the session's socket, and prepare its folder as another program could."""
    tally, client = Tally(), CLIENTS[0]
    speaker = Speaker(folder / "server", client)
    frames(tally, _wait_for_socket(client, speaker), SEED, count)
    speaker.end(tally)
    yield tally.seen(
        "Broken frames and silent peers on the session's socket delay nobody, 100 and 100 at once among them",
        "0 good frames without an answer",
    )
    place = folder / "intruders"
    place.mkdir()
    tried = list(intruders(place))
    yield none_of(
        "A socket in a folder that is open to others, a link, or not ours is not used; another user is refused",
        "0 let in",
        [attempt for attempt, is_refused in tried if not is_refused],
        f"of {len(tried)}",
    )


def start_under_all_conditions(folder: Path, is_whole: bool) -> Iterator[Seen]:
    """Start hooks under all conditions; each must leave its line in the log where there is a place for one."""
    tally, event = Tally(), _event(folder)
    given = [("readable", json.dumps(event).encode())]
    if is_whole:
        large = json.dumps(event | {"prompt": PROMPT + " words" * 900_000}).encode()
        given += [("with a BOM", b"\xef\xbb\xbf" + given[0][1]), ("invalid", b'{"torn": '), ("of 5 MB", large)]
    cases = [(*condition, *payload) for condition in CONDITIONS.items() for payload in given]
    cases += [(*condition, *given[0]) for condition in SLOW_CONDITIONS.items()]
    started = [(case, client, words) for case in cases for client in CLIENTS for words in (shim, upbeat_hook)]
    for (condition, arrange, which, payload), client, words in started if is_whole else started[3::4]:
        home = Path(tempfile.mkdtemp(dir=folder))
        with ExitStack() as stack:
            run = run_hook(words(client), payload, home, **arrange(stack, payload, home))
        tally.note_process(condition, client, payload, *run)
        if condition not in WRITES_NO_LOG and not read_log(home):
            tally.faults.append(f"{condition}, {which}: no line in the log")
        shutil.rmtree(home)
    yield tally.seen(
        f"{len(CONDITIONS) + len(SLOW_CONDITIONS)} scenarios of stdin, stdout, HOME, environment and working folder: "
        f"exit code 0 after {EXIT_AFTER_SECONDS} s at most, and a line in the log",
        "0 otherwise",
    )


def break_installation(folder: Path, count: int | None) -> Iterator[Seen]:
    """Run hooks without one of the modules that they import."""
    tally, payload = Tally(), json.dumps(_event(folder)).encode()
    for module in BROKEN[:count]:
        for client in CLIENTS:
            for words in without(module, client):
                tally.note_process(f"without {module}", client, payload, *run_hook(words, payload, folder))
    yield tally.seen("A module that cannot be imported costs an answer at most", "0 exit codes but 0")


def _event(folder: Path) -> dict[str, str]:
    repo = make_repository(folder / "repo")
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": PROMPT}


def _wait_for_socket(client: str, speaker: Speaker) -> Path:
    """Return the socket of the server that this process has started, once it answers."""
    speaker.say(b"")
    path = Path(socket_path(os.getuid(), client, os.getpid()))
    end = time.monotonic() + 10
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return path


SCENARIOS = (
    Scenario(answer_in_process, 800, 100_000),
    Scenario(answer_by_processes, (4, 2, 6), (500, 100, 400)),
    Scenario(answer_over_mcp, (40, 80), (500, 1000)),
    Scenario(attack_socket, 200, 20_000),
    Scenario(start_under_all_conditions, False, True),
    Scenario(break_installation, 2, None),
)
