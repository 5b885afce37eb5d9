"""Turns with an app-server that is a real process: one for all turns, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.app_server_bench import DONE, THREAD, Bench, app_server_bench, at, to_ourselves, without_place

from upbeat.adapters.codex.transport.app_server import turn
from upbeat.adapters.codex.transport.base import (
    ApprovalDecided,
    ApprovalDecision,
    ApprovalKind,
    ApprovalRequest,
    CommandFinished,
    Delta,
    Failed,
    FailureReason,
    Interrupted,
    ItemStarted,
    Message,
    ThreadStarted,
    TransportNotice,
    TransportNoticeKind,
    TurnEvent,
    TurnInput,
    TurnStarted,
    UnrecognizedEvent,
    WarningIssued,
    WindowUsage,
)
from upbeat.adapters.codex.transport.exec.command_line import MAX_PROMPT_CHARS

COMMAND = "item/commandExecution/requestApproval"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with app_server_bench(tmp_path) as made:
        yield made


# --- turns ---


def test_a_turn(bench: Bench) -> None:
    """Words come as they are written, then the whole message, then the end."""
    thread, *events = bench.turn({"say": "two words"}, {"run": "ls", "output": "a\n", "code": 1})
    assert isinstance(thread, ThreadStarted)
    assert [
        TurnStarted(),
        Delta("item_0", "two "),
        Delta("item_0", "words"),
        Message("two words", "item_0"),
        ItemStarted("item_1", "ls"),
        CommandFinished("item_1", "ls", "a\n", 1),
        WindowUsage(110, 1000),
        DONE,
    ] == events


def test_three_turns_are_one_process_and_one_thread(bench: Bench) -> None:
    """The server is started once, and the thread is not resumed while it holds it."""
    transport = bench.open()
    started = next(transport.send(TurnInput("zero")))
    assert isinstance(started, ThreadStarted)
    for prompt in ("one", "two"):
        assert DONE == list(transport.send(TurnInput(prompt, thread_id=started.thread_id)))[-1]
    [[_, arguments, wrapped]] = bench.starts()
    assert (["app-server"], "1") == (arguments, wrapped)
    assert [] == bench.received("thread/resume")
    assert [{"cwd": str(bench.folder)}] == bench.received("thread/start")


def test_the_hand_shake(bench: Bench) -> None:
    """The experimental part is asked for, and what nobody reads is not."""
    bench.open()
    [hello] = bench.received("initialize")
    assert {"name": "codex-auto", "title": "codex-auto", "version": "1.0"} == hello["clientInfo"]
    assert hello["capabilities"]["experimentalApi"] is True
    assert "item/commandExecution/outputDelta" in hello["capabilities"]["optOutNotificationMethods"]


def test_context_and_words_stay_apart(bench: Bench) -> None:
    """The prompt is the user's words alone; the context is untrusted, and new with every turn."""
    transport = bench.open()
    for _ in range(2):
        list(transport.send(TurnInput("hello", "found this", THREAD)))
    list(transport.send(TurnInput("bye", "", THREAD)))
    first, second, third = bench.received("turn/start")
    assert [{"type": "text", "text": "hello"}] == first["input"]
    value = "[prepared for turn 1, part 1 of 1]\nfound this"
    assert {"upbeat-001": {"kind": "untrusted", "name": "upbeat_context", "value": value}} == first["additionalContext"]
    assert first["additionalContext"] != second["additionalContext"]
    assert "additionalContext" not in third


def test_a_thread_is_resumed_with_the_flags(bench: Bench) -> None:
    """A thread of an earlier process is resumed without its turns, with the folder and the model asked for."""
    flags = ["-m", "gpt-5.5", "-s", "read-only", "-c", "a=b"]
    events = bench.turn({"say": "x"}, ask=TurnInput("hello", thread_id=THREAD), flags=flags)
    assert ThreadStarted(THREAD) == events[0]
    fields = {"cwd": str(bench.folder), "model": "gpt-5.5", "sandbox": "read-only"}
    assert [{"threadId": THREAD, "excludeTurns": True, **fields}] == bench.received("thread/resume")
    assert ["app-server", "--config", "a=b"] == bench.starts()[0][1]


def test_prepared_threads_are_used(bench: Bench) -> None:
    """What was taken up while the user typed is not asked for again; a new thread is used once."""
    transport = bench.open()
    transport.preopen_thread(THREAD)
    list(transport.send(TurnInput("hello", thread_id=THREAD)))
    transport.preopen_thread("")
    new = [next(transport.send(TurnInput("hello"))) for _ in range(2)]
    assert (1, 2) == (len(bench.received("thread/resume")), len(bench.received("thread/start")))
    assert 2 == len(set(new))


def test_the_model_can_be_changed(bench: Bench) -> None:
    """It goes along with the turn."""
    transport = bench.open()
    transport.model = "gpt-6"
    list(transport.send(TurnInput("hello")))
    assert ["gpt-6"] == [fields.get("model") for fields in bench.received("turn/start")]


def test_an_effort_is_for_one_turn(bench: Bench) -> None:
    """Codex keeps an effort for the turns that follow: the next one without gets the thread's usual one back, once."""
    bench.script(starts=[{"effort": "medium"}])
    transport = bench.open()
    for effort in ("", "high", "xhigh", "", ""):
        list(transport.send(TurnInput("hello", thread_id=THREAD, effort=effort)))

    assert [None, "high", "xhigh", "medium", None] == [one.get("effort") for one in bench.received("turn/start")]


def test_garbage_and_huge_lines(bench: Bench) -> None:
    """Lines that are no messages are passed over; one of several megabytes is whole."""
    events = bench.turn({"raw": "not json"}, {"raw": "[1]"}, {"raw": ""}, {"huge": 5_000_000})
    noise = [UnrecognizedEvent("not JSON"), UnrecognizedEvent("not an object"), UnrecognizedEvent("not JSON")]
    assert [*noise, Message("x" * 5_000_000, "item_3"), DONE] == without_place(events)


def test_a_long_prompt_arrives(bench: Bench) -> None:
    """The longest prompt that Codex takes is sent whole, and a longer one not at all."""
    bench.turn({"say": "x"}, ask=TurnInput("店" * MAX_PROMPT_CHARS))
    [fields] = bench.received("turn/start")
    assert MAX_PROMPT_CHARS == len(fields["input"][0]["text"])
    assert [Failed(FailureReason.PROMPT_TOO_LONG)] == list(bench.open().send(TurnInput("x" * (MAX_PROMPT_CHARS + 1))))
    assert 1 == len(bench.received("turn/start"))


def test_warnings_are_told_once(bench: Bench) -> None:
    """The server repeats its warnings at every start and resume; the user reads them once."""
    warning = {"tell": "configWarning", "params": {"summary": "mind", "details": None}}
    bench.script([warning, warning], [warning])
    transport = bench.open()
    events = [*transport.send(TurnInput("a", thread_id=THREAD)), *transport.send(TurnInput("b", thread_id=THREAD))]
    assert [WarningIssued("mind"), DONE, DONE] == without_place(events)


def test_another_agents_events_are_not_shown(bench: Bench) -> None:
    """What happens on the thread of a subagent is not the turn's."""
    params = {"threadId": "other", "turnId": "o", "itemId": "i", "delta": "inner"}
    ended = {"threadId": "other", "turn": {"id": "o", "status": "completed"}}
    events = bench.turn(
        {"tell": "item/agentMessage/delta", "params": params}, {"tell": "turn/completed", "params": ended}
    )
    assert [DONE] == without_place(events)


@pytest.mark.parametrize(
    ("text", "info", "why"),
    [
        ("full", "contextWindowExceeded", FailureReason.CONTEXT_FULL),
        ("no", {"responseTooManyFailedAttempts": {"httpStatusCode": 401}}, FailureReason.UNAUTHORIZED),
        ("odd", None, FailureReason.TURN_FAILED),
    ],
)
def test_failed_turns(bench: Bench, text: str, info: object, why: FailureReason) -> None:
    """A failed turn says why, and the server goes on."""
    bench.script([{"fail": text, "info": info}], [{"say": "x"}])
    transport = bench.open()
    assert Failed(why, text) == list(transport.send(TurnInput("a", thread_id=THREAD)))[-1]
    assert DONE == list(transport.send(TurnInput("b", thread_id=THREAD)))[-1]
    assert 1 == len(bench.starts())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("no rollout found for thread id x", FailureReason.NO_ROLLOUT),
        ("invalid session id: invalid character", FailureReason.NO_ROLLOUT),
        ("thread x already has an active writer", FailureReason.ACTIVE_WRITER),
        ("session x is archived. Run `codex unarchive x`", FailureReason.ARCHIVED),
        ("failed to load configuration: config.toml:2:7", FailureReason.CODEX_CONFIG),
        ("something new", FailureReason.REQUEST_REFUSED),
    ],
)
def test_threads_that_cannot_be_resumed(bench: Bench, words: str, why: FailureReason) -> None:
    """Nothing is sent, and the reason is told, however early the thread was asked for."""
    bench.script(starts=[{"resume": words}])
    transport = bench.open()
    transport.preopen_thread(THREAD)
    assert [Failed(why, words)] == list(transport.send(TurnInput("hello", thread_id=THREAD)))
    assert [] == bench.received("turn/start")


def test_a_refused_turn(bench: Bench) -> None:
    """A turn that is not taken was not sent; the next one resumes the thread again."""
    bench.script(starts=[{"turn": "thread not found: x"}])
    transport = bench.open()
    for _ in range(2):
        assert [Failed(FailureReason.REQUEST_REFUSED, "thread not found: x")] == list(
            transport.send(TurnInput("hello", thread_id=THREAD))
        )
    assert 2 == len(bench.received("thread/resume"))


def test_a_closed_thread_is_resumed(bench: Bench) -> None:
    """A thread that the server lets go is asked for again."""
    closed = {"tell": "thread/closed", "params": {"threadId": THREAD}}
    bench.script([closed, {"say": "x"}])
    transport = bench.open()
    for _ in range(2):
        assert DONE == list(transport.send(TurnInput("hello", thread_id=THREAD)))[-1]
    assert 2 == len(bench.received("thread/resume"))


# --- what the server asks ---


def ask_and(
    decision: ApprovalDecision | None, bench: Bench, **options: Any
) -> tuple[list[TurnEvent], list[ApprovalRequest]]:
    """One turn that asks whether it may run ``ls``, and a user who says ``decision``, or gives up."""
    asked: list[ApprovalRequest] = []

    def user(approval: ApprovalRequest) -> ApprovalDecision:
        asked.append(approval)
        if decision is None:
            raise KeyboardInterrupt
        return decision

    request = {"ask": COMMAND, "params": {"command": "ls", "cwd": "/p"}}
    return bench.turn(request, {"sleep": 0.2}, ask_person=user, **options), asked


@pytest.mark.parametrize("decision", [ApprovalDecision.ACCEPT, ApprovalDecision.DECLINE])
def test_a_user_decides(bench: Bench, decision: ApprovalDecision) -> None:
    """The user sees the command and the folder, and the server gets the decision."""
    events, [approval] = ask_and(decision, bench)
    assert ApprovalRequest(ApprovalKind.COMMAND, "ls", "/p") == approval
    assert [ApprovalDecided(approval, decision), DONE] == without_place(events)
    assert [{"id": 7, "result": {"decision": decision.value}}] == bench.answers()


@pytest.mark.parametrize("decision", [ApprovalDecision.CANCEL, None])
def test_a_user_gives_up(bench: Bench, decision: ApprovalDecision | None) -> None:
    """Cancel, or Ctrl-C at the question, ends the turn."""
    events, [approval] = ask_and(decision, bench)
    assert [ApprovalDecided(approval, ApprovalDecision.CANCEL), Interrupted(signal.SIGINT)] == without_place(events)
    assert [{"id": 7, "result": {"decision": "cancel"}}] == bench.answers()


def test_nobody_decides(bench: Bench) -> None:
    """Where nobody can be asked the answer is no, and that is told."""
    events = bench.turn({"ask": COMMAND, "params": {"command": "ls"}})
    assert [
        ApprovalDecided(ApprovalRequest(ApprovalKind.COMMAND, "ls"), ApprovalDecision.DECLINE, is_by_person=False),
        DONE,
    ] == without_place(events)


def test_thinking_is_not_silence(bench: Bench) -> None:
    """A user may take longer than the server may."""

    def user(_: ApprovalRequest) -> ApprovalDecision:
        time.sleep(0.6)
        return ApprovalDecision.ACCEPT

    events = bench.turn({"ask": COMMAND, "params": {"command": "ls"}}, ask_person=user, idle_seconds=0.5)
    assert DONE == events[-1]


def test_unknown_requests_are_answered(bench: Bench) -> None:
    """A request that nobody knows is refused, so that the turn goes on."""
    events = bench.turn({"ask": "new/thing", "params": {}})
    assert [UnrecognizedEvent("new/thing"), DONE] == without_place(events)
    [answer] = bench.answers()
    assert (7, -32601) == (answer["id"], answer["error"]["code"])


def test_a_change_is_asked_about_with_its_diff(bench: Bench) -> None:
    """The question names an item; the diff came with the item."""
    diff = {"path": "/p/a", "kind": {"type": "add"}, "diff": "hi\n"}
    item = {"item": {"type": "fileChange", "id": "c", "changes": [diff]}}
    asked: list[ApprovalRequest] = []

    def user(approval: ApprovalRequest) -> ApprovalDecision:
        asked.append(approval)
        return ApprovalDecision.ACCEPT

    request = {"ask": "item/fileChange/requestApproval", "params": {"itemId": "c"}}
    bench.turn({"tell": "item/started", "params": item}, request, ask_person=user)
    assert [("hi\n",)] == [tuple(change.diff for change in approval.diffs) for approval in asked]


# --- stopping ---


def test_ctrl_c_interrupts_the_turn_only(bench: Bench) -> None:
    """The server stops the turn, and does the next one."""
    bench.script([{"begin": "sleep 9"}, {"wait": True}], [{"say": "x"}])
    transport = bench.open()
    events = at(transport.send(TurnInput("a", thread_id=THREAD)), ItemStarted, to_ourselves(signal.SIGINT))
    assert Interrupted(signal.SIGINT) == events[-1]
    assert DONE == list(transport.send(TurnInput("b", thread_id=THREAD)))[-1]
    assert (1, 1) == (len(bench.received("turn/interrupt")), len(bench.starts()))


def test_a_second_ctrl_c_kills(bench: Bench) -> None:
    """A server that does not listen is killed; the next turn starts another, without a word about it."""
    bench.script([{"begin": "x"}, {"deaf": True}], [{"say": "x"}])
    transport = bench.open()
    events: list[TurnEvent] = []
    for event in transport.send(TurnInput("a", thread_id=THREAD)):
        events.append(event)
        if isinstance(event, ItemStarted):
            threading.Timer(0.3, to_ourselves(signal.SIGINT)).start()
            to_ourselves(signal.SIGINT)()
    assert Interrupted(signal.SIGINT) == events[-1]
    assert [] == bench.alive()
    assert [DONE] == [
        event for event in without_place(list(transport.send(TurnInput("b", thread_id=THREAD)))) if event == DONE
    ]
    assert 2 == len(bench.starts())


def test_sigterm_does_not_wait_long(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """When codex-auto itself is to end, a deaf server has a moment, and is killed."""
    monkeypatch.setattr(turn, "TERMINATE_SECONDS", 0.2)
    bench.script([{"begin": "x"}, {"deaf": True}])
    events = at(bench.open().send(TurnInput("a")), ItemStarted, to_ourselves(signal.SIGTERM))
    assert Interrupted(signal.SIGTERM) == events[-1]
    assert [] == bench.alive()


def test_silence_ends_a_turn(bench: Bench) -> None:
    """Without progress for too long the turn is interrupted, and the server stays."""
    trouble = {"tell": "error", "params": {"error": {"message": "again"}, "willRetry": True, "threadId": THREAD}}
    bench.script([trouble, {"sleep": 0.3}, trouble, {"wait": True}], [{"say": "x"}])
    transport = bench.open(idle_seconds=0.5)
    began = time.monotonic()
    assert Failed(FailureReason.IDLE_TIMEOUT, "0.5") == list(transport.send(TurnInput("a", thread_id=THREAD)))[-1]
    assert time.monotonic() - began < 2
    assert DONE == list(transport.send(TurnInput("b", thread_id=THREAD)))[-1]
    assert 1 == len(bench.starts())


def test_a_working_command_may_be_silent_longer(bench: Bench) -> None:
    """A command that runs is given more time."""
    events = bench.turn({"begin": "make"}, {"sleep": 1.2}, idle_seconds=0.5)
    assert DONE == events[-1]


def test_leaving_a_turn_stops_it(bench: Bench) -> None:
    """Whoever reads no further leaves no turn behind that the next prompt would steer."""
    bench.script([{"say": "x"}, {"wait": True}], [{"say": "y"}])
    transport = bench.open()
    events = transport.send(TurnInput("a", thread_id=THREAD))
    while not isinstance(next(events), Message):
        continue
    events.close()  # type: ignore[attr-defined]
    assert Message("y", "item_0") in list(transport.send(TurnInput("b", thread_id=THREAD)))


def test_a_busy_thread_is_waited_for(bench: Bench) -> None:
    """A turn that another process else started is not steered: the prompt waits for its end."""
    begun = {"tell": "turn/started", "params": {"threadId": THREAD, "turn": {"id": "foreign"}}}
    bench.script([begun], [{"say": "x"}])
    transport = bench.open()
    list(transport.send(TurnInput("a", thread_id=THREAD)))
    events = transport.send(TurnInput("b", thread_id=THREAD))
    assert TransportNotice(TransportNoticeKind.WAITING) == next(events)
    assert 1 == len(bench.received("turn/start"))
    os.kill(os.getpid(), signal.SIGINT)
    assert [Interrupted(signal.SIGINT)] == list(events)
    assert 1 == len(bench.received("turn/start"))
