"""Let planning agents write plans only."""

from __future__ import annotations

from upbeat.core import lazy_re as re
from upbeat.core.contract.effect import Deny
from upbeat.core.contract.event import FILE_CHANGING_KINDS, SubagentStarted, ToolStarting
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

PLANNING_AGENTS = frozenset({"planner", "product-manager", "architect", "designer"})
"""upbeat's agents that plan and do not implement."""

PLAN_FOLDERS = ("specs/", ".upbeat/", "docs/")
"""Folders of plans, relative to the repository."""

_PLAN_SUFFIXES = (".md", ".mdx", ".markdown")
_AGENT_TYPE = re.compile(r"upbeat[:_-]([a-z_-]{1,40})")
_MAX_AGENTS = 40


def _on_subagent_started(event: SubagentStarted, context: PolicyContext) -> PolicyResult:
    match = _AGENT_TYPE.fullmatch(event.agent_type.strip().lower()[:60])
    kind = match[1].replace("_", "-") if match else ""
    if kind not in PLANNING_AGENTS or not event.agent_id or len(event.agent_id) > 100 or " " in event.agent_id:
        return NO_RESULT
    return PolicyResult(notes=(*context.notes, f"{event.agent_id} {kind}")[-_MAX_AGENTS:])


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    kinds = dict(note.split(" ", 1) for note in context.notes if " " in note)
    kind = kinds.get(event.source.agent_id)
    path = next((path for path in event.call.paths if not _is_plan(path, context.root)), "")
    if not kind or not path:
        return NO_RESULT
    shown = path.removeprefix(f"{context.root}/")[:120]
    text = context.text("text", path=shown, kind=kind, folders=", ".join(f"`{folder}`" for folder in PLAN_FOLDERS))
    return PolicyResult((Deny(text),), f"the {kind} may only write plans", mentioned_paths=(path,))


def _is_plan(path: str, root: str) -> bool:
    inside = path.removeprefix(f"{root}/")
    return inside != path and inside.startswith(PLAN_FOLDERS) and inside.lower().endswith(_PLAN_SUFFIXES)


POLICY = Policy(
    name="restrict-planner-writes",
    handlers={
        SubagentStarted: Handler(_on_subagent_started),
        ToolStarting: Handler(_on_tool_starting, tools=FILE_CHANGING_KINDS, needs_notes=True),
    },
    effects=(Deny,),
    survives_compaction=True,
    rank=20,
)
