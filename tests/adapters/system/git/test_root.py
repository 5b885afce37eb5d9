"""Where the repository around a folder is, and whether git may be asked about it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import git, make_small_repository, make_with_submodule

from upbeat.adapters.system.git import root
from upbeat.adapters.system.git.commands import TreeListing, list_files, run_git
from upbeat.adapters.system.git.first_commit import first_commit


def test_find_root_walks_up(here: Path) -> None:
    """find_root finds the working tree from a folder deep inside, through a link too."""
    repository = make_small_repository(here / "my 项目", "src/deep/a.py")
    (here / "link").symlink_to(repository / "src")
    expected = root.RootInfo(
        root.RepositoryKind.GIT, str(repository), str(repository / ".git"), str(repository / ".git")
    )

    assert expected == root.find_root(str(repository))
    assert expected == root.find_root(str(repository / "src" / "deep"))
    assert expected == root.find_root(str(here / "link" / "deep"))


def test_find_root_without_git(here: Path) -> None:
    """find_root says that there is no repository, also for a folder that does not exist."""
    assert root.RootInfo(root.RepositoryKind.NONE) == root.find_root(str(here))
    assert root.RootInfo(root.RepositoryKind.NONE) == root.find_root(str(here / "missing"))


def test_find_root_of_a_worktree(here: Path) -> None:
    """A linked worktree has its own HEAD and shares the objects."""
    repository = make_small_repository(here / "main")
    git(repository, "worktree", "add", "-q", str(here / "other"))
    git_dir = str(repository / ".git" / "worktrees" / "other")

    assert root.RootInfo(
        root.RepositoryKind.GIT, str(here / "other"), git_dir, str(repository / ".git")
    ) == root.find_root(str(here / "other"))


def test_find_root_of_a_worktree_of_a_bare_repository(here: Path) -> None:
    """A worktree of a bare repository is a working tree; the folder that points to the bare one is not."""
    make_small_repository(here / "origin")
    git(here, "clone", "-q", "--bare", str(here / "origin"), str(here / "all" / ".bare"))
    (here / "all" / ".git").write_text("gitdir: ./.bare\n")
    git(here / "all", "worktree", "add", "-q", str(here / "all" / "main"), "main")

    assert root.RepositoryKind.BARE is root.find_root(str(here / "all")).kind
    assert str(here / "all" / "main") == root.find_root(str(here / "all" / "main")).worktree


def test_find_root_of_a_submodule(here: Path) -> None:
    """A submodule is a repository of its own."""
    outer = make_with_submodule(here)
    git_dir = str(outer / ".git" / "modules" / "libs" / "inner part")

    assert root.RootInfo(
        root.RepositoryKind.GIT, str(outer / "libs" / "inner part"), git_dir, git_dir
    ) == root.find_root(str(outer / "libs" / "inner part"))


def test_find_root_of_a_bare_repository(here: Path) -> None:
    """A bare repository has no working tree, from inside its folders too."""
    git(here, "init", "-q", "--bare", "bare.git")
    problem = f"{here / 'bare.git'} is bare: there is no working tree"
    expected = root.RootInfo(root.RepositoryKind.BARE, "", str(here / "bare.git"), str(here / "bare.git"), problem)

    assert expected == root.find_root(str(here / "bare.git"))
    assert expected == root.find_root(str(here / "bare.git" / "hooks"))
    assert expected.is_bare


def test_find_root_inside_dot_git(here: Path) -> None:
    """Below .git, the working tree is the one around it."""
    repository = make_small_repository(here / "r")

    assert str(repository) == root.find_root(str(repository / ".git" / "hooks")).worktree


BROKEN = [
    pytest.param("gitdir: /nowhere/at/all\n", "points to /nowhere/at/all, where there is no repository", id="dangling"),
    pytest.param("", "is a file that does not start with 'gitdir:'", id="empty file"),
    pytest.param("hello", "is a file that does not start with 'gitdir:'", id="other text"),
]


@pytest.mark.parametrize(("content", "what"), BROKEN)
def test_find_root_stops_at_a_broken_git_file(here: Path, content: str, what: str) -> None:
    """A broken .git file hides the repository above it, as it does for git."""
    inner = make_small_repository(here / "outer") / "inner"
    inner.mkdir()
    (inner / ".git").write_text(content)

    assert root.RootInfo(root.RepositoryKind.BROKEN, problem=f"{inner / '.git'} {what}") == root.find_root(str(inner))


def test_find_root_names_a_broken_git_folder(here: Path) -> None:
    """A .git folder without its parts is broken; an empty one is passed over."""
    (here / "a" / ".git").mkdir(parents=True)
    (here / "b" / ".git" / "objects").mkdir(parents=True)

    assert root.RepositoryKind.NONE is root.find_root(str(here / "a")).kind
    assert root.RootInfo(
        root.RepositoryKind.BROKEN, problem=f"{here / 'b' / '.git'} has no readable HEAD, objects and refs"
    ) == root.find_root(str(here / "b"))


def test_find_root_never_waits_for_a_pipe(here: Path) -> None:
    """A named pipe in place of .git is neither opened nor waited for."""
    os.mkfifo(here / ".git")

    assert root.RootInfo(root.RepositoryKind.NONE) == root.find_root(str(here))


# --- what is not the repository's own


def private(here: Path) -> Path:
    """Return a repository that must not be read."""
    return make_small_repository(here / "private")


def point_to_private(here: Path, repository: Path) -> None:
    (repository / ".git").rename(here / "own")
    (repository / ".git").write_text(f"gitdir: {private(here)}/.git\n")


def link_to_private(here: Path, repository: Path) -> None:
    (repository / ".git").rename(here / "own")
    (repository / ".git").symlink_to(private(here) / ".git")


def share_with_private(here: Path, repository: Path) -> None:
    (repository / ".git/commondir").write_text(f"{private(here)}/.git\n")


def made_up_worktree(here: Path, repository: Path) -> None:
    (repository / ".git").rename(here / "own")
    folder = repository / "hidden/worktrees/x"
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text(f"{private(here)}/.git\n")
    (folder / "gitdir").write_text(f"{repository}/.git\n")
    (repository / ".git").write_text(f"gitdir: {folder}\n")


@pytest.mark.parametrize("change", [point_to_private, link_to_private, share_with_private, made_up_worktree])
def test_a_git_that_leads_to_another_repository(here: Path, change: Callable[[Path, Path], None]) -> None:
    """It is the root of its tree, and nothing of the other repository is asked: no files, no branch, no commit."""
    repository = make_small_repository(here / "repo", "a.py")
    change(here, repository)
    found = root.find_root(str(repository))

    assert (root.RepositoryKind.FOREIGN, str(repository), "", "") == (
        found.kind,
        found.worktree,
        found.git_dir,
        found.common_dir,
    )
    assert "git is not used" in found.problem
    assert ("", "", None, None) == (
        root.head_branch(str(repository)),
        root.read_head(found),
        first_commit(str(repository)),
        run_git(str(repository), ("log", "-1")),
    )
    assert not list_files(str(repository)).is_from_git


def link_head(here: Path, git_dir: Path) -> None:
    (here / "secret").write_text("a secret")
    (git_dir / "HEAD").unlink()
    (git_dir / "HEAD").symlink_to(here / "secret")


def link_branch(here: Path, git_dir: Path) -> None:
    (here / "secret").write_text("a secret")
    branch = git_dir / git_dir.joinpath("HEAD").read_text().removeprefix("ref: ").strip()
    branch.unlink()
    branch.symlink_to(here / "secret")


def link_objects(here: Path, git_dir: Path) -> None:
    (git_dir / "objects").rename(here / "objects")
    (git_dir / "objects").symlink_to(here / "objects")


def include_other(here: Path, git_dir: Path) -> None:
    git(git_dir.parent, "config", "include.path", str(here / "secret"))


def include_by_detour(here: Path, git_dir: Path) -> None:
    (git_dir / "inner").write_text(f"[include]\npath={here}/secret\n")
    git(git_dir.parent, "config", "include.path", "inner")


def pipe_of_index(here: Path, git_dir: Path) -> None:
    (git_dir / "index").unlink()
    os.mkfifo(git_dir / "index")


@pytest.mark.parametrize(
    "change", [link_head, link_branch, link_objects, include_other, include_by_detour, pipe_of_index]
)
def test_a_git_that_would_read_elsewhere(here: Path, change: Callable[[Path, Path], None]) -> None:
    """Git is not run, and nothing of what it would have read is returned."""
    repository = make_small_repository(here / "repo", "a.py")
    before = run_git(str(repository), ("log", "-1"))
    change(here, repository / ".git")

    assert before
    assert (None, None) == (run_git(str(repository), ("log", "-1")), first_commit(str(repository)))
    assert "secret" not in root.head_branch(str(repository)) + root.read_head(root.find_root(str(repository)))


def test_includes_of_its_own(here: Path) -> None:
    """A configuration that is put together from files of the repository is read as any other."""
    repository = make_small_repository(here / "repo", "a.py")
    (repository / "shared.config").write_text("[core]\nabbrev = 7\n")
    git(repository, "config", "include.path", "../shared.config")

    assert run_git(str(repository), ("log", "-1"))


def test_borrowed_objects(here: Path) -> None:
    """Objects of another repository are read only if the user trusts their folder; names are listed anyway."""
    other = make_small_repository(here / "other", "a.py")
    git(here, "clone", "-q", "--shared", str(other), "repo")

    def log(*stores: Path) -> bytes | None:
        return run_git(str(here / "repo"), ("log", "-1"), object_stores=map(str, stores))

    assert (None, None) == (log(), log(here / "elsewhere", here / "oth"))
    assert log(other)
    assert log(here)
    assert TreeListing(("a.py",), is_from_git=True) == list_files(str(here / "repo"))


def test_configuration_that_names_other_files(here: Path) -> None:
    """A working tree and an ignore file elsewhere, as the configuration has them, count for nothing."""
    repository = make_small_repository(here / "repo", "a.py")
    (here / "elsewhere").mkdir()
    (here / "elsewhere/b.py").touch()
    (here / "ignored").write_text("*.py\n")
    (repository / "new.py").touch()
    git(repository, "config", "core.excludesFile", str(here / "ignored"))
    git(repository, "config", "core.worktree", str(here / "elsewhere"))

    assert TreeListing(("a.py", "new.py"), is_from_git=True) == list_files(str(repository))


def test_a_submodule_that_became_a_link(here: Path) -> None:
    """Where a link has taken the place of a folder with a repository in it, git is not used behind the link."""
    repository = make_small_repository(here / "repo", "a.py")
    make_small_repository(here / "elsewhere/inner", "secret.py")
    make_small_repository(repository / "libs/inner", "x.py")
    (repository / ".gitmodules").write_text('[submodule "i"]\n\tpath = libs/inner\n\turl = .\n')
    git(repository, "add", "-A")
    (repository / "libs").rename(here / "moved")
    (repository / "libs").symlink_to(here / "elsewhere")

    assert [] == [name for name in list_files(str(repository)).files if "secret" in name]


def test_git_of_the_repository_is_not_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search path that begins in the repository, or in the one around a submodule, leads to the next git."""
    repository = make_small_repository(here / "repo", "a.py")
    inner = make_small_repository(repository / "inner", "b.py")
    (repository / "bin").mkdir()
    (repository / "bin/git").write_text(f"#!/bin/sh\n: > {here}/sprung\n")
    (repository / "bin/git").chmod(0o755)
    (here / "link").symlink_to(repository / "bin")
    for folder in (repository / "bin", here / "link"):
        monkeypatch.setenv("PATH", f"{folder}:{os.defpath}")

        assert [True, True] == [bool(run_git(str(one), ("log", "-1"))) for one in (repository, inner)]
    assert not (here / "sprung").exists()


def test_an_empty_folder_holds_nothing(here: Path) -> None:
    """What Codex's sandbox leaves in a folder that it may write, an empty ``.git``, makes no repository of it."""
    (here / ".git").mkdir()
    repository = make_small_repository(here / "a/repo")
    (repository / "inner/.git").mkdir(parents=True)

    assert str(repository) == root.outermost_repository(str(repository / "inner"))
    assert str(here / "b") == root.outermost_repository(str(here / "b"))


def test_head_is_read_without_a_process(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loose and packed branches, linked working trees and detached heads are resolved from files."""
    repository = make_small_repository(here / "main", "a.py")
    git(repository, "worktree", "add", "-q", str(here / "linked"), "-b", "other")
    heads = [root.read_head(root.find_root(str(repository))), root.read_head(root.find_root(str(here / "linked")))]
    git(repository, "pack-refs", "--all")
    monkeypatch.setattr(subprocess, "Popen", None)
    heads.append(root.read_head(root.find_root(str(repository))))
    (repository / ".git" / "HEAD").write_text(heads[0] + "\n")
    heads.append(root.read_head(root.find_root(str(repository))))

    assert re.fullmatch("[0-9a-f]{40}", heads[0])
    assert [heads[0]] * 4 == heads
