"""Turns on a thread: what is sent, what is stored, and what is reported when the thread has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from fakes.codex.conversation import FIRST, NEIGHBOR, SECOND, Scene, good, open_scene, save_session, store_of
from fakes.context import HERE, repo_context

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.sessions.session import Session
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.settings import Activation, ExecutionMode, SessionMode

PROMPT = "where is RETRY_LIMIT used in retry.py?"
GONE = base.Failed(base.FailureReason.NO_ROLLOUT, "no rollout found for thread id")
NOW = "2026-01-02T03:04:05.678Z"
FINDING = Finding("shop/retry.py", symbol="RETRY_LIMIT", start_line=1, end_line=1, score=1, text="RETRY_LIMIT = 3")


def make_scene(root: Path, *turns: Sequence[base.TurnEvent], **options: Any) -> Scene:
    return open_scene(root, *turns, answers={"ci_search": ToolOutput("1 file", (FINDING,))}, **options)


def session_file(root: Path, text: str) -> Path:
    """The file in which earlier versions kept the sessions."""
    path = root / ".upbeat/codex-session.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_the_context_is_sent_with_the_prompt(tmp_path: Path) -> None:
    """AC-001: the results of the tools reach Codex in the same turn, and the prompt is unchanged."""
    scene = make_scene(tmp_path, good())
    scene.turn(PROMPT)
    [ask] = scene.transport.asked

    assert (PROMPT, "") == (ask.prompt, ask.thread_id)
    assert "RETRY_LIMIT = 3" in ask.context


@pytest.mark.parametrize(
    "settings", [{"enabled": Activation.OFF}, {"enabled": Activation.AUTO, "tools_disabled": ("ci_search",)}]
)
def test_without_findings_the_prompt_is_sent_alone(tmp_path: Path, settings: dict[str, Any]) -> None:
    """AC-013: without findings, Codex gets only the prompt, and the session works."""
    scene = make_scene(tmp_path, good(), good(), **settings)
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    assert [base.TurnInput(PROMPT), base.TurnInput(PROMPT, "", FIRST)] == scene.transport.asked


def test_the_context_leaves_room_for_the_prompt(tmp_path: Path) -> None:
    """A context that does not fit next to the prompt is truncated or dropped, with a limit."""
    scene = make_scene(tmp_path, good(), room=len(PROMPT) + 50)
    scene.turn(PROMPT)

    assert [base.TurnInput(PROMPT)] == scene.transport.asked
    assert "[Limits] budget exceeded; results truncated" in scene.printed


def test_the_thread_of_a_failed_turn_is_stored(tmp_path: Path) -> None:
    """AC-002: a turn that fails leaves a thread that can be resumed."""
    scene = make_scene(tmp_path, [base.ThreadStarted(FIRST), base.Failed(base.FailureReason.TURN_FAILED, "no")])
    scene.turn(PROMPT)

    [row] = store_of(tmp_path).read(0)
    title = "where is RETRY_LIMIT used in retry.py?"
    assert Session(FIRST, NOW, NOW, str(tmp_path), base.TokenUsage(), str(tmp_path), title) == row.session


def test_another_thread_than_requested_is_reported_and_kept(tmp_path: Path) -> None:
    """AC-002: if Codex silently starts another thread, the user is told and the session continues with it."""
    make_scene(tmp_path, good(FIRST)).turn(PROMPT)
    scene = make_scene(tmp_path, good(SECOND), good(SECOND))
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    expected = f"requested thread {FIRST}, but Codex started {SECOND}; continuing with that"
    assert f"[Limits] session continuity unavailable; fallback to stateless exec: {expected}\n" in scene.printed
    assert [FIRST, SECOND] == [ask.thread_id for ask in scene.transport.asked]
    assert SECOND == scene.stored()["default"]


def test_the_same_id_in_another_case_is_the_same_thread(tmp_path: Path) -> None:
    """Codex reports ids in lower case."""
    session_file(tmp_path, json.dumps({"schema_version": "1.0", "sessions": {"default": {"thread_id": FIRST.upper()}}}))
    scene = make_scene(tmp_path, good(FIRST))
    scene.turn(PROMPT)

    assert "session continuity" not in scene.printed


def test_a_lost_thread_is_replaced_and_reported(tmp_path: Path) -> None:
    """AC-002: the prompt of a turn whose thread is gone is sent to a new thread, visibly."""
    make_scene(tmp_path, good(FIRST)).turn(PROMPT)
    scene = make_scene(tmp_path, [GONE], good(SECOND))
    ending = scene.turn(PROMPT)

    assert base.Completed(base.TokenUsage(100)) == ending
    assert [(PROMPT, FIRST), (PROMPT, "")] == [(ask.prompt, ask.thread_id) for ask in scene.transport.asked]
    assert f"fallback to stateless exec: {GONE.text}; starting a new thread" in scene.printed
    assert SECOND == scene.stored()["default"]


def test_a_lost_thread_is_replaced_once(tmp_path: Path) -> None:
    """There is one second attempt and no third."""
    make_scene(tmp_path, good(FIRST)).turn(PROMPT)
    scene = make_scene(tmp_path, [GONE], [GONE])

    assert scene.turn(PROMPT) == GONE
    assert len(scene.transport.asked) == 2


@pytest.mark.parametrize(
    "why",
    [why for why in base.FailureReason if why not in (base.FailureReason.NO_ROLLOUT, base.FailureReason.CONTEXT_FULL)],
)
def test_no_other_failure_is_repeated(tmp_path: Path, why: base.FailureReason) -> None:
    """A prompt that may be part of the thread is not sent twice, and a held thread is not abandoned."""
    make_scene(tmp_path, good(FIRST)).turn(PROMPT)
    scene = make_scene(tmp_path, [base.Failed(why, "x")])

    assert base.Failed(why, "x") == scene.turn(PROMPT)
    assert len(scene.transport.asked) == 1
    assert FIRST == scene.stored()["default"]


def test_a_damaged_session_file_is_reported(tmp_path: Path) -> None:
    """AC-002: a damaged file of an earlier version costs the session, but not the turn, and is left alone."""
    path = session_file(tmp_path, "{")
    scene = make_scene(tmp_path, good())
    scene.turn(PROMPT)

    assert "codex-session.json is damaged (not JSON)" in scene.printed
    assert ("{", FIRST) == (path.read_text(), scene.stored()["default"])


def test_a_session_that_cannot_be_stored_continues(tmp_path: Path) -> None:
    """AC-002: a session that cannot be stored is reported once, with the command that resumes it."""
    tmp_path.with_name(f"{tmp_path.name}-state").write_text("")
    scene = make_scene(tmp_path, good(), good())
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    assert ["", FIRST] == [ask.thread_id for ask in scene.transport.asked]
    assert 1 == scene.printed.count("; resume the session with")
    assert f"codex exec resume {FIRST}" in scene.printed


def test_without_a_repository_there_is_no_file(tmp_path: Path) -> None:
    """In a bare repository nothing is written, and that is reported."""
    scene = make_scene(tmp_path, good(), context=repo_context(replace(HERE, root=str(tmp_path), problem="it is bare")))
    scene.turn(PROMPT)

    assert "fallback to stateless exec: it is bare" in scene.printed
    assert [] == list(tmp_path.iterdir())


def test_exec_mode_starts_a_new_thread_each_time(tmp_path: Path) -> None:
    """AC-002: with session_mode exec no turn resumes another."""
    scene = make_scene(tmp_path, good(FIRST), good(SECOND), codex_session_mode=SessionMode.EXEC)
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    assert ["", ""] == [ask.thread_id for ask in scene.transport.asked]


def test_tokens_are_those_of_the_turn(tmp_path: Path) -> None:
    """Codex counts over the whole thread; the difference is shown, also after a restart."""
    scene = make_scene(tmp_path, good(tokens=100), good(tokens=250))
    scene.turn(PROMPT)
    scene.turn(PROMPT)
    later = make_scene(tmp_path, good(tokens=1000))
    later.turn(PROMPT)

    assert ["100", "150"] == [line.split()[1] for line in scene.printed.split("\n") if line.startswith("tokens")]
    assert "tokens: 750 in" in later.printed


def test_tokens_of_a_thread_from_elsewhere_are_its_total(tmp_path: Path) -> None:
    """Without an earlier count, the total is shown and called so."""
    session_file(tmp_path, json.dumps({"schema_version": "1.0", "sessions": {"default": {"thread_id": FIRST}}}))
    scene = make_scene(tmp_path, good(tokens=900))
    scene.turn(PROMPT)

    assert "tokens in the whole session: 900 in" in scene.printed


def test_a_plan_sends_and_writes_nothing(tmp_path: Path) -> None:
    """AC-003: a plan names the command with its session, and changes nothing."""
    save_session(tmp_path, usage=base.TokenUsage())
    scene = make_scene(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    first, second = (
        scene.conversation.preparer.prepare(PROMPT, is_plan_only=True),
        scene.conversation.preparer.prepare(PROMPT, is_plan_only=True),
    )

    assert first.to_json() == second.to_json()
    assert f"fake {FIRST}" == first.tool_plan.planned_codex_command
    assert ([], [], []) == (scene.transport.asked, scene.world.runner.calls, scene.world.journal.records)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_plan_reports_a_damaged_file(tmp_path: Path) -> None:
    """AC-003: the plan reports that the session is lost."""
    session_file(tmp_path, "{")
    scene = make_scene(tmp_path)
    scene.conversation.open_session(is_plan_only=True)

    assert LimitCode.SESSION_UNAVAILABLE in [
        limit.code for limit in scene.conversation.preparer.prepare(PROMPT, is_plan_only=True).limits
    ]


def fail_tools(scene: Scene, error: BaseException) -> None:
    """Let the preparation of each turn raise ``error``."""

    def run(*_: object) -> NoReturn:
        raise error

    runtime = replace(scene.conversation.workflow._runtime, runner=SimpleNamespace(run=run))
    scene.conversation.preparer._runtime = scene.conversation.workflow._runtime = runtime


def test_an_internal_error_does_not_cost_the_turn(tmp_path: Path) -> None:
    """AC-008: after an error of the core the prompt is sent alone, and the journal has the traceback."""
    scene = make_scene(tmp_path, good())
    fail_tools(scene, RuntimeError("broken"))
    scene.turn(PROMPT)

    assert [base.TurnInput(PROMPT)] == scene.transport.asked
    assert "[Limits] orchestrator unavailable: RuntimeError: broken\n" in scene.printed
    [fault] = [record for record in scene.world.journal.records if record.event == "internal_error"]
    assert "RuntimeError: broken" in fault.event_fields["traceback"]


def test_ctrl_c_while_preparing_sends_nothing(tmp_path: Path) -> None:
    """A turn that is interrupted during its preparation is not sent."""
    scene = make_scene(tmp_path)
    fail_tools(scene, KeyboardInterrupt())

    assert base.Interrupted(2) == scene.turn(PROMPT)
    assert [] == scene.transport.asked


def test_a_turn_is_recorded_as_with_hooks(tmp_path: Path) -> None:
    """The journal has the session, the prompt with its preparation, and the end of the turn."""
    scene = make_scene(tmp_path, good())
    scene.turn(PROMPT)
    records = scene.world.journal.records
    [prompt] = [record for record in records if record.event == "PromptSubmitted"]
    [ending] = [record for record in records if record.event == "TurnEnding"]

    assert ["SessionStarted", "PromptSubmitted", "SessionAdopted", "SessionRenamed", "TurnEnding"] == [
        record.event for record in records
    ]
    assert (str(tmp_path), NOW) == (prompt.root, prompt.at)
    assert ["ci_search:ok"] == [tool for tool in prompt.turn["tools"] if "search" in tool]
    assert (FIRST, "answer") == (ending.session_id, ending.event_fields["message"])


@pytest.mark.parametrize("thread_id", ["", "last", FIRST[:-1]])
def test_an_id_that_could_not_be_resumed_is_not_stored(tmp_path: Path, thread_id: str) -> None:
    """AC-002: an id that is not a UUID would silently start another thread, so it is not stored."""
    scene = make_scene(tmp_path, good(thread_id))
    scene.turn(PROMPT)

    assert {} == scene.stored()


@pytest.mark.parametrize(
    ("turns", "gets_lines"),
    [
        ([good(FIRST), [GONE], good(SECOND), good(SECOND)], [True, False, True, True]),
        ([good(FIRST), good(SECOND), good(SECOND)], [True, False, True]),
    ],
    ids=["gone", "another"],
)
def test_another_thread_gets_the_context_again(
    tmp_path: Path, turns: list[list[base.TurnEvent]], gets_lines: list[bool]
) -> None:
    """Lines count as shown only to the thread that got them."""
    scene = make_scene(tmp_path, *turns)
    for _ in range(3):
        scene.turn(PROMPT)

    assert gets_lines == ["RETRY_LIMIT = 3" in ask.context for ask in scene.transport.asked]


def test_a_turn_without_a_thread_has_shown_nothing(tmp_path: Path) -> None:
    """The next prompt starts a thread, which gets the lines."""
    scene = make_scene(tmp_path, [base.Interrupted(2)], good(FIRST))
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    assert [True, True] == ["RETRY_LIMIT = 3" in ask.context for ask in scene.transport.asked]


# --- sessions ---


def make_plain_scene(root: Path, *turns: Sequence[base.TurnEvent], **options: Any) -> Scene:
    """A conversation whose prompts are sent without a lookup."""
    return open_scene(root, *turns, enabled=Activation.OFF, **options)


def test_a_session_that_another_process_holds_gets_no_prompt(tmp_path: Path) -> None:
    """A named session that is in use fails the turn before anything is sent, and works once it is free."""
    save_session(tmp_path, name="mine")
    neighbor = store_of(tmp_path, NEIGHBOR)
    neighbor.claim("mine", None, 0)
    scene = make_plain_scene(tmp_path, good(FIRST), name="mine")
    first = scene.turn()
    neighbor.release()

    assert base.Failed(base.FailureReason.ACTIVE_WRITER, f"process {NEIGHBOR.pid}") == first
    assert base.Completed(base.TokenUsage(100)) == scene.turn()
    assert [base.TurnInput("hello", "", FIRST)] == scene.transport.asked


def test_a_fork_continues_next_to_its_origin(tmp_path: Path) -> None:
    """The next turn runs on the copy, and the origin keeps its name."""
    scene = make_plain_scene(tmp_path, good(FIRST), good(SECOND))
    scene.turn()
    scene.transport.forks = [SECOND]
    message = scene.conversation.fork()
    scene.turn()

    assert "this is now session default-2" in message
    assert ([FIRST], ["", SECOND]) == (scene.transport.forked, [asked.thread_id for asked in scene.transport.asked])
    assert "codex-auto --session default-2" == scene.conversation.resume_command()
    assert "tokens in the whole session" in scene.printed


def test_a_fork_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Codex's reason is shown; before the first prompt there is nothing to fork."""
    scene = make_plain_scene(tmp_path, good(FIRST))
    nothing = scene.conversation.fork()
    scene.turn()
    scene.transport.forks = [base.Failed(base.FailureReason.NO_ROLLOUT, "gone")]

    assert ("there is nothing to fork before the first prompt", "") == (nothing, scene.conversation.fork())
    assert "no longer has this session" in scene.printed
    assert {"default": FIRST} == scene.stored()


def test_codex_exec_cannot_compact(tmp_path: Path) -> None:
    """There is no app-server to ask."""
    assert make_plain_scene(tmp_path).conversation.turns.compact() is None


def test_plan_mode_holds_no_session(tmp_path: Path) -> None:
    """Settings that ask for dry runs leave no lease; when they change, the turn takes the session first."""
    scene = make_plain_scene(tmp_path, good(FIRST), mode=ExecutionMode.PLAN)
    before = store_of(tmp_path).read(0)
    scene.turn()

    assert ((), []) == (before, os.listdir(tmp_path))
    assert ["default"] == [row.name for row in store_of(tmp_path, NEIGHBOR).read(0) if row.holder]


def test_closing_ends_the_transport_and_releases_the_session(tmp_path: Path) -> None:
    """Nothing outlives a conversation."""
    scene = make_plain_scene(tmp_path)
    scene.conversation.close()

    assert (True, ()) == (scene.transport.is_closed, store_of(tmp_path, NEIGHBOR).read(0))
