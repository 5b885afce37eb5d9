"""The skills and roles of Codex's plugin."""

from __future__ import annotations

import tomli

from upbeat.adapters.agents import AgentText, load_agents, load_commands
from upbeat.adapters.codex import agents


def test_every_agent_is_a_role_and_every_command_a_hidden_skill() -> None:
    """There is one role for each agent and, for each command, a skill that the model does not call by itself."""
    files = agents.plugin_files()
    skills = [command.name for command in load_commands("")]

    assert {
        *(f"roles/upbeat-{agent.name}.toml" for agent in load_agents()),
        *(f"skills/{name}/SKILL.md" for name in skills),
        *(f"skills/{name}/agents/openai.yaml" for name in skills),
    } == set(files)
    assert {agents.HIDDEN_SKILL_POLICY} == {files[f"skills/{name}/agents/openai.yaml"] for name in skills}


def test_a_role_that_reads_runs_in_a_read_only_sandbox() -> None:
    """Read access becomes a read-only sandbox, and the model tier an effort."""
    role = tomli.loads(agents._role(AgentText("scout", 'Says "hi"', "Look.\n", "read", "fast")))

    assert {
        "name": "upbeat:scout",
        "description": 'Says "hi"',
        "model_reasoning_effort": "low",
        "sandbox_mode": "read-only",
        "developer_instructions": "Look.\n",
    } == role
