"""Runs entry points one after the other, each in a copy of one process that has an audit hook.

    python -I inside.py < CALLS      (JSON, made by ``entry_points.in_copies``)

A copy starts in milliseconds where a process of its own takes half a second. Only the standard library and upbeat are
needed. ``log`` gets a line for each program, file, import and connection as Python saw it, ``output`` what was said.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import sys
import time
from importlib import import_module
from typing import Any

PATIENCE = 240.0
LOADED = (
    *("cli.main", "cli.hook", "cli.prepare", "cli.mcp", "hook_entry.answer", "mcp_server.server"),
    *("claude.codec", "codex.codec", "clients.registry", "code.provider", "mcp_client.provider"),
)
_RUNS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.spawn", "pty.spawn")
_OPENS = ("open", "os.listdir", "os.scandir")


def main() -> None:
    import_module("upbeat.adapters.wiring").build_application()  # so that not each copy has to import it all
    for name in LOADED:
        import_module(f"upbeat.adapters.{name}")
    for call in json.load(sys.stdin):
        _one(call)


def _one(call: dict[str, Any]) -> None:
    """One entry point in a copy of this process; its output file ends with its exit code."""
    stdin, requests = os.pipe()
    answers, stdout = os.pipe()
    copy = os.fork()
    if copy == 0:
        os.close(requests)
        os.close(answers)
        _become(call, stdin, stdout)
    os.close(stdin)
    os.close(stdout)
    output = _converse(call, requests, answers)
    os.close(answers)
    _, status = os.waitpid(copy, 0)
    with open(call["output"], "wb") as file:
        file.write(output + f"\nexit {os.waitstatus_to_exitcode(status)}".encode())


def _become(call: dict[str, Any], stdin: int, stdout: int) -> None:
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    os.dup2(stdout, 2)
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["environment"])
    log = os.open(call["log"], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    sys.addaudithook(lambda event, about: _note(log, event, about))
    sys.argv = [call["module"], *call["words"]]
    code = 70
    try:
        code = import_module(call["module"]).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException as error:  # told by the exit code
        os.write(2, repr(error).encode())
    finally:
        sys.stdout.flush()
        atexit._run_exitfuncs()  # as the end of a process of its own does
        os._exit(code)


def _converse(call: dict[str, Any], requests: int, answers: int) -> bytes:
    """Everything that the copy says; its stdin is closed once it has answered as often as it is to."""
    end, output, is_open = time.monotonic() + PATIENCE, b"", True
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):
        os.write(requests, call["stdin"].encode())
    while time.monotonic() < end:
        if is_open and output.count(b"\n") >= call["answers"]:
            os.close(requests)
            is_open = False
        if select.select([answers], [], [], 0.5)[0]:
            part = os.read(answers, 1 << 16)
            if not part:
                break
            output += part
    else:
        output += b"\ndoes not end"
    if is_open:
        os.close(requests)
    return output


def _note(log: int, event: str, about: tuple[Any, ...]) -> None:
    line: tuple[str, str, str] | None = None
    if event in _RUNS:
        words = [str(word) for word in about[1] or ()] if len(about) > 1 else []
        line = ("run", os.fsdecode(about[0]), json.dumps(words))
    elif event in _OPENS and isinstance(about[0], str | bytes):
        is_final = event == "open" and isinstance(about[2], int) and about[2] & os.O_NOFOLLOW
        line = ("open", os.fsdecode(about[0]), "without following" if is_final else "")
    elif event == "exec":
        line = ("import", str(getattr(about[0], "co_filename", "")), "")
    elif event in ("socket.connect", "socket.bind"):
        line = ("connect", str(about[1]), "")
    if line:
        os.write(log, json.dumps(line).encode("utf-8", "surrogateescape") + b"\n")


if __name__ == "__main__":
    main()
