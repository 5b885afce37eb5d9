"""What ``upbeat prepare --text`` shows: golden in both languages, and no line is too wide."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.core.contract import report as contract
from upbeat.core.contract.codes import ErrorCode, LimitCode
from upbeat.core.messages.catalogue import LANGUAGES
from upbeat.core.messages.layout import Screen, to_text
from upbeat.core.turn.plan import EMPTY_PLAN
from upbeat.core.turn.render import RenderedContext
from upbeat.core.turn.report import ReportStamp, assemble_report
from upbeat.core.turn.screen import turn_screen

EXPECTED = Path(__file__).parent / "expected"
AT = "2026-01-02T03:04:05Z"
OK = contract.ToolResult(
    tool="ci_search", status="ok", started_at=AT, duration_ms=131, summary="5 files of 9 searched, first shop/cart.py"
)
LATE = contract.ToolResult(
    tool="mine__issues",
    status="timeout",
    started_at=AT,
    duration_ms=2000,
    error=contract.ToolError(code=ErrorCode.TIMEOUT, message="no answer in 2000 ms"),
)


def item(path: str, symbol: str, why: str) -> contract.Item:
    return contract.Item(
        kind="symbol", path=path, symbol=symbol, start_line=17, end_line=20, score=1, why=why, tool="ci_search"
    )


def report(*items: contract.Item, results: tuple[contract.ToolResult, ...] = (OK, LATE)) -> contract.TurnReport:
    made = assemble_report(
        run_id="r",
        stamp=ReportStamp(datetime(2026, 1, 2, tzinfo=UTC), "0" * 12, is_plan_mode=False),
        client=contract.Client(name="cli", event="cli"),
        inputs=contract.Inputs(prompt="x", repo_root="/r", repo_root_source="git"),
        plan=EMPTY_PLAN,
        results=results,
        rendered=RenderedContext("x" * 1234 if items else ""),
        limits=[contract.Limit.of(LimitCode.TIER2_DISABLED), contract.Limit.of(LimitCode.TOOL_TIMEOUT, "mine__issues")],
        is_legacy=False,
    )
    model = made.fused_context.for_model.model_copy(update={"structured": contract.Structured(items=list(items))})
    return made.model_copy(update={"fused_context": made.fused_context.model_copy(update={"for_model": model})})


ITEMS = (
    item("shop/cart.py", "total_price", "named in the query; words price, total"),
    item("shop/订单处理.py", "处理订单", "called by test_a_full_cart_costs_less (tests/test_cart.py:4), and by others"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_golden(language: str) -> None:
    """The answer, the tools with their results, the places, and what went wrong; limits by default are left out."""
    expected = (EXPECTED / f"turn_screen_{language}.txt").read_text(encoding="utf-8")

    assert expected == to_text(turn_screen(report(*ITEMS), Screen(language))) + "\n"


def test_nothing_was_found() -> None:
    """Without context the first line says so, with the reason."""
    assert to_text(turn_screen(report(results=()), Screen())).startswith("Nothing is added to this prompt: ")


@given(st.text(max_size=80), st.text(max_size=80), st.integers(40, 100))
def test_no_line_is_wider_than_the_screen(path: str, why: str, columns: int) -> None:
    """Whatever the paths and reasons are, every line fits."""
    lines = turn_screen(report(item(path, why, why)), Screen("zh", columns))

    assert [] == [line for line in lines if wcswidth(line.text) > columns]
