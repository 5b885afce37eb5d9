"""What a transcript of Claude Code tells, from a recorded session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.claude.transcript import ClaudeTranscripts
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.policy.queries import ContextUsage

RECORDED = Path(__file__).parents[2] / "recorded/claude-code/transcripts"
SESSION = "62a32bfb-6605-49d0-8fb2-960d1c0546f1"


def source(transcript: Path | str) -> EventSource:
    return EventSource(ClientName.CLAUDE_CODE, "/home/dev/shop", SESSION, transcript_path=str(transcript))


def response(name: str, tokens: int, **more: int) -> str:
    usage = {"input_tokens": tokens, "cache_creation_input_tokens": 0, "output_tokens": 0, **more}
    return json.dumps({"type": "assistant", "message": {"id": name, "usage": usage}}) + "\n"


def by_hand(path: Path) -> int:
    """The tokens of a file, added up another way."""
    usages = {}
    for line in path.read_text().splitlines():
        message = json.loads(line).get("message", {})
        if "usage" in message:
            usages[message["id"]] = message["usage"]
    return sum(u["input_tokens"] + u["cache_creation_input_tokens"] + u["output_tokens"] for u in usages.values())


def test_tokens_of_a_session() -> None:
    """The tokens are those of the session and of its three subagents, each response once."""
    session = RECORDED / f"{SESSION}.jsonl"
    subagents = sorted((RECORDED / SESSION / "subagents").iterdir())

    assert 3 == len(subagents)
    assert by_hand(session) + sum(map(by_hand, subagents)) == ClaudeTranscripts().total_tokens(source(session))
    assert by_hand(session) == 121_123


def test_tokens_grow_with_the_file(tmp_path: Path) -> None:
    """New responses are added, a continued one counts once as it ends, and cache reads do not count."""
    file = tmp_path / "a.jsonl"
    transcripts = ClaudeTranscripts()
    file.write_text(response("m1", 10) + response("m1", 12) + '{"type":"user"}\n')
    first = transcripts.total_tokens(source(file))
    with file.open("a") as more:
        more.write(response("m2", 5, cache_creation_input_tokens=3, output_tokens=2, cache_read_input_tokens=900))
        more.write(response("m3", 1)[:-5])

    assert 12 == first
    assert 22 == transcripts.total_tokens(source(file))
    file.write_text(response("m9", 1))
    assert 1 == transcripts.total_tokens(source(file))


def test_context_of_a_session() -> None:
    """The usage is that of the last request and its response; a subagent has a context of its own."""
    main = source(RECORDED / f"{SESSION}.jsonl")
    agents = [path.stem.removeprefix("agent-") for path in sorted((RECORDED / SESSION / "subagents").iterdir())]
    transcripts = ClaudeTranscripts()

    assert ContextUsage(20577 + 10) == transcripts.context_usage(main)
    assert [ContextUsage(11662 + 10), ContextUsage(11971 + 10), ContextUsage(7472 + 10)] == [
        transcripts.context_usage(replace(main, agent_id=agent)) for agent in agents
    ]
    assert None is transcripts.context_usage(replace(main, agent_id="../../x"))


def answer(tokens: int, model: str = "claude-opus-5-5", *, aside: bool = False, **more: int) -> str:
    usage = {"input_tokens": tokens, **more}
    message = {"id": "m", "model": model, "usage": usage}
    return json.dumps({"type": "assistant", "isSidechain": aside, "message": message}) + "\n"


BOUNDARY = json.dumps({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}}) + "\n"
CONTEXTS = {
    "everything that went in and came out": (
        answer(1, cache_creation_input_tokens=20, cache_read_input_tokens=300, output_tokens=4000),
        ContextUsage(4321, 1_000_000),
    ),
    "a model of which nobody says how many go in": (answer(5, "claude-next"), ContextUsage(5)),
    "the last answer": (answer(5) + answer(7) + '{"type":"user"}\n', ContextUsage(7, 1_000_000)),
    "not that of another agent": (answer(5) + answer(7, aside=True), ContextUsage(5, 1_000_000)),
    "not what the client made up": (answer(5) + answer(0, "<synthetic>"), ContextUsage(5, 1_000_000)),
    "nothing since a compaction": (answer(5) + BOUNDARY + '{"type":"user"}\n', None),
    "an answer after a compaction": (answer(5) + BOUNDARY + answer(2), ContextUsage(2, 1_000_000)),
    "a text that speaks of one": (
        answer(5) + '{"type":"user","message":"\\"compact_boundary\\" \\"usage\\" \\"assistant\\""}\n',
        ContextUsage(5, 1_000_000),
    ),
    "odd lines": ('["assistant","usage"]\n{"type":"assistant","message":{"usage":[]}}\n', None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("text", "use"), CONTEXTS.values(), ids=CONTEXTS)
def test_only_responses_of_the_model_count_as_context(tmp_path: Path, text: str, use: ContextUsage | None) -> None:
    """Without one since the last compaction the usage is unknown."""
    file = tmp_path / "a.jsonl"
    file.write_text(text)

    assert use == ClaudeTranscripts().context_usage(source(file))


@pytest.mark.parametrize("path", ["", "/nowhere/a.jsonl", "/etc/passwd", "/dev/zero", "a\0.jsonl"])
def test_without_a_transcript_nothing_is_known(path: str) -> None:
    """Neither tokens nor context usage are returned."""
    assert None is ClaudeTranscripts().total_tokens(source(path))
    assert None is ClaudeTranscripts().context_usage(source(path))


def test_unexpected_lines_are_skipped(tmp_path: Path) -> None:
    """They count nothing, and nothing is raised."""
    file = tmp_path / "a.jsonl"
    odd = ['{"type":"assistant","message":{"usage":[]}}', '{"type":"assistant","usage":1', '["assistant","usage"]']
    odd += ['{"type":"assistant","message":{"id":1,"usage":{"input_tokens":5}}}', "[" * 5000 + '"assistant" "usage"']
    odd += ['{"type":"assistant","message":{"id":"m","usage":{"input_tokens":"7","output_tokens":true}}}', "\xff"]
    file.write_text("\n".join(odd) + "\n" + response("m1", 4))

    assert 4 == ClaudeTranscripts().total_tokens(source(file))


def test_exit_codes_and_agents_are_not_in_transcripts() -> None:
    """The hooks report them."""
    transcripts = ClaudeTranscripts()

    assert {} == transcripts.exit_codes(source("x"), frozenset({"call"}))
    assert "" == transcripts.agent_id_of(source("x"), "call")
