"""The policies: one behaviour a file, an imperative phrase as its name. ``POLICIES`` is the sorted list of them.

Invariant: a hook imports only the policies that handle its event.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from upbeat.core.policy.definition import Policy

if TYPE_CHECKING:
    POLICIES: tuple[Policy, ...]
    POLICIES_BY_NAME: dict[str, Policy]

EVENTS_BY_MODULE = {
    "announce_startup": "SessionStarted",
    "answer_own_commands": "PromptSubmitted",
    "block_destructive_commands": "ToolStarting",
    "block_duplicate_task_list": "ToolStarting",
    "block_interactive_commands": "ToolStarting",
    "enforce_todo_completion": (
        "CompactionStarting PromptSubmitted SessionStarted SubagentRequested ToolFinished "
        "ToolStarting TurnEnding TurnFailed TurnInterrupted UserQuestionRequested"
    ),
    "expand_prompt_prefix": "PromptSubmitted",
    "expand_slash_command": "PromptSubmitted",
    "explain_subagent_resume": "SubagentReturned",
    "flag_empty_answer": "SubagentEnding SubagentReturned",
    "flag_redundant_comments": "ToolFinished",
    "inject_folder_agents_md": "ToolFinished",
    "inject_folder_readme": "ToolFinished",
    "inject_path_rules": "ToolFinished",
    "introduce_commands": "SessionStarted",
    "kill_tmux_sessions": "SessionEnded ToolFinished ToolStarting",
    "notify_when_done": "PromptSubmitted TurnEnding",
    "protect_own_controls": "ToolStarting",
    "pursue_goal": (
        "CompactionStarting PromptSubmitted SessionStarted SubagentRequested ToolStarting "
        "TurnEnding TurnFailed TurnInterrupted UserQuestionRequested"
    ),
    "recover_from_failed_delegation": "SubagentReturned",
    "recover_from_failed_edit": "ToolFinished",
    "recover_from_failed_tool": "ToolFinished",
    "recover_from_invalid_json": "SubagentReturned ToolFinished",
    "remind_about_stale_todos": "ToolFinished",
    "report_context_usage": "PromptSubmitted ToolFinished",
    "require_read_before_write": "ToolFinished ToolStarting",
    "restore_context_after_compaction": (
        "PromptSubmitted SessionStarted SubagentEnding SubagentReturned SubagentStarted"
    ),
    "restore_todos_after_compaction": "SessionStarted ToolFinished",
    "restrict_planner_writes": "SubagentStarted ToolStarting",
    "share_notes_with_subagents": "SubagentRequested SubagentStarted",
    "start_feature": "PromptSubmitted",
    "suggest_compaction": "PromptSubmitted TurnEnding",
    "suggest_delegation": "SubagentRequested ToolFinished",
    "suggest_subagents": "SubagentRequested ToolFinished",
    "suspend_continuation": "PromptSubmitted TurnEnding",
    "truncate_question_labels": "UserQuestionRequested",
    "truncate_tool_output": "ToolFinished",
    "verify_subagent_changes": "PromptSubmitted SubagentEnding SubagentReturned ToolFinished",
    "warn_about_silent_subagents": (
        "PromptSubmitted SessionStarted SubagentEnding SubagentReturned SubagentStarted ToolFinished"
    ),
}
"""Each policy's module, and the events that it handles."""


@cache
def policies_handling(event_name: str) -> tuple[Policy, ...]:
    """Return the policies that handle events of this type, sorted by name."""
    modules = (name for name, names in EVENTS_BY_MODULE.items() if event_name in names.split())
    return tuple(map(_load_policy, modules))


def _load_policy(module: str) -> Policy:
    policy: Policy = import_module(f"upbeat.core.policies.{module}").POLICY
    return policy


def __getattr__(name: str) -> Any:
    """Import all policies for whoever needs the whole list."""
    if name not in ("POLICIES", "POLICIES_BY_NAME"):
        raise AttributeError(name)
    policies = tuple(map(_load_policy, EVENTS_BY_MODULE))
    globals().update(POLICIES=policies, POLICIES_BY_NAME={policy.name: policy for policy in policies})
    return globals()[name]
