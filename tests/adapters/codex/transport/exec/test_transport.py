"""Turns, forks and command lines of ``codex exec``, with a Codex that is a real process."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.codex.workbench import Turn, Workbench, make_workbench
from processes import pids_with_variables

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.exec import transport as exec_transport
from upbeat.adapters.codex.transport.exec.transport import (
    MAX_PROMPT_CHARS,
    CodexCommandLine,
    ExecTransport,
    compose_stdin,
    effort_from_flags,
    flags_problem,
)
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.sessions.session import is_thread_id

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
CASES = read_groups(Path(__file__).with_name("transport_cases.tsv"))


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b", git=False)


@pytest.fixture
def signals() -> Iterator[SignalHandler]:
    with SignalHandler() as caught:
        yield caught


def transport(
    bench: Workbench, signals: SignalHandler, idle_seconds: float = 60, flags: tuple[str, ...] = ()
) -> ExecTransport:
    variables = bench.environment(UPBEAT_WRAPPED="1")
    return ExecTransport(CodexCommandLine(flags=flags), str(bench.program), variables, signals, idle_seconds)


def send(
    bench: Workbench, signals: SignalHandler, turn: Turn, ask: base.TurnInput | None = None, idle_seconds: float = 60
) -> list[base.TurnEvent]:
    """All events of one turn that the fake plays."""
    bench.script(turn)
    return list(transport(bench, signals, idle_seconds).send(ask or base.TurnInput("hello")))


def endings(events: list[base.TurnEvent]) -> list[base.TurnEvent]:
    return [event for event in events if isinstance(event, base.Completed | base.Failed | base.Interrupted)]


@pytest.fixture
def quick_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only briefly for a process that ignores a signal."""
    quick = tuple((number, 0.3) for number, _ in exec_transport.STOP_SIGNALS)
    monkeypatch.setattr(exec_transport, "STOP_SIGNALS", quick)


def interrupt(bench: Workbench, signals: SignalHandler, turn: Turn, *numbers: int) -> list[base.TurnEvent]:
    """All events of ``turn``; this process gets the signals ``numbers`` when ``turn`` says something."""
    bench.script(turn)
    events = []
    for event in transport(bench, signals).send(base.TurnInput("hello")):
        events.append(event)
        if isinstance(event, base.Message):
            for number in numbers:
                os.kill(os.getpid(), number)
    return events


def test_the_events_of_a_turn_are_in_order(bench: Workbench, signals: SignalHandler) -> None:
    """The thread, the turn, its items and the ending come as Codex wrote them."""
    turn: Turn = [{"thread": THREAD}, {"run": "ls", "output": "a\n"}, {"say": "one"}, {"say": "two"}]

    assert [
        base.ThreadStarted(THREAD),
        base.TurnStarted(),
        base.ItemStarted("item_0", "/bin/bash -lc 'ls'"),
        base.CommandFinished("item_0", "/bin/bash -lc 'ls'", "a\n", 0),
        base.Message("one"),
        base.Message("two"),
        base.Completed(base.TokenUsage(100, 50, 10)),
    ] == send(bench, signals, turn)


def test_the_prompt_goes_to_standard_input_whole(bench: Workbench, signals: SignalHandler) -> None:
    """AC-013: a long prompt with every kind of character arrives unchanged, and the pipe is closed."""
    prompt = "é\r\n\x00店" * 100_000
    send(bench, signals, [{"say": "x"}], base.TurnInput(prompt))

    assert [prompt] == bench.prompts()
    assert ["exec", "--json", "-"] == bench.calls()[0]["argv"]


def test_a_prompt_that_is_too_long_starts_nothing(bench: Workbench, signals: SignalHandler) -> None:
    """No process is started for a prompt above Codex's own limit."""
    assert [base.Failed(base.FailureReason.PROMPT_TOO_LONG)] == send(
        bench, signals, [{"say": "x"}], base.TurnInput("x" * (MAX_PROMPT_CHARS + 1))
    )
    assert [] == bench.calls()


@pytest.mark.parametrize(
    ("length", "left"),
    [(0, MAX_PROMPT_CHARS - 2), (MAX_PROMPT_CHARS - 5, 3), (MAX_PROMPT_CHARS, 0), (MAX_PROMPT_CHARS + 7, -7)],
)
def test_context_and_prompt_fit_together(bench: Workbench, signals: SignalHandler, length: int, left: int) -> None:
    """The limit of the context is what the prompt and the blank line leave; negative if the prompt is too long."""
    assert left == transport(bench, signals).remaining_chars("x" * length)


def test_a_codex_that_cannot_be_started_is_a_failure(bench: Workbench, signals: SignalHandler) -> None:
    """A program that cannot be started fails the turn."""
    bench.program.unlink()
    events = send(bench, signals, [{"say": "x"}])

    assert len(events) == 1
    assert isinstance(events[0], base.Failed)


def test_a_very_long_line_arrives(bench: Workbench, signals: SignalHandler) -> None:
    """The output of a command is not truncated, even a mebibyte on one line."""
    output = "x\u2028y" * 350_000
    events = send(bench, signals, [{"run": "cat", "output": output}, {"say": "x"}])

    assert base.CommandFinished("item_0", "/bin/bash -lc 'cat'", output, 0) in events


@pytest.mark.parametrize(("turn", "reason", "text"), CASES["ending"])
def test_there_is_one_ending_and_it_is_the_last(
    bench: Workbench, signals: SignalHandler, turn: str, reason: str, text: str
) -> None:
    """However Codex ends, the last event is the only ending."""
    events = send(bench, signals, json.loads(turn))
    is_completed = reason == "completed"
    ending = (
        base.Completed(base.TokenUsage(100, 50, 10)) if is_completed else base.Failed(base.FailureReason(reason), text)
    )

    assert [ending] == endings(events)
    assert ending == events[-1]


def test_a_missing_thread_is_refused_before_anything_is_read(bench: Workbench, signals: SignalHandler) -> None:
    """AC-002: a thread that is gone is distinguished from a turn that failed."""
    [failed] = send(bench, signals, [{"say": "x"}], base.TurnInput("hello", thread_id=THREAD))

    assert isinstance(failed, base.Failed)
    assert (base.FailureReason.NO_ROLLOUT, [None]) == (failed.reason, bench.prompts())


def test_a_full_standard_error_does_not_hang(bench: Workbench, signals: SignalHandler) -> None:
    """More output on standard error than a pipe holds does not block the turn."""
    [failed] = send(bench, signals, [{"refuse": "x" * 300_000 + "\nlast words", "code": 3}])

    assert isinstance(failed, base.Failed)
    assert failed.text.endswith("last words")


@pytest.mark.parametrize("spawn", ["spawn", "spawn_apart", "spawn_daemon"])
def test_a_process_left_behind_does_not_hold_the_turn(bench: Workbench, signals: SignalHandler, spawn: str) -> None:
    """A background process that holds Codex's pipes does not delay the end of the turn, and lives on."""
    began = time.monotonic()
    events = send(bench, signals, [{spawn: 30}, {"say": "started"}])

    assert base.Completed(base.TokenUsage(100, 50, 10)) == events[-1]
    assert time.monotonic() - began < 5
    assert [["sleep", "30"]] == bench.processes()
    for pid in pids_with_variables(f"FAKE_CODEX={bench.codex_home}"):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("quick_stop")
@pytest.mark.parametrize(
    "start",
    [{"begin": "sleep"}, {"spawn": 30}, {"spawn_apart": 30}, {"spawn_daemon": 30}],
    ids=["waiting", "with a child", "with a child in another group", "with a daemon"],
)
def test_ctrl_c_ends_the_turn_and_all_its_processes(
    bench: Workbench, signals: SignalHandler, start: dict[str, Any]
) -> None:
    """SIGINT is passed on, and no process of the turn remains."""
    events = interrupt(bench, signals, [start, {"say": "begun"}, {"sleep": 30}], signal.SIGINT)

    assert base.Interrupted(signal.SIGINT) == events[-1]
    assert bench.has_ended(0.1)


@pytest.mark.usefixtures("quick_stop")
def test_a_codex_that_does_not_listen_is_killed(bench: Workbench, signals: SignalHandler) -> None:
    """SIGINT, then SIGTERM, then SIGKILL: a process that ignores the first two is gone in the end."""
    turn: Turn = [{"ignore": ["SIGINT", "SIGTERM"]}, {"spawn": 30}, {"say": "begun"}, {"sleep": 30}]

    assert base.Interrupted(signal.SIGINT) == interrupt(bench, signals, turn, signal.SIGINT)[-1]
    assert bench.has_ended(0.1)


def test_a_second_ctrl_c_does_not_wait(
    bench: Workbench, signals: SignalHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each further Ctrl-C sends the next signal at once."""
    patient = tuple((number, 60.0) for number, _ in exec_transport.STOP_SIGNALS)
    monkeypatch.setattr(exec_transport, "STOP_SIGNALS", patient)
    turn: Turn = [{"ignore": ["SIGINT", "SIGTERM"]}, {"say": "begun"}, {"sleep": 30}]
    began = time.monotonic()

    assert base.Interrupted(signal.SIGINT) == interrupt(bench, signals, turn, *[signal.SIGINT] * 3)[-1]
    assert time.monotonic() - began < 30


def test_sigterm_ends_the_turn_as_sigterm(bench: Workbench, signals: SignalHandler) -> None:
    """A SIGTERM to codex-auto ends Codex first, and is the ending of the turn."""
    events = interrupt(bench, signals, [{"say": "begun"}, {"sleep": 30}], signal.SIGTERM)

    assert base.Interrupted(signal.SIGTERM) == events[-1]
    assert bench.has_ended(0.1)


def test_closing_the_stream_ends_all_processes(bench: Workbench, signals: SignalHandler) -> None:
    """Closing the stream of events ends the turn."""
    bench.script([{"say": "one"}, {"ignore": ["SIGTERM"]}, {"sleep": 30}])
    events = transport(bench, signals).send(base.TurnInput("hello"))
    while not isinstance(next(events), base.Message):
        pass
    events.close()  # type: ignore[attr-defined]

    assert bench.has_ended(0.1)


def test_silence_ends_a_turn(bench: Workbench, signals: SignalHandler) -> None:
    """Codex retries a provider forever; a retry is no progress, so the turn is stopped."""
    turn: Turn = [{"trouble": "Reconnecting..."}, {"sleep": 0.3}, {"trouble": "Reconnecting..."}, {"sleep": 30}]
    events = send(bench, signals, turn, idle_seconds=1)

    shown = [event for event in events if not isinstance(event, base.Heartbeat)]
    assert [
        base.Reconnecting("Reconnecting..."),
        base.Reconnecting("Reconnecting..."),
        base.Failed(base.FailureReason.IDLE_TIMEOUT, "1"),
    ] == shown[2:]
    assert bench.has_ended(0.1)


@pytest.mark.parametrize(
    ("turn", "idle"),
    [([{"begin": "make test"}, {"sleep": 1.5}, {"say": "x"}], 1), ([{"sleep": 0.4}, {"say": "x"}], 0)],
    ids=["a command runs", "no limit"],
)
def test_work_is_not_silence(bench: Workbench, signals: SignalHandler, turn: Turn, idle: float) -> None:
    """A command may be silent for longer, and a limit of 0 waits forever."""
    assert base.Completed(base.TokenUsage(100, 50, 10)) == send(bench, signals, turn, idle_seconds=idle)[-1]


def test_a_codex_that_lingers_is_ended(
    bench: Workbench, signals: SignalHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that remains after the ending is stopped, and the turn counts as completed."""
    monkeypatch.setattr(exec_transport, "EXIT_SECONDS", 0.3)

    assert base.Completed(base.TokenUsage(100, 50, 10)) == send(bench, signals, [{"say": "x"}, {"linger": 30}])[-1]
    assert bench.has_ended(0.1)


@pytest.mark.parametrize(("idle_seconds", "is_ended"), [(600, True), (0, False)], ids=["by default", "without a limit"])
def test_waiting_for_the_network_comes_to_an_end(
    bench: Workbench, signals: SignalHandler, monkeypatch: pytest.MonkeyPatch, idle_seconds: float, is_ended: bool
) -> None:
    """A turn whose provider is unreachable is stopped, however long Codex would wait, unless there is no limit."""
    monkeypatch.setattr(exec_transport, "UNREACHABLE_SECONDS", 0.1)
    waiting = {"trouble": "Reconnecting... waiting for network (Connection failed: x)"}
    ending = send(bench, signals, [waiting, {"sleep": 0.6}, {"say": "x"}], idle_seconds=idle_seconds)[-1]

    assert (ending == base.Failed(base.FailureReason.PROVIDER_UNREACHABLE)) == is_ended
    assert [] == bench.processes()


# --- forks ---


def test_a_fork_is_a_new_thread(bench: Workbench, signals: SignalHandler) -> None:
    """Codex is started without a prompt, with the flags before ``fork``."""
    bench.add_thread(THREAD)
    forked = transport(bench, signals, flags=("-m", "x")).fork(THREAD)

    assert is_thread_id(forked)
    assert forked != THREAD
    assert [["exec", "-m", "x", "--json", "fork", THREAD]] == [call["argv"] for call in bench.calls()]
    assert [] == bench.processes()


def test_a_refused_fork_has_a_reason(bench: Workbench, signals: SignalHandler) -> None:
    """A refused fork has the same reasons as a turn."""
    with pytest.raises(base.CodexRequestError) as refused:
        transport(bench, signals).fork(THREAD)

    assert base.FailureReason.NO_ROLLOUT is refused.value.failure.reason


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/no/such/shell", base.FailureReason.LAUNCH_FAILED),
        ("#!/bin/sh\nexit 0", base.FailureReason.EXITED_MID_TURN),
        ("#!/bin/sh\n(setsid sleep 60 >/dev/null 2>&1 &)", base.FailureReason.EXITED_MID_TURN),
        ("#!/bin/sh\nsleep 60", base.FailureReason.IDLE_TIMEOUT),
        ("#!/bin/sh\n(setsid sleep 60 &)", base.FailureReason.IDLE_TIMEOUT),
    ],
)
def test_a_fork_without_a_thread_has_a_reason(
    bench: Workbench, signals: SignalHandler, monkeypatch: pytest.MonkeyPatch, script: str, why: base.FailureReason
) -> None:
    """A Codex that cannot start, reports no thread or does not end is an error, and no process remains."""
    monkeypatch.setattr(exec_transport, "FORK_SECONDS", 0.3)
    monkeypatch.setattr(exec_transport, "with_death_signal", list)
    bench.program.write_text(script)
    with pytest.raises(base.CodexRequestError) as refused:
        transport(bench, signals).fork(THREAD)

    assert why is refused.value.failure.reason
    assert bench.has_ended(10)


# --- the command line ---


@pytest.mark.parametrize(("fields", "thread_id", "line"), CASES["command line"])
def test_flags_precede_resume(fields: str, thread_id: str, line: str) -> None:
    """AC-002: the session is in the command, after all flags, and the prompt is not."""
    assert line == CodexCommandLine(**json.loads(fields)).display(thread_id)


def test_the_effort_of_a_turn_comes_last() -> None:
    """The effort of a turn follows the user's flags for every turn."""
    command = CodexCommandLine(flags=("-c", "model_reasoning_effort=low"))

    assert f"codex exec {' '.join(command.flags)} -c model_reasoning_effort=high --json resume {THREAD} -" == (
        command.display(THREAD, "high")
    )


def test_the_effort_that_flags_set() -> None:
    """The effort that the user sets for every turn is known; the last one counts."""
    assert CASES["effort"] == [(flags, effort_from_flags(json.loads(flags))) for flags, _ in CASES["effort"]]


def test_flags_of_codex_are_accepted() -> None:
    """Flags that codex exec understands are passed on unchanged."""
    assert [] == [flags for (flags,) in CASES["accepted"] if flags_problem(json.loads(flags))]


@pytest.mark.parametrize("flags", [json.loads(flags) for (flags,) in CASES["refused"]], ids=str)
def test_other_flags_are_refused(flags: list[str]) -> None:
    """Flags that codex-auto sets itself, and words that would be taken for the prompt, are refused by name."""
    assert any(flag.partition("=")[0] in flags_problem(flags) for flag in flags)


def test_without_context_the_prompt_is_unchanged() -> None:
    """AC-013: without context, Codex gets exactly the prompt."""
    prompt = "\ufeff a\r\nb\x00 \n\n"

    assert prompt == compose_stdin(base.TurnInput(prompt))


def test_context_precedes_the_prompt() -> None:
    """A prepared turn is the context, a blank line, and the prompt."""
    assert compose_stdin(base.TurnInput("\ufeffwhy?\n", "context")) == "context\n\nwhy?\n"


def test_guidance_comes_first() -> None:
    """Guidance on the workflow precedes the context, outside of its frame."""
    asks = [base.TurnInput("why?", "context", guidance="do DEV"), base.TurnInput("why?", guidance="do DEV")]

    assert ["do DEV\n\ncontext\n\nwhy?", "do DEV\n\nwhy?"] == [compose_stdin(ask) for ask in asks]
