"""Block commands that destroy data irrecoverably; ask about commands that might."""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.contract.effect import Deny, Effect, RequestApproval
from upbeat.core.contract.event import ToolStarting
from upbeat.core.destructive import Hazard, Severity, ShellLocation, TaskScript, find_hazards, has_trigger
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.changed_files import MAX_QUERIED_FILES
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery, Query, ScriptFileReader, ScriptFilesQuery
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.state import SessionState

MAX_LISTED_HAZARDS = 3
_CHANGES_QUERY = ChangedFilesQuery()
_FILES_QUERY = ScriptFilesQuery()


@dataclass(frozen=True, eq=False)
class _ProjectScripts:
    """Implements ``core.destructive.ScriptFiles``: files as the query answered, tasks as the project defines them."""

    files: ScriptFileReader
    root: str

    def read(self, path: str) -> str | None:
        """Return the text of the file at the absolute ``path``."""
        return self.files.read(path)

    def tasks(self, words: tuple[str, ...], cwd: str) -> Sequence[TaskScript]:
        """Return the scripts of a task of the project."""
        from upbeat.core.shell.paths import Invocation
        from upbeat.core.workflow.evidence.resolve import TaskResolver

        found = TaskResolver(_BelowRoot(self.files, self.root), self.root)(Invocation(words, words, cwd or self.root))
        return tuple(TaskScript(script.text, script.arguments, script.cwd) for script in found or ())


@dataclass(frozen=True, eq=False)
class _BelowRoot:
    """Implements ``core.workflow.evidence.runner_calls.ProjectFiles``."""

    files: ScriptFileReader
    root: str

    def read(self, path: str) -> str | None:
        """Return the text of a file of the project."""
        return self.files.read(f"{self.root}/{path}")

    def exists(self, path: str) -> bool:
        """Return whether there is a file of that name that can be read."""
        return self.read(path) is not None

    def entries(self, _path: str) -> list[str]:
        """Return no names: folders are not listed."""
        return []


def _queries(event: ToolStarting, state: SessionState) -> tuple[Query, ...]:
    """Query the changed files only if a hazard depends on them, and files only if the line may run a script."""
    if not has_trigger(event.command):
        return ()
    hazards = find_hazards(event.command, ShellLocation(state.root, event.source.cwd))
    changes = (_CHANGES_QUERY,) if any(hazard.lost_path is not None for hazard in hazards) else ()
    return (*changes, _FILES_QUERY)


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    reader: ScriptFileReader | None = context.query_results.get(_FILES_QUERY)
    scripts = _ProjectScripts(reader, context.root) if reader else None
    hazards = find_hazards(event.command, ShellLocation(context.root, event.source.cwd), scripts)
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
