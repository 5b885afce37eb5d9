"""Turns with an app-server that is a real process: events, approvals, and every way to stop."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest
from fakes.codex.app_server_bench import DONE, THREAD, Bench, act_at, run_turn, to_ourselves, without_place

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server import turn

COMMAND = "item/commandExecution/requestApproval"


def test_a_turn(bench: Bench) -> None:
    """The pieces of a message come as they are written, then the whole message, then the ending."""
    thread, *events = bench.turn({"say": "two words"}, {"run": "ls", "output": "a\n", "code": 1})
    assert isinstance(thread, base.ThreadStarted)
    assert [
        base.TurnStarted(),
        base.Delta("item_0", "two "),
        base.Delta("item_0", "words"),
        base.Message("two words", "item_0"),
        base.ItemStarted("item_1", "ls"),
        base.CommandFinished("item_1", "ls", "a\n", 1),
        base.WindowUsage(110, 1000),
        DONE,
    ] == events


def test_invalid_and_huge_lines(bench: Bench) -> None:
    """Invalid lines are skipped, and a line of several megabytes arrives whole."""
    events = bench.turn({"raw": "not json"}, {"raw": "[1]"}, {"raw": ""}, {"huge": 5_000_000})
    noise = [
        base.UnrecognizedEvent("not JSON"),
        base.UnrecognizedEvent("not an object"),
        base.UnrecognizedEvent("not JSON"),
    ]
    assert [*noise, base.Message("x" * 5_000_000, "item_3"), DONE] == without_place(events)


def test_warnings_are_shown_once(bench: Bench) -> None:
    """The server repeats its warnings at every start and resume; each is an event once."""
    warning = {"tell": "configWarning", "params": {"summary": "mind", "details": None}}
    bench.script([warning, warning], [warning])
    transport = bench.open()
    events = [
        *transport.send(base.TurnInput("a", thread_id=THREAD)),
        *transport.send(base.TurnInput("b", thread_id=THREAD)),
    ]
    assert [base.WarningIssued("mind"), DONE, DONE] == without_place(events)


def test_another_agents_events_are_not_shown(bench: Bench) -> None:
    """Events on the thread of a subagent are not those of the turn."""
    params = {"threadId": "other", "turnId": "o", "itemId": "i", "delta": "inner"}
    ended = {"threadId": "other", "turn": {"id": "o", "status": "completed"}}
    events = bench.turn(
        {"tell": "item/agentMessage/delta", "params": params}, {"tell": "turn/completed", "params": ended}
    )
    assert [DONE] == without_place(events)


@pytest.mark.parametrize(
    ("text", "info", "why"),
    [
        ("full", "contextWindowExceeded", base.FailureReason.CONTEXT_FULL),
        ("no", {"responseTooManyFailedAttempts": {"httpStatusCode": 401}}, base.FailureReason.UNAUTHORIZED),
        ("odd", None, base.FailureReason.TURN_FAILED),
    ],
)
def test_failed_turns(bench: Bench, text: str, info: object, why: base.FailureReason) -> None:
    """A failed turn has its reason, and the server continues."""
    bench.script([{"fail": text, "info": info}], [{"say": "x"}])
    transport = bench.open()
    assert base.Failed(why, text) == run_turn(transport, "a")[-1]
    assert DONE == run_turn(transport, "b")[-1]
    assert 1 == len(bench.starts())


# --- what the server asks ---


def ask_and(
    decision: base.ApprovalDecision | None, bench: Bench, **options: Any
) -> tuple[list[base.TurnEvent], list[base.ApprovalRequest]]:
    """One turn that asks whether it may run ``ls``, and a user who says ``decision``, or gives up."""
    asked: list[base.ApprovalRequest] = []

    def user(approval: base.ApprovalRequest) -> base.ApprovalDecision:
        asked.append(approval)
        if decision is None:
            raise KeyboardInterrupt
        return decision

    request = {"ask": COMMAND, "params": {"command": "ls", "cwd": "/p"}}
    return bench.turn(request, {"sleep": 0.2}, ask_person=user, **options), asked


@pytest.mark.parametrize("decision", [base.ApprovalDecision.ACCEPT, base.ApprovalDecision.DECLINE])
def test_a_user_decides(bench: Bench, decision: base.ApprovalDecision) -> None:
    """The user sees the command and the folder, and the server gets the decision."""
    events, [approval] = ask_and(decision, bench)
    assert base.ApprovalRequest(base.ApprovalKind.COMMAND, "ls", "/p") == approval
    assert [base.ApprovalDecided(approval, decision), DONE] == without_place(events)
    assert [{"id": 7, "result": {"decision": decision.value}}] == bench.answers()


@pytest.mark.parametrize("decision", [base.ApprovalDecision.CANCEL, None])
def test_a_user_cancels(bench: Bench, decision: base.ApprovalDecision | None) -> None:
    """Cancel, or Ctrl-C at the question, ends the turn."""
    events, [approval] = ask_and(decision, bench)
    assert [
        base.ApprovalDecided(approval, base.ApprovalDecision.CANCEL),
        base.Interrupted(signal.SIGINT),
    ] == without_place(events)
    assert [{"id": 7, "result": {"decision": "cancel"}}] == bench.answers()


def test_nobody_decides(bench: Bench) -> None:
    """Without a user the request is declined, and the event says so."""
    events = bench.turn({"ask": COMMAND, "params": {"command": "ls"}})
    assert [
        base.ApprovalDecided(
            base.ApprovalRequest(base.ApprovalKind.COMMAND, "ls"), base.ApprovalDecision.DECLINE, is_by_person=False
        ),
        DONE,
    ] == without_place(events)


def test_thinking_is_not_silence(bench: Bench) -> None:
    """A user may take longer to decide than the server may be silent."""

    def user(_: base.ApprovalRequest) -> base.ApprovalDecision:
        time.sleep(0.8)
        return base.ApprovalDecision.ACCEPT

    events = bench.turn({"ask": COMMAND, "params": {"command": "ls"}}, ask_person=user, idle_seconds=0.7)
    assert DONE == events[-1]


def test_unknown_requests_are_refused(bench: Bench) -> None:
    """An unknown request is refused, so that the turn continues."""
    events = bench.turn({"ask": "new/thing", "params": {}})
    assert [base.UnrecognizedEvent("new/thing"), DONE] == without_place(events)
    [answer] = bench.answers()
    assert (7, -32601) == (answer["id"], answer["error"]["code"])


def test_a_change_is_shown_with_its_diff(bench: Bench) -> None:
    """The request names an item, whose diff came before."""
    diff = {"path": "/p/a", "kind": {"type": "add"}, "diff": "hi\n"}
    item = {"item": {"type": "fileChange", "id": "c", "changes": [diff]}}
    asked: list[base.ApprovalRequest] = []

    def user(approval: base.ApprovalRequest) -> base.ApprovalDecision:
        asked.append(approval)
        return base.ApprovalDecision.ACCEPT

    request = {"ask": "item/fileChange/requestApproval", "params": {"itemId": "c"}}
    bench.turn({"tell": "item/started", "params": item}, request, ask_person=user)
    assert [("hi\n",)] == [tuple(change.diff for change in approval.diffs) for approval in asked]


# --- stopping ---


def test_ctrl_c_interrupts_the_turn_only(bench: Bench) -> None:
    """The server stops the turn and runs the next one."""
    bench.script([{"begin": "sleep 9"}, {"wait": True}], [{"say": "x"}])
    transport = bench.open()
    events = act_at(
        transport.send(base.TurnInput("a", thread_id=THREAD)), base.ItemStarted, to_ourselves(signal.SIGINT)
    )
    assert base.Interrupted(signal.SIGINT) == events[-1]
    assert DONE == run_turn(transport, "b")[-1]
    assert (1, 1) == (len(bench.received("turn/interrupt")), len(bench.starts()))


def test_a_second_ctrl_c_kills(bench: Bench) -> None:
    """A server that does not react is killed, and the next turn starts another one without a notice."""
    bench.script([{"begin": "x"}, {"deaf": True}], [{"say": "x"}])
    transport = bench.open()
    events: list[base.TurnEvent] = []
    for event in transport.send(base.TurnInput("a", thread_id=THREAD)):
        events.append(event)
        if isinstance(event, base.ItemStarted):
            threading.Timer(0.3, to_ourselves(signal.SIGINT)).start()
            to_ourselves(signal.SIGINT)()
    assert base.Interrupted(signal.SIGINT) == events[-1]
    assert [] == bench.alive()
    assert [DONE] == [event for event in without_place(run_turn(transport, "b")) if event == DONE]
    assert 2 == len(bench.starts())


def test_sigterm_does_not_wait_long(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """When codex-auto itself is to end, a server that does not react is killed after a moment."""
    monkeypatch.setattr(turn, "TERMINATE_SECONDS", 0.2)
    bench.script([{"begin": "x"}, {"deaf": True}])
    events = act_at(bench.open().send(base.TurnInput("a")), base.ItemStarted, to_ourselves(signal.SIGTERM))
    assert base.Interrupted(signal.SIGTERM) == events[-1]
    assert [] == bench.alive()


def test_silence_ends_a_turn(bench: Bench) -> None:
    """A turn without progress is interrupted, and the server continues."""
    trouble = {"tell": "error", "params": {"error": {"message": "again"}, "willRetry": True, "threadId": THREAD}}
    bench.script([trouble, {"sleep": 0.3}, trouble, {"wait": True}], [{"say": "x"}])
    transport = bench.open(idle_seconds=0.5)
    assert base.Failed(base.FailureReason.IDLE_TIMEOUT, "0.5") == run_turn(transport, "a")[-1]
    assert DONE == run_turn(transport, "b")[-1]
    assert 1 == len(bench.starts())


def test_a_running_command_may_be_silent_longer(bench: Bench) -> None:
    """A turn with a running command may be silent for longer."""
    events = bench.turn({"begin": "make"}, {"sleep": 1.2}, idle_seconds=0.5)
    assert DONE == events[-1]


def test_leaving_a_turn_stops_it(bench: Bench) -> None:
    """Closing the stream of events stops the turn, so that the next prompt does not steer it."""
    bench.script([{"say": "x"}, {"wait": True}], [{"say": "y"}])
    transport = bench.open()
    events = transport.send(base.TurnInput("a", thread_id=THREAD))
    while not isinstance(next(events), base.Message):
        continue
    events.close()  # type: ignore[attr-defined]
    assert base.Message("y", "item_0") in run_turn(transport, "b")


def test_a_busy_thread_is_waited_for(bench: Bench) -> None:
    """A turn of another client is not steered: the prompt waits for its end."""
    begun = {"tell": "turn/started", "params": {"threadId": THREAD, "turn": {"id": "foreign"}}}
    bench.script([begun], [{"say": "x"}])
    transport = bench.open()
    run_turn(transport, "a")
    events = transport.send(base.TurnInput("b", thread_id=THREAD))
    assert base.TransportNotice(base.TransportNoticeKind.WAITING) == next(events)
    assert 1 == len(bench.received("turn/start"))
    os.kill(os.getpid(), signal.SIGINT)
    assert [base.Interrupted(signal.SIGINT)] == list(events)
    assert 1 == len(bench.received("turn/start"))
