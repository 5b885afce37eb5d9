"""Git is asked for facts only: whatever state a repository is in, and whatever its configuration says."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from processes import is_gone
from processes import run as run_process
from repositories import git, make_small_repository, make_with_submodule

from upbeat.adapters.system.git.commands import TreeListing, list_files, run_git

NAMES = ["a b.py", "目录/文件.py", "line\nbreak.py", 'quote".py', "tab\there.py", "-n.py", "emoji🙂.py"]


def test_list_files_gives_tracked_and_untracked_but_not_ignored(here: Path) -> None:
    """Tracked and new files are listed, ignored and deleted ones are the reader's business or not listed."""
    repository = make_small_repository(here / "r", "kept.py", ".gitignore", *NAMES)
    (repository / ".gitignore").write_text("*.log\nbuild/\n")
    (repository / "new.py").write_text("")
    (repository / "x.log").write_text("")
    (repository / "build").mkdir()
    (repository / "build" / "out.py").write_text("")

    assert TreeListing(tuple(sorted([".gitignore", "kept.py", "new.py", *NAMES])), is_from_git=True) == list_files(
        str(repository)
    )


def test_list_files_keeps_undecodable_names(here: Path) -> None:
    """A name that is no UTF-8 leads back to its file."""
    repository = make_small_repository(here / "r")
    Path(os.fsdecode(os.fsencode(repository) + b"/\xff\xfe.py")).write_text("")

    assert [b"\xff\xfe.py", b"a.py"] == sorted(map(os.fsencode, list_files(str(repository)).files), reverse=True)


def test_list_files_goes_into_submodules(here: Path) -> None:
    """The files of submodules and of untracked repositories inside are part of the tree."""
    outer = make_with_submodule(here)
    make_small_repository(outer / "nested.repo", "n.py")
    expected = (".gitmodules", "a.py", "libs/inner part/deep/in 2.py", "libs/inner part/in.py", "nested.repo/n.py")

    assert TreeListing(expected, is_from_git=True) == list_files(str(outer))


def test_list_files_of_a_subfolder_and_a_worktree(here: Path) -> None:
    """A subfolder is listed from its own point of view, a worktree as a tree."""
    repository = make_small_repository(here / "r", "src/a.py", "b.py")
    git(repository, "worktree", "add", "-q", str(here / "other"))

    assert TreeListing(("a.py",), is_from_git=True) == list_files(str(repository / "src"))
    assert TreeListing(("b.py", "src/a.py"), is_from_git=True) == list_files(str(here / "other"))


def test_list_files_walks_without_git(here: Path) -> None:
    """Without git the tree is walked; builds and dependencies are left out, links are not followed."""
    for name in ("src/a.py", "node_modules/m/i.js", ".venv/x.py", "src/__pycache__/a.pyc", "dist/o.js", *NAMES):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    (here / "loop").symlink_to(here)

    assert TreeListing(tuple(sorted(["loop", "src/a.py", *NAMES])), is_from_git=False) == list_files(str(here))


def test_list_files_walks_an_ignored_folder(here: Path) -> None:
    """A folder that its repository ignores is walked."""
    repository = make_small_repository(here / "r", ".gitignore")
    (repository / ".gitignore").write_text("scratch/\n")
    (repository / "scratch").mkdir()
    (repository / "scratch" / "a.py").write_text("")

    assert TreeListing(("a.py",), is_from_git=False) == list_files(str(repository / "scratch"))


def test_list_files_walks_under_a_broken_repository(here: Path) -> None:
    """A broken .git does not hide the files."""
    (here / ".git").write_text("gitdir: nowhere\n")
    (here / "a.py").write_text("")

    assert TreeListing((".git", "a.py"), is_from_git=False) == list_files(str(here))


def test_list_files_starts_nothing_of_the_repository(here: Path) -> None:
    """Monitors, hooks and filters that the repository configures do not run."""
    repository = make_small_repository(here / "r", "a.py", ".gitattributes")
    trap = here / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{here}/ran'\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.pager", "core.sshCommand", "core.editor"):
        git(repository, "config", key, str(trap))
    git(repository, "config", "core.hooksPath", str(here))
    (repository / ".gitattributes").write_text("* filter=x\n")

    assert list_files(str(repository)).is_from_git
    assert not (here / "ran").exists()


def test_git_settings_of_the_caller_do_not_leak(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and its kin, as a git hook sets them, do not move the question to another repository."""
    repository = make_small_repository(here / "r", "mine.py")
    other = make_small_repository(here / "other", "theirs.py")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))

    assert ("mine.py",) == list_files(str(repository)).files


def test_run_ends_at_its_deadline_with_all_that_it_started(here: Path) -> None:
    """A command that hangs is killed at its deadline, its children too."""
    repository = make_small_repository(here / "r")
    git(repository, "config", "alias.hang", f"!sleep 30 & echo $! > '{here}/pid'; wait")

    assert run_git(str(repository), ("hang",), timeout_seconds=0.5) is None
    assert is_gone(int((here / "pid").read_text()))


def test_run_stops_when_cancelled(here: Path) -> None:
    """A cancelled command gives nothing."""
    cancelled = threading.Event()
    cancelled.set()

    assert run_git(str(make_small_repository(here / "r")), ("ls-files",), cancelled) is None


def test_run_says_nothing_for_a_failing_command(here: Path) -> None:
    """A command that fails, and a folder that is gone, give nothing."""
    assert run_git(str(here), ("ls-files",)) is None
    assert run_git(str(here / "gone"), ("version",)) is None


def test_no_git_outlives_its_process(here: Path) -> None:
    """A git that waits for a FIFO in a daemon thread ends with the process that started it."""
    repository = make_small_repository(here / "repo")
    commit = git(repository, "rev-parse", "HEAD")
    (repository / ".git/objects" / commit[:2] / commit[2:]).unlink()
    os.mkfifo(repository / ".git/objects" / commit[:2] / commit[2:])
    script = (
        "import sys, threading, time\n"
        "from upbeat.adapters.system.git import commands as git\n"
        "from upbeat.adapters.system.process import run as command\n"
        f"ask = lambda: git.run_git({str(repository)!r}, ('log', '-1'), timeout_seconds=60)\n"
        "threading.Thread(target=ask, daemon=True).start()\n"
        "while not command._running: time.sleep(0.01)\n"
        "print(next(iter(command._running)).pid)\n"
    )
    done = run_process([sys.executable, "-I", "-c", script], here, home=here)

    assert (0, False) == (done.code, os.path.exists(f"/proc/{int(done.stdout)}/cwd"))
