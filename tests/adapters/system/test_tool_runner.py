"""The runner returns by the deadline, whatever the tools do, with one result for each tool in planned order."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from fakes.context import HERE
from fakes.provider import Behaviour, FakeProvider, answers, fails, hangs, waits
from processes import wait_until

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.tool_runner import NOT_STARTED_MESSAGE, TIMED_OUT_MESSAGE, CompositeProvider, ThreadRunner
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.contract.report import PlannedTool, ToolRun
from upbeat.core.errors import ToolFailure

OUTPUT = ToolOutput("said", (Finding("a.py"),), {"n": 1}, truncated=True)


def planned(*tools: str, timeout_ms: int = 5000) -> tuple[PlannedTool, ...]:
    return tuple(PlannedTool(tool=t, tier=1, reason="r", args={"of": t}, timeout_ms=timeout_ms) for t in tools)


def run(
    behaviours: dict[str, Behaviour], seconds: float = 5.0, at_once: int = 3, timeout_ms: int = 5000
) -> tuple[tuple[ToolRun, ...], float, FakeProvider]:
    provider, clock = FakeProvider(behaviours), SystemClock()
    started = time.monotonic()
    runs = ThreadRunner(provider, clock).run(
        planned(*behaviours, timeout_ms=timeout_ms), HERE, clock.monotonic() + seconds, at_once
    )
    return runs, time.monotonic() - started, provider


def outcome(run: ToolRun) -> tuple[str, str, str | None, str | None]:
    error = run.result.error
    return run.result.tool, run.result.status, error and str(error.code), error and error.message


def test_an_answer() -> None:
    """What a tool answers is its result; it is called once, with its arguments and the root."""
    runs, _, provider = run({"t": answers(OUTPUT)})
    result = runs[0].result

    assert OUTPUT == runs[0].output
    assert ("t", "ok", "said", {"n": 1}, True, None) == (
        result.tool,
        result.status,
        result.summary,
        result.data,
        result.truncated,
        result.error,
    )
    assert 0 <= result.duration_ms < 30_000
    assert result.started_at.endswith("Z")
    assert [("t", {"of": "t"}, "/repo")] == provider.calls


def test_no_tools() -> None:
    """Nothing planned is nothing run."""
    assert () == run({})[0]


@pytest.mark.parametrize(
    ("behaviour", "status", "code", "message"),
    [
        (fails(ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "m")), "skipped", "E_TOOL_UNAVAILABLE", "m"),
        (fails(ToolFailure(ErrorCode.REPO_ROOT, "m")), "skipped", "E_REPO_ROOT", "m"),
        (fails(ToolFailure(ErrorCode.BUDGET_EXCEEDED, "m")), "skipped", "E_BUDGET_EXCEEDED", "m"),
        (fails(ToolFailure(ErrorCode.TIMEOUT, "m")), "timeout", "E_TIMEOUT", "m"),
        (fails(ToolFailure(ErrorCode.INVALID_ARGS, "m")), "error", "E_INVALID_ARGS", "m"),
        (fails(RuntimeError("m")), "error", "E_UNKNOWN", "RuntimeError: m"),
        (fails(RecursionError()), "error", "E_UNKNOWN", "RecursionError: "),
        (answers({"a": 1}), "error", "E_PARSE", "returned dict, not a ToolOutput"),
        (answers(None), "error", "E_PARSE", "returned NoneType, not a ToolOutput"),
    ],
)
def test_failures(behaviour: Behaviour, status: str, code: str, message: str) -> None:
    """Whatever goes wrong in a tool is that tool's result."""
    runs, _, _ = run({"t": behaviour, "u": answers(OUTPUT)})

    assert ("t", status, code, message) == outcome(runs[0])
    assert ("u", "ok", None, None) == outcome(runs[1])


def test_the_log_has_what_nobody_foresaw(caplog: pytest.LogCaptureFixture) -> None:
    """An unforeseen fault leaves its traceback in the log."""
    run({"t": fails(RuntimeError("boom"))})

    assert ["tool t failed"] == [record.message for record in caplog.records]
    assert caplog.records[0].exc_info


def test_planned_order() -> None:
    """Results are in planned order, not in order of arrival."""
    runs, _, _ = run({"slow": waits(0.1), "fast": answers(OUTPUT), "faster": answers(OUTPUT)})

    assert ["slow", "fast", "faster"] == [tool_run.result.tool for tool_run in runs]


def test_at_the_same_time() -> None:
    """Three tools run at the same time: each waits for the two others."""
    together = threading.Barrier(3)

    def meet(_cancelled: object) -> ToolOutput:
        together.wait(20)
        return OUTPUT

    runs, _, provider = run(dict.fromkeys("abc", meet), seconds=30, timeout_ms=30_000)

    assert (["ok"] * 3, 3) == ([tool_run.result.status for tool_run in runs], provider.most_at_once)


def test_three_that_hang_take_one_timeout() -> None:
    """Three tools that hang, three at once, are given up together after their limit."""
    runs, seconds, _ = run({name: hangs(30) for name in "abc"}, seconds=20, timeout_ms=200)

    assert [(name, "timeout", "E_TIMEOUT", TIMED_OUT_MESSAGE) for name in "abc"] == [
        outcome(tool_run) for tool_run in runs
    ]
    assert 0.2 <= seconds < 15


@pytest.mark.parametrize("at_once", [1, 2])
def test_no_more_at_once_than_allowed(at_once: int) -> None:
    """Concurrency is a bound."""
    runs, seconds, provider = run({name: waits(0.05) for name in "abcd"}, at_once=at_once)

    assert (["ok"] * 4, at_once) == ([tool_run.result.status for tool_run in runs], provider.most_at_once)
    assert seconds >= 0.2 / at_once


def test_the_deadline_binds() -> None:
    """At the deadline running tools are given up, waiting ones are not started, and the errors differ."""
    runs, seconds, provider = run({"a": hangs(30), "b": answers(OUTPUT), "c": answers(OUTPUT)}, seconds=0.2, at_once=1)

    assert [
        ("a", "timeout", "E_BUDGET_EXCEEDED", TIMED_OUT_MESSAGE),
        ("b", "skipped", "E_BUDGET_EXCEEDED", NOT_STARTED_MESSAGE),
        ("c", "skipped", "E_BUDGET_EXCEEDED", NOT_STARTED_MESSAGE),
    ] == [outcome(tool_run) for tool_run in runs]
    assert 0.2 <= seconds < 15
    assert ["a"] == [call[0] for call in provider.calls]


def test_a_deadline_in_the_past() -> None:
    """Without time nothing is started."""
    runs, _, provider = run({"a": answers(OUTPUT)}, seconds=-1)

    assert ([("a", "skipped", "E_BUDGET_EXCEEDED", NOT_STARTED_MESSAGE)], []) == (
        [outcome(tool_run) for tool_run in runs],
        provider.calls,
    )


def test_a_late_tool_makes_room() -> None:
    """When a tool is given up, the next one starts."""
    runs, _, _ = run({"a": hangs(30), "b": answers(OUTPUT)}, at_once=1, timeout_ms=300)

    assert [("a", "timeout", "E_TIMEOUT", TIMED_OUT_MESSAGE), ("b", "ok", None, None)] == [
        outcome(tool_run) for tool_run in runs
    ]


def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    """An answer after its limit is dropped, while others are still waited for."""
    runs, _, _ = run({"late": hangs(0.3), "b": hangs(30), "c": answers(OUTPUT)}, at_once=1, timeout_ms=200)

    assert ["timeout", "timeout", "ok"] == [tool_run.result.status for tool_run in runs]
    assert 100 <= runs[0].result.duration_ms < 30_000


@pytest.mark.parametrize("bounds", [{"timeout_ms": 100}, {"seconds": 0.1}])
def test_what_is_given_up_is_told_to_stop(bounds: dict[str, Any]) -> None:
    """A tool that is given up sees its cancellation."""
    seen: list[str] = []
    run({"t": waits(5, seen)}, **bounds)

    assert wait_until(lambda: seen, 20)
    assert ["stopped"] == seen


@pytest.mark.parametrize(("tool", "provider"), [("ci_search", "embedded"), ("docs.search", "servers")])
def test_a_call_goes_to_its_provider(tool: str, provider: str) -> None:
    """A tool name with a dot belongs to a server of the user; the tools of both providers are offered."""
    composite = CompositeProvider(
        FakeProvider({"ci_search": answers(ToolOutput("embedded"))}),
        FakeProvider({"docs.search": answers(ToolOutput("servers"))}),
    )

    assert ["ci_search", "docs.search"] == list(composite.tools())
    assert provider == composite.call(tool, {}, "/", threading.Event()).summary
