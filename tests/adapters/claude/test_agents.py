"""The agents and commands of Claude Code's plugin: names, and what an agent may not call."""

from __future__ import annotations

from upbeat.adapters.agents import AgentText, CommandText, load_agents, load_commands
from upbeat.adapters.claude import agents


def test_every_agent_and_command_has_one_file() -> None:
    """The plugin has one Markdown file for each agent and each command, and nothing else."""
    expected = {f"agents/{agent.name}.md" for agent in load_agents()}
    expected |= {f"commands/{command.name}.md" for command in load_commands("")}

    assert expected == set(agents.plugin_files())


def test_an_agent_that_reads_cannot_write() -> None:
    """Read access allows only tools that read; a description with a colon is quoted."""
    agent = AgentText("scout", "Scout: reads", "Look.\n", "read", "fast")

    assert (
        '---\nname: scout\ndescription: "Scout: reads"\nmodel: haiku\ntools: Read, Grep, Glob, Bash\n---\n\nLook.\n'
    ) == agents._agent(agent)


def test_all_access_inherits_the_tools_of_the_session() -> None:
    """With all access an agent has every tool but those of the main agent."""
    text = agents._agent(AgentText("maker", "Makes.", "Make.\n", "all", "fast"))

    assert "disallowedTools: Agent, ListAgents, ReportFindings, ScheduleWakeup\n" in text


def test_a_command_is_hidden_from_the_model() -> None:
    """A command cannot be called by the model, and shows its argument in brackets."""
    command = CommandText("go", "Goes", "Go.\n", argument_hint="goal")

    assert (
        '---\ndescription: Goes\ndisable-model-invocation: true\nargument-hint: "[goal]"\n---\n\nGo.\n'
    ) == agents._command(command)
