"""Hooks that work in a process of their own: files beside the journal, so that none ends without a record, and turns.

A hook announces itself before it imports the core, and removes its file once the client has its answer. What is left of
a process that is gone, because the client or the system killed it, is recorded with the next transaction. Invariant:
the files hold names only, never the input of a call. Nothing here raises.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from upbeat.adapters.system.files.lock import try_lock
from upbeat.core import lazy_re as re

FOLDER_NAME = "pending"
MAX_AGE_SECONDS = 600.0
"""No hook works longer, not even on a machine that was suspended: an older file is of another process with its id."""
MAX_WAIT_SECONDS = 3.0
"""How long a hook waits for its turn: clients wait five seconds for a guard."""
MAX_TAKEN = 500
"""Files that one transaction records."""
_MIN_PAUSE, _MAX_PAUSE = 0.02, 0.12
_MAX_PARSED_BYTES = 1_000_000
_MAX_FILE_BYTES = 4096
_NAMES = {"hook_event_name": "event", "tool_name": "tool", "session_id": "session_id"}
_NAME = re.compile(r"[\w.:/-]{1,100}", re.ASCII)
_FILE_NAME = re.compile(r"(\d{1,10})-\d{1,20}\.json", re.ASCII)


def announce_hook(state_home: str, client: str, payload: bytes) -> str:
    """Note that this process answers the hook with ``payload``; return the file, empty if it cannot be written."""
    folder = os.path.join(state_home, "upbeat", FOLDER_NAME)
    path = os.path.join(folder, f"{os.getpid()}-{time.monotonic_ns()}.json")
    noted = {"client": client, "at": time.time()} | _names_of(payload)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, json.dumps(noted).encode())
        finally:
            os.close(descriptor)
    except OSError:
        return ""
    return path


def take_turn(path: str, wait_seconds: float = MAX_WAIT_SECONDS) -> int | None:
    """Wait until fewer hooks work than there are cores; return the lock, which ends with this process, None without it.

    Many hooks that work at once all end at the end, too late for their clients. ``path`` is that of the announced hook.
    """
    if not path:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    end, pause = time.monotonic() + wait_seconds, _MIN_PAUSE + os.getpid() % 16 / 1000
    while True:
        for number in range(cores):
            with contextlib.suppress(OSError):
                name = os.path.join(os.path.dirname(path), f"turn-{number}.lock")
                descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                if try_lock(descriptor) is not False:
                    return descriptor
                os.close(descriptor)
        if time.monotonic() >= end:
            return None
        time.sleep(pause)
        pause = min(2 * pause, _MAX_PAUSE)


def settle_hook(path: str) -> None:
    """Note that the hook of ``path`` has been answered."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def take_unanswered(state_folder: str) -> list[dict[str, Any]]:
    """Remove the files of hooks whose processes are gone, and return what they say: client, event, tool, times."""
    folder = os.path.join(state_folder, FOLDER_NAME)
    taken: list[dict[str, Any]] = []
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder))[:MAX_TAKEN]:
            path = os.path.join(folder, name)
            if (match := _FILE_NAME.fullmatch(name)) and not _may_answer(int(match[1]), path):
                noted = _read(path)
                os.unlink(path)  # fails if another process has taken it
                taken.append(noted)
    return taken


def _names_of(payload: bytes) -> dict[str, str]:
    fields: Any = None
    if len(payload) <= _MAX_PARSED_BYTES:
        with contextlib.suppress(ValueError, RecursionError):
            fields = json.loads(payload)
    if not isinstance(fields, Mapping):
        return {}
    named = {shown: fields.get(name) for name, shown in _NAMES.items()}
    return {name: value for name, value in named.items() if isinstance(value, str) and _NAME.fullmatch(value)}


def _may_answer(pid: int, path: str) -> bool:
    """Return whether the process of a hook may still answer."""
    if time.time() - os.lstat(path).st_mtime > MAX_AGE_SECONDS:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read(path: str) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            noted = json.loads(os.read(descriptor, _MAX_FILE_BYTES))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return {}
    return dict(noted) if isinstance(noted, Mapping) else {}
