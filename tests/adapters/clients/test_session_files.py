"""The clients' records of sessions: which are listed, when one began, and in which repository."""

from __future__ import annotations

import os
from pathlib import Path

from repositories import make_repository, write

from upbeat.adapters.clients.session_files import Recording, first_timestamp, list_recordings, worktree_root

STAMP = '{"timestamp": "2026-01-02T03:04:05.678Z"}\n'


def test_recordings_are_listed_most_recent_first(tmp_path: Path) -> None:
    """Links, deeper folders, unwanted names and older files are left out."""
    write(tmp_path, {"a.jsonl": "1", "x/b.jsonl": "22", "x/y/deep.jsonl": "", "c.txt": "", "old.jsonl": ""})
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    for name, changed_at in {"a.jsonl": 100, "x/b.jsonl": 200, "old.jsonl": 10}.items():
        os.utime(tmp_path / name, (changed_at, changed_at))

    assert [Recording(200.0, str(tmp_path / "x/b.jsonl"), 2), Recording(100.0, str(tmp_path / "a.jsonl"), 1)] == (
        list_recordings(str(tmp_path), 1, lambda name: name.endswith(".jsonl"), 50)
    )


def test_a_folder_that_does_not_exist_has_no_recordings(tmp_path: Path) -> None:
    """A missing folder is an empty list, not an error."""
    assert [] == list_recordings(str(tmp_path / "gone"), 3, lambda _name: True, 0)


def test_the_first_timestamp_counts_only_in_a_session_with_a_prompt(tmp_path: Path) -> None:
    """Without a turn marker, or without a timestamp, the result is empty."""
    later = STAMP.replace("2026", "2027")
    write(tmp_path, {"turn": STAMP + later + '{"turn": 1}\n', "idle": STAMP, "undated": '{"turn": 1}\n'})

    assert ["2026-01-02T03:04:05.678Z", "", "", ""] == [
        first_timestamp(str(tmp_path / name), (b'"turn"',)) for name in ("turn", "idle", "undated", "gone")
    ]


def test_a_folder_belongs_to_the_work_tree_around_it(tmp_path: Path) -> None:
    """A folder inside a repository leads to the root of the work tree."""
    root = make_repository(tmp_path / "repo")

    assert str(root.resolve()) == worktree_root(str(root / "shop"))


def test_a_folder_outside_a_repository_stands_for_itself(tmp_path: Path) -> None:
    """Without a repository, the real path of the folder is returned."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert str((tmp_path / "real").resolve()) == worktree_root(str(tmp_path / "link"))


def test_a_path_that_the_system_rejects_is_returned_unchanged() -> None:
    """A path with a null byte raises nothing."""
    assert "/a\0b" == worktree_root("/a\0b")
