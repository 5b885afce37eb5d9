"""Lines that are no requests, or odd ones, and what the real server says to them over its stdio.

Invariant: after each of them the server answers an ordinary request; what it writes is one message a line and
nothing else.
"""

from __future__ import annotations

import json
import queue
import random
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pydantic_core
from mcp_pipe import Pipe

from upbeat.adapters.mcp_server.server import MAX_LINE_BYTES

from .hook_answers import fault_of
from .hook_routes import PATIENCE, Tally
from .malformed import BENDS, payloads

LONG_EVERY = 400
LARGE = 10_000_000
OVER_THE_LIMIT = 70_000_000
SPARE_LEVELS = 30

ODD: tuple[bytes, ...] = (
    *Path(__file__).with_suffix(".txt").read_bytes().splitlines(),
    *(b"\xff\xfe\x00", b"\x00", b"\xef\xbb\xbf", b"   ", b"{" * 200_000, b"[" * 990 + b"]" * 990),
    '{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-16"),
    b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * 100_000 + b'"}',
)


class Speaker:
    """A server and a thread that reads whatever it writes."""

    def __init__(self, home: Path, client: str) -> None:
        home.mkdir()
        self._pipe = Pipe(home, client)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._number = 1_000_000
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self) -> None:
        for line in self._pipe.process.stdout or ():
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        for _ in self._pipe.process.stderr or ():
            pass

    def say(self, line: bytes) -> str:
        """Send ``line``, then something that has an answer; return what was wrong with what came."""
        self._number += 1
        probe = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % self._number
        return self._answer_to(line + b"\n" + probe)[0]

    def hook(self, payload: bytes) -> tuple[str, bytes]:
        """Return what was wrong, and what the hook tool answered to ``payload``, which is one JSON object."""
        self._number += 1
        head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hook","arguments":' % self._number
        fault, message = self._answer_to(head + payload.replace(b"\n", b" ") + b"}}\n")
        if fault or "result" not in message:
            return fault or f"answered {str(message)[:100]}", b""
        text = message["result"]["content"][0]["text"]
        return "", b"" if text == "{}" else text.encode()

    def _answer_to(self, data: bytes) -> tuple[str, dict[str, Any]]:
        """Send ``data`` and read until the answer to the last request; return the first fault, and that answer."""
        fault = ""
        try:
            self._pipe.send_bytes(data)
            while line := self._lines.get(timeout=3 * PATIENCE):
                message, line_fault = _parse_message(line)
                fault = fault or line_fault
                if message.get("id") == self._number:
                    return fault, message
        except queue.Empty:
            return "no answer", {}
        except OSError:
            pass
        return f"the server ended ({self._pipe.process.wait(5)})", {}

    def end(self, tally: Tally) -> None:
        """Close the server's stdin; an exit code but 0 is a fault."""
        if code := self._pipe.close_stdin(10):
            tally.faults.append(f"the server ended with exit code {code}")
        self._pipe.__exit__()


def _parse_message(line: bytes) -> tuple[dict[str, Any], str]:
    try:
        message = pydantic_core.from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return {}, f"wrote what is no JSON: {error}"
    is_answer = (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and ("result" in message) != ("error" in message)
        and isinstance(message.get("id"), str | int | None)
    )
    return (message, "") if is_answer else ({}, f"wrote no answer: {line[:100]!r}")


def lines(seed: int, count: int) -> Iterator[bytes]:
    """Yield odd requests, most of them broken further; some are long."""
    chance = random.Random(seed)
    for number in range(1, count + 1):
        line = ODD[number % len(ODD)] if chance.random() < 0.5 else chance.choice(ODD)
        if number % LONG_EVERY == 0:
            ping = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":"'
            line = chance.choice((b"x" * LARGE, ping + b"\xff" * LARGE + b'"}'))
        elif chance.random() < 0.6:
            line = chance.choice(BENDS)(chance, line)
        yield line.replace(b"\r", b" ")
    if count >= LONG_EVERY:  # what takes its time is the way through the pipe
        yield b"y" * OVER_THE_LIMIT


def speak(tally: Tally, client: str, seed: int, home: Path, hooks: int, odd: int, repo: Path) -> None:
    """Say ``odd`` lines to a real server, then ask it ``hooks`` malformed events."""
    speaker = Speaker(home, client)
    for line in lines(seed, odd):
        started = time.monotonic()
        tally.note("over MCP", speaker.say(line), line, time.monotonic() - started)
    objects = (payload for payload in payloads(client, seed, 20 * hooks, str(repo)) if _is_object(payload))
    for payload in islice(objects, hooks):
        started = time.monotonic()
        fault, output = speaker.hook(payload)
        tally.answered += bool(output)
        fault = fault or fault_of(client, payload, output)
        tally.note("over MCP", fault, payload, time.monotonic() - started)
    speaker.end(tally)


def _is_object(payload: bytes) -> bool:
    """Whether ``payload`` can stand in a request as it is, with some levels to spare: the whole is then a request."""
    try:
        json.loads("[" * SPARE_LEVELS + payload.decode() + "]" * SPARE_LEVELS)
        return isinstance(json.loads(payload.decode()), dict) and len(payload) < MAX_LINE_BYTES / 2
    except (ValueError, RecursionError):
        return False
