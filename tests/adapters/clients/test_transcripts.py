"""Questions about a session go to the transcripts of its client."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.claude.transcript import ClaudeTranscripts
from upbeat.adapters.clients.transcripts import TranscriptsByClient
from upbeat.adapters.codex.transcript import CodexRollouts
from upbeat.core.contract.event import ClientName, EventSource

RECORDED = Path(__file__).parents[2] / "recorded"
CODEX = next(RECORDED.glob("codex/rollouts/agents-v1/rollout-*b9fe9b81087b.jsonl"))
CLAUDE = next(RECORDED.glob("claude-code/transcripts/*.jsonl"))
CLIENTS = TranscriptsByClient({ClientName.CLAUDE_CODE: ClaudeTranscripts(), ClientName.CODEX_CLI: CodexRollouts()})


def test_each_client_has_its_own_transcripts() -> None:
    """For a client without transcripts everything is unknown."""
    claude = EventSource(ClientName.CLAUDE_CODE, "/", transcript_path=str(CLAUDE))
    codex = EventSource(ClientName.CODEX_CLI, "/", transcript_path=str(CODEX))
    nobody = EventSource(ClientName.CLI, "/", transcript_path=str(CODEX))
    calls = frozenset({"call_15"})

    assert [True, True, None] == [
        tokens and tokens > 0 for tokens in map(CLIENTS.total_tokens, (claude, codex, nobody))
    ]
    assert [{}, {"call_15": 3}, {}] == [CLIENTS.exit_codes(one, calls) for one in (claude, codex, nobody)]
    assert [True, True, False] == [CLIENTS.context_usage(one) is not None for one in (claude, codex, nobody)]
    assert [False, True, False] == [bool(CLIENTS.agent_id_of(one, "call_2")) for one in (claude, codex, nobody)]


def test_without_a_transcript_everything_is_unknown() -> None:
    """The client names no transcript."""
    source = EventSource(ClientName.CODEX_CLI, "/")

    assert (None, None, {}, "") == (
        CLIENTS.total_tokens(source),
        CLIENTS.context_usage(source),
        CLIENTS.exit_codes(source, frozenset({"a"})),
        CLIENTS.agent_id_of(source, "a"),
    )
