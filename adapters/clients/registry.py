"""The clients, one entry each. This is the only list of clients."""

from __future__ import annotations

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.clients.client import Client
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.system.environment import Environment
from upbeat.core.errors import ClientError

CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex())

CLIENT_IDS = tuple(client.id for client in CLIENTS)
CLIENT_BY_CLI_NAME = {client.cli_name: client for client in CLIENTS}


def find_client(client_id: str) -> Client:
    """Return the client with the id ``client_id``.

    Raises:
        ClientError: No client has that id.
    """
    for client in CLIENTS:
        if client.id == client_id:
            return client
    raise ClientError(f"unknown client {client_id!r}; known clients: {', '.join(CLIENT_IDS)}")


def client_session(environment: Environment) -> str:
    """Return the session of the client that started this process; empty if no client names one."""
    variables = environment.client_variables
    return next((variables[client.session_variable] for client in CLIENTS if client.session_variable in variables), "")
