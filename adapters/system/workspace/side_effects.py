"""Perform the side effects of policies outside the conversation: notifications and killing tmux sessions.

Invariant: no shell, no program from the repository, texts only as arguments, and no error leaves this module. A
notification runs in the background; killing sessions takes at most ``MAX_SECONDS``.
"""

from __future__ import annotations

import contextlib
import html
import signal
import subprocess
from collections.abc import Sequence
from threading import Thread
from time import monotonic

from upbeat.adapters.system.environment import child_variables
from upbeat.adapters.system.process.find_program import find_program
from upbeat.adapters.system.process.run import capture_output
from upbeat.adapters.system.process.tree import ProcessTree
from upbeat.core.policy.definition import KillTmuxSessions, Notify, SideEffect, TmuxSession
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.sanitize.truncate import truncate_at_word

MAX_SECONDS = 1.0
"""For all sessions together: clients allow little more at the end of a session."""

MAX_LIST_BYTES = 1_000_000
"""Of the list of sessions."""

NOTIFIER_TIMEOUT_SECONDS = 20.0
"""After this time, the notification program is killed."""

MAX_TEXT_CHARS = 300
"""Of a notification."""

_NOTIFICATION_SCRIPT = ("on run argv", "display notification (item 3 of argv) with title (item 2 of argv)", "end run")
"""For osascript: the texts are arguments, not part of the script."""
_SESSION_FORMAT = "#{session_id} #{session_created} #{session_attached} #{session_name}"


def perform_side_effect(side_effect: SideEffect, root: str) -> None:
    """Perform ``side_effect`` unless its program is missing. ``root`` is the repository's real path."""
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        match side_effect:
            case Notify():
                _notify(side_effect, root)
            case KillTmuxSessions():
                _end_terminals(side_effect.sessions, root)


def _notify(notification: Notify, root: str) -> None:
    title, text = _sanitize_line(notification.title), _sanitize_line(notification.text)
    if program := find_program("notify-send", root):
        body = html.escape(text, quote=False).replace("\\", "\\\\")  # the body may contain markup and escapes
        _start_detached([program, "--app-name=upbeat", "--", title, body])
    elif program := find_program("osascript", root):
        lines = [word for line in _NOTIFICATION_SCRIPT for word in ("-e", line)]
        # After the argument "upbeat", osascript parses no options.
        _start_detached([program, *lines, "upbeat", title, text])


def _end_terminals(terminals: Sequence[TmuxSession], root: str) -> None:
    program, deadline = find_program("tmux", root), monotonic() + MAX_SECONDS
    if not program or not terminals:
        return
    for line in _command_output([program, "list-sessions", "-F", _SESSION_FORMAT], deadline).splitlines():
        name, created, attached, title = (*line.split(" ", 3), "", "", "", "")[:4]
        if not created.isdecimal() or attached != "0":
            continue
        if any(session.name == title and session.since <= int(created) <= session.until for session in terminals):
            _command_output([program, "kill-session", "-t", name], deadline)


def _sanitize_line(text: str) -> str:
    """Return one line without control characters and of limited length."""
    return " ".join(sanitize_text(truncate_at_word(text, 4 * MAX_TEXT_CHARS)).text.split())[:MAX_TEXT_CHARS] or "upbeat"


def _start_detached(command: Sequence[str]) -> None:
    """Start a program that survives this process."""
    process = subprocess.Popen(
        command,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    Thread(target=_reap, args=(process,), name="notification", daemon=True).start()


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for the program so that it does not remain a zombie in a long-lived process."""
    try:
        process.wait(NOTIFIER_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        ProcessTree(process.pid).send_signal(signal.SIGKILL)
        process.wait()


def _command_output(command: Sequence[str], deadline: float) -> str:
    """Return a program's output; empty if it fails or no time is left."""
    timeout = max(deadline - monotonic(), 0.0)
    output = capture_output(command, "/", child_variables({}), timeout, max_bytes=MAX_LIST_BYTES)
    return (output or b"").decode("utf-8", "replace")
