"""The uncommitted changes of a working tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import git, make_repository, write

from upbeat.adapters.system.workspace.uncommitted import MAX_FILES, changed_files
from upbeat.core.policy.queries import ChangedFile


def test_a_clean_tree_has_no_changes(tmp_path: Path) -> None:
    """No change is an empty result."""
    assert () == changed_files(str(make_repository(tmp_path / "repo").resolve()))


def test_changed_files(tmp_path: Path) -> None:
    """What differs from the last commit is counted: changed, staged, deleted, binary, and new files by name."""
    root = make_repository(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py", "same.py", "sub/d.py"), "1\n2\n3\n"))
    write(root, {"a.py": "1\nTWO\n3\n4\n", "b.py": "1\n", "new.py": "x\n", ".gitignore": "*.log\n", "x.log": "x"})
    (root / "bin").write_bytes(b"\0\1")
    git(root, "add", "b.py", "bin")
    (root / "c.py").unlink()
    expected = (
        ChangedFile(".gitignore"),
        ChangedFile("a.py", 2, 1),
        ChangedFile("b.py", 0, 2),
        ChangedFile("bin"),
        ChangedFile("c.py", 0, 3),
        ChangedFile("new.py"),
    )

    assert changed_files(str(root.resolve())) == expected
    write(root, {"sub/d.py": "1\n"})
    assert changed_files(str((root / "sub").resolve())) == (ChangedFile("d.py", 0, 2),)


def test_changes_since_a_commit(tmp_path: Path) -> None:
    """What was committed since then counts as well; an id that is none is ignored."""
    root = make_repository(tmp_path, {"a.py": "1\n", "b.py": "1\n"})
    since = git(root, "rev-parse", "HEAD").strip()
    write(root, {"a.py": "2\n"})
    git(root, "commit", "-qam", "a")
    write(root, {"b.py": "2\n", "c.py": "3\n"})
    changed = [changed_files(str(root.resolve()), each) or () for each in (since, "", "--output=x")]

    later = ["b.py", "c.py"]
    assert [["a.py", *later], later, later] == [[file.path for file in each] for each in changed]


def test_changed_files_without_git(tmp_path: Path) -> None:
    """Without git, and before the first commit, nothing is known."""
    write(tmp_path, {"a.py": "x"})
    before = changed_files(str(tmp_path.resolve()))
    git(tmp_path, "init", "-q")

    assert (before, changed_files(str(tmp_path.resolve()))) == (None, None)


@pytest.mark.parametrize("name", ["evil", "e=vil"])
@pytest.mark.parametrize("kind", ["clean", "process"])
def test_changed_files_start_no_program(tmp_path: Path, name: str, kind: str) -> None:
    """The filters, tools and monitors that a repository names are not started."""
    root = make_repository(tmp_path / "repo", {"a.py": "1\n"})
    flag, script = tmp_path / "started", tmp_path / "tool"
    script.write_text(f"#!/bin/sh\ntouch {flag}\ncat\n")
    script.chmod(0o755)
    for key in (f"filter.{name}.{kind}", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor"):
        git(root, "config", key, str(script))
    git(root, "config", f"filter.{name}.required", "true")
    write(root, {".gitattributes": f"*.py filter={name} diff=evil\n", "a.py": "1\n2\n"})
    changed = changed_files(str(root.resolve()))

    assert changed == (None if "=" in name else (ChangedFile(".gitattributes"), ChangedFile("a.py", 1, 0)))
    assert not flag.exists()


def test_many_changed_files_are_bounded(tmp_path: Path) -> None:
    """At most ``MAX_FILES`` files are returned, and each name is one line without controls."""
    root = make_repository(tmp_path, {"a.py": "1\n"})
    write(root, {f"new/{number:03}\n\x1b[1m.py": "x" for number in range(80)})
    changed = changed_files(str(root.resolve()))

    assert changed == tuple(ChangedFile(f"new/{number:03} .py") for number in range(MAX_FILES))
