"""A repository is identified by its oldest commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repositories import commit, git, make_small_repository

from upbeat.adapters.system.git.first_commit import first_commit
from upbeat.adapters.system.git.root import find_root, head_branch


def test_first_commit_follows_first_parents(here: Path) -> None:
    """first_commit is the root of the main line, not that of a history merged into it."""
    repository = make_small_repository(here / "r")
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--orphan", "side")
    commit(repository, "another root")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--allow-unrelated-histories", "-m", "merge", "side")
    for number in range(3):
        commit(repository, f"c{number}")

    assert first == first_commit(str(repository))
    git(repository, "gc", "-q")
    git(repository, "pack-refs", "--all")
    assert first == first_commit(str(repository))
    git(repository, "commit-graph", "write", "--reachable")
    assert first == first_commit(str(repository))


def test_first_commit_is_the_same_everywhere(here: Path) -> None:
    """A subfolder, a worktree and a bare clone have the identity of their repository."""
    repository = make_small_repository(here / "r", "src/a.py")
    first = git(repository, "rev-parse", "HEAD")
    commit(repository, "second")
    git(repository, "worktree", "add", "-q", str(here / "other"))
    git(here, "clone", "-q", "--bare", str(repository), str(here / "bare.git"))

    places = [repository / "src", here / "other", here / "bare.git"]

    assert [first] * 3 == [first_commit(str(place)) for place in places]


def test_first_commit_of_a_shallow_clone(here: Path) -> None:
    """A shallow clone answers with the oldest commit it has."""
    repository = make_small_repository(here / "r")
    commit(repository, "second")
    third = commit(repository, "third")
    git(here, "clone", "-q", "--depth", "1", f"file://{repository}", str(here / "shallow"))

    assert third == first_commit(str(here / "shallow"))


def test_first_commit_of_a_detached_head(here: Path) -> None:
    """A detached HEAD has a first commit too."""
    repository = make_small_repository(here / "r")
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--detach")

    assert first == first_commit(str(repository))


def test_first_commit_says_nothing_where_there_is_none(here: Path) -> None:
    """Without git, before the first commit, and in damaged repositories there is no first commit."""
    git(here, "init", "-q", "empty")
    damaged = make_small_repository(here / "damaged")
    for path in (damaged / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"garbage")
    odd = make_small_repository(here / "odd")
    (odd / ".git" / "HEAD").write_bytes(b"\xff\x00nonsense")

    assert [None] * 4 == [first_commit(str(place)) for place in (here / "nothing", here / "empty", damaged, odd)]


def test_first_commit_starts_no_process(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """find_root, first_commit and head start nothing, so plan mode may use them."""
    repository = make_small_repository(here / "r")

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)

    assert (str(repository), "main") == (find_root(str(repository)).worktree, head_branch(str(repository)))
    assert first_commit(str(repository))
