"""The life of an app-server: start, exit, restart and end, and its requests outside of turns."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.codex.app_server_bench import DONE, THREAD, Bench, run_turn, to_ourselves, without_place
from processes import wait_until

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server import connection, turn
from upbeat.adapters.codex.transport.app_server.transport import (
    AppServerFlags,
    AppServerUnavailable,
    ModelInfo,
    ThreadInfo,
    translate_flags,
)

CASES = read_groups(Path(__file__).with_name("transport_cases.tsv"))

# --- when the server dies ---


def test_a_server_that_exits_is_restarted_once(bench: Bench) -> None:
    """Its turn fails and is not repeated; the next one continues the thread and reports the restart."""
    bench.script([{"say": "x"}, {"die": 3}], [{"say": "y"}], [{"die": 4}], [{"say": "z"}])
    transport = bench.open()
    assert base.Failed(base.FailureReason.EXITED_MID_TURN, "exit code 3") == run_turn(transport, "a")[-1]
    note, started, *_, ending = transport.send(base.TurnInput("b", thread_id=THREAD))
    assert (
        base.TransportNotice(base.TransportNoticeKind.RESTARTED, "exit code 3"),
        base.ThreadStarted(THREAD),
        DONE,
    ) == (
        note,
        started,
        ending,
    )
    assert ["a", "b"] == [fields["input"][0]["text"] for fields in bench.received("turn/start")]
    assert 2 == len(bench.received("thread/resume"))
    # it has done a turn since, so it may fail once more
    assert base.Failed(base.FailureReason.EXITED_MID_TURN, "exit code 4") == run_turn(transport, "c")[-1]
    assert DONE == run_turn(transport, "d")[-1]


def test_a_server_that_keeps_exiting_is_given_up(bench: Bench) -> None:
    """After a second exit in a row nothing more is sent."""
    bench.script([{"die": 3}], [{"die": 4}])
    transport = bench.open()
    whys = [run_turn(transport, prompt)[-1] for prompt in "abcd"]
    gone = base.Failed(base.FailureReason.SERVER_EXITED, "exit code 4")
    assert [
        base.Failed(base.FailureReason.EXITED_MID_TURN, "exit code 3"),
        base.Failed(base.FailureReason.EXITED_MID_TURN, "exit code 4"),
        gone,
        gone,
    ] == whys
    assert (2, 2) == (len(bench.starts()), len(bench.received("turn/start")))


def test_a_server_that_exits_between_turns(bench: Bench) -> None:
    """Nothing is lost, and the user is told."""
    transport = bench.open()
    run_turn(transport, "a")
    os.kill(bench.starts()[0][0], signal.SIGKILL)
    assert wait_until(lambda: transport._connection.exit_reason)
    events = run_turn(transport, "b")
    assert isinstance(events[0], base.TransportNotice)
    assert DONE == events[-1]


def test_commands_of_a_server_that_exited_are_ended(bench: Bench) -> None:
    """Commands do not outlive the server that started them."""
    bench.script([{"spawn": 30}, {"begin": "sleep 30"}, {"sleep": 0.5}, {"die": 3}])
    list(bench.open().send(base.TurnInput("a")))
    assert [] == bench.alive()


@pytest.fixture
def quick_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only briefly for a server, or a process of it, that does not end."""
    monkeypatch.setattr(connection, "SHUTDOWN_SECONDS", 0.3)
    monkeypatch.setattr(connection, "STOP_SIGNALS", tuple((number, 0.3) for number, _ in connection.STOP_SIGNALS))
    monkeypatch.setattr(turn, "INTERRUPT_SECONDS", 0.3)


@pytest.mark.usefixtures("quick_stop")
def test_close_kills_a_server_that_ignores_sigterm(bench: Bench) -> None:
    """A server that outlives its input and SIGTERM is killed."""
    bench.script(starts=[{"stay": True}])
    transport = bench.open()
    list(transport.send(base.TurnInput("a")))
    transport.close()
    assert [] == bench.alive()


@pytest.mark.usefixtures("quick_stop")
@pytest.mark.parametrize("how", [{"say": "x"}, {"die": 3}, {"deaf": True}], ids=["closed", "dead", "killed"])
def test_no_daemon_outlives_its_server(bench: Bench, how: dict[str, Any]) -> None:
    """However the server ends, a daemon that it started ends too."""
    bench.script([{"spawn_daemon": 30}, {"say": "y"}, how])
    transport = bench.open(idle_seconds=0.5)
    list(transport.send(base.TurnInput("a")))
    transport.close()
    assert [] == bench.alive()


# --- when there is none ---


@pytest.mark.parametrize(("start", "why", "words"), CASES["handshake"])
def test_a_failed_handshake(bench: Bench, start: str, why: str, words: str) -> None:
    """The reason is typed, so that codex exec can be used instead, and no process remains."""
    bench.script(starts=[json.loads(start)])
    with pytest.raises(AppServerUnavailable, match=words) as raised:
        bench.open(handshake_seconds=0.5 if "slow" in start else 10)
    assert why == raised.value.reason
    assert [] == bench.alive()


@pytest.mark.parametrize(("options", "why", "words"), CASES["start"])
def test_a_server_that_cannot_be_started(bench: Bench, options: str, why: str, words: str) -> None:
    """The reason why nothing can be started is returned."""
    with pytest.raises(AppServerUnavailable, match=words) as raised:
        bench.open(**json.loads(options))
    assert why == raised.value.reason


def test_ctrl_c_during_the_handshake(bench: Bench) -> None:
    """Waiting for a slow start can be interrupted, and no process remains."""
    bench.script(starts=[{"slow": 30}])
    threading.Timer(0.2, to_ourselves(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        bench.open()
    assert [] == bench.alive()


# --- beside turns ---


def test_compaction_is_a_turn(bench: Bench) -> None:
    """A compaction has no prompt, and ends as a turn does."""
    done = {"item": {"type": "contextCompaction", "id": "c"}, "threadId": THREAD}
    bench.script([{"tell": "item/completed", "params": done}])
    events = list(bench.open().compact(THREAD))
    assert [base.ThreadStarted(THREAD), base.TurnStarted()] == events[:2]
    assert [base.ThreadCompacted(), DONE] == without_place(events)


def test_threads_models_and_fork(bench: Bench) -> None:
    """Threads and models are listed, and a fork can be continued without a resume."""
    transport = bench.open()
    assert (ThreadInfo("t1", "", "hi", 5, str(bench.folder)),) == transport.list_threads()
    assert (ModelInfo("m", "d", True),) == transport.list_models()
    forked = transport.fork(THREAD)
    list(transport.send(base.TurnInput("a", thread_id=forked)))
    assert [] == bench.received("thread/resume")


def test_a_request_outside_of_a_turn_is_refused(bench: Bench) -> None:
    """Outside of a turn, a refusal is an exception with the reason."""
    transport = bench.open()
    transport.close()
    bench.script(starts=[{"exit": 5}])
    with pytest.raises(base.CodexRequestError) as raised:
        transport.list_threads()
    assert base.FailureReason.SERVER_EXITED is raised.value.failure.reason


def test_the_planned_command_names_the_methods(bench: Bench) -> None:
    """The planned command has the requests as a comment."""
    transport = bench.open()
    assert "codex app-server  # thread/start, turn/start" == transport.planned_command("")
    assert f"codex app-server  # thread/resume {THREAD}, turn/start" == transport.planned_command(THREAD)


# --- flags ---


@pytest.mark.parametrize(("flags", "arguments", "parameters"), CASES["translated"])
def test_supported_flags_are_translated(flags: str, arguments: str, parameters: str) -> None:
    """A supported flag becomes an argument of the server or a parameter of each thread."""
    translated = AppServerFlags(tuple(json.loads(arguments)), json.loads(parameters))

    assert translated == translate_flags(json.loads(flags))


@pytest.mark.parametrize(("flags", "problem"), CASES["unsupported"])
def test_an_unsupported_flag_is_named(flags: str, problem: str) -> None:
    """No flag is dropped silently."""
    assert AppServerFlags(problem=problem) == translate_flags(json.loads(flags))
