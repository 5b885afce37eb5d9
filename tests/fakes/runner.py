"""A runner that starts nothing."""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import PlannedTool, ToolError, ToolResult, ToolRun
from upbeat.core.engine.ports import Repository

STARTED_AT = "2026-01-02T03:04:05.678Z"


class FakeRunner:
    """Implements ``core.engine.ports.ToolRunner``: each tool answers as the table says, or is unavailable."""

    def __init__(self, answers: Mapping[str, ToolOutput | ErrorCode] | None = None) -> None:
        self.answers = answers or {}
        self.calls: list[tuple[tuple[PlannedTool, ...], Repository, float, int]] = []

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, max_concurrency: int
    ) -> tuple[ToolRun, ...]:
        self.calls.append((tools, repository, deadline, max_concurrency))
        return tuple(run_of(tool.tool, self.answers.get(tool.tool, ErrorCode.TOOL_UNAVAILABLE)) for tool in tools)


def run_of(tool: str, answer: ToolOutput | ErrorCode) -> ToolRun:
    """The run of a tool that gave ``answer``."""
    about = {"tool": tool, "started_at": STARTED_AT, "duration_ms": 7}
    if isinstance(answer, ToolOutput):
        output = {"summary": answer.summary, "data": answer.data, "truncated": answer.truncated}
        return ToolRun(ToolResult(**about, **output, status="ok"), answer)
    error = ToolError(code=answer, message=f"{tool} gave nothing")
    status = "timeout" if answer is ErrorCode.TIMEOUT else "error"
    return ToolRun(ToolResult(**about, status=status, error=error))
