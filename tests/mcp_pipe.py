"""An MCP client that is only pipes: what it sends is bytes, what it reads is lines."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import environment

SERVE = ["-I", "-m", "upbeat", "mcp", "--client"]


class Pipe:
    """A server process and its two pipes. Use it as a context manager: it ends the server."""

    def __init__(
        self,
        cwd: Path,
        client: str = "claude-code",
        home: Path | None = None,
        command: list[str] | None = None,
        **extra: str,
    ) -> None:
        self.process = subprocess.Popen(
            command or [sys.executable, *SERVE, client],
            cwd=cwd,
            env=environment(home or cwd, extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._read = b""
        self._number = 0

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.close_stdin(3)
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request; return its id."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method} | ({"params": params} if params else {})
        self.send_bytes(json.dumps(message).encode() + b"\n")
        return self._number

    def read(self, seconds: float = 20) -> dict[str, Any]:
        """Return the next message. Raises TimeoutError when there is none in time."""
        assert self.process.stdout
        end = time.monotonic() + seconds
        while b"\n" not in self._read:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no answer in {seconds} s")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise EOFError("the server closed its stdout")
            self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def answer(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request; return its result, or its error."""
        number = self.ask(method, params)
        message = self.read()
        assert number == message["id"]
        result: dict[str, Any] = message.get("result") or message.get("error") or {}
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a tool call."""
        return self.answer("tools/call", {"name": tool, "arguments": arguments})

    def hook(self, **fields: str) -> dict[str, Any]:
        """Return what the hook tool answers to an event."""
        output: dict[str, Any] = json.loads(self.call("hook", **fields)["content"][0]["text"])
        return output

    def close_stdin(self, seconds: float = 10) -> int:
        """Close stdin and wait for the end; return the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(seconds)
