"""Copying a thread with codex exec: a new id, no turn, and nothing left running."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fakes.codex.workbench import Workbench, make_workbench

from upbeat.adapters.codex.auto import exec_fork
from upbeat.adapters.codex.auto.command import Command
from upbeat.adapters.codex.auto.exec_transport import ExecTransport
from upbeat.adapters.codex.auto.session import is_thread_id
from upbeat.adapters.codex.auto.signals import Signals
from upbeat.adapters.codex.auto.transport import Refused, Why

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return make_workbench(tmp_path / "b")


def transport(bench: Workbench, signals: Signals) -> ExecTransport:
    command = Command(flags=("-m", "x"), outside_git=True)
    return ExecTransport(command, str(bench.program), bench.environment(UPBEAT_WRAPPED="1"), signals)


def test_a_fork_is_a_new_thread(bench: Workbench) -> None:
    """Codex is started without a prompt, with the flags before ``fork``."""
    bench.add_thread(THREAD)
    with Signals() as signals:
        forked = transport(bench, signals).fork(THREAD)

    assert is_thread_id(forked)
    assert forked != THREAD
    assert [["exec", "-m", "x", "--skip-git-repo-check", "--json", "fork", THREAD]] == [
        call["argv"] for call in bench.calls()
    ]
    assert [] == bench.processes()


def test_what_codex_does_not_fork_is_told(bench: Workbench) -> None:
    """With the same reasons as a turn has."""
    with Signals() as signals, pytest.raises(Refused) as refused:
        transport(bench, signals).fork(THREAD)

    assert Why.NO_ROLLOUT is refused.value.failed.why


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/no/such/shell", Why.NO_PROGRAM),
        ("#!/bin/sh\nexit 0", Why.NO_ENDING),
        ("#!/bin/sh\n(setsid sleep 60 >/dev/null 2>&1 &)", Why.NO_ENDING),
        ("#!/bin/sh\nsleep 60", Why.SILENT),
        ("#!/bin/sh\n(setsid sleep 60 &)", Why.SILENT),
    ],
)
def test_a_codex_that_makes_none_is_told(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, script: str, why: Why
) -> None:
    """Whether it cannot start, says nothing, or does not end."""
    monkeypatch.setattr(exec_fork, "SECONDS", 0.3)
    monkeypatch.setattr(exec_fork, "guarded", list)
    bench.program.write_text(script)
    began = time.monotonic()
    with Signals() as signals, pytest.raises(Refused) as refused:
        transport(bench, signals).fork(THREAD)

    assert (why, True) == (refused.value.failed.why, time.monotonic() - began < 10)
    while bench.processes() and time.monotonic() - began < 10:
        time.sleep(0.01)
    assert [] == bench.processes()
