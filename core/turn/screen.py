"""What ``upbeat prepare --text`` shows of a turn: what it found, which tools ran, and what the model gets."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Item, ToolResult, TurnReport
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import Messages, format_count, load_messages
from upbeat.core.messages.layout import Line, Mark, Screen

INDENT = "  "
_MARKS = {"ok": layout.GOOD, "skipped": layout.QUIET}


def turn_screen(report: TurnReport, screen: Screen, *, is_plan: bool = False) -> Iterator[Line]:
    """Yield the lines of ``report``; with ``is_plan`` what would run."""
    texts, context = load_messages("screens", screen.language).group("prepare"), report.fused_context.for_model
    items, text = context.structured.items, context.additional_context
    told = [limit.text for limit in report.limits if limit.code != LimitCode.TIER2_DISABLED]
    yield from layout.headline(_answer(report, texts, screen, told, is_plan=is_plan), screen)
    if report.tool_results:
        yield Line("")
        yield from _tool_lines(report.tool_results, screen)
    elif report.tool_plan.tools:
        yield Line("")
        planned = [(tool.tool, tool.reason, f"≤ {tool.timeout_ms} ms") for tool in report.tool_plan.tools]
        yield from layout.table(planned, screen, INDENT, [layout.QUIET] * len(planned))
    if items:
        yield Line("")
        yield from layout.paragraph(texts["gets"], screen)
        yield from layout.table([_item_row(item) for item in items], screen, INDENT)
    if told and (text or report.tool_results or is_plan):
        yield Line("")
        for limit in told:
            yield from layout.marked(layout.ATTENTION, limit, screen)
    if text:
        yield Line("")
        yield from layout.paragraph(texts["raw"], screen)


def _answer(report: TurnReport, texts: Messages, screen: Screen, told: list[str], *, is_plan: bool) -> str:
    context, language = report.fused_context.for_model, screen.language
    if is_plan:
        return texts["planned"].format(count=len(report.tool_plan.tools))
    if not context.additional_context:
        return texts["nothing"].format(reason="; ".join(told) or texts["nothing_found"])
    files = len({item.path for item in context.structured.items})
    return texts["found"].format(
        files=format_count("file", files, language),
        characters=format_count("character", len(context.additional_context), language),
        took=max((result.duration_ms for result in report.tool_results), default=0),
    )


def _tool_lines(results: list[ToolResult], screen: Screen) -> Iterator[Line]:
    rows, marks = list[tuple[str, ...]](), list[Mark]()
    for result in results:
        problem = f"{result.status}: {result.error.message}" if result.error else result.status
        about = result.summary if result.status == "ok" else problem
        rows.append((result.tool, f"{result.duration_ms:>4} ms", about))
        marks.append(_MARKS.get(result.status, layout.BAD))
    yield from layout.table(rows, screen, INDENT, marks)


def _item_row(item: Item) -> tuple[str, ...]:
    """Return the place of a finding, and its symbol with the reason."""
    lines = f"{item.start_line}-{item.end_line}" if item.end_line > item.start_line else str(item.start_line or "")
    return f"{item.path}:{lines}".rstrip(":"), layout.join([item.symbol, item.why])
