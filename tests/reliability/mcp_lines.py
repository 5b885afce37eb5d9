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
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":[[1]],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"name":"hook","arguments":{}}}',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"method":["ping"]}',
    b'{"jsonrpc":"2.0","id":7,"method":null}',
    b'{"jsonrpc":"1.0","id":7,"method":"ping"}',
    b'{"id":7,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":7,"method":"no/such/method","params":[1,2]}',
    b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":[{}],"capabilities":5}}',
    b'{"jsonrpc":"2.0","id":7,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":{},"_meta":[]}}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["hook"],"arguments":{}}}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hook","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ci_search","arguments":{"query":[[]],"limit":-1e400}}}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"workflow","arguments":{"start":[1],"goal":{}}}}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such_tool"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[{}]}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":99,"result":{"ok":true}}',
    b'{"jsonrpc":"2.0","id":99,"error":{"code":1}}',
    b'[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]',
    *(
        b"[]",
        b"{}",
        b"null",
        b"5",
        b'"ping"',
        b"\xff\xfe\x00",
        b"\x00",
        b"\xef\xbb\xbf",
        b"   ",
        b"{" * 200_000,
        b"[" * 990 + b"]" * 990,
    ),
    '{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-16"),
    b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * 100_000 + b'"}',
)


class Speaker:
    """A server and a thread that reads whatever it writes."""

    def __init__(self, home: Path, client: str) -> None:
        self.pipe = Pipe(home, client)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._number = 1_000_000
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._overhear, daemon=True).start()

    def _read(self) -> None:
        assert self.pipe.process.stdout
        for line in self.pipe.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _overhear(self) -> None:
        assert self.pipe.process.stderr
        for _ in self.pipe.process.stderr:
            pass

    def say(self, line: bytes) -> str:
        """Send ``line``, then something that has an answer; what was wrong with what came, empty if nothing."""
        self._number += 1
        probe = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % self._number
        return self._until(line + b"\n" + probe, self._number)[0]

    def hook(self, payload: bytes) -> tuple[str, bytes]:
        """What was wrong, and what the hook tool answered to ``payload``, which is one JSON object."""
        self._number += 1
        head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hook","arguments":' % self._number
        fault, message = self._until(head + payload.replace(b"\n", b" ") + b"}}\n", self._number)
        if fault or "result" not in message:
            return fault or f"answered {str(message)[:100]}", b""
        text = message["result"]["content"][0]["text"]
        return "", b"" if text == "{}" else text.encode()

    def _until(self, data: bytes, number: int) -> tuple[str, dict[str, Any]]:
        fault = ""
        try:
            self.pipe.send_bytes(data)
            while True:
                line = self._lines.get(timeout=3 * PATIENCE)
                if not line:
                    return f"the server ended ({self.pipe.process.wait(5)})", {}
                message, wrong = _message(line)
                fault = fault or wrong
                if message.get("id") == number:
                    return fault, message
        except OSError:
            return f"the server ended ({self.pipe.process.wait(5)})", {}
        except queue.Empty:
            return "no answer", {}

    def end(self) -> int:
        """The server's exit code when its stdin ends."""
        code = self.pipe.close_stdin(10)
        self.pipe.__exit__()
        return code


def _message(line: bytes) -> tuple[dict[str, Any], str]:
    try:
        message = pydantic_core.from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return {}, f"wrote what is no JSON: {error}"
    is_answer = (
        isinstance(message, dict) and message.get("jsonrpc") == "2.0" and ("result" in message) != ("error" in message)
    )
    is_answer = is_answer and isinstance(message.get("id"), str | int | None)
    return (message, "") if is_answer else ({}, f"wrote no answer: {line[:100]!r}")


def lines(seed: int, count: int) -> Iterator[bytes]:
    """Odd requests, most of them broken further; some are long."""
    chance = random.Random(seed)
    for number in range(1, count + 1):
        line = ODD[number % len(ODD)] if chance.random() < 0.5 else chance.choice(ODD)
        if number % LONG_EVERY == 0:
            line = chance.choice(
                (b"x" * LARGE, b'{"jsonrpc":"2.0","id":7,"method":"ping","params":"' + b"\xff" * LARGE + b'"}')
            )
        elif chance.random() < 0.6:
            line = chance.choice(BENDS)(chance, line)
        yield line.replace(b"\r", b" ")


def speak(tally: Tally, client: str, seed: int, home: Path, hooks: int, odd: int, repo: Path) -> None:
    """Ask a real server ``hooks`` malformed events and say ``odd`` lines to it."""
    home.mkdir()
    speaker = Speaker(home, client)
    for line in lines(seed, odd):
        started = time.monotonic()
        _note(tally, speaker.say(line), line, started)
    if odd >= LONG_EVERY:  # what takes its time is the way through the pipe
        line = b"y" * OVER_THE_LIMIT
        _note(tally, speaker.say(line), line, time.monotonic())
    done = 0
    for payload in payloads(client, seed, 20 * hooks, str(repo)):
        if done == hooks:
            break
        if not _is_object(payload):
            continue
        done += 1
        started = time.monotonic()
        fault, output = speaker.hook(payload)
        tally.answered += bool(output)
        _note(tally, fault or fault_of(client, payload, output), payload, started)
    if code := speaker.end():
        tally.faults.append(f"the server ended with exit code {code}")


def _note(tally: Tally, fault: str, said: bytes, started: float) -> None:
    seconds = time.monotonic() - started
    tally.count += 1
    tally.slowest = max(tally.slowest, seconds)
    if fault or seconds > PATIENCE:
        tally.faults.append(f"over MCP: {fault or 'took too long'}: {said[:120]!r}")


def _is_object(payload: bytes) -> bool:
    """Whether ``payload`` can stand in a request as it is, with some levels to spare: the whole is then a request."""
    try:
        json.loads("[" * SPARE_LEVELS + payload.decode() + "]" * SPARE_LEVELS)
        return isinstance(json.loads(payload.decode()), dict) and len(payload) < MAX_LINE_BYTES / 2
    except (ValueError, RecursionError):
        return False
