"""``upbeat mcp``: the stdio server that a client starts with its session and ends with it.

It answers the client's hooks (the unlisted ``hook`` tool and the Unix socket) and serves the ``ci_*`` tools.
``initialize`` is answered before anything large is imported; the core loads in the background. Each tool call and each
prompt has its own thread, so a long search never delays a hook. All other hooks are answered in order of arrival: of
two agents that start at once, the first gets the first step.
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
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from upbeat import __version__
from upbeat.adapters.mcp_server import protocol
from upbeat.adapters.mcp_server.listener import HookListener
from upbeat.adapters.system.config.switch import is_switched_off
from upbeat.adapters.system.environment import Environment, read_environment

if TYPE_CHECKING:
    from upbeat.adapters.wiring import Application
    from upbeat.core.contract.arrival import Arrival

MAX_LINE_BYTES = 64 * 1024 * 1024
GRACE_SECONDS = 0.03
"""Claude Code sends SIGTERM a millisecond after its last hook."""
SHUTDOWN_SECONDS = 1.0
"""The time that running calls get once the client is gone."""


class McpServer:
    """One client's connection, from the first line to the end of stdin."""

    def __init__(self, client: str, stdin: BinaryIO, stdout: BinaryIO, environment: Environment) -> None:
        self._client = client
        self._environment = environment
        self._stdin = stdin
        self._stdout = stdout
        self._write_lock = threading.Lock()
        self._build_lock = threading.Lock()
        self._application: Application | None = None
        self._arrival: Arrival | None = None
        self._cwd = os.getcwd()
        self._manifest = _manifest_for(environment, self._cwd)
        self._session_id = ""
        """The session of the latest hook."""
        self._listener = HookListener(client, os.getppid(), self._answer_socket_hook)
        self._call_threads: set[threading.Thread] = set()
        self._hook_queue: queue.Queue[protocol.Message] = queue.Queue()
        self._pending: set[str] = set()
        """The ids of the calls that have no response yet."""
        self._cancelled: set[str] = set()
        """Those of them that the client no longer waits for."""

    def serve(self) -> None:
        """Serve until stdin ends."""
        self._listener.start()
        threading.Thread(target=self._warm_up, name="load", daemon=True).start()
        threading.Thread(target=self._hook_loop, name="hooks", daemon=True).start()
        try:
            while line := self._stdin.readline(MAX_LINE_BYTES):
                self._receive(line)
        finally:
            self.shut_down()

    def shut_down(self) -> None:
        """Wait briefly for running calls, then stop listening."""
        deadline = time.monotonic() + SHUTDOWN_SECONDS
        while (self._call_threads or self._hook_queue.unfinished_tasks) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._listener.close()
        if self._application:
            self._application.close()

    def exit_after_grace(self) -> None:
        """End the process on request of its client; requests that are in the pipe by then are still answered."""
        time.sleep(GRACE_SECONDS)
        self.shut_down()
        os._exit(0)

    def _receive(self, line: bytes) -> None:
        if not line.strip():
            return
        message = protocol.parse_message(line)
        if message is None:
            self._send(protocol.build_error(None, protocol.PARSE_ERROR, "not a JSON-RPC message"))
            return
        if message.get("method") == protocol.CANCELLED and "id" not in message:
            self._cancelled.add(str(protocol.params_of(message).get("requestId")))
            self._cancelled &= self._pending
        if "id" not in message or "method" not in message:
            return  # a notification, or a response to no request
        if not protocol.is_answerable(message):
            self._send(
                protocol.build_error(
                    None, protocol.INVALID_REQUEST, "a request needs a method, and a string or a number as id"
                )
            )
            return
        result = protocol.static_result(message, self._manifest)
        if result is not None:
            self._send(protocol.build_response(message, result))
        elif message["method"] == "tools/call":
            self._dispatch_call(message)
        else:
            self._send(
                protocol.build_error(message, protocol.METHOD_NOT_FOUND, f"no method {message['method']!r}"[:200])
            )

    def _dispatch_call(self, message: protocol.Message) -> None:
        """Run each call in its own thread; hooks that need no search in one thread, in order."""
        self._pending.add(str(message["id"]))
        if _is_quick_hook(protocol.params_of(message)):
            self._hook_queue.put(message)
            return
        call = threading.Thread(target=self._handle_call, args=(message,), name="call", daemon=True)
        self._call_threads.add(call)
        call.start()

    def _hook_loop(self) -> None:
        while True:
            self._handle_call(self._hook_queue.get())
            self._hook_queue.task_done()

    def _handle_call(self, message: protocol.Message) -> None:
        number = str(message["id"])
        try:
            self._send(self._call_response(message))
            if number in self._cancelled:
                self._report_lost_answer(protocol.params_of(message))
        except Exception as error:  # the boundary of a call: a request without an answer hangs its client
            from upbeat.core.sanitize.text import sanitize_text  # loaded after the first response

            print(sanitize_text(traceback.format_exc()).text, end="", file=sys.stderr)
            problem = sanitize_text(f"{type(error).__name__}: {error}").text[:500]
            self._send(protocol.build_error(message, protocol.INTERNAL_ERROR, problem))
        finally:
            self._pending.discard(number)
            self._call_threads.discard(threading.current_thread())

    def _call_response(self, message: protocol.Message) -> dict[str, Any]:
        params = protocol.params_of(message)
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return protocol.build_error(message, protocol.INVALID_PARAMS, "tools/call takes a name and arguments")
        if name == protocol.HOOK_TOOL:
            text, is_error = self._answer_hook(arguments | {"_meta": params.get("_meta")}), False
        elif name in (protocol.WORKFLOW_TOOL, protocol.START_WORKFLOW_TOOL):
            text, is_error = self._call_workflow(arguments if name == protocol.START_WORKFLOW_TOOL else None), False
        else:
            text, is_error = self._call_tool(name, arguments)
        return protocol.build_response(message, protocol.tool_result(message, text, is_error=is_error))

    def _answer_hook(self, fields: Mapping[str, Any]) -> str:
        from upbeat.adapters.hook_entry.answer import answer_event

        cwd = fields.get("cwd")
        if isinstance(cwd, str) and os.path.isdir(cwd):
            self._cwd = cwd
        self._session_id = str(fields.get("session_id") or self._session_id)
        return json.dumps(answer_event(self._client, fields, self._get_application(), self._get_arrival()))

    def _get_arrival(self) -> Arrival:
        """Return who holds the other end of stdin, found out once."""
        if self._arrival is None:
            from upbeat.adapters.hook_entry.answer import arrival_of_hook
            from upbeat.core.contract.arrival import Route

            descriptors: tuple[int, ...] = ()
            with contextlib.suppress(OSError, ValueError, AttributeError):  # not a file
                descriptors = (self._stdin.fileno(),)
            self._arrival = arrival_of_hook(self._client, Route.SERVER, descriptors)
        return self._arrival

    def _report_lost_answer(self, params: Mapping[str, Any]) -> None:
        """Record that the client did not wait for the answer to a hook."""
        from upbeat.adapters.hook_entry.answer import record_lost_answer

        if params.get("name") == protocol.HOOK_TOOL:
            fields = {**params.get("arguments", {}), "_meta": params.get("_meta")}
            record_lost_answer(self._client, fields, self._get_application())

    def _answer_socket_hook(self, payload: bytes, pid: int, descriptors: Sequence[int]) -> bytes:
        from upbeat.adapters.hook_entry.answer import answer_payload, arrival_of_hook
        from upbeat.core.contract.arrival import Route

        arrival = arrival_of_hook(self._client, Route.SOCKET, descriptors, pid or None)
        return answer_payload(self._client, payload, self._get_application(), arrival)

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        from upbeat.core.contract.event import ClientName, EventSource
        from upbeat.core.engine.pipeline import call_tool

        if name not in protocol.CODE_TOOL_NAMES:  # the client itself offers the user's own servers
            known = ", ".join(protocol.CODE_TOOL_NAMES)
            return f"E_TOOL_UNAVAILABLE: there is no tool {name!r} here; there are {known}"[:500], True
        source = EventSource(ClientName(self._client), self._cwd)
        called = call_tool(name, arguments, source, None, self._get_application().runtime)
        return called.model_text, called.result.error is not None

    def _call_workflow(self, to_start: Mapping[str, Any] | None) -> str:
        """Show the workflow, or start the one of ``to_start`` if none is running: a model cannot abandon one."""
        from upbeat.adapters.clients.registry import client_session
        from upbeat.core.contract.event import ClientName, EventSource, WorkflowCommanded
        from upbeat.core.engine.handle import handle_event

        session_id = self._session_id or client_session(self._environment)
        source = EventSource(ClientName(self._client), self._cwd, session_id)
        if to_start is None:
            command = WorkflowCommanded(source, "show", "", "")
        else:
            name, goal = (str(to_start.get(key) or "") for key in ("name", "goal"))
            command = WorkflowCommanded(source, "start-if-idle", name, goal)
        decision = handle_event(command, self._get_application().runtime)
        return "\n".join(effect.text for effect in decision.effects)

    def _warm_up(self) -> None:
        """Check the client's name, load the core, then start the user's own servers."""
        from upbeat.adapters.clients.registry import find_client
        from upbeat.core.errors import ClientError

        try:
            find_client(self._client)
        except ClientError as error:
            print(f"upbeat mcp: {error}", file=sys.stderr, flush=True)
            os._exit(2)
        self._get_application().warm_up_servers(self._cwd)

    def _get_application(self) -> Application:
        """Return the application, built once; the first hook may wait for it."""
        with self._build_lock:
            if self._application is None:
                from upbeat.adapters.hook_entry import answer as hook  # noqa: F401 -- loads the core before the first hook
                from upbeat.adapters.wiring import build_application

                self._application = build_application(self._environment, is_long_lived=True, pins_configuration=True)
            return self._application

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with self._write_lock, contextlib.suppress(OSError, ValueError):  # the client is gone, so stdin ends as well
            self._stdout.write(data)
            self._stdout.flush()


def main(client: str) -> NoReturn:
    """Serve ``client`` on this process's stdin and stdout, then end the process."""
    stdout = sys.stdout.buffer
    sys.stdout = sys.stderr  # only messages may reach the client
    server = McpServer(client, sys.stdin.buffer, stdout, read_environment())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: threading.Thread(target=server.exit_after_grace, daemon=True).start())
    server.serve()
    sys.stderr.flush()
    os._exit(0)  # a running thread must not use an interpreter that shuts down


def _is_quick_hook(call_params: Mapping[str, Any]) -> bool:
    """Return whether a call is a hook that takes milliseconds: every one except a prompt's."""
    arguments = call_params.get("arguments")
    if call_params.get("name") != protocol.HOOK_TOOL or not isinstance(arguments, dict):
        return False
    return arguments.get("hook_event_name") != protocol.PROMPT_HOOK_EVENT


def _manifest_for(environment: Environment, cwd: str) -> protocol.ServerManifest:
    """Return the manifest; it is empty if upbeat is disabled, so that the model's requests are as without upbeat."""
    is_off = environment.is_switched_off or is_switched_off(cwd, environment)
    return protocol.ServerManifest(__version__, "", ()) if is_off else protocol.ServerManifest(__version__)
