"""The pinned real clients, installed once from npm into a cache outside the checkout."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Client:
    """One client at one version, and where its package keeps the native program."""

    name: str
    package: str
    version: str
    binary: str

    @property
    def folder(self) -> Path:
        """Where this version lives once it is installed."""
        return cache() / f"{self.name}-{self.version}"


_CODEX_BINARY = "@openai/codex-linux-{cpu}/vendor/{machine}-unknown-linux-musl/bin/codex"
_CLAUDE_BINARY = "@anthropic-ai/claude-code/bin/claude.exe"

CLIENTS = {
    client.name: client
    for client in (
        Client("codex", "@openai/codex", "0.169.0", _CODEX_BINARY),
        Client("claude", "@anthropic-ai/claude-code", "2.1.329", _CLAUDE_BINARY),
        Client("claude-oldest", "@anthropic-ai/claude-code", "2.1.197", _CLAUDE_BINARY),
    )
}


class ClientsUnavailable(Exception):
    """The real clients cannot be run here; the message says what is missing."""


def cache() -> Path:
    """The folder that holds the installed clients: ``UPBEAT_E2E_CACHE``, or one under ``~/.cache``."""
    return Path(os.environ.get("UPBEAT_E2E_CACHE") or Path.home() / ".cache" / "upbeat-e2e")


def install(name: str) -> Path:
    """The native program of the client ``name``, installed first if it is not there yet.

    Two runs that start together install once: the second waits for the first. A half-finished installation is never
    seen, because the folder gets its name only when npm is done.
    """
    client = CLIENTS[name]
    program = _program(client)
    if program.exists():
        return program
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{client.folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _install_into(client)
    return program


def require_clients() -> None:
    """Raise ``ClientsUnavailable`` unless clients can be installed and fenced in here."""
    if platform.system() != "Linux":
        raise ClientsUnavailable("the real clients are fenced in with Linux network namespaces")
    if shutil.which("unshare") is None:
        raise ClientsUnavailable("unshare (util-linux) is not installed")
    as_root = ["--map-root-user"] if os.geteuid() else []
    attempt = subprocess.run(["unshare", "--net", *as_root, "true"], capture_output=True, text=True)
    if attempt.returncode:
        raise ClientsUnavailable(f"no network namespace can be made: {attempt.stderr.strip()}")
    for client in CLIENTS.values():
        if not _program(client).exists() and shutil.which("npm") is None:
            raise ClientsUnavailable(f"npm is not installed, and {client.name} {client.version} is not in {cache()}")


def _program(client: Client) -> Path:
    machine = platform.machine()
    cpu = {"x86_64": "x64", "aarch64": "arm64"}.get(machine, machine)
    return client.folder / "node_modules" / client.binary.format(cpu=cpu, machine=machine)


def _install_into(client: Client) -> None:
    building = Path(tempfile.mkdtemp(prefix=f".{client.name}-", dir=cache()))
    try:
        wanted = f"{client.package}@{client.version}"
        npm = ["npm", "install", "--prefix", str(building), "--no-audit", "--no-fund", "--no-save", wanted]
        done = subprocess.run(npm, capture_output=True, text=True)
        if done.returncode:
            raise ClientsUnavailable(f"npm could not install {wanted}: {done.stderr.strip()[-500:]}")
        shutil.rmtree(client.folder, ignore_errors=True)
        building.rename(client.folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
