"""Tools that answer, fail, hang or lie, as told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure

Behaviour = Callable[[Cancellation], object]


class FakeProvider:
    """Implements ``core.engine.ports.ToolProvider`` with a table of behaviours, and counts how many run at once."""

    def __init__(self, behaviours: Mapping[str, Behaviour]) -> None:
        self.behaviours = behaviours
        self.calls: list[tuple[str, dict[str, Any], str]] = []
        self.most_at_once = 0
        self._running = 0
        self._lock = threading.Lock()

    def tools(self) -> Mapping[str, str]:
        return {name: f"Does {name}." for name in self.behaviours}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> Any:
        with self._lock:
            self.calls.append((tool, dict(args), root))
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            if tool not in self.behaviours:
                raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"there is no tool {tool!r}")
            return self.behaviours[tool](cancelled)
        finally:
            with self._lock:
                self._running -= 1


def answers(output: object) -> Behaviour:
    """Answers at once."""
    return lambda _cancelled: output


def fails(failure: Exception) -> Behaviour:
    """Raises at once."""

    def behave(_cancelled: Cancellation) -> object:
        raise failure

    return behave


def hangs(seconds: float) -> Behaviour:
    """Is busy for ``seconds`` and does not look whether it should stop."""

    def behave(_cancelled: Cancellation) -> object:
        time.sleep(seconds)
        return ToolOutput("too late")

    return behave


def waits(seconds: float, seen: list[str] | None = None) -> Behaviour:
    """Is busy for ``seconds`` at most, and stops when asked; then ``seen`` gets ``stopped``."""

    def behave(cancelled: Cancellation) -> object:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if cancelled.is_set():
                if seen is not None:
                    seen.append("stopped")
                raise ToolFailure(ErrorCode.TIMEOUT, "stopped")
            time.sleep(0.005)
        return ToolOutput("done")

    return behave
