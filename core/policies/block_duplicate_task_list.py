"""Keep the tasks of a workflow in its ``tasks.md`` only."""

from __future__ import annotations

from upbeat.core.contract.effect import Deny
from upbeat.core.contract.event import ToolKind, ToolStarting
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ExistingPathsQuery, Query
from upbeat.core.workflow.specs import STATUS_FOLDERS, FeatureStatus
from upbeat.core.workflow.state import SessionState


def _task_file(state: SessionState) -> str:
    """Return the path of the running workflow's task file, relative to the root; empty if there is none."""
    run = state.run
    if run is None or not run.is_running or not run.feature:
        return ""
    return f"{STATUS_FOLDERS[FeatureStatus.IN_PROGRESS]}/{run.feature}/tasks.md"


def _queries(_event: ToolStarting, state: SessionState) -> tuple[Query, ...]:
    path = _task_file(state)
    return (ExistingPathsQuery((f"{state.root}/{path}",)),) if path and state.root else ()


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    queries = _queries(event, context.state)
    if not queries or not context.query_results.get(queries[0]):
        return NO_RESULT
    path = _task_file(context.state)
    return PolicyResult(
        (Deny(context.text("text", path=path)),),
        "the workflow has a task file",
        mentioned_paths=(path,),
    )


POLICY = Policy(
    name="block-duplicate-task-list",
    handlers={ToolStarting: Handler(_on_tool_starting, _queries, tools=frozenset({ToolKind.TASK_LIST}))},
    effects=(Deny,),
    is_enabled_by_default=False,
)
