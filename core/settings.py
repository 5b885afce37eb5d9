"""The settings as values, the table of keys, and how layers of them become one.

Precedence: flag > environment > project file > user file > default. A project file may only tighten
until its user has trusted that content. All problems are found before any is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

from . import servers
from .contract.codes import LimitCode
from .contract.report import Limit
from .layers import MAX_PROBLEMS, Layer, did_you_mean, shown
from .servers import Server


class Switch(StrEnum):
    """``auto`` looks things up for prompts about code, ``on`` for every prompt, ``off`` never."""

    OFF = "off"
    AUTO = "auto"
    ON = "on"


class Toggle(StrEnum):
    """Off or on."""

    OFF = "off"
    ON = "on"


class Mode(StrEnum):
    """``plan`` says what would be looked up, the same for the same input, and does nothing."""

    RUN = "run"
    PLAN = "plan"


class SessionMode(StrEnum):
    """Whether codex-auto goes on with the repository's last thread."""

    RESUME = "resume_last"
    EXEC = "exec"


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force for one turn. Field names are the configuration's keys with ``_`` for ``.``."""

    enabled: Switch = Switch.AUTO
    mode: Mode = Mode.RUN
    tier_max: int = 1
    repo_root: str = ""
    budget_wall_ms: int = 5000
    budget_max_concurrency: int = 3
    budget_max_injected_chars: int = 12000
    tools_disabled: tuple[str, ...] = ()
    codex_session_mode: SessionMode = SessionMode.RESUME
    legacy: bool = False
    loop_enabled: Toggle = Toggle.ON
    loop_max_turns: int = 30
    loop_max_errors: int = 3
    loop_max_stale: int = 3
    loop_max_minutes: int = 240
    loop_max_tokens: int = 5_000_000
    workflow_believe_claims: bool = False
    journal_max_mb: int = 256
    journal_max_days: int = 90
    observations_enabled: bool = False
    index_enabled: Toggle = Toggle.ON
    index_max_mb: int = 512
    policies_on: tuple[str, ...] = ()
    policies_off: tuple[str, ...] = ()
    rules_hookify: str = "codex"
    inject_max_chars_turn: int = 6000
    inject_max_chars_session: int = 60000
    inject_hold_out: int = 0
    servers: tuple[Server, ...] = ()
    """The servers of the user's own tools; from the user's own file only."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """For each key that somebody has set: where its value comes from."""

    @property
    def changed(self) -> Mapping[str, str]:
        """For each key whose value is not the default one: where it comes from."""
        keys = ((name, BY_NAME[name]) for name in self.origins)
        return {name: self.origins[name] for name, key in keys if getattr(self, key.attribute) != key.default}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its name in TOML, its environment variable, what it takes, and what it is for.

    ``choices`` stand from tight to loose; of numbers the smaller is the tighter.
    """

    name: str
    doc: str
    env: str = ""
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    env_only: bool = False

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def default(self) -> Any:
        return getattr(DEFAULTS, self.attribute)


DEFAULTS = Settings()

KEYS: tuple[Key, ...] = (
    Key(
        "enabled",
        "When to look things up before a turn: auto (prompts about code), on (every prompt), off.",
        env="CI_AUTO_TOOLS",
        choices=("off", "auto", "on"),
    ),
    Key(
        "mode",
        "run looks things up; plan only says what it would do, the same for the same input.",
        env="CI_AUTO_TOOLS_MODE",
        choices=("plan", "run"),
    ),
    Key(
        "tier_max",
        "1: cheap tools. 2: also call chains, impact and the like; takes effect from the environment only.",
        env="CI_AUTO_TOOLS_TIER_MAX",
        low=1,
        high=2,
        env_only=True,
    ),
    Key(
        "repo_root",
        "Look here instead of at the git top level; in a project file, a folder inside the project.",
        env="CI_AUTO_TOOLS_REPO_ROOT",
    ),
    Key("legacy", "Fill the five layers that consumers of the first orchestrator read.", env="CI_AUTO_TOOLS_LEGACY"),
    Key(
        "budget.wall_ms",
        "Milliseconds that looking things up may take in all; tier 2 adds 5000.",
        env="CI_AUTO_TOOLS_BUDGET_WALL_MS",
        low=100,
        high=60000,
    ),
    Key(
        "budget.max_concurrency",
        "Tools that may run at the same time.",
        env="CI_AUTO_TOOLS_MAX_CONCURRENCY",
        low=1,
        high=16,
    ),
    Key(
        "budget.max_injected_chars",
        "Characters that may be injected into one turn; a client's own cap may be lower.",
        env="CI_AUTO_TOOLS_MAX_INJECTED_CHARS",
        low=200,
        high=100000,
    ),
    Key("tools.disabled", "Names of tools that are never planned."),
    Key(
        "codex.session_mode",
        "Whether codex-auto goes on with the repository's last thread (resume_last) or starts anew (exec).",
        env="CI_CODEX_SESSION_MODE",
        choices=("exec", "resume_last"),
    ),
    Key(
        "loop.enabled",
        "Whether a turn is sent on while its workflow has work left.",
        choices=("off", "on"),
    ),
    Key("loop.max_turns", "Turns that one workflow is sent on for at most.", low=1, high=500),
    Key("loop.max_errors", "Failed turns in a row that end the loop.", low=1, high=20),
    Key("loop.max_stale", "Turns without progress in a row that end the loop.", low=1, high=20),
    Key("loop.max_minutes", "Minutes that one workflow may take before the loop ends.", low=1, high=10080),
    Key("loop.max_tokens", "Tokens that one workflow may use before the loop ends.", low=1000, high=1_000_000_000),
    Key(
        "workflow.believe_claims",
        "Believe a stage that says that tests pass, without having seen them run on the present files.",
    ),
    Key("policies.on", "Names of policies that are switched on beside those that are by default (docs/policies.md)."),
    Key("policies.off", "Names of policies that are switched off."),
    Key(
        "rules.hookify",
        "Where hookify's rules (.claude/hookify.*.local.md) are asked: off, codex (Claude Code has hookify), all.",
        choices=("off", "codex", "all"),
    ),
    Key(
        "inject.max_chars_turn",
        "Characters that policies and rules may put before the model between two prompts of its user.",
        low=0,
        high=100000,
    ),
    Key(
        "inject.max_chars_session",
        "Characters that policies and rules may put before the model in one session.",
        low=0,
        high=1_000_000,
    ),
    Key(
        "inject.hold_out",
        "Per cent of the occasions at which nothing is injected, to see what difference it makes (`upbeat stats`).",
        low=0,
        high=50,
    ),
    Key(
        "journal.max_mb",
        "Megabytes that the journal may take; the oldest records go first. Only your own file counts.",
        low=1,
        high=65536,
    ),
    Key(
        "journal.max_days",
        "Days that the journal keeps a record. Only your own file counts.",
        low=1,
        high=36500,
    ),
    Key(
        "observations.enabled",
        "Remember small habits of a project: what fixed a failed command, which workflow was chosen for what.",
    ),
    Key(
        "index.enabled",
        "Whether the words of a repository's files are kept for the next question. Only your own file counts.",
        choices=("off", "on"),
    ),
    Key(
        "index.max_mb",
        "Megabytes that one repository's index may take; a larger one is not kept. Only your own file counts.",
        low=16,
        high=65536,
    ),
)
BY_NAME = {key.name: key for key in KEYS}

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, what limits them, and everything that is wrong with the layers."""

    settings: Settings
    limits: tuple[Limit, ...]
    problems: tuple[str, ...]


def resolve(layers: Sequence[Layer]) -> Resolved:
    """Merge ``layers``, loosest precedence first, over the defaults."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    limits: list[Limit] = []
    problems: list[str] = []
    for layer in layers:
        problems += islice(_problems(layer), MAX_PROBLEMS)
        found = servers.read(layer)
        problems += found.problems
        values |= {"servers": found.servers} if found.servers else {}
        for name, raw in layer.values.items():
            key = BY_NAME.get(name)
            value, problem = _read(key, raw) if key else (None, "")
            if key is None or problem:
                continue
            value, limit = _admit(key, value, layer, values.get(key.attribute, key.default))
            if limit:
                limits.append(limit)
            if value is not None:
                values[key.attribute] = value
                origins[name] = layer.where(name)
    return Resolved(Settings(**values, origins=origins), tuple(limits), tuple(problems))


def _problems(layer: Layer) -> Iterator[str]:
    """What is wrong with a layer, key by key."""
    for name, raw in layer.values.items():
        key = BY_NAME.get(name)
        if name == servers.TABLE:
            continue  # has more inside than a value
        if key is None:
            yield f"{layer.where(name)}: unknown key {shown(name)}{did_you_mean(name, BY_NAME)}"
        elif problem := _read(key, raw)[1]:
            yield f"{layer.where(name)}: {name} {problem}"


def _admit(key: Key, value: Any, layer: Layer, current: Any) -> tuple[Any, Limit | None]:
    """The value that this layer may set, or None; and the limit that says why it is another than asked for."""
    if key.env_only and not layer.is_environment:
        if value == current:
            return None, None
        return None, Limit.of(LimitCode.TIER2_CONFIG_IGNORED)
    if not layer.trusted and _is_looser(key, value, current):
        return None, Limit.of(LimitCode.CONFIG_UNTRUSTED, f"{layer.where(key.name)}: {key.name}")
    if key.high and not key.low <= value <= key.high:
        clamped = min(max(value, key.low), key.high)
        return clamped, Limit.of(LimitCode.CLAMPED, name=key.name, value=clamped)
    return value, None


def _is_looser(key: Key, value: Any, current: Any) -> bool:
    """Whether ``value`` lets more happen than ``current``."""
    if key.name == "tools.disabled":
        return not set(current) <= set(value)
    if key.name.startswith("policies."):
        return bool(set(value) != set(current))  # a guard switched off, or a voice that its user has not asked for
    if key.name == "repo_root":
        return value.startswith(("/", "~")) or ".." in value.split("/")
    if key.name.startswith(("journal.", "index.")):
        return bool(value != current)  # what is kept of all projects is for no project to say
    if key.choices:
        return key.choices.index(value) > key.choices.index(current)
    return bool(value > current)


def _read(key: Key, raw: Any) -> tuple[Any, str]:
    """``raw`` as this key's type, and the problem if it is not of that type."""
    default = key.default
    if key.choices:
        text = str(raw).strip().lower()
        if isinstance(raw, str) and text in key.choices:
            return type(default)(text), ""
        return None, f"takes {', '.join(key.choices)}; found {shown(raw)}{did_you_mean(text, key.choices)}"
    if isinstance(default, bool):
        words = {"1": True, "true": True, "0": False, "false": False}
        found = words.get(str(raw).strip().lower())
        return found, "" if found is not None else f"takes true or false; found {shown(raw)}"
    if isinstance(default, int):
        if isinstance(raw, str) and _WHOLE_NUMBER.fullmatch(raw.strip()):
            raw = int(raw.strip())  # int() alone knows fewer kinds of white space
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw, ""
        return None, f"takes a whole number from {key.low} to {key.high}; found {shown(raw)}"
    if isinstance(default, tuple):
        if isinstance(raw, list) and all(isinstance(name, str) for name in raw):
            return tuple(raw), ""
        return None, f"takes a list of names; found {shown(raw)}"
    return (raw, "") if isinstance(raw, str) else (None, f"takes a text; found {shown(raw)}")


def default_file() -> str:
    """``config/auto-tools.toml``: every key with its default, what it takes and what it is for."""
    lines = [
        "# Settings of upbeat with their defaults. Copy what you change to one of",
        "#   $XDG_CONFIG_HOME/upbeat/auto-tools.toml   for you",
        "#   config/auto-tools.toml or .upbeat/auto-tools.toml   for a project (may only tighten until `upbeat trust`)",
        "# Precedence: flag > environment > project file > user file > default. Generated from core/settings.py.",
    ]
    table = ""
    for key in KEYS:
        head, _, name = key.name.rpartition(".")
        if head != table:
            table = head
            lines += ["", f"[{table}]"]
        lines += ["", *(f"# {text}" for text in (key.doc, _takes(key)) if text), f"{name} = {json.dumps(key.default)}"]
    return "\n".join([*lines, "", *_SERVERS_BY_EXAMPLE]) + "\n"


_SERVERS_BY_EXAMPLE = (
    "# Your own tools: MCP servers that are asked before a turn, in your own file only (docs/own-tools.md).",
    "# [mcp.servers.docs]",
    '# command = "docs-mcp"            # or from = "codex" | "claude": the server of that name there',
    '# args = ["--stdio"]',
    '# env = ["DOCS_TOKEN"]            # names, passed on; beside PATH, HOME and LANG',
    "# [mcp.servers.docs.tools.search]",
    '# query = "q"                     # the argument that gets the words of the prompt',
    "# args = { limit = 5 }            # what is always the same",
)


def _takes(key: Key) -> str:
    takes = " | ".join(key.choices) if key.choices else f"{key.low} to {key.high}" if key.high else ""
    named = f"environment: {key.env}" if key.env else ""
    return "; ".join(text for text in (takes, named) if text)
