"""Questions about a session go to the transcripts of its client."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.claude.transcript import ClaudeTranscripts
from upbeat.adapters.codex.rollout import CodexRollouts
from upbeat.adapters.transcripts import TranscriptsOfClients
from upbeat.core.contract.event import ClientName, Source

RECORDED = Path(__file__).parents[1] / "recorded"
CODEX = next(RECORDED.glob("codex/rollouts/agents-v1/rollout-*b9fe9b81087b.jsonl"))
CLAUDE = next(RECORDED.glob("claude-code/transcripts/*.jsonl"))
CLIENTS = TranscriptsOfClients({ClientName.CLAUDE_CODE: ClaudeTranscripts(), ClientName.CODEX_CLI: CodexRollouts()})


def test_each_client_has_its_own() -> None:
    """Each client's record is read in its own way, and a client without one tells nothing."""
    claude = Source(ClientName.CLAUDE_CODE, "/", transcript=str(CLAUDE))
    codex = Source(ClientName.CODEX_CLI, "/", transcript=str(CODEX))
    nobody = Source(ClientName.CLI, "/", transcript=str(CODEX))
    calls = frozenset({"call_15"})

    assert [True, True, None] == [tokens and tokens > 0 for tokens in map(CLIENTS.tokens, (claude, codex, nobody))]
    assert [{}, {"call_15": 3}, {}] == [CLIENTS.exit_codes(one, calls) for one in (claude, codex, nobody)]
    assert [True, True, False] == [CLIENTS.context(one) is not None for one in (claude, codex, nobody)]
    assert [False, True, False] == [bool(CLIENTS.agent_of(one, "call_2")) for one in (claude, codex, nobody)]


def test_without_a_transcript() -> None:
    """Where the client names no transcript, nothing is told."""
    source = Source(ClientName.CODEX_CLI, "/")

    assert (None, None, {}, "") == (
        CLIENTS.tokens(source),
        CLIENTS.context(source),
        CLIENTS.exit_codes(source, frozenset({"a"})),
        CLIENTS.agent_of(source, "a"),
    )
