"""Read the environment variables of this process. Invariant: no other module reads them.

Other modules get an ``Environment`` as a value, so that tests and servers can choose their own. This module imports
nothing of upbeat, because the MCP server reads it before its handshake.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from upbeat.core.lazy_dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Environment:
    """The parts of the environment that upbeat reads.

    ``settings`` maps the names of set, non-empty ``CI_AUTO_TOOLS…`` variables to their values. The folders
    follow the XDG rules; they need not exist. ``language`` is ``zh`` or ``en``.
    """

    settings: Mapping[str, str]
    config_home: Path
    state_home: Path
    data_home: Path
    home: Path = Path("/")
    """The user's home folder."""
    client_variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that move a client's folder or name its session: ``…_HOME``, ``…_CONFIG_DIR``, ``…_SESSION_ID``."""
    language: str = "en"
    is_wrapped: bool = False
    """Started below codex-auto, which prepares the turns itself."""
    has_color: bool = True

    @property
    def is_switched_off(self) -> bool:
        """Whether the environment disables upbeat."""
        return self.settings.get("CI_AUTO_TOOLS", "").strip().lower() == "off"


WRAPPED_VARIABLE = "UPBEAT_WRAPPED"
"""Set by codex-auto for the Codex that it starts."""

FOLDER_VARIABLES = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
LANGUAGE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_SETTING_PREFIXES = ("CI_AUTO_TOOLS", "CI_CODEX_")
_CLIENT_SUFFIXES = ("_HOME", "_CONFIG_DIR", "_SESSION_ID")


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Return the environment of this process, or of ``variables``."""
    env = os.environ if variables is None else variables
    home = Path(env.get("HOME") or "/")
    locale = next((env[name] for name in LANGUAGE_VARIABLES if env.get(name)), "")
    return Environment(
        settings={name: value for name, value in env.items() if name.startswith(_SETTING_PREFIXES) and value},
        config_home=_folder(env, "XDG_CONFIG_HOME", home / ".config"),
        state_home=_folder(env, "XDG_STATE_HOME", home / ".local" / "state"),
        data_home=_folder(env, "XDG_DATA_HOME", home / ".local" / "share"),
        home=home,
        client_variables={
            name: value
            for name, value in env.items()
            if name.endswith(_CLIENT_SUFFIXES) and not name.startswith("XDG_") and value
        },
        language="zh" if locale.lower().startswith("zh") else "en",
        is_wrapped=bool(env.get(WRAPPED_VARIABLE)),
        has_color="NO_COLOR" not in env and env.get("TERM") != "dumb",
    )


def child_variables(extra: Mapping[str, str], excluded_prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the variables for a child process: those of this process without some prefixes, and ``extra``.

    PATH keeps its absolute folders only: a script such as Codex's starts its interpreter by name.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(excluded_prefixes)}
    if "PATH" in kept:
        kept["PATH"] = os.pathsep.join(filter(os.path.isabs, kept["PATH"].split(os.pathsep)))
    return kept | dict(extra)


def decode_argument(argument: str) -> str:
    """Return an argument of the command line as text; decode it as UTF-8 if the locale could not decode it.

    What is neither stays as Python has it, with surrogates.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(argument).decode("utf-8")
        except UnicodeError:
            return argument
    return argument


SERVER_VARIABLES = ("HOME", "LANG", "PATH")
"""The variables that every MCP server of the user gets."""


def variables_named(names: Iterable[str]) -> dict[str, str]:
    """Return the variables of ``names`` that are set, with their values."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _folder(env: Mapping[str, str], name: str, default: Path) -> Path:
    """Return a folder variable of XDG, which ignores relative paths."""
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else default
