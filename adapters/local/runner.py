"""Runs planned tools at the same time, inside a budget that binds.

Law: ``run`` returns by the deadline, whatever a tool does. A tool that does not stop when asked keeps its
daemon thread and loses its result; it cannot delay the turn or the end of the process.
"""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass, field

from ...core.contract.codes import ErrorCode
from ...core.contract.finding import ToolOutput
from ...core.contract.report import PlannedTool, ToolError, ToolResult
from ...core.errors import ToolFailure
from ...core.ports import Clock, Repository, Run, ToolProvider
from ...core.turn.report import timestamp

log = logging.getLogger(__name__)

NOT_STARTED = "the turn's time was over before it could start"
TOO_LATE = "no answer inside its limit"

_SKIPS = (
    ErrorCode.TOOL_UNAVAILABLE,
    ErrorCode.NOT_APPROVED,
    ErrorCode.BUDGET_EXCEEDED,
    ErrorCode.REPO_ROOT,
)
"""Failures of what was not even tried."""


@dataclass(slots=True)
class _Call:
    """A tool that has been started. Times are ``Clock.monotonic`` seconds."""

    number: int
    tool: PlannedTool
    started_at: str
    started: float
    ends: float
    bound_by_turn: bool
    cancelled: threading.Event = field(default_factory=threading.Event)


_Answer = tuple[int, ToolOutput | ToolFailure]


class ThreadRunner:
    """Implements ``core.ports.ToolRunner`` with one daemon thread a call."""

    def __init__(self, provider: ToolProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, at_once: int
    ) -> tuple[Run, ...]:
        runs: dict[int, Run] = {}
        waiting = list(enumerate(tools))
        active: dict[int, _Call] = {}
        answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        while (waiting or active) and self._clock.monotonic() < deadline:
            while waiting and len(active) < at_once:
                number, tool = waiting.pop(0)
                active[number] = self._start(number, tool, repository, deadline, answers)
            self._collect(active, runs, answers)
        runs |= {call.number: self._given_up(call) for call in active.values()}
        runs |= {number: self._not_started(tool) for number, tool in waiting}
        return tuple(runs[number] for number in range(len(tools)))

    def _start(
        self,
        number: int,
        tool: PlannedTool,
        repository: Repository,
        deadline: float,
        answers: queue.SimpleQueue[_Answer],
    ) -> _Call:
        now = self._clock.monotonic()
        own_end = now + tool.timeout_ms / 1000
        call = _Call(
            number, tool, timestamp(self._clock.now()), now, min(own_end, deadline), bound_by_turn=deadline < own_end
        )
        threading.Thread(
            target=_answer, args=(self._provider, call, repository.root, answers), name=tool.tool, daemon=True
        ).start()
        return call

    def _collect(self, active: dict[int, _Call], runs: dict[int, Run], answers: queue.SimpleQueue[_Answer]) -> None:
        """Wait for the next answer or the next limit, and take both off ``active``."""
        next_end = min(call.ends for call in active.values())
        try:
            number, answer = answers.get(timeout=max(0.0, next_end - self._clock.monotonic()))
        except queue.Empty:
            now = self._clock.monotonic()
            for call in [call for call in active.values() if call.ends <= now]:
                runs[call.number] = self._given_up(active.pop(call.number))
            return
        if number in active:  # else it had been given up
            runs[number] = self._ended(active.pop(number), answer)

    def _ended(self, call: _Call, answer: ToolOutput | ToolFailure) -> Run:
        milliseconds = round((self._clock.monotonic() - call.started) * 1000)
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
            return Run(result, answer)
        return Run(failed(call.tool.tool, answer, call.started_at, milliseconds))

    def _given_up(self, call: _Call) -> Run:
        call.cancelled.set()
        code = ErrorCode.BUDGET_EXCEEDED if call.bound_by_turn else ErrorCode.TIMEOUT
        run = self._ended(call, ToolFailure(code, TOO_LATE))
        return Run(run.result.model_copy(update={"status": "timeout"}))

    def _not_started(self, tool: PlannedTool) -> Run:
        failure = ToolFailure(ErrorCode.BUDGET_EXCEEDED, NOT_STARTED)
        return Run(failed(tool.tool, failure, timestamp(self._clock.now()), 0))


def failed(tool: str, failure: ToolFailure, started_at: str, duration_ms: int) -> ToolResult:
    """The result of a call that gave none."""
    late = failure.code is ErrorCode.TIMEOUT
    skipped = failure.code in _SKIPS
    return ToolResult(
        tool=tool,
        status="timeout" if late else "skipped" if skipped else "error",
        started_at=started_at,
        duration_ms=duration_ms,
        error=ToolError(code=failure.code, message=str(failure)),
    )


def _answer(provider: ToolProvider, call: _Call, root: str, answers: queue.SimpleQueue[_Answer]) -> None:
    """The thread of one call: whatever happens in the tool, one answer."""
    answer: ToolOutput | ToolFailure
    try:
        answer = provider.call(call.tool.tool, call.tool.args, root, call.cancelled)
        if not isinstance(answer, ToolOutput):
            answer = ToolFailure(ErrorCode.PARSE, f"answered {type(answer).__name__}, not a tool output")
    except ToolFailure as failure:
        answer = failure
    except Exception as error:  # the boundary of a tool: a provider's fault is one tool's failure
        log.exception("tool %s failed", call.tool.tool)
        answer = ToolFailure(ErrorCode.UNKNOWN, f"{type(error).__name__}: {error}")
    answers.put((call.number, answer))
