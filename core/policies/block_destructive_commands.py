"""Block commands that destroy data irrecoverably; ask about commands that might."""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.contract.effect import Deny, Effect, RequestApproval
from upbeat.core.contract.event import ToolStarting
from upbeat.core.destructive import Hazard, Severity, ShellLocation, find_hazards
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.changed_files import MAX_QUERIED_FILES
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery, Query
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.state import SessionState

MAX_LISTED_HAZARDS = 3
_CHANGES_QUERY = ChangedFilesQuery()


def _queries(event: ToolStarting, state: SessionState) -> tuple[Query, ...]:
    """Query the changed files only if a hazard depends on uncommitted changes."""
    hazards = find_hazards(event.command, ShellLocation(state.root, event.source.cwd))
    return (_CHANGES_QUERY,) if any(hazard.lost_path is not None for hazard in hazards) else ()


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    hazards = find_hazards(event.command, ShellLocation(context.root, event.source.cwd))
    rated = [(hazard, _effective_severity(hazard, context)) for hazard in hazards]
    denied = [hazard for hazard, severity in rated if severity is Severity.DENY]
    asked = [hazard for hazard, severity in rated if severity is Severity.ASK]
    if not denied and not asked:
        return NO_RESULT
    worst = (denied or asked)[:MAX_LISTED_HAZARDS]
    reasons = dict.fromkeys(f"{hazard.kind}: {hazard.target[:60]}" for hazard in worst)
    return PolicyResult((_build_effect(worst, context, is_denied=bool(denied)),), "; ".join(reasons))


def _effective_severity(hazard: Hazard, context: PolicyContext) -> Severity:
    """Return the severity given the uncommitted changes; if they are unknown, the worse one."""
    changed: Sequence[ChangedFile] | None = context.query_results.get(_CHANGES_QUERY)
    if hazard.lost_path is None or changed is None:
        return hazard.severity
    folder = f"{hazard.lost_path.rstrip('/')}/" if hazard.lost_path else ""
    is_lost = any(
        f"{file.path}/".startswith(folder)
        for file in changed
        if file.removed is not None or not hazard.ignores_untracked
    )
    may_have_more = len(changed) >= MAX_QUERIED_FILES
    return hazard.severity if is_lost or may_have_more else hazard.severity_if_clean


def _build_effect(hazards: Sequence[Hazard], context: PolicyContext, *, is_denied: bool) -> Effect:
    messages = load_messages("hazards", context.language)
    acts = [messages.group("descriptions")[hazard.kind].format(target=hazard.target[:100]) for hazard in hazards]
    ways = dict.fromkeys(
        messages.group("alternatives")[hazard.kind].format(safe_command=hazard.safe_command[:100]) for hazard in hazards
    )
    joint, space = ("；", "") if context.language == "zh" else ("; ", " ")
    text = context.text(
        "deny" if is_denied else "ask", acts=SafeText(joint.join(dict.fromkeys(acts))), ways=SafeText(space.join(ways))
    )
    return Deny(text + context.text("override_hint")) if is_denied else RequestApproval(text)


POLICY = Policy(
    name="block-destructive-commands",
    handlers={ToolStarting: Handler(_on_tool_starting, _queries)},
    effects=(Deny, RequestApproval),
    rank=10,
)
