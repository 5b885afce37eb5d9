"""Run planned tools concurrently within a hard deadline.

Invariant: ``run`` returns by the deadline. A tool that ignores its cancellation keeps its daemon thread and loses its
result; it cannot delay the turn or the exit of the process.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import PlannedTool, ToolError, ToolResult, ToolRun
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.ports import Cancellation, Clock, Repository, ToolProvider
from upbeat.core.errors import ToolFailure

log = logging.getLogger(__name__)

NOT_STARTED_MESSAGE = "the turn's time was over before it could start"
TIMED_OUT_MESSAGE = "no answer inside its limit"

_SKIP_CODES = (
    ErrorCode.TOOL_UNAVAILABLE,
    ErrorCode.NOT_APPROVED,
    ErrorCode.BUDGET_EXCEEDED,
    ErrorCode.REPO_ROOT,
)
"""Errors of tools that were not started."""


@dataclass(slots=True)
class _Call:
    """A started tool. Times are ``Clock.monotonic`` seconds."""

    index: int
    tool: PlannedTool
    started_at: str
    started_monotonic: float
    deadline: float
    is_bound_by_turn: bool
    cancelled: threading.Event = field(default_factory=threading.Event)


_Answers = queue.SimpleQueue[tuple[int, ToolOutput | ToolFailure]]


class CompositeProvider:
    """Implements ``core.engine.ports.ToolProvider`` with ``embedded`` tools, and ``servers`` for names with a dot."""

    def __init__(self, embedded: ToolProvider, servers: ToolProvider) -> None:
        self._embedded = embedded
        self._servers = servers

    def tools(self) -> Mapping[str, str]:
        """Return the tools of both providers, the embedded ones first."""
        return {**self._embedded.tools(), **self._servers.tools()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Call ``tool`` of its provider. Raises ToolFailure."""
        provider = self._servers if "." in tool else self._embedded
        return provider.call(tool, args, root, cancelled)


class ThreadRunner:
    """Implements ``core.engine.ports.ToolRunner`` with one daemon thread a call."""

    def __init__(self, provider: ToolProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, max_concurrency: int
    ) -> tuple[ToolRun, ...]:
        runs: dict[int, ToolRun] = {}
        waiting = list(enumerate(tools))
        active: dict[int, _Call] = {}
        answers: _Answers = queue.SimpleQueue()
        while (waiting or active) and self._clock.monotonic() < deadline:
            while waiting and len(active) < max_concurrency:
                number, tool = waiting.pop(0)
                now = self._clock.monotonic()
                own_end = now + tool.timeout_ms / 1000
                started_at = format_timestamp(self._clock.now())
                is_bound_by_turn = deadline < own_end
                call = _Call(number, tool, started_at, now, min(own_end, deadline), is_bound_by_turn=is_bound_by_turn)
                arguments = (self._provider, call, repository.root, answers)
                threading.Thread(target=_call_tool, args=arguments, name=tool.tool, daemon=True).start()
                active[number] = call
            self._collect(active, runs, answers)
        runs |= {call.index: self._timed_out_run(call) for call in active.values()}
        for number, tool in waiting:
            unstarted = ToolFailure(ErrorCode.BUDGET_EXCEEDED, NOT_STARTED_MESSAGE)
            runs[number] = ToolRun(failed_result(tool.tool, unstarted, format_timestamp(self._clock.now()), 0))
        return tuple(runs[number] for number in range(len(tools)))

    def _collect(self, active: dict[int, _Call], runs: dict[int, ToolRun], answers: _Answers) -> None:
        """Wait for the next answer or deadline, and move finished calls from ``active`` to ``runs``."""
        next_end = min(call.deadline for call in active.values())
        try:
            number, answer = answers.get(timeout=max(0.0, next_end - self._clock.monotonic()))
        except queue.Empty:
            now = self._clock.monotonic()
            for call in [call for call in active.values() if call.deadline <= now]:
                runs[call.index] = self._timed_out_run(active.pop(call.index))
            return
        if number in active:  # otherwise it has timed out
            runs[number] = self._finished_run(active.pop(number), answer)

    def _finished_run(self, call: _Call, answer: ToolOutput | ToolFailure) -> ToolRun:
        milliseconds = round((self._clock.monotonic() - call.started_monotonic) * 1000)
        if isinstance(answer, ToolOutput):
            result = ToolResult(
                tool=call.tool.tool,
                status="ok",
                started_at=call.started_at,
                duration_ms=milliseconds,
                summary=answer.summary,
                data=answer.data,
                truncated=answer.truncated,
            )
            return ToolRun(result, answer)
        return ToolRun(failed_result(call.tool.tool, answer, call.started_at, milliseconds))

    def _timed_out_run(self, call: _Call) -> ToolRun:
        call.cancelled.set()
        code = ErrorCode.BUDGET_EXCEEDED if call.is_bound_by_turn else ErrorCode.TIMEOUT
        run = self._finished_run(call, ToolFailure(code, TIMED_OUT_MESSAGE))
        return ToolRun(run.result.model_copy(update={"status": "timeout"}))


def failed_result(tool: str, failure: ToolFailure, started_at: str, duration_ms: int) -> ToolResult:
    """Return the result of a failed call."""
    late = failure.code is ErrorCode.TIMEOUT
    skipped = failure.code in _SKIP_CODES
    return ToolResult(
        tool=tool,
        status="timeout" if late else "skipped" if skipped else "error",
        started_at=started_at,
        duration_ms=duration_ms,
        error=ToolError(code=failure.code, message=str(failure)),
    )


def _call_tool(provider: ToolProvider, call: _Call, root: str, answers: _Answers) -> None:
    """Run one call in its thread, and put exactly one answer."""
    answer: ToolOutput | ToolFailure
    try:
        answer = provider.call(call.tool.tool, call.tool.args, root, call.cancelled)
        if not isinstance(answer, ToolOutput):
            answer = ToolFailure(ErrorCode.PARSE, f"returned {type(answer).__name__}, not a ToolOutput")
    except ToolFailure as failure:
        answer = failure
    except Exception as error:  # the boundary of a tool: an exception is one tool's failure
        log.exception("tool %s failed", call.tool.tool)
        answer = ToolFailure(ErrorCode.UNKNOWN, f"{type(error).__name__}: {error}")
    answers.put((call.index, answer))
