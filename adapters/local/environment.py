"""What this process was started with. Law: this is the only file that reads the environment.

Everything else gets an ``Environment`` as a value, so that tests and servers choose theirs. It imports nothing of
upbeat: the MCP server looks here before it says hello.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


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
    codex_home: Path = Path("/.codex")
    claude_home: Path = Path("/.claude")
    claude_state: Path = Path("/.claude.json")
    """Where Claude Code keeps what it was told of each project; beside its folder, or in one that was set."""
    language: str = "en"
    client_session: str = ""
    """The session of the client that this process was started by, where the client tells."""
    wrapped: bool = False
    """Started below codex-auto, which prepares the turns itself."""
    color: bool = True

    @property
    def switched_off(self) -> bool:
        """Whether the environment wants everything to be as without upbeat."""
        return self.settings.get("CI_AUTO_TOOLS", "").strip().lower() == "off"


WRAPPED = "UPBEAT_WRAPPED"
"""Set by codex-auto for the Codex that it starts."""

CLIENT_SESSION = "CLAUDE_CODE_SESSION_ID"
"""Set by Claude Code for what it starts."""

FOLDERS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
LANGUAGES = ("LC_ALL", "LC_MESSAGES", "LANG")
_SETTING_PREFIXES = ("CI_AUTO_TOOLS", "CI_CODEX_")


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """The environment of this process, or of ``variables``."""
    env = os.environ if variables is None else variables
    home = Path(env.get("HOME") or "/")
    claude_home = env.get("CLAUDE_CONFIG_DIR")
    return Environment(
        settings={name: value for name, value in env.items() if name.startswith(_SETTING_PREFIXES) and value},
        config_home=_folder(env, "XDG_CONFIG_HOME", home / ".config"),
        state_home=_folder(env, "XDG_STATE_HOME", home / ".local" / "state"),
        data_home=_folder(env, "XDG_DATA_HOME", home / ".local" / "share"),
        codex_home=Path(env.get("CODEX_HOME") or home / ".codex"),
        claude_home=Path(claude_home or home / ".claude"),
        claude_state=Path(claude_home or home, ".claude.json"),
        language=_language(env),
        client_session=env.get(CLIENT_SESSION, ""),
        wrapped=bool(env.get(WRAPPED)),
        color="NO_COLOR" not in env and env.get("TERM") != "dumb",
    )


def child_variables(extra: Mapping[str, str], without: tuple[str, ...] = ()) -> dict[str, str]:
    """The environment for a program that we start: ours and ``extra``, but for what begins like one of ``without``."""
    return {name: value for name, value in os.environ.items() if not name.startswith(without)} | dict(extra)


def as_typed(argument: str) -> str:
    """An argument of the command line as text: where the locale could not read its bytes, as the UTF-8 that they are.

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
"""What every server of a user's own tools gets of our environment."""


def variables_named(names: Iterable[str]) -> dict[str, str]:
    """Those of ``names`` that are set in our environment, with their values."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _folder(env: Mapping[str, str], name: str, default: Path) -> Path:
    """XDG: a relative path is to be ignored."""
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else default


def _language(env: Mapping[str, str]) -> str:
    spoken = next((env[name] for name in LANGUAGES if env.get(name)), "")
    return "zh" if spoken.lower().startswith("zh") else "en"
