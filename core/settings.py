"""The settings as values, and how layers of them become one; ``settings.toml`` is the table of keys.

Precedence: flag > environment > project file > user file > default. A project file may only tighten
until its user has trusted that content. All problems are found before any is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from upbeat.core import lazy_re as re
from upbeat.core import tool_servers as servers
from upbeat.core.contract.codes import LimitCode
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.package_data import load_toml
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer, did_you_mean, format_value
from upbeat.core.tool_servers import ServerConfig

if TYPE_CHECKING:
    from upbeat.core.contract.report import Limit


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
    off_repositories: tuple[str, ...] = ()
    mode: ExecutionMode = ExecutionMode.RUN
    tier_max: int = 1
    repo_root: str = ""
    budget_wall_ms: int = 5000
    budget_max_concurrency: int = 3
    budget_max_injected_chars: int = 12000
    context_excluded: tuple[str, ...] = ()
    context_pinned: tuple[str, ...] = ()
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
    evidence_tests: tuple[str, ...] = ()
    evidence_scope: str = "any"
    journal_max_mb: int = 256
    journal_max_days: int = 90
    display_turn_line: Toggle = Toggle.ON
    habits_enabled: bool = False
    index_enabled: Toggle = Toggle.ON
    index_max_mb: int = 512
    index_object_stores: tuple[str, ...] = ()
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

KEYS = tuple(
    SettingKey(name, **row | {"choices": tuple(row.get("choices", ()))})
    for name, row in load_toml(__package__, "settings.toml").items()
)
KEYS_BY_NAME = {key.name: key for key in KEYS}

EXCLUDED, PINNED = "context.excluded", "context.pinned"
"""The keys whose values are globs."""

_OWN_TOOL = re.compile(r"ci_[^.]*")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The settings in force, what limits them, and what is wrong: in layers that the user trusts, and in others."""

    settings: Settings
    limits: tuple[Limit, ...]
    problems: tuple[str, ...]
    ignored_problems: tuple[str, ...] = ()


NamesOf = Callable[[str], Collection[str]]
"""Returns the names of upbeat's own that a list of names may contain, given its key."""


def resolve_settings(layers: Sequence[Layer], names_of: NamesOf | None = None) -> ResolvedSettings:
    """Merge ``layers``, lowest precedence first, over the defaults. With ``names_of`` unknown names are problems."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    limits: list[Limit] = []
    problems: list[str] = []
    ignored: list[str] = []
    for layer in layers:
        parsed = servers.parse_servers(layer)
        found = (*islice(_problems(layer, names_of), MAX_PROBLEMS), *parsed.problems)
        (problems if layer.is_trusted else ignored).extend(found)
        values |= {"servers": parsed.servers} if parsed.servers else {}
        for name, raw in layer.values.items():
            key = KEYS_BY_NAME.get(name)
            if key is None:
                continue
            value, problem = _parse_value(key, raw)
            if problem:
                continue
            if unknown := set(_unknown_names(key, value, names_of)):
                value = tuple(known for known in value if known not in unknown)
            value, limit = _admit(key, value, layer, values.get(key.attribute, key.default))
            if limit:
                limits.append(limit)
            if value is not None:
                if name == EXCLUDED:  # no layer takes back what another one excludes
                    value = tuple(dict.fromkeys((*values.get(key.attribute, ()), *value)))
                values[key.attribute] = value
                origins[name] = layer.location_of(name)
    return ResolvedSettings(Settings(**values, origins=origins), tuple(limits), tuple(problems), tuple(ignored))


def _problems(layer: Layer, names_of: NamesOf | None) -> Iterator[str]:
    """Yield what is wrong with a layer, key by key."""
    for name, raw in layer.values.items():
        key = KEYS_BY_NAME.get(name)
        if name == servers.SETTINGS_TABLE:
            continue  # has more inside than a value
        if key is None:
            yield f"{layer.location_of(name)}: unknown key {format_value(name)}{did_you_mean(name, KEYS_BY_NAME)}"
            continue
        value, problem = _parse_value(key, raw)
        if problem:
            yield f"{layer.location_of(name)}: {key.env_var if layer.is_environment else name} {problem}"
        for unknown in _unknown_names(key, value, names_of):
            hint = did_you_mean(unknown, names_of(name) if names_of else ())
            yield f"{layer.location_of(name)}: unknown name {format_value(unknown)} in {name}{hint}"


def _unknown_names(key: SettingKey, value: Any, names_of: NamesOf | None) -> list[str]:
    """Return the names in ``value`` that stand for nothing.

    Names of the user's own servers and tools are not checked: a server may be configured on another machine only.
    """
    if names_of is None or not value or not key.name.startswith(("policies.", "tools.")):
        return []
    known = names_of(key.name)
    checked = (name for name in value if key.name != "tools.disabled" or _OWN_TOOL.fullmatch(name))
    return [name for name in checked if name not in known]


def limit_of(code: LimitCode, *details: str, **fields: Any) -> Limit:
    """Return a limit of the turn."""
    from upbeat.core.contract.report import Limit  # most settings have no limits, and pydantic takes long to import

    return Limit.of(code, *details, **fields)


def _admit(key: SettingKey, value: Any, layer: Layer, current: Any) -> tuple[Any, Limit | None]:
    """Return the value that the layer may set, or None, and the limit that says why it is not the requested one."""
    if key.is_env_only and not layer.is_environment:
        if value == current:
            return None, None
        return None, limit_of(LimitCode.TIER2_CONFIG_IGNORED)
    if not layer.is_trusted and _is_looser(key, value, current):
        return None, limit_of(LimitCode.CONFIG_UNTRUSTED, f"{layer.location_of(key.name)}: {key.name}")
    if key.maximum and not key.minimum <= value <= key.maximum:
        clamped = min(max(value, key.minimum), key.maximum)
        return clamped, limit_of(LimitCode.CLAMPED, name=key.name, value=clamped)
    return value, None


def _is_looser(key: SettingKey, value: Any, current: Any) -> bool:
    """Return whether ``value`` permits more than ``current``."""
    if key.name == "tools.disabled":
        return not set(current) <= set(value)
    if key.name == EXCLUDED:
        return False
    if key.name.startswith("policies.") or key.name == PINNED:
        return set(value) != set(current)  # disables a policy, or enables one that the user has not asked for
    if key.name == "repo_root":
        return value.startswith(("/", "~")) or ".." in value.split("/")
    if key.name.startswith(("journal.", "index.", "display.", "off.")) or key.name == "evidence.tests":
        # no project decides what is kept of all projects or hides what is added, or vouches for its own tests
        return bool(value != current)
    if key.choices:
        return key.choices.index(value) > key.choices.index(current)
    return bool(value < current if key.name == "workflow.require_evidence" else value > current)


def _parse_value(key: SettingKey, raw: Any) -> tuple[Any, str]:
    """Return ``raw`` as this key's type, and the problem if it is not of that type."""
    default = key.default
    if key.choices:
        text = str(raw).strip().lower()
        if isinstance(raw, str) and text in key.choices:
            return type(default)(text), ""
        return None, f"takes {', '.join(key.choices)}; found {format_value(raw)}{did_you_mean(text, key.choices)}"
    if isinstance(default, bool):
        flag = {"1": True, "true": True, "0": False, "false": False}.get(str(raw).strip().lower())
        return flag, "" if flag is not None else f"takes true or false; found {format_value(raw)}"
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
