"""The agents and commands of Claude Code's plugin, rendered from the playbook.

Law: what stands in a description is in the prompt of every session, so it is one short sentence; what can be
hidden from the model until it is called is hidden. No agent gets a permission that its user did not give.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..playbook import AgentText, CommandText, agents, commands

MODELS = {"strong": "opus", "standard": "sonnet", "fast": "haiku"}
DENIED = {"read": ("Write", "Edit", "NotebookEdit", "Agent"), "write": ("NotebookEdit", "Agent"), "all": ()}
"""What an agent with this access cannot call."""
DENIED_ALSO = {"qa": ("Edit",)}
"""It writes its report, and mends nothing."""
DELEGATING = "Use the Agent tool with `upbeat:<agent>` as its type."
ALLOWED_ONLY = {"grader": ("Read", "Bash")}


def files() -> dict[str, str]:
    """The files of the plugin, by their path in it."""
    return {f"agents/{agent.name}.md": _agent(agent) for agent in agents()} | {
        f"commands/{command.name}.md": _command(command) for command in commands(DELEGATING)
    }


def _agent(agent: AgentText) -> str:
    fields = {"name": agent.name, "description": agent.description, "model": MODELS[agent.model]}
    denied = (*DENIED_ALSO.get(agent.name, ()), *DENIED[agent.access])
    if allowed := ALLOWED_ONLY.get(agent.name):
        fields["tools"] = ", ".join(allowed)
    elif denied:
        fields["disallowedTools"] = ", ".join(denied)
    return _with_front(fields, agent.body)


def _command(command: CommandText) -> str:
    fields = {"description": command.description, "disable-model-invocation": "true"}
    if command.hint:
        fields["argument-hint"] = f"[{command.hint}]"
    if command.tools:
        fields["allowed-tools"] = command.tools
    return _with_front(fields, command.body)


def _with_front(fields: Mapping[str, str], body: str) -> str:
    """``body`` below its fields. Values are plain YAML words, so what could be read as more is put in quotes."""
    lines = (f"{name}: {_quoted(value)}" for name, value in fields.items())
    return "\n".join(["---", *lines, "---", "", body])


def _quoted(value: str) -> str:
    is_plain = not any(mark in value for mark in (": ", " #", '"', "'")) and value[0] not in "[{*&!|>%@`-"
    return value if is_plain else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
