"""The texts of agents and commands match the registry, are short, and are the same for both clients."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tomli

from upbeat.adapters.agents import REGISTRY_FILE, load_agents, load_commands
from upbeat.adapters.agents import TEXTS_FOLDER as HERE
from upbeat.adapters.claude import agents as claude
from upbeat.adapters.codex import agents as codex
from upbeat.core.workflow.decide.command import Verb, parse_workflow_command, resolve_workflow_name
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import parse_verdict as read_verdict

ADAPTERS = Path(__file__).parents[3] / "adapters"
CONFIG: dict[str, Any] = tomli.loads(REGISTRY_FILE.read_text(encoding="utf-8"))
IN_CLAUDE, IN_CODEX = claude.plugin_files(), codex.plugin_files()
AGENTS = sorted(CONFIG["agents"])
COMMANDS = [command.name for command in load_commands("")]

MODELS = {"strong": "opus", "standard": "sonnet", "fast": "haiku"}
WRITES = {"Write", "Edit", "NotebookEdit"}


def front(text: str) -> dict[str, str]:
    """The fields above a Markdown text."""
    lines = text.split("---\n")[1].splitlines()
    return {name: value.strip('"') for name, _, value in (line.partition(": ") for line in lines)}


def body(text: str) -> str:
    return text.split("---\n", 2)[2].strip()


def test_every_agent_has_its_text() -> None:
    """The registry and the texts have the same agents, and an agent uses every skill."""
    used = {skill for agent in CONFIG["agents"].values() for skill in agent.get("skills", ())}

    assert AGENTS == sorted(path.stem for path in (HERE / "roles").glob("*.md"))
    assert used == {path.stem for path in (HERE / "skills").glob("*.md")}
    assert 17 == len(AGENTS)


@pytest.mark.parametrize("name", AGENTS)
def test_agent_of_claude(name: str) -> None:
    """An agent has the registry's model and no more than its access; nothing gives it a permission."""
    found, entry = front(IN_CLAUDE[f"agents/{name}.md"]), CONFIG["agents"][name]
    denied = set(found.get("disallowedTools", "").split(", ")) - {""}
    only = set(found.get("tools", "").split(", ")) - {""}
    access = entry.get("access", "all")

    assert (name, MODELS[entry.get("model", "standard")]) == (found["name"], found["model"])
    assert {"name", "description", "model", "tools", "disallowedTools"} >= set(found)
    assert access != "read" or WRITES | {"Agent"} <= denied or (only and not only & (WRITES | {"Agent"}))
    assert access != "write" or "Agent" in denied or (only and "Agent" not in only)
    assert access != "all" or (not only and "Agent" in denied and not WRITES & denied)


@pytest.mark.parametrize("name", AGENTS)
def test_agent_of_codex(name: str) -> None:
    """The role of Codex has the same texts; an agent with read access has a read-only sandbox."""
    role = tomli.loads(IN_CODEX[f"roles/upbeat-{name}.toml"])
    text = IN_CLAUDE[f"agents/{name}.md"]

    assert (f"upbeat:{name}", front(text)["description"]) == (role["name"], role["description"])
    assert body(text) == role["developer_instructions"].strip()
    assert (CONFIG["agents"][name].get("access") == "read") is (role.get("sandbox_mode") == "read-only")


@pytest.mark.parametrize("name", AGENTS)
def test_verdicts_of_agents(name: str) -> None:
    """The prompt of an agent names exactly the verdicts of its stages, and the sections of the handoff."""
    own = [stage for stage in CONFIG["stages"].values() if stage["agent"] == name]
    words = {word.upper() for stage in own for word in stage.get("verdicts", ["pass"])}
    text = IN_CLAUDE[f"agents/{name}.md"]
    parts = ("**Context**", "**Findings**", "**Files Modified**", "**Open Questions**")

    shown = re.findall(r'^<!-- VERDICT: \{"result":"\w+"\} -->$', text, re.MULTILINE)
    accepted = tuple(StepVerdict(word.lower()) for word in words)
    assert {StepVerdict(word.lower()) for word in words} == {read_verdict(line, accepted).verdict for line in shown}
    assert not own or all(part in text for part in parts)


@pytest.mark.parametrize("agent", load_agents(), ids=lambda agent: agent.name)
def test_agent_is_short(agent: Any) -> None:
    """The description, part of every session, is a short sentence; the text has at most 25 lines without skills."""
    own = (HERE / "roles" / f"{agent.name}.md").read_text(encoding="utf-8").splitlines()[1:]
    ending = agent.body.partition("## Report")[2].splitlines()

    assert len(agent.description) <= 90
    assert agent.description.endswith(".")
    assert len(own) + len(ending) <= 25


def test_every_workflow_has_a_command() -> None:
    """The name of a command starts its workflow in the syntax of either client."""
    started = {}
    for name in COMMANDS:
        slash, dollar = (
            parse_workflow_command(f"/upbeat:{name} add retries"),
            parse_workflow_command(f"$upbeat:{name}  add retries"),
        )
        assert slash == dollar
        assert slash is not None
        if slash.verb is Verb.START:
            assert "add retries" == slash.goal
            started[name] = resolve_workflow_name(slash.workflow, CONFIG["workflows"])

    assert set(CONFIG["workflows"]) == set(started.values())
    assert {"auto", "status", "stop", "continue", "goal", "start-feature", "mul-dev", "quiet", "why", "context"} == set(
        COMMANDS
    ) - set(started)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_hidden_from_the_model(name: str) -> None:
    """Only the user can call a command, and both clients have the same texts."""
    slash, skill = IN_CLAUDE[f"commands/{name}.md"], IN_CODEX[f"skills/{name}/SKILL.md"]

    assert "true" == front(slash)["disable-model-invocation"]
    assert "policy:\n  allow_implicit_invocation: false\n" == IN_CODEX[f"skills/{name}/agents/openai.yaml"]
    assert (name, front(slash)["description"]) == (front(skill)["name"], front(skill)["description"])
    assert "$ARGUMENTS" not in slash + skill


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_described_in_both_languages(name: str) -> None:
    """The description of a command is in English and Chinese."""
    english, _, chinese = front(IN_CLAUDE[f"commands/{name}.md"])["description"].partition(" · ")

    assert english.isascii()
    assert re.search(r"[\u4e00-\u9fff]", chinese)


@pytest.mark.parametrize(
    ("client", "folders", "files"),
    [("claude", ("agents", "commands", "skills"), IN_CLAUDE), ("codex", ("roles", "skills"), IN_CODEX)],
)
def test_no_other_files(client: str, folders: tuple[str, ...], files: dict[str, str]) -> None:
    """The plugin has no file whose source was removed."""
    plugin = ADAPTERS / client / "plugin"
    found = [path for folder in folders for path in (plugin / folder).rglob("*") if path.is_file()]

    assert set(files) == {str(path.relative_to(plugin)) for path in found}
