"""The commands of Codex's plugin and the roles beside it, rendered from the playbook.

Law: a command is a skill that the model does not see until its user calls it (``$upbeat:standard …``). Codex takes
no agents from a plugin: each one is a role file, for its user to copy into Codex's own folder.
"""

from __future__ import annotations

import json

from ..playbook import AgentText, CommandText, agents, commands

EFFORT = {"strong": "high", "fast": "low"}
DELEGATING = (
    "Use your tool for agents with `upbeat:<agent>` as the agent's type. Where there is no such type, or none can be\n"
    "  given, open its message with `[upbeat:<agent>]`, and call the task `upbeat_<agent>` if it takes a name\n"
    "  (`upbeat_<agent>_2` and so on when there was one).\n"
    "- Wait for every agent before the turn ends, and close it once it has answered: there is room for six at a time."
)
HIDDEN = "policy:\n  allow_implicit_invocation: false\n"


def files() -> dict[str, str]:
    """The files of the plugin, by their path in it."""
    found = {f"roles/upbeat-{agent.name}.toml": _role(agent) for agent in agents()}
    for command in commands(DELEGATING):
        found[f"skills/{command.name}/SKILL.md"] = _skill(command)
        found[f"skills/{command.name}/agents/openai.yaml"] = HIDDEN
    return found


def _role(agent: AgentText) -> str:
    fields = {"name": f"upbeat:{agent.name}", "description": agent.description}
    if effort := EFFORT.get(agent.model):
        fields["model_reasoning_effort"] = effort
    if agent.access == "read":
        fields["sandbox_mode"] = "read-only"
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([*lines, f"developer_instructions = '''\n{agent.body}'''", ""])


def _skill(command: CommandText) -> str:
    description = json.dumps(command.description, ensure_ascii=False)
    return f"---\nname: {command.name}\ndescription: {description}\n---\n\n{command.body}"
