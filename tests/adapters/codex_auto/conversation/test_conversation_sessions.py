"""What a conversation does with sessions: another one, a new one, a copy, and none that another process holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fakes.codex.conversation import FIRST, NEIGHBOR, SECOND, Scene, good, open_scene, save_session, store_of

from upbeat.adapters.codex.transport.base import Completed, Failed, FailureReason, TokenUsage, TurnEvent, TurnInput
from upbeat.adapters.codex_auto.sessions.manager import SessionSummary
from upbeat.core.settings import Activation, ExecutionMode

NOW = "2026-01-02T03:04:05.678Z"


def scene(root: Path, *turns: Sequence[TurnEvent], **options: Any) -> Scene:
    return open_scene(root, *turns, enabled=Activation.OFF, **options)


def test_a_session_that_another_process_holds_gets_no_prompt(tmp_path: Path) -> None:
    """Named by the user: the turn fails before anything is prepared or sent, and works when the session is free."""
    save_session(tmp_path, name="mine")
    neighbor = store_of(tmp_path, NEIGHBOR)
    neighbor.claim("mine", None, 0)
    one = scene(tmp_path, good(FIRST), name="mine")
    first = one.turn()
    neighbor.release()

    assert Failed(FailureReason.ACTIVE_WRITER, f"process {NEIGHBOR.pid}") == first
    assert Completed(TokenUsage(100)) == one.turn()
    assert [TurnInput("hello", "", FIRST)] == one.transport.asked


def test_a_new_thread_does_not_lose_the_former(tmp_path: Path) -> None:
    """--new starts another thread, and the former one can be resumed by its number."""
    scene(tmp_path, good(FIRST)).turn("first prompt")
    one = scene(tmp_path, good(SECOND), good(FIRST), is_new=True)
    one.turn("second prompt")
    listed = one.conversation.list_sessions()
    one.conversation.switch_session(str([summary.thread_id for summary in listed].index(FIRST) + 1))
    one.turn()

    known = {summary.thread_id: summary for summary in listed}
    assert SessionSummary(SECOND, "default", NOW, "second prompt", is_current=True) == known[SECOND]
    assert SessionSummary(FIRST, "", NOW, "first prompt") == known[FIRST]
    assert ["", FIRST] == [turn_input.thread_id for turn_input in one.transport.asked]


def test_a_fork_continues_next_to_its_origin(tmp_path: Path) -> None:
    """The next turn is on the copy; the origin keeps its name."""
    one = scene(tmp_path, good(FIRST), good(SECOND))
    one.turn()
    one.transport.forks = [SECOND]
    message = one.conversation.fork()
    one.turn()

    assert "this is now session default-2" in message
    assert ([FIRST], ["", SECOND]) == (one.transport.forked, [asked.thread_id for asked in one.transport.asked])
    assert "codex-auto --session default-2" == one.conversation.resume_command()
    assert "tokens in the whole session" in one.told


def test_a_fork_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Codex's reason is shown; before the first prompt there is nothing to fork."""
    one = scene(tmp_path, good(FIRST))
    nothing = one.conversation.fork()
    one.turn()
    one.transport.forks = [Failed(FailureReason.NO_ROLLOUT, "gone")]

    assert ("there is nothing to fork before the first prompt", "") == (nothing, one.conversation.fork())
    assert "no longer has this session" in one.told
    assert {"default": FIRST} == one.stored()


def test_codex_exec_cannot_compact(tmp_path: Path) -> None:
    """There is no app-server to ask."""
    assert scene(tmp_path).conversation.turns.compact() is None


def test_plan_mode_takes_no_session(tmp_path: Path) -> None:
    """Settings that ask for dry runs leave no lease; when they change, the turn takes the session first."""
    one = scene(tmp_path, good(FIRST), mode=ExecutionMode.PLAN)
    before = store_of(tmp_path).read(0)
    one.turn()

    assert ((), []) == (before, os.listdir(tmp_path))
    assert ["default"] == [row.name for row in store_of(tmp_path, NEIGHBOR).read(0) if row.holder]


def test_closing_ends_the_transport_and_releases_the_session(tmp_path: Path) -> None:
    """Nothing outlives a conversation."""
    one = scene(tmp_path)
    one.conversation.close()

    assert (True, ()) == (one.transport.is_closed, store_of(tmp_path, NEIGHBOR).read(0))
