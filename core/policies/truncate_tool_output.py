"""Truncate the middle of tool output that would fill the context window.

A token counts as four bytes. The head and the tail are kept; a note between them says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.core.contract.effect import RewriteOutput
from upbeat.core.contract.event import ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery, Query
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text, truncate_to_limit
from upbeat.core.workflow.state import SessionState

BYTES_PER_TOKEN = 4

TOKEN_LIMITS: Mapping[ToolKind, int] = {ToolKind.SEARCH: 50_000, ToolKind.OTHER: 50_000, ToolKind.FETCH: 10_000}
"""Maximum tokens per kind of tool; ``OTHER`` is mostly tools of MCP servers."""

MAX_FRACTION_OF_FREE_WINDOW = 0.5
"""Share of the remaining context window that one result may take."""

MIN_TOKENS = 2_000
"""Results of fewer tokens are never truncated."""

_HEAD_FRACTION = 0.7
"""Share of the kept text that comes from the beginning."""


def _queries(event: ToolFinished, _state: SessionState) -> tuple[Query, ...]:
    return (ContextUsageQuery(),) if _may_be_long(event) else ()


def _may_be_long(event: ToolFinished) -> bool:
    return not event.has_failed and _count_tokens(event.output) > MIN_TOKENS


def _count_tokens(text: str) -> int:
    return measure_text(text, LengthUnit.UTF8) // BYTES_PER_TOKEN if 4 * len(text) > MIN_TOKENS * BYTES_PER_TOKEN else 0


def token_limit(tool_kind: ToolKind, usage: ContextUsage | None) -> int:
    """Return the maximum tokens of a result: the fixed limit, or less if the context window is nearly full."""
    limit = TOKEN_LIMITS[tool_kind]
    if usage is None or not usage.window:
        return limit
    return max(min(limit, int(MAX_FRACTION_OF_FREE_WINDOW * (usage.window - usage.tokens))), MIN_TOKENS)


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if not _may_be_long(event):
        return NO_RESULT
    size = _count_tokens(event.output)
    limit = token_limit(event.call.kind, context.query_results.get(ContextUsageQuery()))
    if size <= limit:
        return NO_RESULT
    return PolicyResult((RewriteOutput(_truncate(event, limit, context)),), f"about {size} tokens, limit {limit}")


def _truncate(event: ToolFinished, max_tokens: int, context: PolicyContext) -> str:
    """Return head and tail of the output in about ``max_tokens`` tokens, cut at line ends where possible."""
    text, max_bytes = event.output, max_tokens * BYTES_PER_TOKEN
    first = int(max_bytes * _HEAD_FRACTION)
    head = truncate_to_limit(text[: first + 1], TextLimit(first, LengthUnit.UTF8), note="")[0]
    tail = _tail(text, len(head), max_bytes - measure_text(head, LengthUnit.UTF8))
    gap = text[len(head) : len(text) - len(tail)]
    hint = context.text(f"retry_{event.call.kind}")
    lines, tokens = gap.count("\n") + 1, measure_text(gap, LengthUnit.UTF8) // BYTES_PER_TOKEN
    note = context.text("omission_note", tokens=tokens, lines=lines, tool=event.call.tool[:80], way=hint)
    return f"{head.rstrip()}{note}{tail.lstrip()}"


def _tail(text: str, start: int, max_bytes: int) -> str:
    """Return the end of ``text`` after ``start`` in ``max_bytes``, from a line start in its first tenth if any."""
    index = max(start, len(text) - max_bytes)
    while index < len(text) and measure_text(text[index:], LengthUnit.UTF8) > max_bytes:
        index += max((measure_text(text[index:], LengthUnit.UTF8) - max_bytes) // 4, 1)
    line = text.find("\n", index, index + max((len(text) - index) // 10, 1))
    return text[line + 1 :] if line >= 0 else text[index:]


POLICY = Policy(
    name="truncate-tool-output",
    handlers={ToolFinished: Handler(_on_tool_finished, _queries, tools=frozenset(TOKEN_LIMITS))},
    effects=(RewriteOutput,),
    native_trait="shortens_output",
)
