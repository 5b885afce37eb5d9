"""One server, from the first start to the end of its process, through the official SDK's client.

Law: asking never waits for a start, unless the caller wants to. A server that fails is left alone for a while, longer
each time. Nothing of the SDK leaves this module, and it is imported by the connection's own thread, not by a turn's.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, wait
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure
from ...core.ports import Cancellation
from .answer import Answer, Declared, said
from .background import Background, Result

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from .pipes import Pipes
    from .program import Program

START_SECONDS = 20.0
"""What a server may take for each step of its handshake."""
CALL_SECONDS = 120.0
"""The last bound of a call; its tool's own limit comes first."""
FRESH_SECONDS = 300.0
"""How long a list of tools is believed; a server that says that it has changed is asked at once."""
NEVER = float("-inf")
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0
"""Seconds until a server that failed is started again: doubled each time."""
MOST_LATE = 3
"""Answers in a row that may be late; after that each late one ends the server, until one comes in time."""
STEADY_SECONDS = 60.0
"""A server that was there for so long has not failed in a row."""
MAX_PAGES, MAX_TOOLS = 20, 500
POLL_SECONDS = 0.02
ACCOUNT_SECONDS = 0.5
"""What a call that failed with its server waits to learn how that ended."""

_INVALID_PARAMS = -32602
_DECLARED = {"name", "title", "description", "input_schema", "output_schema", "annotations"}


class State(Enum):
    """Where a connection is."""

    COLD = "cold"
    STARTING = "starting"
    READY = "ready"
    BROKEN = "broken"


class Connection:
    """A server's connection. ``find`` makes the program to start, and raises ``ToolFailure`` when it cannot be."""

    def __init__(
        self, name: str, find: Callable[[], Program], background: Background, first_pause: float = FIRST_PAUSE
    ) -> None:
        self.name = name
        self._find = find
        self._background = background
        self._first_pause = first_pause
        self._lock = threading.Lock()
        self._settled = threading.Event()
        self._gone = threading.Event()
        self.state = State.COLD
        self._failure = ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "")
        self._failures = 0
        self._late = 0
        self._retry_at = 0.0
        self._ready_at = 0.0
        self._started_at = NEVER
        self._pipes: Pipes | None = None
        self._client: Client | None = None
        self._tools: Mapping[str, Declared] = {}
        self._listed_at = NEVER

    def start(self) -> None:
        """Have it connect in the background, unless it does, is there, or is to be left alone for now."""
        with self._lock:
            is_waiting = self.state is State.BROKEN and time.monotonic() < self._retry_at
            if is_waiting or self.state in (State.STARTING, State.READY):
                return
            self.state = State.STARTING
            self._started_at = time.monotonic()
            self._settled.clear()
            self._gone.clear()
        self._background.submit(self._live()).add_done_callback(self._over)

    def age(self) -> float:
        """Seconds since it was started last."""
        return time.monotonic() - self._started_at

    def wait(self, cancelled: Cancellation, seconds: float) -> None:
        """Wait until it is there. Raises ``ToolFailure``: not there yet, broken, cancelled."""
        end = time.monotonic() + seconds
        while not self._settled.wait(min(POLL_SECONDS, max(end - time.monotonic(), 0.0))):
            if cancelled.is_set():
                raise ToolFailure(ErrorCode.TIMEOUT, f"{self.name} was not there in time")
            if time.monotonic() >= end:
                raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{self.name} is starting; it may be there next turn")
        if self.state is not State.READY:
            raise self._remembered()

    def tools(self, cancelled: Cancellation) -> Mapping[str, Declared]:
        """What it declares, by name. Raises ``ToolFailure``."""
        if time.monotonic() - self._listed_at > FRESH_SECONDS:
            self._ask(self._take_list(), cancelled)
        return self._tools

    def call(self, tool: str, args: Mapping[str, Any], cancelled: Cancellation) -> Answer:
        """Ask ``tool``. Raises ``ToolFailure``; on ``cancelled`` the server is told so."""
        return self._ask(self._call(tool, dict(args)), cancelled)

    def end(self) -> None:
        """Let the server go, where it is there."""
        if self.state in (State.STARTING, State.READY):
            self._background.submit(self._let_go(""))

    def _ask(self, work: Coroutine[Any, Any, Result], cancelled: Cancellation) -> Result:
        future = self._background.submit(work)
        while not wait([future], POLL_SECONDS).done:
            if cancelled.is_set():
                future.cancel()
                self._was_late()
                raise ToolFailure(ErrorCode.TIMEOUT, f"{self.name} did not answer in time")
        if future.cancelled():
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{self.name} was closed while it was asked")
        if error := future.exception():
            is_gone = self._pipes is not None and self._pipes.ended.is_set()
            if is_gone and self._gone.wait(ACCOUNT_SECONDS):  # by then it is known how it ended
                raise self._remembered()
            raise self._failure_of(error)
        self._late = 0
        return future.result()

    def _was_late(self) -> None:
        """Whoever lets turns wait too often is ended, and left alone like any other that fails."""
        self._late += 1
        if self._late >= MOST_LATE:
            self._background.submit(self._let_go(f"it did not answer in time, {self._late} times in a row"))

    def _remembered(self) -> ToolFailure:
        """Why the server is not there; each caller gets one of its own to raise."""
        return ToolFailure(self._failure.code, str(self._failure))

    # --- in the background ---

    async def _live(self) -> None:
        """From the start to the end of the server."""
        program = self._find()
        from mcp import Client
        from mcp_types import Implementation

        from ... import __version__
        from .pipes import Pipes

        logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # it quotes what servers say; what matters is told here
        pipes = self._pipes = Pipes(program)
        client = Client(
            pipes,
            read_timeout_seconds=START_SECONDS,
            message_handler=self._noticed,
            client_info=Implementation(name="upbeat", version=__version__),
            cache=None,
        )
        async with client:
            self._client = client
            await self._take_list()
            with self._lock:
                self.state = State.READY
                self._ready_at = time.monotonic()
            self._settled.set()
            await pipes.ended.wait()

    async def _let_go(self, trouble: str) -> None:
        if self._pipes:
            self._pipes.end(trouble)

    async def _noticed(self, message: Any) -> None:
        """Something that the server says by itself; all that matters is that its tools have changed."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._listed_at = NEVER

    async def _take_list(self) -> None:
        assert self._client
        found: dict[str, Declared] = {}
        asked_at = time.monotonic()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found |= {tool.name: _declared(tool) for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or len(found) > MAX_TOOLS:
                break
        self._tools = found
        self._listed_at = asked_at

    async def _call(self, tool: str, args: dict[str, Any]) -> Answer:
        """Not the SDK's ``call_tool``: it matches patterns of the server's own schema, and one can take years."""
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

        assert self._client
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=args))
        session = self._client.session
        return _answer(await session.send_request(request, CallToolResult, request_read_timeout_seconds=CALL_SECONDS))

    def _over(self, future: Future[None]) -> None:
        """The server has gone: remember why, and when it may be tried again."""
        error = None if future.cancelled() else future.exception()
        with self._lock:
            now = time.monotonic()
            was_steady = self.state is State.READY and now - self._ready_at > STEADY_SECONDS and not self._late
            if not isinstance(error, ToolFailure):  # a configuration that is mended works at once
                self._failures = 1 if was_steady else self._failures + 1
            self._retry_at = now + pause_after(self._failures, self._first_pause)
            self._failure = self._failure_of(error)
            self.state = State.BROKEN
            self._client = None
        self._gone.set()
        self._settled.set()

    def _failure_of(self, error: BaseException | None) -> ToolFailure:
        """What a person reads about ``error``, and its code."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ToolFailure):
            return error
        if isinstance(error, ModuleNotFoundError):
            text = "asking your own tools needs the package mcp beside upbeat: pip install 'mcp>=2.3,<3'"
            return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, text)
        account = self._pipes.account() if self._pipes else ""
        is_gone = self._pipes is None or self._pipes.ended.is_set()
        if self.state is State.READY and not is_gone:
            code = ErrorCode.INVALID_ARGS if getattr(error, "code", 0) == _INVALID_PARAMS else ErrorCode.UNKNOWN
            is_result = hasattr(error, "code")  # else what came is no result at all
            return ToolFailure(code if is_result else ErrorCode.PARSE, f"{self.name} answered: {said(str(error))}")
        why = said(account or str(error or "")) or "it has ended"
        return ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"{self.name} cannot be reached: {why}")


def pause_after(failures: int, first: float = FIRST_PAUSE) -> float:
    """Seconds that a server is left alone after so many failures in a row."""
    return min(first * 2.0 ** max(failures - 1, 0), LONGEST_PAUSE)


def _declared(tool: Tool) -> Declared:
    declared = tool.model_dump(mode="json", include=_DECLARED, exclude_unset=True, by_alias=True)
    annotations = tool.annotations
    properties = None if tool.input_schema.get("additionalProperties") else tool.input_schema.get("properties")
    return Declared(
        name=tool.name,
        reads_only=annotations is not None and annotations.read_only_hint is True,
        arguments=tuple(properties) if isinstance(properties, dict) else (),
        text=json.dumps(declared, ensure_ascii=False, sort_keys=True),
    )


def _answer(result: CallToolResult) -> Answer:
    """The text of ``result``; data instead where there is no text, and pictures and the like only by name."""
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
    return Answer("\n".join(texts), tuple(left_out), is_error=bool(result.is_error))
