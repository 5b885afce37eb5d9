"""The uncommitted changes of a working tree."""

from __future__ import annotations

from pathlib import Path

from repositories import make_repository, write

from upbeat.adapters.system.workspace.uncommitted import MAX_FILES, changed_files
from upbeat.core.policy.queries import ChangedFile


def test_changes_are_counted_and_sorted(tmp_path: Path) -> None:
    """A changed file has its line counts, and a new one none."""
    root = make_repository(tmp_path, {"b.py": "1\n2\n", "same.py": "x\n"}).resolve()
    write(root, {"b.py": "1\n3\n4\n", "a.py": "new\n"})

    assert (ChangedFile("a.py"), ChangedFile("b.py", 2, 1)) == changed_files(str(root))


def test_a_clean_tree_has_no_changes_and_a_folder_without_git_is_unknown(tmp_path: Path) -> None:
    """No change is an empty result; without a repository the result is None."""
    root = make_repository(tmp_path / "repo").resolve()
    plain = tmp_path / "plain"
    plain.mkdir()

    assert ((), None) == (changed_files(str(root)), changed_files(str(plain.resolve())))


def test_changes_are_bounded(tmp_path: Path) -> None:
    """At most ``MAX_FILES`` files are returned."""
    root = make_repository(tmp_path).resolve()
    write(root, {f"n{number:03}.py": "" for number in range(MAX_FILES + 9)})

    assert MAX_FILES == len(changed_files(str(root)) or ())
