"""Which texts are thread ids and session names, and which processes still hold a lease."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.codex.conversation import FIRST as THREAD

from upbeat.adapters.codex_auto.sessions import session
from upbeat.adapters.codex_auto.sessions.session import (
    FOREIGN_LEASE_SECONDS,
    Lease,
    is_lease_active,
    is_session_name,
    is_thread_id,
    lease_of_this_process,
    process_start_time,
)


@pytest.mark.parametrize("text", [THREAD, THREAD.upper()])
def test_uuids_are_thread_ids(text: str) -> None:
    """A whole UUID, in either case, names a thread."""
    assert is_thread_id(text)


@pytest.mark.parametrize("text", ["", "last", THREAD[:-1], f"{THREAD}\n", f" {THREAD}", f"{{{THREAD}}}", "g" * 36])
def test_other_texts_are_no_thread_ids(text: str) -> None:
    """Codex would start a new thread for names, parts and decorated UUIDs."""
    assert not is_thread_id(text)


@pytest.mark.parametrize(
    ("text", "fits"), [("a.b-c_1", True), ("店", True), ("", False), ("a b", False), ("x" * 65, False)]
)
def test_session_names_are_short_words(text: str, fits: bool) -> None:
    """A name is one word of at most 64 characters."""
    assert fits == is_session_name(text)


# --- leases ---


NOW = 1_767_225_600
HERE = os.uname().nodename


def test_a_reused_process_id_is_not_the_holder() -> None:
    """The same number with another start time is another process."""
    own = lease_of_this_process()

    assert is_lease_active(own, HERE, NOW)
    assert not is_lease_active(replace(own, process_start=str(int(own.process_start) - 1)), HERE, NOW)
    assert not is_lease_active(replace(own, process_start=""), HERE, NOW)


def test_a_zombie_has_ended() -> None:
    """A process that nobody has waited for holds nothing."""
    with subprocess.Popen([sys.executable, "-IS", "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert process_start_time(process.pid) == ""


@pytest.mark.parametrize(
    ("age", "is_active"), [(0, True), (FOREIGN_LEASE_SECONDS - 1, True), (FOREIGN_LEASE_SECONDS, False)]
)
def test_a_lease_of_another_machine_counts_for_hours(age: int, is_active: bool) -> None:
    """The processes of another machine cannot be inspected."""
    assert is_active == is_lease_active(Lease(1, "1", "elsewhere", NOW - age), HERE, NOW)


def test_ps_reports_the_start_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc, ``ps`` gives the start of a live process and nothing for an ended one."""
    ps = tmp_path / "ps"
    ps.write_text('#!/bin/sh\n[ "$6" = 7 ] && echo "S+   Thu Jan  1 00:00:00 2026"\n[ "$6" = 8 ] && echo "Z    Thu"\n')
    ps.chmod(0o755)
    monkeypatch.setattr(session, "PS", str(ps))

    assert ["Thu Jan 1 00:00:00 2026", "", ""] == [session._start_time_from_ps(pid) for pid in (7, 8, 9)]
