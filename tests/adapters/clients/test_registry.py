"""The registry of clients: the only list of them, and lookups that name what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.clients.client import Client
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, CLIENT_IDS, CLIENTS, client_session, find_client
from upbeat.adapters.system.environment import read_environment
from upbeat.core.errors import ClientError


def test_an_unknown_client_is_an_error_that_names_the_known_ones() -> None:
    """There is no default client."""
    with pytest.raises(ClientError, match="unknown client 'gemini-cli'; known clients: claude-code, codex-cli"):
        find_client("gemini-cli")


def test_the_registry_is_sorted_and_every_name_is_unique() -> None:
    """Ids and CLI names find their own client."""
    assert sorted(CLIENT_IDS) == list(CLIENT_IDS)
    assert sorted(CLIENT_BY_CLI_NAME) == [client.cli_name for client in CLIENTS]
    assert list(CLIENTS) == [find_client(client_id) for client_id in CLIENT_IDS]


@pytest.mark.parametrize("client", CLIENTS, ids=CLIENT_IDS)
def test_every_part_of_a_client_loads(client: Client, tmp_path: Path) -> None:
    """Each factory returns its part, and the codec reads events as this client's."""
    environment = read_environment({"HOME": str(tmp_path)})
    event = client.codec().decode({"hook_event_name": "UserPromptSubmit", "cwd": "/r", "prompt": "p"})

    assert client.id == event.source.client
    assert client.codec().capabilities[type(event)]
    assert [] == client.history(environment).recordings(0)
    assert client.transcripts().total_tokens(event.source) is None
    assert client.desired_installation(environment, "mcp").edits


def test_the_session_that_a_client_passes_on() -> None:
    """The first client that names a session counts; without one there is none."""
    assert ["s-1", ""] == [
        client_session(read_environment(variables))
        for variables in ({"HOME": "/h", "CLAUDE_CODE_SESSION_ID": "s-1"}, {"HOME": "/h"})
    ]
