"""Explain how to fix an edit that did not apply, and a file that could not be written."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import FILE_CHANGING_KINDS, ToolFinished
from upbeat.core.lazy_dataclass import replace
from upbeat.core.package_data import load_toml
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

_CAUSES = {
    key: re.compile(pattern, re.IGNORECASE)
    for key, pattern in load_toml(__package__, "errors.toml")["recover-from-failed-edit"].items()
}
_SYSTEM_CAUSES = frozenset({"cause_permission", "cause_read_only", "cause_full", "cause_folder", "cause_no_folder"})
_FAILED_PATCH = re.compile(r"(?:Script error:\s*)?apply_patch verification failed|Exit code: [1-9]")
"""Beginning of the output of a patch that did not apply, for clients that report it only as text."""

MAX_SCANNED_CHARS = 2000
"""Length of the scanned part of an error, without the old text that it quotes."""


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.was_interrupted:
        return NO_RESULT
    if not event.has_failed and not _FAILED_PATCH.match(event.output):
        return NO_RESULT
    error = event.output[:MAX_SCANNED_CHARS].partition("\nString: ")[0]
    cause = next((key for key, pattern in _CAUSES.items() if pattern.search(error)), "")
    if not cause:
        return NO_RESULT
    path = ", ".join(event.call.paths[:3]) or event.call.tool
    text = context.text("not_written" if cause in _SYSTEM_CAUSES else "text", path=path, cause=context.text(cause))
    return PolicyResult(
        (InjectContext(text),), replace(context, language="en").text(cause), mentioned_paths=event.call.paths
    )


POLICY = Policy(
    name="recover-from-failed-edit",
    handlers={ToolFinished: Handler(_on_tool_finished, tools=FILE_CHANGING_KINDS)},
    effects=(InjectContext,),
    required_trait="reports_failures",
)
