"""Does what policies want done outside the conversation: notifications, and the end of tmux sessions.

Law: no shell, no program that lies in the repository, texts as arguments only, and no error leaves this module. A
notification is waited for by nobody; ending sessions takes ``MAX_SECONDS`` at most.
"""

from __future__ import annotations

import contextlib
import html
import signal
import subprocess
from collections.abc import Sequence
from threading import Thread
from time import monotonic

from ...core.policies.errand import EndTerminals, Errand, Notify, Terminal
from ...core.turn.clean import clean
from ...core.turn.truncate import whole_words
from .command import output_of
from .environment import child_variables
from .family import Family
from .program import find_program

MAX_SECONDS = 1.0
"""For all sessions together: clients give the end of a session little more."""

MAX_LIST = 1_000_000
"""Bytes of a list of sessions."""

MAX_SHOWN_SECONDS = 20.0
"""After that a program that shows a notification is ended."""

MAX_TEXT = 300
"""Characters of a notification."""

_SCRIPT = ("on run argv", "display notification (item 3 of argv) with title (item 2 of argv)", "end run")
"""For osascript: the texts are arguments, and no part of the script."""
_FORMAT = "#{session_id} #{session_created} #{session_attached} #{session_name}"


def run(errand: Errand, root: str) -> None:
    """Do ``errand``; nothing happens where its program is missing. ``root`` is the repository's real path."""
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        match errand:
            case Notify():
                _notify(errand, root)
            case EndTerminals():
                _end(errand.terminals, root)


def _notify(errand: Notify, root: str) -> None:
    title, text = _plain(errand.title), _plain(errand.text)
    if program := find_program("notify-send", root):
        body = html.escape(text, quote=False).replace("\\", "\\\\")  # it reads markup and backslashes in the body
        _start([program, "--app-name=upbeat", "--", title, body])
    elif program := find_program("osascript", root):
        lines = [word for line in _SCRIPT for word in ("-e", line)]
        _start([program, *lines, "upbeat", title, text])  # what begins with a hyphen is no option behind a word


def _end(terminals: Sequence[Terminal], root: str) -> None:
    program, deadline = find_program("tmux", root), monotonic() + MAX_SECONDS
    if not program or not terminals:
        return
    for line in _output([program, "list-sessions", "-F", _FORMAT], deadline).splitlines():
        name, created, attached, title = (*line.split(" ", 3), "", "", "", "")[:4]
        is_ours = any(one.name == title and _is_between(created, one) for one in terminals)
        if is_ours and attached == "0":
            _output([program, "kill-session", "-t", name], deadline)


def _is_between(created: str, terminal: Terminal) -> bool:
    return created.isdecimal() and terminal.since <= int(created) <= terminal.until


def _plain(text: str) -> str:
    """One line without controls, of a bounded length."""
    return " ".join(clean(whole_words(text, 4 * MAX_TEXT)).text.split())[:MAX_TEXT] or "upbeat"


def _start(command: Sequence[str]) -> None:
    """Start a program that goes on by itself, whatever becomes of this process."""
    process = subprocess.Popen(
        command,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    Thread(target=_collect, args=(process,), name="errand", daemon=True).start()


def _collect(process: subprocess.Popen[bytes]) -> None:
    """Takes note of its end, for the system; in a process that goes on itself nothing else would."""
    try:
        process.wait(MAX_SHOWN_SECONDS)
    except subprocess.TimeoutExpired:
        Family(process.pid).signal(signal.SIGKILL)
        process.wait()


def _output(command: Sequence[str], deadline: float) -> str:
    """What a program says; nothing when it fails or there is no time left."""
    said = output_of(command, "/", child_variables({}), max(deadline - monotonic(), 0.0), most=MAX_LIST)
    return (said or b"").decode("utf-8", "replace")
