"""The small files of a repository: killed at any point, a writer leaves the old file or the new one."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from killed import every_point

from upbeat.adapters.codex.auto import state_folder
from upbeat.adapters.codex.auto.leases import Lease, Leases
from upbeat.adapters.codex.auto.session import Session, SessionFile

OLD = Session("01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a", "then", "then", "/", title="old " * 50)
NEW = Session("01a1fbb9-0000-7d63-9e7f-2b9d3fbd401a", "now", "now", "/", title="new " * 100)
NOBODY = Lease(4_194_304, "1", os.uname().nodename)
"""A process that cannot be: the number is above what Linux gives out."""


def save(session: Session) -> Callable[[str], str]:
    return lambda root: SessionFile(root).save(session)


def test_a_save_that_is_killed_anywhere_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """The file is never half, and the thread that was stored before is never lost."""
    roots = every_point(tmp_path, save(NEW), save(OLD))
    found = [SessionFile(root).load() for root in roots]

    assert len(roots) > 15
    assert {OLD.thread_id, NEW.thread_id} == {
        loaded.session.thread_id if loaded.session else loaded.problem for loaded in found
    }
    for root in roots:
        stored = SessionFile(root).stored()
        assert OLD.thread_id in [one.thread_id for one in (*stored.named.values(), *stored.former)]


def test_the_first_save_that_is_killed_anywhere_leaves_nothing_or_all(tmp_path: Path) -> None:
    """Also where there was no folder yet; and the ignore file is whole or not there."""
    roots = every_point(tmp_path, save(NEW), lambda root: None)

    for root in roots:
        loaded = SessionFile(root).load()
        ignore = Path(root, ".upbeat", ".gitignore")
        assert ("", False) == (loaded.problem, loaded.is_broken)
        assert loaded.session in (None, NEW)
        assert not ignore.exists() or ignore.read_text() == "*\n!auto-tools.toml\n"


def test_the_next_writer_sweeps_what_the_dead_left(tmp_path: Path) -> None:
    """However the one before died, afterwards there is the file, the ignore file, and nothing else."""
    roots = every_point(tmp_path, save(NEW), save(OLD))
    dirty = [root for root in roots if any(".upbeat-" in name for name in os.listdir(f"{root}/.upbeat"))]
    for root in roots:
        assert SessionFile(root).save(NEW) == ""

    assert dirty
    assert [{".gitignore", "codex-session.json"}] * len(roots) == [set(os.listdir(f"{root}/.upbeat")) for root in roots]


def test_forgetting_that_is_killed_anywhere_loses_no_thread(tmp_path: Path) -> None:
    """The thread stands under its name or among the former ones."""
    for root in every_point(tmp_path, lambda root: SessionFile(root).forget(), save(OLD)):
        stored = SessionFile(root).stored()
        assert [OLD] == [*stored.named.values(), *stored.former]


def test_a_lease_that_is_killed_anywhere_is_free_again(tmp_path: Path) -> None:
    """A dead taker holds nobody up, and has not broken what others hold."""
    ours = Lease(os.getpid(), "other start", "elsewhere")
    prepare = lambda root: Leases(root, ours).take("theirs", "", 0)  # noqa: E731
    for root in every_point(tmp_path, lambda root: Leases(root, NOBODY).take("s", "", 0).holder, prepare):
        taken = Leases(root).take("s", "", 0)
        assert taken.holder is None
        assert Leases(root).take("theirs", "", 0).holder is not None


def test_a_held_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For seconds, not for ever: the file stays whole without it."""
    SessionFile(str(tmp_path)).save(OLD)
    monkeypatch.setattr(state_folder, "_LOCK_SECONDS", 0.05)
    holder = os.open(tmp_path / ".upbeat", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    saved = SessionFile(str(tmp_path)).save(NEW)
    os.close(holder)

    assert ("", NEW) == (saved, SessionFile(str(tmp_path)).load().session)


def test_files_set_aside_do_not_replace_each_other(tmp_path: Path) -> None:
    """Two damaged files at the same second are both kept."""
    folder = tmp_path / ".upbeat"
    folder.mkdir()
    for text in ("one", "two"):
        (folder / "codex-session.json").write_text(text)
        SessionFile(str(tmp_path)).set_aside("NOW")

    kept = {path.name: path.read_text() for path in folder.iterdir()}
    assert {"codex-session.json.broken-NOW": "one", "codex-session.json.broken-NOW-1": "two"} == kept


def test_a_document_is_private_json(tmp_path: Path) -> None:
    """What is written is read back by anything, and by its owner alone."""
    SessionFile(str(tmp_path)).save(OLD)
    path = tmp_path / ".upbeat/codex-session.json"

    assert ("1.0", 0o600) == (json.loads(path.read_text())["schema_version"], path.stat().st_mode & 0o777)
