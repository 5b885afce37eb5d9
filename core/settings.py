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

from upbeat.core import tool_servers as servers
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer, did_you_mean, format_value
from upbeat.core.tool_servers import ServerConfig


class Activation(StrEnum):
    """``auto`` looks things up for prompts about code, ``on`` for every prompt, ``off`` never."""

    OFF = "off"
    AUTO = "auto"
    ON = "on"


class Toggle(StrEnum):
    """Off or on."""

    OFF = "off"
    ON = "on"


class ExecutionMode(StrEnum):
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

    enabled: Activation = Activation.AUTO
    mode: ExecutionMode = ExecutionMode.RUN
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
    loop_max_consecutive_errors: int = 3
    loop_max_turns_without_progress: int = 3
    loop_max_minutes: int = 240
    loop_max_tokens: int = 5_000_000
    workflow_require_evidence: bool = True
    journal_max_mb: int = 256
    journal_max_days: int = 90
    habits_enabled: bool = False
    index_enabled: Toggle = Toggle.ON
    index_max_mb: int = 512
    policies_on: tuple[str, ...] = ()
    policies_off: tuple[str, ...] = ()
    rules_hookify: str = "auto"
    inject_max_chars_turn: int = 6000
    inject_max_chars_session: int = 60000
    inject_holdout_percent: int = 0
    servers: tuple[ServerConfig, ...] = ()
    """The servers of the user's own tools; from the user's own file only."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where the value of each key that is set comes from."""

    @property
    def changed_origins(self) -> Mapping[str, str]:
        """For each key whose value is not the default one: where it comes from."""
        keys = ((name, KEYS_BY_NAME[name]) for name in self.origins)
        return {name: self.origins[name] for name, key in keys if getattr(self, key.attribute) != key.default}


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One setting: its name in TOML, its environment variable, what it takes, and what it is for.

    ``choices`` stand from tight to loose; of numbers the smaller is the tighter.
    """

    name: str
    doc: str
    env_var: str = ""
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    is_env_only: bool = False

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def default(self) -> Any:
        return getattr(DEFAULTS, self.attribute)


DEFAULTS = Settings()

KEYS: tuple[SettingKey, ...] = (
    SettingKey(
        "enabled",
        "When to add context before a turn: auto (prompts about code), on (every prompt), off.",
        env_var="CI_AUTO_TOOLS",
        choices=("off", "auto", "on"),
    ),
    SettingKey(
        "mode",
        "run calls the tools; plan only reports what it would call, deterministically.",
        env_var="CI_AUTO_TOOLS_MODE",
        choices=("plan", "run"),
    ),
    SettingKey(
        "tier_max",
        "Highest tool tier. 2 adds call chains, impact and other slow tools; only the environment variable can set it.",
        env_var="CI_AUTO_TOOLS_TIER_MAX",
        minimum=1,
        maximum=2,
        is_env_only=True,
    ),
    SettingKey(
        "repo_root",
        "Search this folder instead of the git top level; a project file may only name a folder inside the project.",
        env_var="CI_AUTO_TOOLS_REPO_ROOT",
    ),
    SettingKey(
        "legacy",
        "Also fill the five layers of the report that consumers of the first orchestrator read.",
        env_var="CI_AUTO_TOOLS_LEGACY",
    ),
    SettingKey(
        "budget.wall_ms",
        "Milliseconds that all tools of a turn may take together; tier 2 adds 5000.",
        env_var="CI_AUTO_TOOLS_BUDGET_WALL_MS",
        minimum=100,
        maximum=60000,
    ),
    SettingKey(
        "budget.max_concurrency",
        "Tools that may run at the same time.",
        env_var="CI_AUTO_TOOLS_MAX_CONCURRENCY",
        minimum=1,
        maximum=16,
    ),
    SettingKey(
        "budget.max_injected_chars",
        "Characters that may be injected into one turn; a client's own cap may be lower.",
        env_var="CI_AUTO_TOOLS_MAX_INJECTED_CHARS",
        minimum=200,
        maximum=100000,
    ),
    SettingKey("tools.disabled", "Names of tools that are never planned."),
    SettingKey(
        "codex.session_mode",
        "Whether codex-auto resumes the repository's last thread (resume_last) or starts a new one (exec).",
        env_var="CI_CODEX_SESSION_MODE",
        choices=("exec", "resume_last"),
    ),
    SettingKey(
        "loop.enabled",
        "Continue a turn while its workflow has unfinished steps.",
        choices=("off", "on"),
    ),
    SettingKey("loop.max_turns", "Maximum number of turns that one workflow is continued for.", minimum=1, maximum=500),
    SettingKey("loop.max_consecutive_errors", "Failed turns in a row that end the loop.", minimum=1, maximum=20),
    SettingKey(
        "loop.max_turns_without_progress", "Turns without progress in a row that end the loop.", minimum=1, maximum=20
    ),
    SettingKey(
        "loop.max_minutes", "Minutes that one workflow may take before the loop ends.", minimum=1, maximum=10080
    ),
    SettingKey(
        "loop.max_tokens", "Tokens that one workflow may use before the loop ends.", minimum=1000, maximum=1_000_000_000
    ),
    SettingKey(
        "workflow.require_evidence",
        "Accept a stage's claim that tests pass only after a test run on the current files.",
    ),
    SettingKey("policies.on", "Names of policies to enable in addition to the default ones (docs/policies.md)."),
    SettingKey("policies.off", "Names of policies to disable."),
    SettingKey(
        "rules.hookify",
        "Where to evaluate hookify rules (.claude/hookify.*.local.md): off, auto (clients without hookify), all.",
        choices=("off", "auto", "all"),
    ),
    SettingKey(
        "inject.max_chars_turn",
        "Characters that policies and rules may inject between two prompts of the user.",
        minimum=0,
        maximum=100000,
    ),
    SettingKey(
        "inject.max_chars_session",
        "Characters that policies and rules may inject in one session.",
        minimum=0,
        maximum=1_000_000,
    ),
    SettingKey(
        "inject.holdout_percent",
        "Percentage of events for which nothing is injected, to measure the difference (`upbeat stats`).",
        minimum=0,
        maximum=50,
    ),
    SettingKey(
        "journal.max_mb",
        "Maximum size of the journal in MB; the oldest records are deleted first. Only your own file can set it.",
        minimum=1,
        maximum=65536,
    ),
    SettingKey(
        "journal.max_days",
        "Days that the journal keeps a record. Only your own file can set it.",
        minimum=1,
        maximum=36500,
    ),
    SettingKey(
        "habits.enabled",
        "Remember a project's habits: what fixed a failed command, which workflow was chosen for which kind of prompt.",
    ),
    SettingKey(
        "index.enabled",
        "Keep an index of each repository's files between questions. Only your own file can set it.",
        choices=("off", "on"),
    ),
    SettingKey(
        "index.max_mb",
        "Maximum size of one repository's index in MB; a larger one is not kept. Only your own file can set it.",
        minimum=16,
        maximum=65536,
    ),
)
KEYS_BY_NAME = {key.name: key for key in KEYS}

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The settings in force, what limits them, and everything that is wrong with the layers."""

    settings: Settings
    limits: tuple[Limit, ...]
    problems: tuple[str, ...]


def resolve_settings(layers: Sequence[Layer]) -> ResolvedSettings:
    """Merge ``layers``, loosest precedence first, over the defaults."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    limits: list[Limit] = []
    problems: list[str] = []
    for layer in layers:
        problems += islice(_problems(layer), MAX_PROBLEMS)
        found = servers.parse_servers(layer)
        problems += found.problems
        values |= {"servers": found.servers} if found.servers else {}
        for name, raw in layer.values.items():
            key = KEYS_BY_NAME.get(name)
            value, problem = _parse_value(key, raw) if key else (None, "")
            if key is None or problem:
                continue
            value, limit = _admit(key, value, layer, values.get(key.attribute, key.default))
            if limit:
                limits.append(limit)
            if value is not None:
                values[key.attribute] = value
                origins[name] = layer.location_of(name)
    return ResolvedSettings(Settings(**values, origins=origins), tuple(limits), tuple(problems))


def _problems(layer: Layer) -> Iterator[str]:
    """What is wrong with a layer, key by key."""
    for name, raw in layer.values.items():
        key = KEYS_BY_NAME.get(name)
        if name == servers.SETTINGS_TABLE:
            continue  # has more inside than a value
        if key is None:
            yield f"{layer.location_of(name)}: unknown key {format_value(name)}{did_you_mean(name, KEYS_BY_NAME)}"
        elif problem := _parse_value(key, raw)[1]:
            yield f"{layer.location_of(name)}: {name} {problem}"


def _admit(key: SettingKey, value: Any, layer: Layer, current: Any) -> tuple[Any, Limit | None]:
    """The value that this layer may set, or None; and the limit that says why it is another than asked for."""
    if key.is_env_only and not layer.is_environment:
        if value == current:
            return None, None
        return None, Limit.of(LimitCode.TIER2_CONFIG_IGNORED)
    if not layer.is_trusted and _is_looser(key, value, current):
        return None, Limit.of(LimitCode.CONFIG_UNTRUSTED, f"{layer.location_of(key.name)}: {key.name}")
    if key.maximum and not key.minimum <= value <= key.maximum:
        clamped = min(max(value, key.minimum), key.maximum)
        return clamped, Limit.of(LimitCode.CLAMPED, name=key.name, value=clamped)
    return value, None


def _is_looser(key: SettingKey, value: Any, current: Any) -> bool:
    """Whether ``value`` lets more happen than ``current``."""
    if key.name == "tools.disabled":
        return not set(current) <= set(value)
    if key.name.startswith("policies."):
        return bool(
            set(value) != set(current)
        )  # a policy switched off, or one switched on that the user has not asked for
    if key.name == "repo_root":
        return value.startswith(("/", "~")) or ".." in value.split("/")
    if key.name.startswith(("journal.", "index.")):
        return bool(value != current)  # what is kept of all projects is for no project to say
    if key.choices:
        return key.choices.index(value) > key.choices.index(current)
    return bool(value < current if key.name == "workflow.require_evidence" else value > current)


def _parse_value(key: SettingKey, raw: Any) -> tuple[Any, str]:
    """``raw`` as this key's type, and the problem if it is not of that type."""
    default = key.default
    if key.choices:
        text = str(raw).strip().lower()
        if isinstance(raw, str) and text in key.choices:
            return type(default)(text), ""
        return None, f"takes {', '.join(key.choices)}; found {format_value(raw)}{did_you_mean(text, key.choices)}"
    if isinstance(default, bool):
        words = {"1": True, "true": True, "0": False, "false": False}
        found = words.get(str(raw).strip().lower())
        return found, "" if found is not None else f"takes true or false; found {format_value(raw)}"
    if isinstance(default, int):
        if isinstance(raw, str) and _WHOLE_NUMBER.fullmatch(raw.strip()):
            raw = int(raw.strip())  # int() alone knows fewer kinds of white space
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw, ""
        return None, f"takes a whole number from {key.minimum} to {key.maximum}; found {format_value(raw)}"
    if isinstance(default, tuple):
        if isinstance(raw, list) and all(isinstance(name, str) for name in raw):
            return tuple(raw), ""
        return None, f"takes a list of names; found {format_value(raw)}"
    return (raw, "") if isinstance(raw, str) else (None, f"takes a text; found {format_value(raw)}")


def render_default_file() -> str:
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
        lines += [
            "",
            *(f"# {text}" for text in (key.doc, _describe_values(key)) if text),
            f"{name} = {json.dumps(key.default)}",
        ]
    return "\n".join([*lines, "", *_SERVERS_EXAMPLE]) + "\n"


_SERVERS_EXAMPLE = (
    "# Your own tools: MCP servers that are asked before a turn, in your own file only (docs/own-tools.md).",
    "# [mcp.servers.docs]",
    '# command = "docs-mcp"            # or import_from = "codex" | "claude": the server of that name there',
    '# args = ["--stdio"]',
    '# env = ["DOCS_TOKEN"]            # names, passed on with PATH, HOME and LANG',
    "# [mcp.servers.docs.tools.search]",
    '# query_argument = "q"            # the argument that gets the words of the prompt',
    "# args = { limit = 5 }            # what is always the same",
)


def _describe_values(key: SettingKey) -> str:
    takes = " | ".join(key.choices) if key.choices else f"{key.minimum} to {key.maximum}" if key.maximum else ""
    named = f"environment: {key.env_var}" if key.env_var else ""
    return "; ".join(text for text in (takes, named) if text)
