"""Explain how to go on after a tool failed that neither changes files nor starts subagents."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import READING_KINDS, ToolFinished, ToolKind
from upbeat.core.package_data import load_toml
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

MAX_SCANNED_CHARS = 1000
"""Length of the scanned part of an error."""

_CAUSES = {
    key: re.compile(pattern, re.IGNORECASE)
    for key, pattern in load_toml(__package__, "errors.toml")["recover-from-failed-tool"].items()
}


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if not event.has_failed or event.was_interrupted:
        return NO_RESULT
    error = event.output[:MAX_SCANNED_CHARS]
    cause = next((key for key, pattern in _CAUSES.items() if pattern.search(error)), "")
    if not cause:
        return NO_RESULT
    effect = InjectContext(context.text("text", tool=event.call.tool[:80], cause=context.text(cause)))
    return PolicyResult((effect,), f"a call failed: {cause.removeprefix('cause_').replace('_', ' ')}")


POLICY = Policy(
    name="recover-from-failed-tool",
    handlers={ToolFinished: Handler(_on_tool_finished, tools=READING_KINDS | {ToolKind.OTHER})},
    effects=(InjectContext,),
    required_trait="reports_failures",
)
