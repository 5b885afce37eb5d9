"""Runs one process and all that it starts under strace, and says what they ran, opened and connected to.

The operating system says it, so nothing that a program does is missed. Without strace it raises: a promise that was not
looked at does not hold.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .entry_points import Call
from .place import Place

TRACED = "execve,execveat,open,openat,openat2,creat,connect,bind"
_EXEC = re.compile(r'execve(?:at)?\((?:[^"]*)"((?:[^"\\]|\\.)*)"(\.\.\.)?, \[(.*?)\](?:\.\.\.)?, ')
_OPENED = re.compile(r"\b(?:open|openat|openat2|creat)(?:\(| resumed>).* = \d+<(.*)>(?:\(deleted\))?$")
_CONNECT = re.compile(r"\b(?:connect|bind)\(.*?\{(sa_family=.*?)\}")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}


@dataclass(frozen=True)
class Seen:
    """What the processes did: programs that were started or tried (with arguments), files opened, sockets used."""

    programs: tuple[tuple[str, str], ...] = ()
    opened: frozenset[str] = frozenset()
    connected: tuple[str, ...] = ()
    code: int = 0
    output: bytes = b""
    seconds: float = 0.0


def watch(call: Call, place: Place) -> Seen:
    """Run ``call`` in ``place`` to its end. Raises RuntimeError without strace, TimeoutError for what does not end."""
    strace = shutil.which("strace")
    if not strace:
        raise RuntimeError("strace is not here: apt-get install -y strace")
    with tempfile.TemporaryDirectory(prefix="watched-") as folder:
        log = Path(folder) / "log"
        options = (
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-y",
            "-s",
            "4096",
            "-e",
            f"trace={TRACED}",
            "-e",
            "signal=none",
            "-o",
            str(log),
        )
        variables = place.environment()
        names = [f"-E{name}={value}" for name, value in variables.items()]  # strace itself is not to be led astray
        began = time.monotonic()
        code, output = _run([strace, *options, *names, "--", *call.command], call, str(place.root / place.cwd))
        seen = _parsed(log.read_text(encoding="utf-8", errors="surrogateescape"))
    return Seen(seen.programs[1:], seen.opened, seen.connected, code, output, time.monotonic() - began)


def _run(command: list[str], call: Call, cwd: str) -> tuple[int, bytes]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin"},
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with process:
        try:
            before = _answers(process, call) if call.answers else b""
            rest, _ = process.communicate(None if call.answers else call.stdin, timeout=call.patience)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"{' '.join(call.command[:5])} does not end") from error
    return process.returncode, before + rest


def _answers(process: subprocess.Popen[bytes], call: Call) -> bytes:
    """What a server says until it has answered everything."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(call.stdin)
    process.stdin.flush()
    said, end = b"", time.monotonic() + call.patience
    while said.count(b"\n") < call.answers and time.monotonic() < end:
        if select.select([process.stdout], [], [], 1.0)[0]:
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                break
            said += part
    return said


def _parsed(text: str) -> Seen:
    programs: list[tuple[str, str]] = []
    opened: set[str] = set()
    connected: list[str] = []
    for line in text.split("\n"):
        if found := _EXEC.search(line):
            programs.append((_plain(found[1]), _plain(found[3])))
        elif found := _OPENED.search(line):
            opened.add(_plain(found[1]))
        elif found := _CONNECT.search(line):
            connected.append(_plain(found[1]))
    return Seen(tuple(programs), frozenset(opened), tuple(connected))


def _plain(text: str) -> str:
    """``text`` without the escapes of strace."""

    def one(found: re.Match[str]) -> str:
        escaped = found[1]
        return chr(int(escaped, 8)) if escaped[0] in "01234567" else _PLAIN.get(escaped, escaped)

    plain = _ESCAPE.sub(one, text)
    return os.fsdecode(plain.encode("latin-1")) if plain.isascii() or max(plain) <= "\xff" else plain
