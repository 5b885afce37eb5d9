"""Runs one process and all that it starts under strace, and says what they ran, opened and connected to.

The operating system says it, so nothing that a program does is missed.
"""

from __future__ import annotations

import os
import re
import select
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
    output: bytes = b""


def watch(call: Call, place: Place) -> Seen:
    """Run ``call`` in ``place`` to its end. Raises TimeoutError for what does not end."""
    with tempfile.TemporaryDirectory(prefix="watched-") as folder:
        log = Path(folder) / "log"
        options = f"-f --seccomp-bpf -qq -y -s 4096 -e trace={TRACED} -e signal=none -o {log}".split()
        variables = [f"-E{name}={value}" for name, value in place.environment().items()]  # strace itself is not misled
        output = _run(["strace", *options, *variables, "--", *call.command], call, str(place.root / place.cwd))
        return _parsed(log.read_text(encoding="utf-8", errors="surrogateescape"), output)


def _run(command: list[str], call: Call, cwd: str) -> bytes:
    pipe = subprocess.PIPE
    env = {"PATH": "/usr/bin:/bin"}
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            before = _answers(process, call) if call.answers else b""
            return before + process.communicate(None if call.answers else call.stdin, timeout=call.patience)[0]
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"{' '.join(call.command[:5])} does not end") from error


def _answers(process: subprocess.Popen[bytes], call: Call) -> bytes:
    """Return what a server says until it has answered everything."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(call.stdin)
    process.stdin.flush()
    output, end = b"", time.monotonic() + call.patience
    while output.count(b"\n") < call.answers and time.monotonic() < end:
        if select.select([process.stdout], [], [], 1.0)[0]:
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                break
            output += part
    return output


def _parsed(text: str, output: bytes) -> Seen:
    programs: list[tuple[str, str]] = []
    opened: set[str] = set()
    connected: list[str] = []
    for line in text.split("\n"):
        if match := _EXEC.search(line):
            programs.append((_plain(match[1]), _plain(match[3])))
        elif match := _OPENED.search(line):
            opened.add(_plain(match[1]))
        elif match := _CONNECT.search(line):
            connected.append(_plain(match[1]))
    return Seen(tuple(programs[1:]), frozenset(opened), tuple(connected), output)


def _plain(text: str) -> str:
    """Return ``text`` without the escapes of strace."""

    def character(match: re.Match[str]) -> str:
        escaped = match[1]
        return chr(int(escaped, 8)) if escaped[0] in "01234567" else _PLAIN.get(escaped, escaped)

    plain = _ESCAPE.sub(character, text)
    return os.fsdecode(plain.encode("latin-1")) if plain.isascii() or max(plain) <= "\xff" else plain
