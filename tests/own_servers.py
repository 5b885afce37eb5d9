"""A home whose settings name real servers, and the provider that asks them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from upbeat.adapters.clients.registry import CLIENTS
from upbeat.adapters.mcp_client import ServerLifetime
from upbeat.adapters.mcp_client.provider import ServersProvider
from upbeat.adapters.system.environment import read_environment

FAKES = Path(__file__).parent / "fakes"
SEARCH = {"search": 'query_argument = "q"\nargs = { limit = 5 }'}
PATIENT_TURN = "budget.wall_ms = 60000\n"
"""The first line of settings for a turn that starts its server, which takes seconds on a loaded machine."""


def settings(home: Path, text: str) -> Path:
    """The user's settings file below ``home`` with ``text``."""
    path = home / ".config/upbeat/auto-tools.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def table(name: str, args: Iterable[str], more: str = "", tools: Mapping[str, str] | None = None) -> str:
    """A server's table of the settings: this interpreter with ``args``; ``tools``: name -> the lines of its table."""
    head = f"[mcp.servers.{name}]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(['-I', *args])}\n{more}\n"
    tables = (f"[mcp.servers.{name}.tools.{tool}]\n{lines}\n" for tool, lines in (tools or {}).items())
    return head + "\n".join(tables)


def docs(home: Path, more: str = "", tools: Mapping[str, str] = SEARCH, look: Mapping[str, str] | None = None) -> str:
    """The table of the official SDK's server with ordinary tools; ``look``: how they declare themselves."""
    file = home / "look.json"
    home.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(look or {}))
    return table("docs", [str(FAKES / "mcp_server.py"), str(file)], more, tools)


def odd(how: str, *more: str) -> str:
    """The table of a server that goes wrong; its tool may take a minute, its start included."""
    return table(
        "odd",
        [str(FAKES / "hostile_mcp_server.py"), how, *more],
        'auto_run = ["search"]\ntimeout_ms = 60000',
        {"search": 'query_argument = "q"'},
    )


def hostile(how: str, more: str = "", name: str = "odd") -> str:
    """The table of a server that misbehaves in one of ``fakes.hostile_mcp_server.HOWS``."""
    return table(name, [str(FAKES / "hostile_mcp_server.py"), how], more, {"search": 'query_argument = "q"'})


def provider(home: Path, use: ServerLifetime = ServerLifetime.ONCE) -> ServersProvider:
    """What asks the servers in the settings below ``home``. Close it."""
    finders = {client.cli_name: client.find_launch for client in CLIENTS}
    return ServersProvider(read_environment({"HOME": str(home)}), use, finders)


def started_pids(file: Path) -> list[int]:
    """Return the pids of the servers that have noted their start in ``file``."""
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def wait_for_start(file: Path, seconds: float = 30) -> int:
    """Wait until a server has noted its start in ``file``; return its pid, 0 if there is none in time."""
    end = time.monotonic() + seconds
    while not started_pids(file) and time.monotonic() < end:
        time.sleep(0.02)
    return next(iter(started_pids(file)), 0)
