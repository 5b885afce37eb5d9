"""Connect to one server through the official SDK's client, from its start to its exit.

Invariant: a call waits for a start only if the caller wants that. A failed server is restarted after a delay that
doubles each time. The types of the SDK stay in this module, and only the connection's own thread imports it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, wait
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from upbeat.adapters.mcp_client.declarations import ServerAnswer, ToolDeclaration, sanitize_server_text
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from upbeat.adapters.mcp_client.pipes import StdioTransport
    from upbeat.adapters.mcp_client.program import Program

HANDSHAKE_STEP_SECONDS = 20.0
"""The time limit of each step of the handshake."""
CALL_TIMEOUT_SECONDS = 120.0
"""The upper limit of a call; the tool's own limit is shorter."""
TOOL_LIST_TTL_SECONDS = 300.0
"""How long a list of tools is valid, unless the server announces a change."""
LONG_AGO = float("-inf")
INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 5.0, 600.0
"""The delay before a failed server is restarted; it doubles each time."""
MAX_CONSECUTIVE_TIMEOUTS = 3
"""Timeouts in a row after which each further timeout ends the server."""
STABLE_SECONDS = 60.0
"""A server that was ready for this long resets the count of failures."""
MAX_TOOL_LIST_PAGES, MAX_TOOLS = 20, 500
POLL_SECONDS = 0.02
EXIT_REASON_SECONDS = 0.5
"""How long a failed call waits to learn why its server exited."""

_INVALID_PARAMS = -32602
_DECLARATION_FIELDS = {"name", "title", "description", "input_schema", "output_schema", "annotations"}


Result = TypeVar("Result")


class ConnectionState(Enum):
    """The state of a connection."""

    COLD = "cold"
    STARTING = "starting"
    READY = "ready"
    BROKEN = "broken"


class BackgroundLoop:
    """Runs coroutines for the threads of a process in a thread of its own, which starts with the first coroutine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start ``coroutine``; cancelling the future cancels it."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run_loop, args=(self._loop,), name="mcp-client", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self, seconds: float = 3.0) -> None:
        """Cancel the running tasks and wait up to ``seconds`` for the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        with contextlib.suppress(RuntimeError):  # it has already ended
            loop.call_soon_threadsafe(loop.stop)
        thread.join(seconds)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then cancel its tasks."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


class ServerConnection:
    """A connection to a server. ``find_program`` returns the program to start, or raises ToolFailure."""

    def __init__(
        self,
        name: str,
        find_program: Callable[[], Program],
        background: BackgroundLoop,
        initial_backoff: float = INITIAL_BACKOFF_SECONDS,
    ) -> None:
        self.name = name
        self._find_program = find_program
        self._background = background
        self._initial_backoff = initial_backoff
        self._lock = threading.Lock()
        self._start_finished = threading.Event()
        self._exited = threading.Event()
        self.state = ConnectionState.COLD
        self._failure = ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "")
        self._failures = 0
        self._consecutive_timeouts = 0
        self._retry_at = 0.0
        self._ready_at = 0.0
        self.started_at = LONG_AGO
        self._pipes: StdioTransport | None = None
        self._client: Client | None = None
        self._tools: Mapping[str, ToolDeclaration] = {}
        self._tools_listed_at = LONG_AGO

    def start(self) -> None:
        """Connect in the background, unless connected, connecting, or waiting for a retry."""
        with self._lock:
            is_waiting = self.state is ConnectionState.BROKEN and time.monotonic() < self._retry_at
            if is_waiting or self.state in (ConnectionState.STARTING, ConnectionState.READY):
                return
            self.state = ConnectionState.STARTING
            self.started_at = time.monotonic()
            self._start_finished.clear()
            self._exited.clear()
        self._background.submit(self._run_server()).add_done_callback(self._on_server_exit)

    def wait_until_ready(self, cancelled: Cancellation, seconds: float) -> None:
        """Wait for the connection. Raises ToolFailure if it is broken, cancelled or not ready in time."""
        end = time.monotonic() + seconds
        while not self._start_finished.wait(min(POLL_SECONDS, max(end - time.monotonic(), 0.0))):
            if cancelled.is_set():
                raise ToolFailure(ErrorCode.TIMEOUT, f"{self.name} did not start in time")
            if time.monotonic() >= end:
                raise ToolFailure(
                    ErrorCode.TOOL_UNAVAILABLE, f"{self.name} is starting; it may be ready in the next turn"
                )
        if self.state is not ConnectionState.READY:
            raise self._copy_of_failure()

    def list_tools(self, cancelled: Cancellation) -> Mapping[str, ToolDeclaration]:
        """Return the declared tools by name. Raises ToolFailure."""
        if time.monotonic() - self._tools_listed_at > TOOL_LIST_TTL_SECONDS:
            self._run_request(self._refresh_tools(), cancelled)
        return self._tools

    def call(self, tool: str, args: Mapping[str, Any], cancelled: Cancellation) -> ServerAnswer:
        """Call ``tool``. Raises ToolFailure; a cancellation is sent to the server."""
        return self._run_request(self._call_tool(tool, dict(args)), cancelled)

    def close(self) -> None:
        """End the server if it runs."""
        if self.state in (ConnectionState.STARTING, ConnectionState.READY):
            self._background.submit(self._disconnect(""))

    def _run_request(self, request: Coroutine[Any, Any, Result], cancelled: Cancellation) -> Result:
        future = self._background.submit(request)
        while not wait([future], POLL_SECONDS).done:
            if cancelled.is_set():
                future.cancel()
                self._consecutive_timeouts += 1
                if self._consecutive_timeouts >= MAX_CONSECUTIVE_TIMEOUTS:  # the end counts as a failure
                    reason = f"it timed out {self._consecutive_timeouts} times in a row"
                    self._background.submit(self._disconnect(reason))
                raise ToolFailure(ErrorCode.TIMEOUT, f"{self.name} did not answer in time")
        if future.cancelled():
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{self.name} was closed during the call")
        if error := future.exception():
            is_gone = self._pipes is not None and self._pipes.end_requested.is_set()
            if is_gone and self._exited.wait(EXIT_REASON_SECONDS):  # now the reason is known
                raise self._copy_of_failure()
            raise self._failure_from(error)
        self._consecutive_timeouts = 0
        return future.result()

    def _copy_of_failure(self) -> ToolFailure:
        """Return a new exception with the reason of the failure, one per caller."""
        return ToolFailure(self._failure.code, str(self._failure))

    # --- in the background ---

    async def _run_server(self) -> None:
        """Run the server from its start to its end."""
        program = self._find_program()
        from mcp import Client
        from mcp_types import Implementation

        from upbeat import __version__
        from upbeat.adapters.mcp_client.pipes import StdioTransport

        logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # it logs text of servers
        pipes = self._pipes = StdioTransport(program)
        client = Client(
            pipes,
            read_timeout_seconds=HANDSHAKE_STEP_SECONDS,
            message_handler=self._on_notification,
            client_info=Implementation(name="upbeat", version=__version__),
            cache=None,
        )
        async with client:
            self._client = client
            await self._refresh_tools()
            with self._lock:
                self.state = ConnectionState.READY
                self._ready_at = time.monotonic()
            self._start_finished.set()
            await pipes.end_requested.wait()

    async def _disconnect(self, reason: str) -> None:
        if self._pipes:
            self._pipes.request_end(reason)

    async def _on_notification(self, message: Any) -> None:
        """Handle a notification: only a changed list of tools matters."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._tools_listed_at = LONG_AGO

    async def _refresh_tools(self) -> None:
        assert self._client
        tools: dict[str, ToolDeclaration] = {}
        asked_at = time.monotonic()
        cursor: str | None = None
        for _ in range(MAX_TOOL_LIST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools |= {tool.name: _declaration_from(tool) for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or len(tools) > MAX_TOOLS:
                break
        self._tools = tools
        self._tools_listed_at = asked_at

    async def _call_tool(self, tool: str, args: dict[str, Any]) -> ServerAnswer:
        """Call a tool without the SDK's ``call_tool``, which evaluates regular expressions of the server's schema."""
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

        assert self._client
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=args))
        session = self._client.session
        return _answer_from(
            await session.send_request(request, CallToolResult, request_read_timeout_seconds=CALL_TIMEOUT_SECONDS)
        )

    def _on_server_exit(self, future: Future[None]) -> None:
        """Record why the server exited, and when it may be restarted."""
        error = None if future.cancelled() else future.exception()
        with self._lock:
            now = time.monotonic()
            was_steady = (
                self.state is ConnectionState.READY
                and now - self._ready_at > STABLE_SECONDS
                and not self._consecutive_timeouts
            )
            if not isinstance(error, ToolFailure):  # a fixed configuration works at once
                self._failures = 1 if was_steady else self._failures + 1
            self._retry_at = now + restart_delay_seconds(self._failures, self._initial_backoff)
            self._failure = self._failure_from(error)
            self.state = ConnectionState.BROKEN
            self._client = None
        self._exited.set()
        self._start_finished.set()

    def _failure_from(self, error: BaseException | None) -> ToolFailure:
        """Convert ``error`` to a ToolFailure with a message for users."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ToolFailure):
            return error
        if isinstance(error, ModuleNotFoundError):
            text = "your own tools need the package mcp: pip install 'mcp>=2.3,<3'"
            return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
        exit_reason = self._pipes.describe_exit() if self._pipes else ""
        is_gone = self._pipes is None or self._pipes.end_requested.is_set()
        if self.state is ConnectionState.READY and not is_gone:
            code = ErrorCode.INVALID_ARGS if getattr(error, "code", 0) == _INVALID_PARAMS else ErrorCode.UNKNOWN
            is_result = hasattr(error, "code")  # otherwise the answer is not a result
            return ToolFailure(
                code if is_result else ErrorCode.PARSE, f"{self.name} answered: {sanitize_server_text(str(error))}"
            )
        why = sanitize_server_text(exit_reason or str(error or "")) or "it has ended"
        return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{self.name} unavailable: {why}")


def restart_delay_seconds(failures: int, initial: float = INITIAL_BACKOFF_SECONDS) -> float:
    """Return the delay before a restart after this many failures in a row."""
    return min(initial * 2.0 ** max(failures - 1, 0), MAX_BACKOFF_SECONDS)


def _declaration_from(tool: Tool) -> ToolDeclaration:
    declared = tool.model_dump(mode="json", include=_DECLARATION_FIELDS, exclude_unset=True, by_alias=True)
    annotations = tool.annotations
    properties = None if tool.input_schema.get("additionalProperties") else tool.input_schema.get("properties")
    return ToolDeclaration(
        name=tool.name,
        is_read_only=annotations is not None and annotations.read_only_hint is True,
        arguments=tuple(properties) if isinstance(properties, dict) else (),
        json_text=json.dumps(declared, ensure_ascii=False, sort_keys=True),
    )


def _answer_from(result: CallToolResult) -> ServerAnswer:
    """Return the text of ``result`` (else its structured content as JSON), and the kinds of other content."""
    texts, left_out = [], []
    for block in result.content:
        resource = getattr(block, "resource", None)
        text = getattr(block, "text", None) or getattr(resource, "text", None)
        if isinstance(text, str):
            texts.append(text)
        else:
            left_out.append(str(block.type))
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return ServerAnswer("\n".join(texts), tuple(left_out), is_error=bool(result.is_error))
