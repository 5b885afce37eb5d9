from __future__ import annotations

import threading
from pathlib import Path

from repositories import git, make_repository, write

from upbeat.adapters.code.history.git_log import count_changes

NEVER = threading.Event()


def test_churn_counts_commits(tmp_path: Path) -> None:
    """Each commit counts once for each file, also for one with a strange name, and for one that is gone."""
    root = make_repository(tmp_path, {"a.py": "1", "ä b.py": "1", "gone.py": "1"})
    write(root, {"a.py": "2"})
    git(root, "rm", "-q", "gone.py")
    git(root, "commit", "-qam", "second")

    assert {"a.py": 2, "ä b.py": 1, "gone.py": 2} == count_changes(str(root), 30, NEVER, 5)


def test_churn_is_relative_to_the_folder(tmp_path: Path) -> None:
    """Below the top only that folder's files count, under their names there."""
    root = make_repository(tmp_path, {"a.py": "1", "web/b.ts": "1"})

    assert {"b.ts": 1} == count_changes(str(root / "web"), 30, NEVER, 5)


def test_churn_counts_days_from_the_newest_commit(tmp_path: Path) -> None:
    """What lies further back than the days does not count."""
    root = make_repository(tmp_path, {"a.py": "1"})
    write(root, {"a.py": "2"})
    git(root, "add", "-A")
    tree = git(root, "write-tree")
    newest = git(root, "commit-tree", tree, "-p", "HEAD", "-m", "later")
    raw = git(root, "cat-file", "commit", newest).replace(" 1767225600 ", " 1777225600 ")
    (root / "raw").write_text(raw + "\n")
    git(root, "reset", "-q", "--hard", git(root, "hash-object", "-t", "commit", "-w", "raw"))

    assert ({"a.py": 1}, {"a.py": 2}) == (
        count_changes(str(root), 30, NEVER, 5),
        count_changes(str(root), 300, NEVER, 5),
    )


def test_churn_without_git(tmp_path: Path) -> None:
    """Without a repository there is nothing to count."""
    assert count_changes(str(tmp_path), 30, NEVER, 5) is None
