"""Observations on disk: private, whole, redacted, and never in the way."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from repositories import git, make_repository

from upbeat.adapters.system.config import learned
from upbeat.adapters.system.config.learned import EVERY_PROJECT, LocalLearnedHabits, project_identity
from upbeat.core.learned.model import HabitObservation, HabitType, habit_id_of, update_habits

FIX = HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "run uv run pytest", "tests")


@pytest.fixture
def files(tmp_path: Path) -> LocalLearnedHabits:
    """Observations in a fresh state folder."""
    return LocalLearnedHabits(tmp_path)


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "upbeat/observations").glob("*.json"))


def test_record_and_load(files: LocalLearnedHabits) -> None:
    """What was recorded is there again, of its own project only."""
    files.record("/shop", [FIX], 1.0)
    files.record("/shop", [FIX], 2.0)

    assert update_habits(update_habits((), [FIX], 1.0), [FIX], 2.0) == files.load("/shop")
    assert () == files.load("/other")


def test_what_is_sure_graduates(files: LocalLearnedHabits) -> None:
    """What has become sure in a project is on the user's own list."""
    files.record("/shop", [FIX] * 8, 1.0)
    before = files.load(EVERY_PROJECT)
    files.record("/shop", [FIX], 1.0)

    assert () == before
    assert [(habit_id_of(FIX), 0.7)] == [(habit.id, habit.confidence) for habit in files.load(EVERY_PROJECT)]


def test_files_are_private_and_redacted(files: LocalLearnedHabits, tmp_path: Path) -> None:
    """Only the user may read them, and no secret, control or line end gets in."""
    secret = "ghp_" + "a1B2" * 9
    files.record("/shop", [replace(FIX, action=f"export TOKEN={secret}\n\x1b[31mrun")], 1.0)
    (path,) = stored(tmp_path)

    assert (0o600, 0o700) == (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777)
    assert secret not in path.read_text()
    assert "\\u001b" not in path.read_text()
    assert "\n" not in files.load("/shop")[0].action


def test_nothing_to_record_writes_nothing(files: LocalLearnedHabits, tmp_path: Path) -> None:
    """Without sightings no folder is made."""
    files.record("/shop", [], 1.0)

    assert [] == list(tmp_path.iterdir())


def test_forget_and_clear(files: LocalLearnedHabits) -> None:
    """One is forgotten everywhere; a project is cleared and the user's own list stays."""
    other = replace(FIX, trigger="npm test fails")
    files.record("/shop", [FIX] * 9 + [other] * 9, 1.0)

    assert files.forget("/shop", habit_id_of(FIX))
    assert not files.forget("/shop", habit_id_of(FIX))
    assert (
        [habit_id_of(other)]
        == [habit.id for habit in files.load("/shop")]
        == [habit.id for habit in files.load(EVERY_PROJECT)]
    )
    assert (1, 0) == (files.clear("/shop"), files.clear("/shop"))
    assert [habit_id_of(other)] == [habit.id for habit in files.load(EVERY_PROJECT)]


BROKEN = ["", "{", "[]", '{"observations": 3}', "\ufeff{}", '{"observations": {}}', "[" * 9000]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_file_is_set_aside(files: LocalLearnedHabits, tmp_path: Path, text: str) -> None:
    """A file that cannot be understood is kept beside, and a new one begun."""
    files.record("/shop", [FIX], 1.0)
    (path,) = stored(tmp_path)
    path.write_text(text)

    assert () == files.load("/shop")
    files.record("/shop", [FIX], 1.0)

    assert (1, text) == (len(files.load("/shop")), path.with_suffix(".broken").read_text())


def test_a_file_that_the_disk_does_not_give_is_kept(
    files: LocalLearnedHabits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unreadable file is neither renamed nor overwritten, and its habits are back once it can be read."""
    files.record("/shop", [FIX], 1.0)
    known = files.load("/shop")

    def refuse(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        files.record("/shop", [FIX], 2.0)
        assert () == files.load("/shop")

    assert known == files.load("/shop")
    assert [] == list((tmp_path / "upbeat/observations").glob("*.broken"))


def test_odd_rows_are_passed_over(files: LocalLearnedHabits, tmp_path: Path) -> None:
    """Rows of a later version, or with values that cannot be, do not count."""
    files.record("/shop", [FIX], 1.0)
    (path,) = stored(tmp_path)
    document = json.loads(path.read_text())
    row = document["observations"][0]
    odd = [row | {"type": "later"}, row | {"confidence": 7}, row | {"count": "x"}, row | {"last_seen": 1e400}, 3, {}]
    path.write_text(json.dumps(document | {"observations": [*odd, row]}))

    assert update_habits((), [FIX], 1.0) == files.load("/shop")


def test_writers_wait_for_each_other(files: LocalLearnedHabits, monkeypatch: pytest.MonkeyPatch) -> None:
    """What several write at the same time is all there."""
    monkeypatch.setattr(learned, "LOCK_SECONDS", 20)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: files.record("/shop", [FIX], 1.0), range(12)))

    assert 12 == files.load("/shop")[0].count


def test_a_lock_that_is_kept_costs_no_turn(
    files: LocalLearnedHabits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process holds the lock, recording gives up soon, and a command fails with advice to try again."""
    monkeypatch.setattr(learned, "LOCK_SECONDS", 0.05)
    files.record("/shop", [FIX], 1.0)
    descriptor = os.open(tmp_path / "upbeat/observations/everywhere.json.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        files.record("/shop", [FIX], 1.0)
        assert 1 == files.load("/shop")[0].count
        with pytest.raises(TimeoutError, match="try again"):
            files.clear("/shop")
    finally:
        os.close(descriptor)


def test_nowhere_to_write(tmp_path: Path) -> None:
    """Where nothing can be written, recording raises nothing."""
    (tmp_path / "upbeat").write_text("a file in the way")
    files = LocalLearnedHabits(tmp_path)
    files.record("/shop", [FIX], 1.0)

    assert () == files.load("/shop")


def test_link_in_place_of_a_file_is_not_followed(files: LocalLearnedHabits, tmp_path: Path) -> None:
    """A link in place of the file is neither read nor written through."""
    files.record("/shop", [FIX], 1.0)
    (path,) = stored(tmp_path)
    (tmp_path / "target").write_text("keep")
    path.unlink()
    path.symlink_to(tmp_path / "target")

    assert () == files.load("/shop")
    files.record("/shop", [FIX], 1.0)
    assert "keep" == (tmp_path / "target").read_text()


def test_project_identity(tmp_path: Path) -> None:
    """A repository and its worktrees are one project, another folder is another one."""
    repo = make_repository(tmp_path.resolve() / "shop")
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")

    assert project_identity(str(repo)) == project_identity(str(tmp_path / "linked")) == str(repo / ".git")
    assert str(tmp_path.resolve()) == project_identity(str(tmp_path))
