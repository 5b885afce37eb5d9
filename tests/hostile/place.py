"""The stage of a hostile repository: its root, what lies beside it, a home, and the marker files.

``outside`` holds what is nobody's business, marked with ``CANARY``: it must not show up anywhere. Every program that
is planted leaves a file in ``marks`` when it runs.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from processes import environment
from repositories import git, make_repository, write

CANARY = "canary7f3ac1e9b0d2"
SECRET = f'def send_with_retry(message):\n    """The retry limit is {CANARY}."""\n    return RETRY_LIMIT  # {CANARY}\n'
"""Answers the prompt below, so that whoever reads it tells it."""

PROMPT = "fix the bug: where is the retry limit in send_with_retry of shop/retry.py enforced?"


@dataclass
class Place:
    """Everything of one fixture."""

    base: Path
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of its processes beside PATH and HOME."""
    cwd: str = "."
    """Where processes start, below the root."""
    looked_at_by_git: tuple[str, ...] = ()
    """Files outside that git itself opens, which nobody can prevent."""

    def __post_init__(self) -> None:
        self.root, self.outside, self.home = self.base / "repo", self.base / "outside", self.base / "home"
        self.marks = self.base / "marks"
        self.log = self.base / "log"
        """Folder for what ``inside.py`` writes down."""

    def trap(self, name: str) -> str:
        """Plant a program in the repository that leaves a mark; return its absolute path."""
        path = self.root / name
        write(self.root, {name: f"#!/bin/sh\n: >> {shlex.quote(str(self.marks / path.name))}\n"})
        path.chmod(0o755)
        return str(path)

    def environment(self) -> dict[str, str]:
        """Return all variables of its processes; a PATH of its own comes before the usual one."""
        usual = environment(self.home)
        path = ":".join(part for part in (self.variables.get("PATH"), usual["PATH"]) if part is not None)
        return usual | self.variables | {"PATH": path}

    def sprung(self) -> list[str]:
        """Return the names of the programs and modules that have run."""
        return sorted(os.listdir(self.marks))

    def leaks(self) -> list[str]:
        """Return the files of the home that hold the canary."""
        files = (path for path in sorted(self.home.rglob("*")) if path.is_file() and not path.is_symlink())
        return [str(path.relative_to(self.home)) for path in files if CANARY.encode() in path.read_bytes().lower()]


def make_place(base: Path) -> Place:
    """Make a repository with one commit and nothing hostile in it, a secret beside it, and an empty home."""
    place = Place(base)
    place.marks.mkdir(parents=True)
    place.home.mkdir()
    write(place.outside, {"secret.py": SECRET, "secret.toml": f'# {CANARY}\nmode = "{CANARY}"\n'})
    write(place.outside, {"secret.md": f"---\nevent: bash\n---\n{SECRET}", "folder/inner/secret.py": SECRET})
    private = make_repository(place.outside / "private", {f"{CANARY}.py": SECRET, "shop/retry.py": SECRET})
    git(private, "commit", "-q", "--allow-empty", "-m", f"retry limit {CANARY}")
    place.root.mkdir()
    make_repository(place.root)
    return place
