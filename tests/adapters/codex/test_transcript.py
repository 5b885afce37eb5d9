"""Tokens, context usage, exit codes and subagents in recorded rollouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases

from upbeat.adapters.codex.transcript import MAX_BYTES, CodexRollouts, is_headless
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.policy.queries import ContextUsage

RECORDED = Path(__file__).parents[2] / "recorded/codex/rollouts"
V1 = "01a1fd01-2e37-7813-91f1-b9fe9b81087b"
V1_FIRST = "01a1fd01-2edf-7682-bb79-de2e5f1c1d90"
V1_SECOND = "01a1fd01-2f3c-7203-9ab6-7912c5d48b8d"
V2 = "01a1fd02-04f3-74d0-bdb2-6ec6ce5e5a4c"


def rollout(thread: str) -> str:
    return str(next(RECORDED.glob(f"*/rollout-*-{thread}.jsonl")))


def source(session: str, path: str) -> EventSource:
    return EventSource(ClientName.CODEX_CLI, "/home/dev/shop", session, transcript_path=path)


def test_tokens_of_a_session() -> None:
    """The tokens are those of the root and of the agents that it started."""
    root, first, second = 55375 + 50, 32590 + 30, 10694 + 10

    assert root + first + second == CodexRollouts().total_tokens(source(V1, rollout(V1)))


def test_tokens_in_a_subagent_are_those_of_the_session() -> None:
    """An event in a subagent names its own rollout, but the tokens of the whole session are returned."""
    whole = CodexRollouts().total_tokens(source(V1, rollout(V1)))

    assert whole == CodexRollouts().total_tokens(source(V1, rollout(V1_FIRST)))


def test_cached_input_does_not_count(tmp_path: Path) -> None:
    """Tokens are newly processed ones, from the last count; older kinds of lines are understood."""
    line = (
        '{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":'
        '{"input_tokens":%d,"cached_input_tokens":90,"output_tokens":7}}}}\n'
    )
    file = tmp_path / "rollout-x.jsonl"
    file.write_text(line % 95 + line % 100 + '{"type":"event_msg","payload":{"type":"token_count","info":null}}\n')

    assert 17 == CodexRollouts().total_tokens(source("", str(file)))


def test_context_of_a_thread() -> None:
    """The usage is that of the last request with its response, in the thread of the event."""
    rollouts = CodexRollouts()

    assert ContextUsage(11386 + 10, 258400) == rollouts.context_usage(source(V1, rollout(V1)))
    assert ContextUsage(11002 + 10, 258400) == rollouts.context_usage(source(V1, rollout(V1_FIRST)))


@pytest.mark.parametrize(("case", "text", "usage"), read_cases(Path(__file__).with_name("transcript_cases.tsv")))
def test_context(tmp_path: Path, case: str, text: str, usage: str) -> None:
    """Only a count of Codex itself is used, and none between a compaction and the next answer."""
    file = tmp_path / "rollout-x.jsonl"
    file.write_text(text)

    assert usage == repr(CodexRollouts().context_usage(source("", str(file))))


def test_exit_codes() -> None:
    """Only exit codes of finished commands that were requested are returned."""
    rollouts = CodexRollouts()

    assert {"call_15": 3} == rollouts.exit_codes(source(V1, rollout(V1)), frozenset({"call_15", "call_99"}))
    assert {"call_6": 1, "call_7": 4} == rollouts.exit_codes(
        source(V1, rollout(V1_FIRST)), frozenset({"call_6", "call_7"})
    )
    assert {} == rollouts.exit_codes(source(V1, rollout(V1)), frozenset())


def test_exit_codes_in_code_mode() -> None:
    """Commands that a script of the model ran have exit codes too."""
    codes = {}
    for path in (RECORDED / "code-mode").iterdir():
        calls = frozenset(part.split('"')[0] for part in path.read_text().split('"CommandExecution","id":"')[1:])
        codes |= CodexRollouts().exit_codes(source("", str(path)), calls)

    assert codes
    assert all(name.startswith("exec-") for name in codes)


@pytest.mark.parametrize(
    ("session", "call", "agent"),
    [
        (V1, "call_2", V1_FIRST),
        (V1, "call_3", V1_SECOND),
        (V2, "call_2", "01a1fd02-0573-7ec0-a3f8-b8e4f643eec1"),
        (V2, "call_3", "01a1fd02-05d0-7d83-b5b8-608dab6fda3a"),
        (V2, "call_9", ""),
        (V1, "call_15", ""),
    ],
)
def test_agent_of(session: str, call: str, agent: str) -> None:
    """A call that delegates is linked to the agent that it became, in both versions."""
    assert agent == CodexRollouts().agent_id_of(source(session, rollout(session)), call)


@pytest.mark.parametrize("path", ["", "/nowhere/rollout-a.jsonl", "/etc/passwd", "/dev/zero", "rollout-a\0.jsonl"])
def test_no_rollout(path: str) -> None:
    """Without a rollout nothing is returned, and no file but a rollout is opened."""
    rollouts = CodexRollouts()

    assert None is rollouts.total_tokens(source(V1, path))
    assert None is rollouts.context_usage(source(V1, path))
    assert {} == rollouts.exit_codes(source(V1, path), frozenset({"call_15"}))
    assert "" == rollouts.agent_id_of(source(V1, path), "call_2")


def test_a_thread_that_has_used_nothing(tmp_path: Path) -> None:
    """A rollout without a count has used no tokens, unless it is too long to be sure."""
    file = tmp_path / "rollout-x.jsonl"
    file.write_text('{"type":"session_meta","payload":{}}\n')
    fresh = CodexRollouts().total_tokens(source("", str(file)))
    file.write_text('{"type":"session_meta","payload":{}}\n' * (MAX_BYTES // 30))

    assert 0 == fresh
    assert None is CodexRollouts().total_tokens(source("", str(file)))


def test_malformed_lines_are_skipped(tmp_path: Path) -> None:
    """Lines with unexpected fields are skipped without an error."""
    file = tmp_path / "rollout-x.jsonl"
    odd = ['{"payload":{"type":"item_completed","item":["CommandExecution"]}}', '"item_completed" "CommandExecution"']
    odd += ['{"payload":{"type":"item_completed","item":{"type":"CommandExecution","id":["c"],"exit_code":1}}}']
    odd += ['{"payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","exit_code":"1"}}}']
    odd += ['{"payload":{"thread_token_usage":{"input_tokens":"1","output_tokens":1}}}', "[" * 9000 + "token_usage"]
    file.write_text("\n".join(odd) + "\n")

    assert {} == CodexRollouts().exit_codes(source("", str(file)), frozenset({"c"}))
    assert 0 == CodexRollouts().total_tokens(source("", str(file)))


@pytest.mark.parametrize(
    ("name", "originator", "expected"),
    [
        ("rollout-1.jsonl", "codex_exec", True),
        ("rollout-1.jsonl", "codex-tui", False),
        ("notes.jsonl", "codex_exec", False),
    ],
)
def test_who_sees_a_thread(tmp_path: Path, name: str, originator: str, expected: bool) -> None:
    """``codex exec`` names itself at the beginning of the rollout; a thread without one may be seen."""
    (tmp_path / name).write_text(f'{{"type":"session_meta","payload":{{"id":"1","originator":"{originator}"}}}}\n')
    source = EventSource(ClientName.CODEX_CLI, "/repo", "s", "", str(tmp_path / name))

    assert expected is is_headless(source)
    assert not is_headless(EventSource(ClientName.CODEX_CLI, "/repo", "s", "", str(tmp_path / "rollout-2.jsonl")))
