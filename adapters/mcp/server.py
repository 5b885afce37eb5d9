"""``upbeat mcp``: the stdio server that a client starts with its session and ends with it.

It answers the client's hooks (the unlisted ``hook`` tool and the Unix socket) and serves the ``ci_*`` tools.
``initialize`` is answered before anything large is imported; the core loads behind it. Each tool call, and each
prompt, has its own thread, so a long search never delays a hook. All other hooks are answered one after the other, in
the order in which they came: of two agents that start at once, the first one gets the first step.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from ... import __version__
from ..local.environment import Environment, read_environment
from . import protocol
from .listener import Listener
from .tools import HOOK_TOOL, OFFERED, SLOW_HOOK, WORKFLOW_TOOL

if TYPE_CHECKING:
    from ..wiring import Application

MAX_LINE = 64 * 1024 * 1024
GRACE_SECONDS = 0.03
"""Claude Code asks for an end a millisecond after its last hook."""
LAST_SECONDS = 1.0
"""What calls that still run get when the client is gone."""


class Server:
    """One client's connection, from the first line to the end of stdin."""

    def __init__(self, client: str, stdin: BinaryIO, stdout: BinaryIO, environment: Environment) -> None:
        self._client = client
        self._environment = environment
        self._stdin = stdin
        self._stdout = stdout
        self._writing = threading.Lock()
        self._building = threading.Lock()
        self._application: Application | None = None
        self._offer = _offer(environment)
        self._cwd = os.getcwd()
        self._session_id = environment.client_session
        self._listener = Listener(client, os.getppid(), self._answer_shim)
        self._calls: set[threading.Thread] = set()
        self._hooks: queue.Queue[protocol.Message] = queue.Queue()

    def serve(self) -> None:
        """Answer until stdin ends."""
        self._listener.start()
        threading.Thread(target=self._warm_up, name="load", daemon=True).start()
        threading.Thread(target=self._answer_hooks, name="hooks", daemon=True).start()
        try:
            while line := self._stdin.readline(MAX_LINE):
                self._receive(line)
        finally:
            self.finish()

    def finish(self) -> None:
        """Give the calls that are under way their last moment, and stop listening."""
        last = time.monotonic() + LAST_SECONDS
        while (self._calls or self._hooks.unfinished_tasks) and time.monotonic() < last:
            time.sleep(0.01)
        self._listener.close()
        if self._application:
            self._application.close()

    def leave_soon(self) -> None:
        """End the process, as its client wants; what stands in the pipe by then is still read and answered."""
        time.sleep(GRACE_SECONDS)
        self.finish()
        os._exit(0)

    def _receive(self, line: bytes) -> None:
        if not line.strip():
            return
        message = protocol.parse(line)
        if message is None:
            self._send(protocol.error(None, protocol.PARSE_ERROR, "not a JSON-RPC message"))
            return
        if "id" not in message or "method" not in message:
            return  # a notification, or an answer to something that was never asked
        if not protocol.is_request(message):
            self._send(
                protocol.error(None, protocol.INVALID_REQUEST, "a request has a name and a text or number as id")
            )
            return
        result = protocol.answer_at_once(message, self._offer)
        if result is not None:
            self._send(protocol.response(message, result))
        elif message["method"] == "tools/call":
            self._answer_later(message)
        else:
            self._send(protocol.error(message, protocol.METHOD_NOT_FOUND, f"no method {message['method']!r}"[:200]))

    def _answer_later(self, message: protocol.Message) -> None:
        """Each call in its own thread; hooks that need no search in one thread, in order."""
        if _is_quick_hook(protocol.params(message)):
            self._hooks.put(message)
            return
        call = threading.Thread(target=self._call, args=(message,), name="call", daemon=True)
        self._calls.add(call)
        call.start()

    def _answer_hooks(self) -> None:
        while True:
            self._call(self._hooks.get())
            self._hooks.task_done()

    def _call(self, message: protocol.Message) -> None:
        try:
            self._send(self._called(message))
        except Exception as error:  # the boundary of a call: a request without an answer hangs its client
            from ...core.turn.clean import clean  # it is loaded behind the first answer

            print(clean(traceback.format_exc()).text, end="", file=sys.stderr)
            problem = clean(f"{type(error).__name__}: {error}").text[:500]
            self._send(protocol.error(message, protocol.INTERNAL_ERROR, problem))
        finally:
            self._calls.discard(threading.current_thread())

    def _called(self, message: protocol.Message) -> dict[str, Any]:
        asked = protocol.params(message)
        name, arguments = asked.get("name"), asked.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return protocol.error(message, protocol.INVALID_PARAMS, "tools/call takes a name and arguments")
        if name == HOOK_TOOL:
            text, is_error = self._hook(arguments | {"_meta": asked.get("_meta")}), False
        elif name == WORKFLOW_TOOL:
            text, is_error = self._workflow(arguments), False
        else:
            text, is_error = self._tool(name, arguments)
        return protocol.response(message, protocol.tool_result(message, text, is_error=is_error))

    def _hook(self, fields: Mapping[str, Any]) -> str:
        from ..hook import answer

        cwd = fields.get("cwd")
        if isinstance(cwd, str) and os.path.isdir(cwd):
            self._cwd = cwd
        self._session_id = str(fields.get("session_id") or self._session_id)
        return json.dumps(answer(self._client, fields, self._load()))

    def _answer_shim(self, payload: bytes) -> bytes:
        from ..hook import answer_bytes

        return answer_bytes(self._client, payload, self._load())

    def _tool(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        from ...core.contract.event import ClientName, Source
        from ...core.pipeline import call_tool

        if name not in OFFERED:  # the user's own servers are the client's to offer, with its own way to ask
            return f"E_TOOL_UNAVAILABLE: there is no tool {name!r} here; there are {', '.join(OFFERED)}"[:500], True
        source = Source(ClientName(self._client), self._cwd)
        called = call_tool(name, arguments, source, None, self._load().runtime)
        return called.told, called.result.error is not None

    def _workflow(self, arguments: Mapping[str, Any]) -> str:
        """Show the session's workflow, or start one when none runs: a model cannot leave one."""
        from ...core.contract.event import ClientName, Commanded, Source
        from ...core.handle import handle

        source = Source(ClientName(self._client), self._cwd, self._session_id)
        name, goal = (str(arguments.get(key) or "") for key in ("start", "goal"))
        decision = handle(Commanded(source, "start-if-idle" if name else "show", name, goal), self._load().runtime)
        return "\n".join(effect.text for effect in decision.effects)

    def _warm_up(self) -> None:
        """Load what answers need, then start the user's own servers."""
        self._load().warm_up(self._cwd)

    def _load(self) -> Application:
        """The application, built once; the first hook may wait for it."""
        with self._building:
            if self._application is None:
                from .. import hook  # noqa: F401 -- what an answer needs is loaded here, not by the first hook
                from ..wiring import build

                self._application = build(self._environment, stays=True)
            return self._application

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with self._writing, contextlib.suppress(OSError, ValueError):  # the client is gone: stdin will end, too
            self._stdout.write(data)
            self._stdout.flush()


def main(client: str) -> NoReturn:
    """Serve ``client`` on this process's stdin and stdout, and end the process."""
    stdout = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but messages may reach the client
    server = Server(client, sys.stdin.buffer, stdout, read_environment())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: threading.Thread(target=server.leave_soon, daemon=True).start())
    server.serve()
    sys.stderr.flush()
    os._exit(0)  # a thread that still loads or searches must not meet an interpreter that is shutting down


def _is_quick_hook(asked: Mapping[str, Any]) -> bool:
    """Whether a call is a hook that is answered in milliseconds: every one but a prompt's."""
    arguments = asked.get("arguments")
    if asked.get("name") != HOOK_TOOL or not isinstance(arguments, dict):
        return False
    return arguments.get("hook_event_name") != SLOW_HOOK


def _offer(environment: Environment) -> protocol.Offer:
    """Nothing for the model when upbeat is switched off: its requests are then as without upbeat."""
    return protocol.Offer(__version__, "", ()) if environment.switched_off else protocol.Offer(__version__)
