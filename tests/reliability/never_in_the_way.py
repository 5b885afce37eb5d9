"""Whatever comes in, by whatever route: no client is harmed, delayed, or told what it cannot read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from processes import read_log
from repositories import PROMPT, make_repository

from upbeat.adapters.hook_entry.shim import EXIT_AFTER_SECONDS, socket_path

from .hook_routes import (
    BROKEN,
    SCENARIOS,
    SLOW_SCENARIOS,
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
from .promise import Seen
from .workers import variables

PART = "Never in the way"
SEED = 7
HOOK_SECONDS = 7.25
"""What the slowest payload may take in process: a turn's own limit and a quarter of a second."""


def look(full: bool) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory(prefix="upbeat-inway-") as name:
        folder = Path(name)
        repo = make_repository(folder / "repo")
        yield _in_process(folder, 100_000 if full else 800)
        yield _processes(folder, repo, (500, 100, 400) if full else (4, 2, 6))
        yield _over_mcp(folder, repo, (500, 1000) if full else (40, 80))
        yield from _socket(folder, 20_000 if full else 200)
        yield _situations(folder, repo, full)
        yield _broken_installation(folder, repo, full)


def _in_process(folder: Path, count: int) -> Seen:
    """Both clients side by side, each in a process of its own."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git") or "/usr/bin/git")  # no other program: none is to be started
    working = []
    for client in CLIENTS:
        home = folder / client
        home.mkdir()
        command = [
            sys.executable,
            "-m",
            "reliability.payloads_in_process",
            client,
            str(SEED),
            str(count // 2),
            str(home),
        ]
        environment = variables(home) | {"PATH": str(tools)}
        working.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE))
    found: list[dict[str, Any]] = []
    for worker in working:
        with worker:
            output, _ = worker.communicate()
        found.append(json.loads(output) if worker.returncode == 0 else {"ended": worker.returncode})
    if ended := [one["ended"] for one in found if "ended" in one]:
        return _seen_in_process(f"ended with exit code {ended[0]}", holds=False)
    faults, slowest = sum(one["faults"] for one in found), max(one["slowest"] for one in found)
    unreadable, answered = (sum(one[name] for one in found) for name in ("unreadable", "answered"))
    shown = "".join(f"; {text}" for one in found for text in one["shown"][:1])
    figure = (
        f"{faults} of {sum(one['count'] for one in found):,} ({unreadable:,} unreadable, {answered:,} answers), "
        f"slowest {slowest:.1f} s, {max(one['megabytes'] for one in found)} MB{shown}"
    )
    return _seen_in_process(figure, holds=faults == 0 and slowest <= HOOK_SECONDS)


def _seen_in_process(figure: str, *, holds: bool) -> Seen:
    return Seen(
        "A malformed payload is an answer that its client takes, or none, and a line in the log",
        f"0 otherwise, none over {HOOK_SECONDS} s",
        figure,
        holds,
    )


def _processes(folder: Path, repo: Path, counts: tuple[int, int, int]) -> Seen:
    """Malformed payloads through the command hook alone, through ``upbeat hook``, and through a running server."""
    alone, by_name, served = counts
    tally, home = Tally(), folder / "hooks"
    home.mkdir()
    for client in CLIENTS:
        jobs = [(shim(client), home, "shim")] * (alone // 2) + [(upbeat_hook(client), home, "upbeat hook")] * (
            by_name // 2
        )
        _run_all(tally, client, jobs, payloads(client, SEED + 1, len(jobs), str(repo)))
        speaker = Speaker(_made(folder / f"{client} server"), client)
        _await_socket(client, speaker)
        jobs = [(shim(client), home, "shim and server")] * (served // 2)
        _run_all(tally, client, jobs, payloads(client, SEED + 2, len(jobs), str(repo)))
        if code := speaker.end():
            tally.faults.append(f"the server ended with exit code {code}")
    return Seen(
        "The same through real processes: exit code 0, an answer that its client takes or none, before it gives up",
        "0 otherwise, none over 10 s",
        str(tally),
        not tally.faults,
    )


def _run_all(tally: Tally, client: str, jobs: list[tuple[list[str], Path, str]], given: Iterator[bytes]) -> None:
    with ThreadPoolExecutor(2) as pool:
        running = [
            (what, payload, pool.submit(run_hook, command, payload, home))
            for (command, home, what), payload in zip(jobs, given, strict=True)
        ]
        for what, payload, future in running:
            tally.look(what, client, payload, *future.result())


def _over_mcp(folder: Path, repo: Path, counts: tuple[int, int]) -> Seen:
    hooks, odd = counts
    tally = Tally()
    for client in CLIENTS:
        speak(tally, client, SEED, folder / f"{client} mcp", hooks // 2, odd // 2, repo)
    return Seen(
        "Malformed hooks and lines over MCP: the server goes on, answers requests and writes nothing but messages",
        "0 otherwise, none over 10 s",
        str(tally),
        not tally.faults,
    )


def _socket(folder: Path, count: int) -> Iterator[Seen]:
    tally, client = Tally(), CLIENTS[0]
    speaker = Speaker(_made(folder / "socket server"), client)
    frames(tally, _await_socket(client, speaker), SEED, count)
    if code := speaker.end():
        tally.faults.append(f"the server ended with exit code {code}")
    yield Seen(
        "Broken frames and silent peers on the session's socket delay nobody, 100 and 100 at once among them",
        "0 good frames without an answer",
        str(tally),
        not tally.faults,
    )
    tried = list(intruders(_made(folder / "intruders")))
    failed = [what for what, is_refused in tried if not is_refused]
    yield Seen(
        "A socket in a folder that is open to others, a link, or not ours is not used; another user is refused",
        "0 let in",
        f"{len(failed)} of {len(tried)}" + "".join(f"; {what}" for what in failed[:3]),
        not failed,
    )


def _situations(folder: Path, repo: Path, full: bool) -> Seen:
    """Every way in which a hook may be started; each must leave its line in the log where there is a place for one."""
    tally = Tally()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": PROMPT}
    given = [("readable", json.dumps(event).encode())]
    if full:
        large = json.dumps(event | {"prompt": PROMPT + " words" * 900_000}).encode()
        given += [("with a BOM", b"\xef\xbb\xbf" + given[0][1]), ("invalid", b'{"torn": '), ("of 5 MB", large)]
    cases = [(*scenario, *payload) for scenario in SCENARIOS.items() for payload in given]
    cases += [(*scenario, *given[0]) for scenario in SLOW_SCENARIOS.items()]
    number = 0
    for what, arrange, which, payload in cases:
        for client, command in ((client, make(client)) for client in CLIENTS for make in (shim, upbeat_hook)):
            if not full and (number := number + 1) % 4:
                continue
            home = Path(tempfile.mkdtemp(dir=folder))
            with ExitStack() as stack:
                tally.look(what, client, payload, *run_hook(command, payload, home, **arrange(stack, payload, home)))
            if what not in WRITES_NO_LOG and not read_log(home):
                tally.faults.append(f"{what}, {which}: no line in the log")
            shutil.rmtree(home)
    return Seen(
        f"{len(SCENARIOS) + len(SLOW_SCENARIOS)} scenarios of stdin, stdout, HOME, environment and working folder: "
        f"exit code 0 after {EXIT_AFTER_SECONDS} s at most, and a line in the log",
        "0 otherwise",
        str(tally),
        not tally.faults,
    )


def _broken_installation(folder: Path, repo: Path, full: bool) -> Seen:
    tally, home = Tally(), _made(folder / "broken")
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": PROMPT}
    payload = json.dumps(event).encode()
    for module in BROKEN if full else BROKEN[:2]:
        for client in CLIENTS:
            for command in without(module, client):
                tally.look(f"without {module}", client, payload, *run_hook(command, payload, home))
    return Seen(
        "A module that cannot be imported costs an answer at most",
        "0 exit codes but 0",
        str(tally),
        not tally.faults,
    )


def _await_socket(client: str, speaker: Speaker) -> Path:
    """The socket of the server that this process has started, once it answers."""
    speaker.say(b"")
    path = Path(socket_path(os.getuid(), client, os.getpid()))
    end = time.monotonic() + 10
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return path


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
