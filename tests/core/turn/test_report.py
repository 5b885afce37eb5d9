"""A report has a field for every part of a turn; equal parts give equal reports."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from upbeat.core.contract.codes import ErrorCode, LimitCode
from upbeat.core.contract.event import ClientName
from upbeat.core.contract.finding import Finding
from upbeat.core.contract.report import (
    BudgetReport,
    Client,
    Degraded,
    Enforcement,
    ForModel,
    ForUser,
    Inputs,
    Limit,
    PlannedTool,
    Signal,
    ToolError,
    ToolPlan,
    ToolResult,
    TurnReport,
)
from upbeat.core.prompt import analysis as nouns
from upbeat.core.turn.fuse import FusedItem
from upbeat.core.turn.plan import EMPTY_PLAN
from upbeat.core.turn.render import RenderedContext
from upbeat.core.turn.report import (
    EPOCH,
    ReportStamp,
    assemble_empty_report,
    assemble_report,
    build_inputs,
    format_timestamp,
    limits_from_results,
    make_run_id,
    short_hash,
)

EAST = timezone(timedelta(hours=8))
NOW = ReportStamp(datetime(2026, 1, 2, 3, 4, 5, 678999, tzinfo=UTC), "0123456789ab", is_plan_mode=False)
PLANNED = ReportStamp(EPOCH, "0123456789ab", is_plan_mode=True)
CLIENT = Client(name=ClientName.CLI, event="cli")
INPUTS = Inputs(
    prompt="p",
    intent="debug",
    repo_root="/repo",
    repo_root_source="git",
    signals=[Signal(type="code", match="x", weight=0.7)],
)
BUDGET = BudgetReport(wall_ms=5000, max_concurrency=3, max_injected_chars=12000)
PLAN = ToolPlan(
    tier_max=1,
    budget=BUDGET,
    tools=[
        PlannedTool(tool="a", tier=0, reason="r", args={}, timeout_ms=1),
        PlannedTool(tool="b", tier=1, reason="r", args={}, timeout_ms=1),
    ],
)


def result(tool: str, code: ErrorCode | None = None, status: str = "error") -> ToolResult:
    error = ToolError(code=code, message="m") if code else None
    return ToolResult.model_validate(
        {
            "tool": tool,
            "status": status if code else "ok",
            "started_at": "s",
            "duration_ms": 4,
            "summary": f"{tool} said",
            "error": error,
        }
    )


def built(limits: tuple[Limit, ...] = (), results: tuple[ToolResult, ...] = (), **changed: Any) -> TurnReport:
    parts: dict[str, Any] = {
        "run_id": "id",
        "stamp": NOW,
        "client": CLIENT,
        "inputs": INPUTS,
        "plan": PLAN,
        "rendered": RenderedContext(""),
        "is_legacy": False,
    }
    return assemble_report(**(parts | changed), limits=limits, results=results)


def test_short_hash() -> None:
    """The hash is SHA-256 over the parts with their lengths, so that no two lists of parts have the same input."""
    assert "e3b0c44298fc" == short_hash(length=12)
    assert "3c9d591045bc" == short_hash("a", "b", length=12)
    assert short_hash("ab", "c", length=12) != short_hash("a", "bc", length=12)
    assert short_hash("é\ud800", length=12) == short_hash("é\ud800", length=64)[:12]


@pytest.mark.parametrize(
    ("moment", "plan", "pattern"),
    [
        (NOW, PLAN, "20260102-030405-" + short_hash("p", "i", length=6)),
        (replace(NOW, now=NOW.now.astimezone(EAST)), PLAN, "20260102-030405-" + short_hash("p", "i", length=6)),
        (NOW, EMPTY_PLAN, "empty-" + short_hash("p", "i", length=12)),
        (PLANNED, PLAN, "plan-" + short_hash("p", "i", PLAN.model_dump_json(), length=12)),
        (PLANNED, EMPTY_PLAN, "plan-" + short_hash("p", "i", EMPTY_PLAN.model_dump_json(), length=12)),
    ],
)
def test_run_id(moment: ReportStamp, plan: ToolPlan, pattern: str) -> None:
    """The ID of a run has its time in UTC; that of an empty run or a plan depends on the inputs only."""
    assert pattern == make_run_id(moment, "p", "i", plan)


def test_times_are_utc_in_any_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time zone of the machine has no influence."""
    here = make_run_id(NOW, "p", "i", PLAN), format_timestamp(NOW.now)
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    there = make_run_id(NOW, "p", "i", PLAN), format_timestamp(NOW.now)
    monkeypatch.undo()
    time.tzset()

    assert here == there


def test_inputs() -> None:
    """An analysis becomes an intent and weighted signals."""
    analysis = nouns.PromptAnalysis(
        nouns.Intent.DEBUG,
        tuple(nouns.PromptSignal(kind, kind.value) for kind in nouns.SignalType),
    )

    assert Inputs(
        prompt="p",
        intent="debug",
        signals=[
            Signal(type="explicit", match="explicit", weight=0.8),
            Signal(type="implicit", match="implicit", weight=0.6),
            Signal(type="historical", match="historical", weight=0.6),
            Signal(type="code", match="code", weight=0.7),
        ],
        repo_root="/repo",
        repo_root_source="config",
    ) == build_inputs(analysis, "p", "/repo", "config")


def test_a_whole_report() -> None:
    """Every part of a turn has its field."""
    finding = Finding("a.py", "t", "s", "function", 3, 5, 0.123456, "w", "text")
    fused = FusedItem("a", finding, "t — w", is_truncated=True, has_conflict=True, evidence_refs=("b:a.py:9",))
    limit = Limit.of(LimitCode.NO_GIT_ROOT)
    results = (result("a"), result("b", ErrorCode.TOOL_UNAVAILABLE, "skipped"))
    report = built((limit, limit), results, rendered=RenderedContext("text", (fused,)))

    assert json.loads(Path(__file__).with_name("report.json").read_text(encoding="utf-8")) == json.loads(
        report.to_json()
    )


def test_texts_of_an_empty_report() -> None:
    """The texts of an empty report say that nothing was looked up."""
    report = assemble_empty_report(
        "id", CLIENT, INPUTS, [Limit.of(LimitCode.CORE_UNAVAILABLE, "x"), Limit.of(LimitCode.NO_GIT_ROOT)], NOW
    )

    assert (
        ForUser(
            tool_plan_text="[Auto Tools] nothing to look up",
            results_text="",
            limits_text="[Limits] orchestrator unavailable: x; no-git-root",
        )
        == report.fused_context.for_user
    )
    assert (EMPTY_PLAN, [], "2026-01-02T03:04:05.678Z") == (report.tool_plan, report.tool_results, report.created_at)
    assert ForModel() == report.fused_context.for_model
    assert Enforcement(source="orchestrator") == report.enforcement


def test_no_limits_no_text() -> None:
    """Without limits the limits text is empty."""
    assert "" == built().fused_context.for_user.limits_text


def test_a_plan_has_no_time() -> None:
    """In plan mode a report is dated at the epoch."""
    assert "1970-01-01T00:00:00Z" == built(stamp=ReportStamp(NOW.now, "ab", is_plan_mode=True)).created_at


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        (ErrorCode.TIMEOUT, "tool timeout; degraded to plan-only: a, b"),
        (ErrorCode.BUDGET_EXCEEDED, "budget exceeded; results truncated: a, b"),
        (ErrorCode.TOOL_UNAVAILABLE, "tool unavailable; skipped: a, b"),
        (ErrorCode.PARSE, "orchestrator output invalid; fallback to empty context: a, b"),
        (ErrorCode.REPO_ROOT, "repository not readable: a, b"),
        (ErrorCode.SESSION, "session continuity unavailable; fallback to stateless exec: a, b"),
        (ErrorCode.INVALID_ARGS, "tool failed; skipped: a, b"),
        (ErrorCode.UNKNOWN, "tool failed; skipped: a, b"),
        (ErrorCode.NOT_APPROVED, "tool not approved; skipped: a, b"),
    ],
)
def test_limits_of(code: ErrorCode, limit: str) -> None:
    """Each error becomes one limit that names all its tools."""
    assert [limit] == [
        limit.text for limit in limits_from_results([result("a", code), result("ok"), result("b", code)])
    ]


def test_limits_of_different_errors() -> None:
    """Different errors are different limits, in the order of the results."""
    limits = limits_from_results(
        [result("a", ErrorCode.UNKNOWN), result("b", ErrorCode.TIMEOUT), result("c", ErrorCode.INVALID_ARGS)]
    )

    assert ["tool failed; skipped: a, c", "tool timeout; degraded to plan-only: b"] == [limit.text for limit in limits]
    assert [] == limits_from_results([result("ok")])


def test_limits_of_a_users_own_tools() -> None:
    """The failure of a user tool has its bounded message; invalid output of one is a failed tool."""
    limits = limits_from_results([result("docs.search", ErrorCode.PARSE), result("docs.write", ErrorCode.NOT_APPROVED)])

    assert [
        "tool failed; skipped: docs.search (m)",
        "tool not approved; skipped: docs.write (m)",
    ] == [limit.text for limit in limits]


HARMLESS = [
    LimitCode.TOOL_NOT_APPROVED,
    LimitCode.NO_GIT_ROOT,
    LimitCode.TOOL_UNAVAILABLE,
    LimitCode.NOT_ABOUT_CODE,
    LimitCode.NOTHING_TO_SAY,
    LimitCode.CONFLICT,
    LimitCode.TIER2_DISABLED,
]


@pytest.mark.parametrize("code", HARMLESS)
def test_not_degraded(code: LimitCode) -> None:
    """Some limits do not degrade the report."""
    assert Degraded() == built((Limit.of(code),), (result("a"),)).degraded


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (LimitCode.TOOL_TIMEOUT, "E_TIMEOUT"),
        (LimitCode.TOOL_FAILED, None),
        (LimitCode.BUDGET_EXCEEDED, "E_BUDGET_EXCEEDED"),
        (LimitCode.OUTPUT_INVALID, "E_PARSE"),
        (LimitCode.REPO_UNREADABLE, "E_REPO_ROOT"),
        (LimitCode.SESSION_UNAVAILABLE, "E_SESSION"),
    ],
)
def test_degraded_in_part(code: LimitCode, error: str | None) -> None:
    """A degrading limit is the reason, with its error; the report is partial, or has the plan only."""
    limits = (Limit.of(LimitCode.NO_GIT_ROOT), Limit.of(code, "x"), Limit.of(LimitCode.TOOL_TIMEOUT, "y"))
    partial = Degraded(is_degraded=True, reason=limits[1].text, degraded_to="partial", error=error)

    assert partial == built(limits, (result("b", ErrorCode.UNKNOWN), result("a"))).degraded
    assert (
        partial.model_copy(update={"degraded_to": "plan-only"})
        == built(limits, (result("b", ErrorCode.UNKNOWN),)).degraded
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (LimitCode.CORE_UNAVAILABLE, "E_UNKNOWN"),
        (LimitCode.CONFIG_INVALID, None),
        (LimitCode.INPUT_UNREADABLE, "E_PARSE"),
        (LimitCode.SWITCHED_OFF, None),
    ],
)
def test_degraded_to_empty(code: LimitCode, error: str | None) -> None:
    """A limit that empties the report takes precedence over one that makes it partial."""
    values = {"origin": "o"} if code is LimitCode.SWITCHED_OFF else {}
    limit = Limit.of(code, "x", **values)
    limits = (Limit.of(LimitCode.TOOL_TIMEOUT), limit, Limit.of(LimitCode.CONFIG_INVALID, "y"))

    assert (
        Degraded(is_degraded=True, reason=limit.text, degraded_to="empty", error=error)
        == built(limits, (result("a"),)).degraded
    )


@pytest.mark.parametrize(("moment", "mode"), [(NOW, "run"), (PLANNED, "plan")])
def test_legacy_layers(moment: ReportStamp, mode: str) -> None:
    """In legacy mode the five old layers are filled, and the policy is named."""
    report = built(is_legacy=True, stamp=moment)

    assert (
        {"repo_root": "/repo", "repo_root_source": "git"},
        {"mode": mode},
        {"intent": "debug", "signals": ["x"]},
        ["a", "b"],
        {"wall_ms": 5000, "max_concurrency": 3, "max_injected_chars": 12000},
        "legacy",
    ) == (
        report.project_profile,
        report.current_state,
        report.task_context,
        report.recommended_tools,
        report.constraints,
        report.enforcement.source,
    )


def test_no_legacy_layers() -> None:
    """Otherwise the five layers are empty."""
    report = built()

    assert ({}, {}, {}, [], {}) == (
        report.project_profile,
        report.current_state,
        report.task_context,
        report.recommended_tools,
        report.constraints,
    )
