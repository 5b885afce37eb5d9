"""The repository of a past session's folder."""

from __future__ import annotations

from pathlib import Path

from repositories import make_repository

from upbeat.adapters.clients.past_repos import worktree_root


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
