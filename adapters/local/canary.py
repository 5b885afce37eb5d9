"""A stub model for one session of a real client, and the place it runs in. Law: nothing of it leaves this machine.

The stub listens on 127.0.0.1 at a port that the system chooses, below a path that nobody can guess, for as long as the
session lasts. It is the client's proxy, too, and refuses whatever is sent through it.
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

from . import child

PROMPT = "upbeat canary: run what you are told and say done"
MAX_BODY = 32 * 1024 * 1024
MOST_REQUESTS = 40
"""Answers to one canary; whoever asks more often goes round in circles."""
SECONDS = 60.0
"""How long one canary may take."""

Event = tuple[str, dict[str, Any]]
"""The name of a server-sent event, and its data."""


@dataclass(slots=True)
class Stub:
    """The stub while it runs. ``answer`` makes the events for the body of one request to ``path``."""

    path: str
    answer: Callable[[dict[str, Any]], Sequence[Event]]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    port: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """What the client has sent to the model."""
    refused: list[str] = field(default_factory=list)
    """Where else it wanted to go."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """What the client takes for its provider."""
        return f"{self.address}/{self.token}"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that keep a client on this machine."""
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        stay = dict.fromkeys((*proxies, *(name.lower() for name in proxies)), self.address)
        return stay | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1")

    @contextlib.contextmanager
    def serve(self) -> Iterator[None]:
        """Answer as long as the block lasts."""
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
class Flown:
    """What came of a canary. ``told`` is all that the model was sent at last.

    ``problem`` says why nothing can be told from it; ``server`` what its client said of our server, if it was wrong;
    ``is_first``: its client may have to begin another session before it loads the plugin.
    """

    session_id: str = ""
    told: str = ""
    problem: str = ""
    server: str = ""
    is_first: bool = False


def commands(repository: Path) -> tuple[str, ...]:
    """What the model wants to have run, in this order: one that works, one that fails, one that must be stopped.

    The last one would take the history of the empty temporary repository, and nothing else: its path is absolute.
    """
    return ("true", "false", f"rm -rf {shlex.quote(str(repository / '.git'))}")


@contextlib.contextmanager
def empty_repository() -> Iterator[Path]:
    """A temporary repository without anything in it. No git is needed to make one."""
    with tempfile.TemporaryDirectory(prefix="upbeat-canary-", ignore_cleanup_errors=True) as folder:
        path = Path(folder).resolve()
        for inner in ("objects", "refs"):
            (path / ".git" / inner).mkdir(parents=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        (path / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n", encoding="utf-8")
        yield path


def objects(value: Any) -> list[dict[str, Any]]:
    """Those of a list that are objects; nothing of what is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def flown(session_id: str, stub: Stub, ended: child.Ended, server: str = "", *, is_first: bool = False) -> Flown:
    """What came of a session that has ended as ``ended`` says."""
    problem = ""
    if not stub.bodies or ended.code != 0:
        without = "" if stub.bodies else "no request reached the model; "
        how = f"exit {ended.code}" if ended.code is not None else "it did not end"
        problem = f"{without}{ended.complaint or how}"
    return Flown(session_id, json.dumps(stub.bodies[-1:], ensure_ascii=False), problem, server, is_first)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stub: Stub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no fault."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        stub = self.server.stub
        raw = self.rfile.read(min(int(self.headers.get("content-length") or 0), MAX_BODY))
        path = self.path.partition("?")[0]
        if not path.startswith(f"/{stub.token}/"):
            return self._refuse()
        if path != f"/{stub.token}{stub.path}":
            return self._send("application/json", b"{}")
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict) or len(stub.bodies) >= MOST_REQUESTS:
            return self.send_error(400)
        stub.bodies.append(body)
        events = (f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in stub.answer(body))
        return self._send("text/event-stream", "".join(events).encode())

    def do_GET(self) -> None:
        if self.path.startswith(f"/{self.server.stub.token}/"):
            return self._send("application/json", b'{"data": [], "models": []}')
        return self._refuse()

    do_HEAD = do_GET  # noqa: N815

    def do_CONNECT(self) -> None:
        self._refuse()

    def _refuse(self) -> None:
        self.server.stub.refused.append(f"{self.command} {self.path}"[:200])
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
        """Stay silent."""
