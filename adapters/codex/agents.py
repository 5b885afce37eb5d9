"""Render the skills of Codex's plugin and the role files of its agents.

Invariant: a command is a skill that the model does not see until the user calls it (``$upbeat:standard …``). Codex
loads no agents from a plugin: each one is a role file in Codex's own folder.
"""

from __future__ import annotations

import json

from upbeat.adapters.agents import AgentText, CommandText, load_agents, load_commands

REASONING_EFFORT = {"strong": "high", "fast": "low"}
DELEGATION_INSTRUCTIONS = (
    "Call your subagent tool with the agent type `upbeat:<agent>`. If that type does not exist, or the tool takes\n"
    "  no type, start the message with `[upbeat:<agent>]`. If the tool takes a task name, use `upbeat_<agent>`, then\n"
    "  `upbeat_<agent>_2`, and so on.\n"
    "- Wait for every subagent before you end the turn. Close each one after it answers: at most six can be open."
)
HIDDEN_SKILL_POLICY = "policy:\n  allow_implicit_invocation: false\n"


def plugin_files() -> dict[str, str]:
    """Return the rendered files, by their path in the plugin."""
    files = {f"roles/upbeat-{agent.name}.toml": _role(agent) for agent in load_agents()}
    for command in load_commands(DELEGATION_INSTRUCTIONS):
        files[f"skills/{command.name}/SKILL.md"] = _skill(command)
        files[f"skills/{command.name}/agents/openai.yaml"] = HIDDEN_SKILL_POLICY
    return files


def _role(agent: AgentText) -> str:
    fields = {"name": f"upbeat:{agent.name}", "description": agent.description}
    if effort := REASONING_EFFORT.get(agent.model):
        fields["model_reasoning_effort"] = effort
    if agent.access == "read":
        fields["sandbox_mode"] = "read-only"
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([*lines, f"developer_instructions = '''\n{agent.body}'''", ""])


def _skill(command: CommandText) -> str:
    description = json.dumps(command.description, ensure_ascii=False)
    return f"---\nname: {command.name}\ndescription: {description}\n---\n\n{command.body}"
