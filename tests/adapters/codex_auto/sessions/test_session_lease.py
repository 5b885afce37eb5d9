"""Leases: which processes still hold one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.codex_auto.sessions import session
from upbeat.adapters.codex_auto.sessions.session import (
    FOREIGN_LEASE_SECONDS,
    Lease,
    is_lease_active,
    lease_of_this_process,
    process_start_time,
)

NOW = 1_767_225_600
HERE = os.uname().nodename


def test_a_reused_process_id_is_not_the_holder() -> None:
    """The same number with another start time is another process."""
    own = lease_of_this_process()

    assert is_lease_active(own, HERE, NOW)
    assert not is_lease_active(replace(own, process_start=str(int(own.process_start) - 1)), HERE, NOW)
    assert not is_lease_active(replace(own, process_start=""), HERE, NOW)


def test_a_process_that_nobody_waited_for_has_ended() -> None:
    """A zombie holds nothing."""
    with subprocess.Popen([sys.executable, "-IS", "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert process_start_time(process.pid) == ""


@pytest.mark.parametrize(
    ("age", "is_active"), [(0, True), (FOREIGN_LEASE_SECONDS - 1, True), (FOREIGN_LEASE_SECONDS, False)]
)
def test_another_machine_is_believed_for_hours(age: int, is_active: bool) -> None:
    """Its processes cannot be inspected from here."""
    assert is_active == is_lease_active(Lease(1, "1", "elsewhere", NOW - age), HERE, NOW)


def test_ps_reports_the_start_where_there_is_no_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: state and start, one for the living, none for the dead."""
    ps = tmp_path / "ps"
    ps.write_text('#!/bin/sh\n[ "$6" = 7 ] && echo "S+   Thu Jan  1 00:00:00 2026"\n[ "$6" = 8 ] && echo "Z    Thu"\n')
    ps.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert ["Thu Jan 1 00:00:00 2026", "", ""] == [session._start_time_from_ps(pid) for pid in (7, 8, 9)]
