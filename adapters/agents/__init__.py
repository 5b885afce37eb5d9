"""The prompts of agents and commands, shared by the plugins of all clients.

Invariant: access and verdicts are defined in ``config/workflows.toml`` and prompts in the data files of this folder.
Nothing is defined twice: each client's plugin is generated from both (``just generate``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

TEXTS_FOLDER = Path(__file__).resolve().parent
REGISTRY_FILE = TEXTS_FOLDER.parent.parent / "config" / "workflows.toml"

SHORT_COMMAND_NAMES = {"review-only": "review", "security-only": "security", "e2e-only": "e2e"}
"""Workflow name -> name of its command, where that is shorter."""


@dataclass(frozen=True, slots=True)
class AgentText:
    """One agent: its prompt with all skills included, its access level and its model tier."""

    name: str
    description: str
    body: str
    access: str
    model: str


@dataclass(frozen=True, slots=True)
class CommandText:
    """One command that users call by name.

    ``allowed_tools`` lists what it may run without asking, in the syntax of Claude Code; other clients ask.
    """

    name: str
    description: str
    body: str
    argument_hint: str = ""
    allowed_tools: str = ""


def load_agents() -> list[AgentText]:
    """Return every agent of the registry with its prompt."""
    registry = _load_toml(REGISTRY_FILE)
    return [_load_agent(name, entry, registry["stages"]) for name, entry in registry["agents"].items()]


def load_commands(delegation_hint: str) -> list[CommandText]:
    """Return one command per workflow, then the control commands; ``delegation_hint`` is specific to the client."""
    texts, workflows = _load_toml(TEXTS_FOLDER / "commands.toml"), _load_toml(REGISTRY_FILE)["workflows"]
    return [
        CommandText(
            SHORT_COMMAND_NAMES.get(name, name),
            f"{entry['text']['en']} · {entry['text']['zh']}",
            texts["workflow"].format(name=name, delegation=delegation_hint),
            argument_hint="goal",
        )
        for name, entry in workflows.items()
    ] + [CommandText(**entry) for entry in texts["commands"]]


def _load_toml(path: Path) -> Mapping[str, Any]:
    return tomli.loads(path.read_text(encoding="utf-8"))


def _read_text_file(path: Path) -> tuple[str, str]:
    """Return the first line, which describes the file, and the rest."""
    description, _, body = path.read_text(encoding="utf-8").partition("\n")
    return description.strip(), body.strip() + "\n"


def _load_agent(name: str, entry: Mapping[str, Any], stages: Mapping[str, Any]) -> AgentText:
    description, body = _read_text_file(TEXTS_FOLDER / "roles" / f"{name}.md")
    parts = [body]
    for skill in entry.get("skills", ()):
        # Included in full: a client cannot preload a skill that it hides from the model, an agent needs a permission
        # to read a file of the plugin, and a skill that is not hidden is part of every session's prompt.
        title, text = _read_text_file(TEXTS_FOLDER / "skills" / f"{skill}.md")
        parts.append(f"## {title.rstrip('.')}\n\n{text}")
    own = [stage for stage in stages.values() if stage["agent"] == name]
    if verdicts := dict.fromkeys(word.upper() for stage in own for word in stage.get("verdicts", ["pass"])):
        markers = "\n".join(f'<!-- VERDICT: {{"result":"{word}"}} -->' for word in verdicts)
        which = ", one of" if len(verdicts) > 1 else ""
        parts.append(_load_toml(TEXTS_FOLDER / "commands.toml")["report"].format(which=which, markers=markers))
    return AgentText(name, description, "\n".join(parts), entry.get("access", "all"), entry.get("model", "standard"))
