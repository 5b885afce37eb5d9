"""Copying a thread with codex exec: a new id, no turn, and nothing left running."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fakes.codex.workbench import Workbench, make_workbench

from upbeat.adapters.codex.transport.base import CodexRequestError, FailureReason
from upbeat.adapters.codex.transport.exec import fork
from upbeat.adapters.codex.transport.exec.command_line import CodexCommandLine
from upbeat.adapters.codex.transport.exec.transport import ExecTransport
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.sessions.session import is_thread_id

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b")


def transport(bench: Workbench, signals: SignalHandler) -> ExecTransport:
    command = CodexCommandLine(flags=("-m", "x"), is_outside_git=True)
    return ExecTransport(command, str(bench.program), bench.environment(UPBEAT_WRAPPED="1"), signals)


def test_a_fork_is_a_new_thread(bench: Workbench) -> None:
    """Codex is started without a prompt, with the flags before ``fork``."""
    bench.add_thread(THREAD)
    with SignalHandler() as signals:
        forked = transport(bench, signals).fork(THREAD)

    assert is_thread_id(forked)
    assert forked != THREAD
    assert [["exec", "-m", "x", "--skip-git-repo-check", "--json", "fork", THREAD]] == [
        call["argv"] for call in bench.calls()
    ]
    assert [] == bench.processes()


def test_what_codex_does_not_fork_is_told(bench: Workbench) -> None:
    """With the same reasons as a turn has."""
    with SignalHandler() as signals, pytest.raises(CodexRequestError) as refused:
        transport(bench, signals).fork(THREAD)

    assert FailureReason.NO_ROLLOUT is refused.value.failure.reason


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/no/such/shell", FailureReason.LAUNCH_FAILED),
        ("#!/bin/sh\nexit 0", FailureReason.EXITED_MID_TURN),
        ("#!/bin/sh\n(setsid sleep 60 >/dev/null 2>&1 &)", FailureReason.EXITED_MID_TURN),
        ("#!/bin/sh\nsleep 60", FailureReason.IDLE_TIMEOUT),
        ("#!/bin/sh\n(setsid sleep 60 &)", FailureReason.IDLE_TIMEOUT),
    ],
)
def test_a_codex_that_makes_none_is_told(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, script: str, why: FailureReason
) -> None:
    """Whether it cannot start, says nothing, or does not end."""
    monkeypatch.setattr(fork, "FORK_SECONDS", 0.3)
    monkeypatch.setattr(fork, "with_death_signal", list)
    bench.program.write_text(script)
    began = time.monotonic()
    with SignalHandler() as signals, pytest.raises(CodexRequestError) as refused:
        transport(bench, signals).fork(THREAD)

    assert (why, True) == (refused.value.failure.reason, time.monotonic() - began < 10)
    while bench.processes() and time.monotonic() - began < 10:
        time.sleep(0.01)
    assert [] == bench.processes()
