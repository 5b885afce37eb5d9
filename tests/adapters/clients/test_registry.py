"""The registry of clients: the only list of them, and lookups that name what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.clients import registry
from upbeat.adapters.clients.client import Client
from upbeat.adapters.system.environment import read_environment
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.errors import ClientError

RECORDED = Path(__file__).parents[2] / "recorded"
CODEX_ROLLOUT = next(RECORDED.glob("codex/rollouts/agents-v1/rollout-*b9fe9b81087b.jsonl"))
CLAUDE_TRANSCRIPT = next(RECORDED.glob("claude-code/transcripts/*.jsonl"))
TRANSCRIPTS = registry.TranscriptsByClient()


def test_an_unknown_client_is_an_error_that_names_the_known_ones() -> None:
    """There is no default client."""
    with pytest.raises(ClientError, match="unknown client 'gemini-cli'; known clients: claude-code, codex-cli"):
        registry.find_client("gemini-cli")


def test_the_registry_is_sorted_and_every_name_is_unique() -> None:
    """Ids and CLI names find their own client."""
    assert sorted(registry.CLIENT_IDS) == list(registry.CLIENT_IDS)
    assert sorted(registry.CLIENT_BY_CLI_NAME) == [client.cli_name for client in registry.CLIENTS]
    assert list(registry.CLIENTS) == [registry.find_client(client_id) for client_id in registry.CLIENT_IDS]


@pytest.mark.parametrize("client", registry.CLIENTS, ids=registry.CLIENT_IDS)
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
        registry.client_session(read_environment(variables))
        for variables in ({"HOME": "/h", "CLAUDE_CODE_SESSION_ID": "s-1"}, {"HOME": "/h"})
    ]


def test_each_client_has_its_own_transcripts() -> None:
    """For a client without transcripts everything is unknown."""
    claude = EventSource(ClientName.CLAUDE_CODE, "/", transcript_path=str(CLAUDE_TRANSCRIPT))
    codex = EventSource(ClientName.CODEX_CLI, "/", transcript_path=str(CODEX_ROLLOUT))
    nobody = EventSource(ClientName.CLI, "/", transcript_path=str(CODEX_ROLLOUT))
    calls = frozenset({"call_15"})

    assert [True, True, None] == [
        tokens and tokens > 0 for tokens in map(TRANSCRIPTS.total_tokens, (claude, codex, nobody))
    ]
    assert [{}, {"call_15": 3}, {}] == [TRANSCRIPTS.exit_codes(one, calls) for one in (claude, codex, nobody)]
    assert [True, True, False] == [TRANSCRIPTS.context_usage(one) is not None for one in (claude, codex, nobody)]
    assert [False, True, False] == [bool(TRANSCRIPTS.agent_id_of(one, "call_2")) for one in (claude, codex, nobody)]


def test_without_a_transcript_everything_is_unknown() -> None:
    """The client names no transcript."""
    source = EventSource(ClientName.CODEX_CLI, "/")

    assert (None, None, {}, "") == (
        TRANSCRIPTS.total_tokens(source),
        TRANSCRIPTS.context_usage(source),
        TRANSCRIPTS.exit_codes(source, frozenset({"a"})),
        TRANSCRIPTS.agent_id_of(source, "a"),
    )


def test_a_client_has_two_names() -> None:
    """The command line takes the id of a client for its name, and its name for the id; other text stays."""
    assert ["claude", "codex", "vim"] == [registry.to_cli_name(name) for name in ("claude-code", "codex", "vim")]
    assert ["claude-code", "codex-cli", "cli"] == [
        registry.to_client_id(name) for name in ("claude", "codex-cli", "cli")
    ]
