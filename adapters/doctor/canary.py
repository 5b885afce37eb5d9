"""A stub model for one session of a real client, and the repository that it runs in.

Invariant: nothing leaves this machine. The stub listens on 127.0.0.1 on a port that the system chooses, below a random
path, for as long as the session lasts. It is also the client's proxy, and refuses every proxied request.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from upbeat.adapters.system.process.run import ProgramResult

PROMPT = "upbeat canary: run what you are told and say done"
MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_REQUESTS = 40
"""Responses to one canary; a client that sends more requests is in a loop."""
CANARY_TIMEOUT_SECONDS = 60.0
"""The time limit of one canary."""

ServerSentEvent = tuple[str, dict[str, Any]]
"""The name of a server-sent event, and its data."""


@dataclass(slots=True)
class StubModelServer:
    """The running stub. ``respond`` returns the events for the body of one request to ``path``."""

    path: str
    respond: Callable[[dict[str, Any]], Sequence[ServerSentEvent]]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The client's requests to the model."""
    refused_requests: list[str] = field(default_factory=list)
    """The client's other requests."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL of the model's provider."""
        return f"{self.address}/{self.token}"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that keep a client on this machine."""
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        stay = dict.fromkeys((*proxies, *(name.lower() for name in proxies)), self.address)
        return stay | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1")

    @contextlib.contextmanager
    def serve(self) -> Iterator[None]:
        """Serve for as long as the block lasts."""
        server = _Server(("127.0.0.1", 0), _Handler)
        server.stub = self
        self.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="canary", daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


@dataclass(frozen=True, slots=True)
class CanaryRun:
    """The result of a canary. ``last_request`` is the last request to the model.

    ``problem`` says why it shows nothing; ``server_problem`` what the client reported about upbeat's server, if that
    failed; ``is_first_session``: the client may load the plugin only in its next session.
    """

    session_id: str = ""
    last_request: str = ""
    problem: str = ""
    server_problem: str = ""
    is_first_session: bool = False


def canary_commands(repository: Path) -> tuple[str, ...]:
    """Return the commands of the stub model: one that succeeds, one that fails, one that must be blocked.

    The last one would delete the history of the empty temporary repository and nothing else: its path is absolute.
    """
    return ("true", "false", f"rm -rf {shlex.quote(str(repository / '.git'))}")


@contextlib.contextmanager
def empty_repository() -> Iterator[Path]:
    """Yield an empty temporary repository, created without git."""
    with tempfile.TemporaryDirectory(prefix="upbeat-canary-", ignore_cleanup_errors=True) as folder:
        path = Path(folder).resolve()
        for inner in ("objects", "refs"):
            (path / ".git" / inner).mkdir(parents=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        (path / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n", encoding="utf-8")
        yield path


def summarize_run(
    session_id: str,
    stub: StubModelServer,
    result: ProgramResult,
    server_problem: str = "",
    *,
    is_first_session: bool = False,
) -> CanaryRun:
    """Return the result of a session that ended with ``result``."""
    problem = ""
    if not stub.requests or result.exit_code != 0:
        without = "" if stub.requests else "no request reached the model; "
        how = f"exit {result.exit_code}" if result.exit_code is not None else "it did not end"
        problem = f"{without}{result.last_error_line or how}"
    return CanaryRun(
        session_id, json.dumps(stub.requests[-1:], ensure_ascii=False), problem, server_problem, is_first_session
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stub: StubModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnects."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        stub = self.server.stub
        raw = self.rfile.read(min(int(self.headers.get("content-length") or 0), MAX_BODY_BYTES))
        path = self.path.partition("?")[0]
        if not path.startswith(f"/{stub.token}/"):
            return self._refuse()
        if path != f"/{stub.token}{stub.path}":
            return self._send("application/json", b"{}")
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict) or len(stub.requests) >= MAX_REQUESTS:
            return self.send_error(400)
        stub.requests.append(body)
        events = (f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in stub.respond(body))
        return self._send("text/event-stream", "".join(events).encode())

    def do_GET(self) -> None:
        if self.path.startswith(f"/{self.server.stub.token}/"):
            return self._send("application/json", b'{"data": [], "models": []}')
        return self._refuse()

    do_HEAD = do_GET  # noqa: N815

    def do_CONNECT(self) -> None:
        self._refuse()

    def _refuse(self) -> None:
        self.server.stub.refused_requests.append(f"{self.command} {self.path}"[:200])
        self.close_connection = True
        self.send_error(403)

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name http.server uses
        """Log nothing."""
