"""The clients, one entry each. This is the only list of clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.clients.client import Client
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.system.environment import Environment
from upbeat.core.errors import ClientError

if TYPE_CHECKING:
    from upbeat.core.contract.event import EventSource
    from upbeat.core.engine.ports import Transcripts
    from upbeat.core.policy.queries import ContextUsage

CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex())

CLIENT_IDS = tuple(client.id for client in CLIENTS)
CLIENT_BY_CLI_NAME = {client.cli_name: client for client in CLIENTS}


def to_cli_name(name: str) -> str:
    """Return the name of a client on the command line, where its id is accepted, too; other text as it is."""
    return next((client.cli_name for client in CLIENTS if client.id == name), name)


def to_client_id(name: str) -> str:
    """Return the id of a client by its name on the command line; other text as it is."""
    return str(CLIENT_BY_CLI_NAME[name].id) if name in CLIENT_BY_CLI_NAME else name


def find_client(client_id: str) -> Client:
    """Return the client with the id ``client_id``.

    Raises:
        ClientError: No client has that id.
    """
    for client in CLIENTS:
        if client.id == client_id:
            return client
    raise ClientError(f"unknown client {client_id!r}; known clients: {', '.join(CLIENT_IDS)}")


def is_headless(source: EventSource) -> bool:
    """Return whether the client's run of ``source`` shows nobody what a hook says."""
    return any(client.is_headless(source) for client in CLIENTS if client.id == source.client)


def client_session(environment: Environment) -> str:
    """Return the session of the client that started this process; empty if no client names one."""
    variables = environment.client_variables
    return next((variables[client.session_variable] for client in CLIENTS if client.session_variable in variables), "")


def calling_client(environment: Environment) -> str:
    """Return the title of the client whose agent started this process; empty if none did.

    A process descends from a client, or has the variable that a client sets for its agents' programs: one that was
    started in the background has lost its parents.
    """
    from upbeat.adapters.system.process.ancestry import descends_from_program

    program = descends_from_program(os.getpid(), CLIENT_BY_CLI_NAME)
    variables = environment.client_variables
    marked = (client.title for client in CLIENTS if client.shell_variable in variables)
    return CLIENT_BY_CLI_NAME[program].title if program else next(marked, "")


class TranscriptsByClient:
    """Implements ``core.engine.ports.Transcripts`` for every client; for an unknown one everything is unknown."""

    def __init__(self) -> None:
        self._by_client = {client.id: client.transcripts() for client in CLIENTS}

    def total_tokens(self, source: EventSource) -> int | None:
        """Return the tokens that the session has used; None if they are unknown."""
        transcripts = self._find(source)
        return transcripts.total_tokens(source) if transcripts else None

    def context_usage(self, source: EventSource) -> ContextUsage | None:
        """Return the context usage of the agent of the event; None if it is unknown."""
        transcripts = self._find(source)
        return transcripts.context_usage(source) if transcripts else None

    def agent_id_of(self, source: EventSource, call_id: str) -> str:
        """Return the id of the agent that a delegating call started; empty if it is unknown."""
        transcripts = self._find(source)
        return transcripts.agent_id_of(source, call_id) if transcripts and call_id else ""

    def exit_codes(self, source: EventSource, call_ids: frozenset[str]) -> Mapping[str, int]:
        """Return the exit codes of those shell commands that have ended."""
        transcripts = self._find(source)
        return transcripts.exit_codes(source, call_ids) if transcripts and call_ids else {}

    def _find(self, source: EventSource) -> Transcripts | None:
        return self._by_client.get(source.client) if source.transcript_path else None
