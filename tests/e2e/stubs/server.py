"""The HTTP side of the stub model: one loopback server for both APIs, which writes down every request it gets.

The record is a JSONL file. Each request is one line, written before it is answered:

    {"n": 1, "at": 1795150000.1, "method": "POST", "path": "/v1/messages?beta=true", "api": "messages",
     "kind": "main", "headers": {…}, "body": {…}}

``api`` is ``messages``, ``responses`` or ``other``; credentials in headers are left out. A client that hangs up before
its answer is complete adds the line ``{"n": 1, "at": …, "hung_up": true}``.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from . import messages_api, responses_api
from .script import Action, Script
from .sse import Cut, Piece, Send, Wait, WaitFor, pause_of

PORT = 8765
"""Where the stub answers. Every run has a namespace of its own, so the number can be the same in all of them."""
APIS = {"messages": messages_api, "responses": responses_api}
_SECRET_HEADERS = {"authorization", "x-api-key"}


class HungUp(Exception):
    """The client closed the connection before the answer was complete."""


class StubServer(ThreadingHTTPServer):
    """Answers on 127.0.0.1 from ``script`` and appends what it receives to ``record``."""

    daemon_threads = True

    def __init__(self, port: int, record: Path, script: Script) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.script = script
        self._record = record.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._requests = 0
        self._answered: list[str] = []

    def start(self) -> None:
        """Serve from a thread until the process ends."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def note_request(self, line: dict[str, Any]) -> int:
        """Record one request, and return its number."""
        with self._lock:
            self._requests += 1
            self._write({"n": self._requests, "at": time.time(), **line})
            return self._requests

    def note_hang_up(self, number: int) -> None:
        """Record that the client of request ``number`` did not stay for the whole answer."""
        with self._lock:
            self._write({"n": number, "at": time.time(), "hung_up": True})

    def note_answer(self, newest: str) -> None:
        """Remember that a request with this newest part has got its whole answer."""
        with self._lock:
            self._answered.append(newest)

    def has_answered(self, words: str) -> bool:
        """Whether a request with ``words`` in its newest part has got its whole answer."""
        with self._lock:
            return any(words in newest for newest in self._answered)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is a fact of these tests, not an error to print."""

    def _write(self, line: dict[str, Any]) -> None:
        self._record.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._record.flush()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StubServer

    def do_GET(self) -> None:
        self._note("other", "side", None)
        if self.path.startswith("/v1/models"):
            self._send_json(200, {"object": "list", "data": [], "models": []})
        else:
            self._send_json(404, {"error": {"type": "not_found_error", "message": f"the stub has no {self.path}"}})

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0].rstrip("/")
        body = _parsed(raw)
        for name, api in APIS.items():
            if path == api.PATH and isinstance(body, dict):
                return self._answer(name, body)
        self._note("other", "side", body)
        if path.endswith("/count_tokens"):
            return self._send_json(200, {"input_tokens": messages_api.tokens(body)})
        return self._send_json(404, {"error": {"type": "not_found_error", "message": f"the stub has no {path}"}})

    def _answer(self, name: str, body: dict[str, Any]) -> None:
        api = APIS[name]
        kind = api.kind_of(self.headers, body)
        number = self._note(name, kind, body)
        newest = api.newest(body)
        reply = self.server.script.answer(kind, newest, api.all_texts(body))
        try:
            if reply and "error" in reply[0]:
                self._send_error(reply[0])
            elif body.get("stream"):
                self._send_stream(api.stream(body, reply))
            else:
                for action in reply:
                    self._pause(pause_of(action))
                self._send_json(200, api.whole(body, reply))
            self.server.note_answer(newest)
        except (HungUp, BrokenPipeError, ConnectionResetError):
            self.server.note_hang_up(number)
            self.close_connection = True

    def _note(self, api: str, kind: str, body: Any) -> int:
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _SECRET_HEADERS}
        line = {"method": self.command, "path": self.path, "api": api, "kind": kind, "headers": headers, "body": body}
        return self.server.note_request(line)

    def _send_error(self, action: Action) -> None:
        default = {"type": "error", "error": {"type": "api_error", "message": "the stub was told to fail"}}
        self._send_json(action["error"], action.get("body", default), action.get("headers", {}))

    def _send_stream(self, pieces: Iterable[Piece]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in pieces:
            if isinstance(piece, Send):
                self.wfile.write(piece.encoded())
                self.wfile.flush()
            elif isinstance(piece, Cut):
                return
            else:
                self._pause(piece)

    def _pause(self, piece: Piece | None) -> None:
        """Wait as ``piece`` says, but notice a client that hangs up meanwhile."""
        start = time.monotonic()
        while self._is_waiting(piece, time.monotonic() - start):
            readable, _, _ = select.select([self.connection], [], [], 0.05)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise HungUp

    def _is_waiting(self, piece: Piece | None, seconds: float) -> bool:
        if isinstance(piece, WaitFor):
            return not self.server.has_answered(piece.words)
        return isinstance(piece, Wait) and seconds < piece.seconds

    def _send_json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(encoded)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name http.server uses
        """Stay silent: the record says more."""


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return {"unparsed": raw.decode("utf-8", "replace")}
