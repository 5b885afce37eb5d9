"""Git is asked for facts only: whatever state a repository is in, and whatever its configuration says."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from upbeat.adapters.local.first_commit import first_commit
from upbeat.adapters.local.git import Listing, head, list_files, run
from upbeat.adapters.local.git_root import Kind, RootInfo, find_root


def git(folder: Path, *arguments: str) -> str:
    """Run git for the test with a fixed identity; what it prints."""
    settings = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *settings, "-C", str(folder), *arguments],
        env={"PATH": os.defpath, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def make_repository(folder: Path, *names: str) -> Path:
    """A repository with one commit of ``names``."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    for name in names or ("a.py",):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {folder.name}\n")
    commit(folder, "first")
    return folder


def commit(folder: Path, message: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


# --- find_root


def test_find_root_walks_up(here: Path) -> None:
    """find_root finds the working tree from a folder deep inside, through a link too."""
    repository = make_repository(here / "my 项目", "src/deep/a.py")
    (here / "link").symlink_to(repository / "src")
    expected = RootInfo(Kind.GIT, str(repository), str(repository / ".git"), str(repository / ".git"))

    assert expected == find_root(str(repository))
    assert expected == find_root(str(repository / "src" / "deep"))
    assert expected == find_root(str(here / "link" / "deep"))


def test_find_root_without_git(here: Path) -> None:
    """find_root says that there is no repository, also for a folder that does not exist."""
    assert RootInfo(Kind.NONE) == find_root(str(here))
    assert RootInfo(Kind.NONE) == find_root(str(here / "missing"))


def test_find_root_of_a_worktree(here: Path) -> None:
    """A linked worktree has its own HEAD and shares the objects."""
    repository = make_repository(here / "main")
    git(repository, "worktree", "add", "-q", str(here / "other"))
    git_dir = str(repository / ".git" / "worktrees" / "other")

    assert RootInfo(Kind.GIT, str(here / "other"), git_dir, str(repository / ".git")) == find_root(str(here / "other"))


def test_find_root_of_a_worktree_of_a_bare_repository(here: Path) -> None:
    """A worktree of a bare repository is a working tree; the folder that points to the bare one is not."""
    make_repository(here / "origin")
    git(here, "clone", "-q", "--bare", str(here / "origin"), str(here / "all" / ".bare"))
    (here / "all" / ".git").write_text("gitdir: ./.bare\n")
    git(here / "all", "worktree", "add", "-q", str(here / "all" / "main"), "main")

    assert Kind.BARE is find_root(str(here / "all")).kind
    assert str(here / "all" / "main") == find_root(str(here / "all" / "main")).worktree


def test_find_root_of_a_submodule(here: Path) -> None:
    """A submodule is a repository of its own."""
    outer = make_with_submodule(here)
    git_dir = str(outer / ".git" / "modules" / "libs" / "inner part")

    assert RootInfo(Kind.GIT, str(outer / "libs" / "inner part"), git_dir, git_dir) == find_root(
        str(outer / "libs" / "inner part")
    )


def test_find_root_of_a_bare_repository(here: Path) -> None:
    """A bare repository has no working tree, from inside its folders too."""
    git(here, "init", "-q", "--bare", "bare.git")
    problem = f"{here / 'bare.git'} is bare: there is no working tree"
    expected = RootInfo(Kind.BARE, "", str(here / "bare.git"), str(here / "bare.git"), problem)

    assert expected == find_root(str(here / "bare.git"))
    assert expected == find_root(str(here / "bare.git" / "hooks"))
    assert expected.is_bare


def test_find_root_inside_dot_git(here: Path) -> None:
    """Below .git, the working tree is the one around it."""
    repository = make_repository(here / "r")

    assert str(repository) == find_root(str(repository / ".git" / "hooks")).worktree


BROKEN = [
    pytest.param("gitdir: /nowhere/at/all\n", "points to /nowhere/at/all, where there is no repository", id="dangling"),
    pytest.param("", "is a file that does not start with 'gitdir:'", id="empty file"),
    pytest.param("hello", "is a file that does not start with 'gitdir:'", id="other text"),
]


@pytest.mark.parametrize(("content", "what"), BROKEN)
def test_find_root_stops_at_a_broken_git_file(here: Path, content: str, what: str) -> None:
    """A broken .git file hides the repository above it, as it does for git."""
    inner = make_repository(here / "outer") / "inner"
    inner.mkdir()
    (inner / ".git").write_text(content)

    assert RootInfo(Kind.BROKEN, problem=f"{inner / '.git'} {what}") == find_root(str(inner))


def test_find_root_names_a_broken_git_folder(here: Path) -> None:
    """A .git folder without its parts is broken; an empty one is passed over."""
    (here / "a" / ".git").mkdir(parents=True)
    (here / "b" / ".git" / "objects").mkdir(parents=True)

    assert Kind.NONE is find_root(str(here / "a")).kind
    assert RootInfo(Kind.BROKEN, problem=f"{here / 'b' / '.git'} has no readable HEAD, objects and refs") == find_root(
        str(here / "b")
    )


def test_find_root_never_waits_for_a_pipe(here: Path) -> None:
    """A named pipe in place of .git is neither opened nor waited for."""
    os.mkfifo(here / ".git")

    assert RootInfo(Kind.NONE) == find_root(str(here))


# --- first_commit


def test_first_commit_follows_first_parents(here: Path) -> None:
    """first_commit is the root of the main line, not that of a history merged into it."""
    repository = make_repository(here / "r")
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
    repository = make_repository(here / "r", "src/a.py")
    first = git(repository, "rev-parse", "HEAD")
    commit(repository, "second")
    git(repository, "worktree", "add", "-q", str(here / "other"))
    git(here, "clone", "-q", "--bare", str(repository), str(here / "bare.git"))

    places = [repository / "src", here / "other", here / "bare.git"]

    assert [first] * 3 == [first_commit(str(place)) for place in places]


def test_first_commit_of_a_shallow_clone(here: Path) -> None:
    """A shallow clone answers with the oldest commit it has."""
    repository = make_repository(here / "r")
    commit(repository, "second")
    third = commit(repository, "third")
    git(here, "clone", "-q", "--depth", "1", f"file://{repository}", str(here / "shallow"))

    assert third == first_commit(str(here / "shallow"))


def test_first_commit_of_a_detached_head(here: Path) -> None:
    """A detached HEAD has a first commit too."""
    repository = make_repository(here / "r")
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--detach")

    assert first == first_commit(str(repository))


def test_first_commit_says_nothing_where_there_is_none(here: Path) -> None:
    """Without git, before the first commit, and in damaged repositories there is no first commit."""
    git(here, "init", "-q", "empty")
    damaged = make_repository(here / "damaged")
    for path in (damaged / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"garbage")
    odd = make_repository(here / "odd")
    (odd / ".git" / "HEAD").write_bytes(b"\xff\x00nonsense")

    assert [None] * 4 == [first_commit(str(place)) for place in (here / "nothing", here / "empty", damaged, odd)]


def test_first_commit_starts_no_process(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """find_root, first_commit and head start nothing, so plan mode may use them."""
    repository = make_repository(here / "r")

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)

    assert (str(repository), "main") == (find_root(str(repository)).worktree, head(str(repository)))
    assert first_commit(str(repository))


# --- list_files


def make_with_submodule(here: Path) -> Path:
    make_repository(here / "inner", "in.py", "deep/in 2.py")
    outer = make_repository(here / "outer", "a.py")
    git(outer, "submodule", "--quiet", "add", str(here / "inner"), "libs/inner part")
    commit(outer, "with a submodule")
    return outer


NAMES = ["a b.py", "目录/文件.py", "line\nbreak.py", 'quote".py', "tab\there.py", "-n.py", "emoji🙂.py"]


def test_list_files_gives_tracked_and_untracked_but_not_ignored(here: Path) -> None:
    """Tracked and new files are listed, ignored and deleted ones are the reader's business or not listed."""
    repository = make_repository(here / "r", "kept.py", ".gitignore", *NAMES)
    (repository / ".gitignore").write_text("*.log\nbuild/\n")
    (repository / "new.py").write_text("")
    (repository / "x.log").write_text("")
    (repository / "build").mkdir()
    (repository / "build" / "out.py").write_text("")

    assert Listing(tuple(sorted([".gitignore", "kept.py", "new.py", *NAMES])), by_git=True) == list_files(
        str(repository)
    )


def test_list_files_keeps_undecodable_names(here: Path) -> None:
    """A name that is no UTF-8 leads back to its file."""
    repository = make_repository(here / "r")
    Path(os.fsdecode(os.fsencode(repository) + b"/\xff\xfe.py")).write_text("")

    assert [b"\xff\xfe.py", b"a.py"] == sorted(map(os.fsencode, list_files(str(repository)).files), reverse=True)


def test_list_files_goes_into_submodules(here: Path) -> None:
    """The files of submodules and of untracked repositories inside are part of the tree."""
    outer = make_with_submodule(here)
    make_repository(outer / "nested.repo", "n.py")
    expected = (".gitmodules", "a.py", "libs/inner part/deep/in 2.py", "libs/inner part/in.py", "nested.repo/n.py")

    assert Listing(expected, by_git=True) == list_files(str(outer))


def test_list_files_of_a_subfolder_and_a_worktree(here: Path) -> None:
    """A subfolder is listed from its own point of view, a worktree as a tree."""
    repository = make_repository(here / "r", "src/a.py", "b.py")
    git(repository, "worktree", "add", "-q", str(here / "other"))

    assert Listing(("a.py",), by_git=True) == list_files(str(repository / "src"))
    assert Listing(("b.py", "src/a.py"), by_git=True) == list_files(str(here / "other"))


def test_list_files_walks_without_git(here: Path) -> None:
    """Without git the tree is walked; builds and dependencies are left out, links are not followed."""
    for name in ("src/a.py", "node_modules/m/i.js", ".venv/x.py", "src/__pycache__/a.pyc", "dist/o.js", *NAMES):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    (here / "loop").symlink_to(here)

    assert Listing(tuple(sorted(["loop", "src/a.py", *NAMES])), by_git=False) == list_files(str(here))


def test_list_files_walks_an_ignored_folder(here: Path) -> None:
    """Inside a folder that its repository ignores, there are files all the same."""
    repository = make_repository(here / "r", ".gitignore")
    (repository / ".gitignore").write_text("scratch/\n")
    (repository / "scratch").mkdir()
    (repository / "scratch" / "a.py").write_text("")

    assert Listing(("a.py",), by_git=False) == list_files(str(repository / "scratch"))


def test_list_files_walks_under_a_broken_repository(here: Path) -> None:
    """A broken .git does not hide the files."""
    (here / ".git").write_text("gitdir: nowhere\n")
    (here / "a.py").write_text("")

    assert Listing((".git", "a.py"), by_git=False) == list_files(str(here))


def test_list_files_starts_nothing_of_the_repository(here: Path) -> None:
    """Monitors, hooks and filters that the repository configures do not run."""
    repository = make_repository(here / "r", "a.py", ".gitattributes")
    trap = here / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{here}/ran'\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.pager", "core.sshCommand", "core.editor"):
        git(repository, "config", key, str(trap))
    git(repository, "config", "core.hooksPath", str(here))
    (repository / ".gitattributes").write_text("* filter=x\n")

    assert list_files(str(repository)).by_git
    assert not (here / "ran").exists()


def test_git_settings_of_the_caller_do_not_leak(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and its kin, as a git hook sets them, do not move the question to another repository."""
    repository = make_repository(here / "r", "mine.py")
    other = make_repository(here / "other", "theirs.py")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))

    assert ("mine.py",) == list_files(str(repository)).files


def test_git_of_the_working_directory_is_not_started(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program called git in the repository is not the git that is started."""
    repository = make_repository(here / "r")
    (repository / "git").write_text(f"#!/bin/sh\ntouch '{here}/ran'\n")
    (repository / "git").chmod(0o755)
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", f".::{os.defpath}")

    assert list_files(str(repository)).by_git
    assert not (here / "ran").exists()


def test_run_ends_at_its_deadline_with_all_that_it_started(here: Path) -> None:
    """A command that hangs is killed at its deadline, its children too."""
    repository = make_repository(here / "r")
    git(repository, "config", "alias.hang", f"!sleep 30 & echo $! > '{here}/pid'; wait")

    assert run(str(repository), ("hang",), seconds=0.5) is None
    child = int((here / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}/stat").exists() or " Z " in Path(f"/proc/{child}/stat").read_text():
            return
        threading.Event().wait(0.02)
    raise AssertionError("the child is still running")


def test_run_stops_when_cancelled(here: Path) -> None:
    """A cancelled command gives nothing."""
    cancelled = threading.Event()
    cancelled.set()

    assert run(str(make_repository(here / "r")), ("ls-files",), cancelled) is None


def test_run_says_nothing_for_a_failing_command(here: Path) -> None:
    """A command that fails, and a folder that is gone, give nothing."""
    assert run(str(here), ("ls-files",)) is None
    assert run(str(here / "gone"), ("version",)) is None
