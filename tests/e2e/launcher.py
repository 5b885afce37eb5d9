#!/usr/bin/env python3
"""Run one command beside the stub model in a network namespace that has nothing but loopback.

    launcher.py --record requests.jsonl [--script script.json] [--report report.json] [--cwd DIR] -- COMMAND…

The command gets this process's environment and standard streams and, where standard input is a terminal, the
terminal's foreground, so Ctrl-C reaches the command and not the launcher. The stub answers on 127.0.0.1:PORT inside the
namespace.

When the command has ended, whatever else still lives in the namespace is written into the report and then ended:

    {"exit_code": 0, "interfaces": ["lo"], "left_behind": [{"pid": 4711, "command": ["sleep", "1000"]}]}

This file is run as a script, never imported: it starts again under ``unshare`` and needs no package but the stub's.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from stubs.script import Script
from stubs.server import PORT, StubServer

SETTLE_SECONDS = 3.0
"""How long a process may take to follow its client before it counts as left behind."""
STOP_SECONDS = 5
"""How long a command may take to end when the launcher is told to end."""

_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def main() -> int:
    """Enter a namespace of our own, serve, run the command, and report."""
    options = _options()
    if not options.left:
        _start_again_in_a_namespace()
    if options.left == _namespace():
        sys.exit("launcher.py: still in the namespace of its caller")
    _bring_up_loopback()
    StubServer(PORT, options.record, Script.read(options.script)).start()
    code = _run(options.command, options.cwd)
    left_behind = _settle()
    _end(left_behind)
    if options.report:
        report = {"exit_code": code, "interfaces": _interfaces(), "left_behind": left_behind}
        options.report.write_text(json.dumps(report), encoding="utf-8")
    return code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, required=True, help="append every request that the stub gets")
    parser.add_argument("--script", type=Path, help="what the stub answers (see stubs/script.py)")
    parser.add_argument("--report", type=Path, help="write how the run ended")
    parser.add_argument("--cwd", type=Path, help="where the command starts")
    parser.add_argument("--left", help=argparse.SUPPRESS)  # the namespace that we came from, once we have left it
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex()]


def _start_again_in_a_namespace() -> None:
    as_root = ["--map-root-user"] if os.geteuid() else []
    again = [sys.executable, "-E", sys.argv[0], "--left", _namespace(), *sys.argv[1:]]
    os.execvp("unshare", ["unshare", "--net", *as_root, "--", *again])


def _namespace() -> str:
    return os.readlink("/proc/self/ns/net")


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(handle, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _run(command: list[str], cwd: Path | None) -> int:
    """Run ``command`` in a process group of its own, as the terminal's foreground if there is a terminal."""
    terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _END_SIGNALS)
    client = subprocess.Popen(command, cwd=cwd, preexec_fn=lambda: _become_foreground(terminal))
    for number in _END_SIGNALS:
        signal.signal(number, lambda received, _frame: _pass_on(received, client.pid))
    signal.signal(signal.SIGALRM, lambda _number, _frame: _end(_others()))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _END_SIGNALS)
    code = client.wait()
    signal.alarm(0)
    if terminal is not None:
        _take_back(terminal)
    return code if code >= 0 else 128 - code


def _become_foreground(terminal: int | None) -> None:
    os.setpgid(0, 0)
    if terminal is not None:
        os.tcsetpgrp(terminal, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _END_SIGNALS)


def _take_back(terminal: int) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone already
        os.tcsetpgrp(terminal, os.getpgrp())


def _pass_on(number: int, group: int) -> None:
    """Pass a request to end on to the command, and end everything here if that is not enough."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
    signal.alarm(STOP_SECONDS)


def _settle() -> list[dict[str, Any]]:
    """The processes that outlive the command in this namespace, after the time they have to notice its end."""
    end = time.monotonic() + SETTLE_SECONDS
    while (others := _others()) and time.monotonic() < end:
        time.sleep(0.05)
    return others


def _others() -> list[dict[str, Any]]:
    own = _namespace()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if os.readlink(entry / "ns/net") == own and (argv := (entry / "cmdline").read_bytes()):
                command = argv.decode("utf-8", "replace").rstrip("\0").split("\0")
                found.append({"pid": int(entry.name), "command": command})
        except OSError:
            continue  # it ended while we looked, or it is not ours to see
    return found


def _end(processes: list[dict[str, Any]]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process["pid"], signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
