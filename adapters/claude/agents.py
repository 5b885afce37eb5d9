"""Render the agents and commands of Claude Code's plugin.

Invariant: a description is part of every session's prompt, so it is one short sentence; commands are hidden from the
model until they are called. No agent gets a permission that the user did not grant. The definitions of an agent's tools
are part of each of its requests, so an agent that only reads or writes files gets no others.
"""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.adapters.agents import AgentText, CommandText, load_agents, load_commands

MODELS = {"strong": "opus", "standard": "sonnet", "fast": "haiku"}
READING_TOOLS = ("Read", "Grep", "Glob", "Bash")
ALLOWED_TOOLS = {"read": READING_TOOLS, "write": (*READING_TOOLS, "Write", "Edit")}
"""Access level -> the tools of the agent; with all access it inherits those of the session, with the user's servers."""
DENIED_TOOLS = ("Agent", "ListAgents", "ReportFindings", "ScheduleWakeup")
"""What an agent does not inherit: the main agent coordinates."""
EXTRA_DENIED_TOOLS = {"qa": ("Edit", "NotebookEdit")}
"""qa tries the result with any tool of the session, such as a browser; it writes a report and fixes nothing."""
DELEGATION_INSTRUCTIONS = "Call the Agent tool with `upbeat:<agent>` as `subagent_type`."
ONLY_TOOLS = {"grader": ("Read", "Bash")}


def plugin_files() -> dict[str, str]:
    """Return the rendered files, by their path in the plugin."""
    return {f"agents/{agent.name}.md": _agent(agent) for agent in load_agents()} | {
        f"commands/{command.name}.md": _command(command) for command in load_commands(DELEGATION_INSTRUCTIONS)
    }


def _agent(agent: AgentText) -> str:
    fields = {"name": agent.name, "description": agent.description, "model": MODELS[agent.model]}
    extra = EXTRA_DENIED_TOOLS.get(agent.name, ())
    allowed = ONLY_TOOLS.get(agent.name, ALLOWED_TOOLS.get(agent.access, ()))
    if allowed and not extra:
        fields["tools"] = ", ".join(allowed)
    else:
        fields["disallowedTools"] = ", ".join((*extra, *DENIED_TOOLS))
    return _with_front_matter(fields, agent.body)


def _command(command: CommandText) -> str:
    fields = {"description": command.description, "disable-model-invocation": "true"}
    if command.argument_hint:
        fields["argument-hint"] = f"[{command.argument_hint}]"
    if command.allowed_tools:
        fields["allowed-tools"] = command.allowed_tools
    return _with_front_matter(fields, command.body)


def _with_front_matter(fields: Mapping[str, str], body: str) -> str:
    """Return ``body`` with YAML front matter; a value that is not a plain scalar is quoted."""
    lines = (f"{name}: {_quoted(value)}" for name, value in fields.items())
    return "\n".join(["---", *lines, "---", "", body])


def _quoted(value: str) -> str:
    is_plain = not any(mark in value for mark in (": ", " #", '"', "'")) and value[0] not in "[{*&!|>%@`-"
    return value if is_plain else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
