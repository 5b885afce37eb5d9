"""Codex's own records of a thread and its agents: what is read from them, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.codex.rollout import AGENT, ROOT, call, command, ended, item, line, spawned, write
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex_auto.conversation.rollouts import (
    AgentFinished,
    AgentSpawned,
    RecordedCommand,
    RecordedFileChange,
    RolloutEvent,
    RolloutReader,
    codex_home,
    find_rollout,
)


def following(home: Path, *, is_new: bool = True) -> RolloutReader:
    rollouts = RolloutReader(home)
    rollouts.follow(ROOT, is_new=is_new)
    return rollouts


def news(rollouts: RolloutReader) -> list[RolloutEvent]:
    return list(rollouts.poll())


def test_an_agent_of_the_first_kind(tmp_path: Path) -> None:
    """Its call with its kind and prompt, its commands with their exit codes, and its answer, under the call's id."""
    rollouts = following(tmp_path)
    write(tmp_path, ROOT, call("call_3", "multi_agent_v1", message="Add retries.", agent_type="upbeat-developer"))
    write(tmp_path, ROOT, spawned("call_3", AGENT))
    write(
        tmp_path,
        AGENT,
        line("session_meta", id=AGENT),
        item(AGENT, "t2", "UserMessage", id="u"),
        command(AGENT, "t2", "call_7", ["/bin/bash", "-lc", "pytest -q"], 3),
        item(AGENT, "t2", "FileChange", id="call_8"),
        ended("t2", "Retries are in."),
    )

    assert [
        AgentSpawned("call_3", AGENT, "upbeat-developer", "Add retries."),
        RecordedCommand(AGENT, "call_7", "pytest -q", "hi\n", 3, 5.0),
        RecordedFileChange(AGENT, "call_8"),
        AgentFinished(AGENT, "call_3", "Retries are in."),
    ] == news(rollouts)
    assert [] == news(rollouts)


def test_an_agent_of_the_second_kind(tmp_path: Path) -> None:
    """Its task is sealed and not read, and what its file has copied from its parent is none of its own."""
    rollouts = following(tmp_path)
    write(
        tmp_path,
        ROOT,
        call("call_6", "collaboration", message="gAAAAAB…", task_name="alpha"),
        item(ROOT, "t1", "SubAgentActivity", id="call_6", kind="started", agent_thread_id=AGENT),
        item(ROOT, "t1", "SubAgentActivity", id="subagent-completed-1", kind="completed", agent_thread_id=AGENT),
    )
    write(
        tmp_path,
        AGENT,
        command(ROOT, "t1", "call_1", ["ls"], 0),
        ended("t1", None, "turn_aborted"),
        item(AGENT, "t2", "AgentMessage", id="m"),
        ended("t2", "Done."),
    )

    assert [
        AgentSpawned("call_6", AGENT, title="alpha", is_sealed=True),
        AgentFinished(AGENT, "call_6", "Done."),
    ] == news(rollouts)


def test_the_thread_itself(tmp_path: Path) -> None:
    """Its own commands come without an agent; its end is told elsewhere."""
    rollouts = following(tmp_path)
    write(tmp_path, ROOT, command(ROOT, "t1", "call_1", ["make", "all"], 0), ended("t1", "Done."))

    assert [RecordedCommand("", "call_1", "make all", "hi\n", 0, 5.0)] == news(rollouts)


def test_what_a_resumed_thread_did_before_is_old(tmp_path: Path) -> None:
    """Only what is written after it was taken up counts; a new thread is read from its beginning."""
    write(tmp_path, ROOT, command(ROOT, "t0", "call_1", ["ls"], 0))
    resumed, fresh = following(tmp_path, is_new=False), following(tmp_path)
    write(tmp_path, ROOT, command(ROOT, "t1", "call_2", ["ls"], 0))

    assert ["call_2"] == [deed.call_id for deed in news(resumed)]
    assert ["call_1", "call_2"] == [deed.call_id for deed in news(fresh)]


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    """Codex writes while it is read."""
    rollouts = following(tmp_path)
    text = command(ROOT, "t1", "call_1", ["ls"], 0)
    write(tmp_path, ROOT, text[:40])
    before = news(rollouts)
    write(tmp_path, ROOT, text[40:])

    assert ([], 1) == (before, len(news(rollouts)))


def test_following_twice_changes_nothing(tmp_path: Path) -> None:
    """Agents that go on between turns stay followed; another thread ends that."""
    rollouts = following(tmp_path)
    write(tmp_path, ROOT, spawned("call_3", AGENT))
    news(rollouts)
    rollouts.follow(ROOT, is_new=False)
    write(tmp_path, AGENT, item(AGENT, "t2", "UserMessage", id="u"), ended("t2", "Done."))
    answered = news(rollouts)
    rollouts.follow(AGENT, is_new=False)

    assert [AgentFinished(AGENT, "call_3", "Done.")] == answered
    assert ("", True) == (rollouts.rollout_path(ROOT), rollouts.rollout_path(AGENT).endswith(f"{AGENT}.jsonl"))


def test_no_file_is_no_news(tmp_path: Path) -> None:
    """A thread that Codex keeps no record of."""
    rollouts = following(tmp_path)

    assert ([], "") == (news(rollouts), rollouts.rollout_path(ROOT))


@pytest.mark.parametrize("thread_id", ["", "last", "../../etc/passwd", "*", ROOT[:-1]])
def test_no_file_is_sought_for(tmp_path: Path, thread_id: str) -> None:
    """What is no thread id of Codex."""
    write(tmp_path, ROOT, "{}\n")

    assert find_rollout(tmp_path, thread_id) is None


def test_a_file_of_the_day_before_is_found(tmp_path: Path) -> None:
    """Codex names the folder by its own time zone."""
    path = tmp_path / "sessions/2026/11/20" / f"rollout-2026-11-20T23-03-58-{ROOT}.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()

    assert path == find_rollout(tmp_path, ROOT)


@given(st.lists(st.binary(max_size=60)))
def test_no_line_breaks_it(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    """Whatever stands in the file: what is not understood is left alone."""
    home = tmp_path_factory.mktemp("home")
    marked = [b'{"item_completed":' + text + b"}" for text in lines]
    write(home, ROOT).write_bytes(b"\n".join([*lines, *marked, b'{"payload": {"type": "item_completed"}}', b""]))

    assert [] == [deed for deed in news(following(home)) if not isinstance(deed, RecordedCommand | RecordedFileChange)]


def test_the_home_of_codex() -> None:
    """CODEX_HOME, or .codex in the home folder."""
    assert [Path("/c"), Path("/h/.codex"), Path("/h/.codex")] == [
        codex_home(variables)
        for variables in ({"CODEX_HOME": "/c", "HOME": "/h"}, {"HOME": "/h"}, {"CODEX_HOME": "", "HOME": "/h"})
    ]
