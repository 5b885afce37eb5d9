"""Repositories made by git's own commands, file by file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


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


def make_with_submodule(here: Path) -> Path:
    make_repository(here / "inner", "in.py", "deep/in 2.py")
    outer = make_repository(here / "outer", "a.py")
    git(outer, "submodule", "--quiet", "add", str(here / "inner"), "libs/inner part")
    commit(outer, "with a submodule")
    return outer
