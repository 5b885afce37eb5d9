"""The stage of a hostile repository: its root, what lies beside it, a home, and the marker files.

``outside`` holds what is nobody's business, marked with ``canary``: it must not show up anywhere. Every program that
is planted leaves a file in ``marks`` when it runs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from processes import environment
from repositories import git, make_repository, write

CANARY = "canary7f3ac1e9b0d2"
SECRET = f'def send_with_retry(message):\n    """The retry limit is {CANARY}."""\n    return RETRY_LIMIT  # {CANARY}\n'
"""Answers the prompts below, so that whoever reads it tells it."""

PROMPT = "fix the bug: where is the retry limit in send_with_retry of shop/retry.py enforced?"


@dataclass
class Place:
    """Everything of one fixture. ``variables`` are those of its processes beside PATH and HOME."""

    base: Path
    variables: dict[str, str] = field(default_factory=dict)
    cwd: str = "."
    """Where processes start, below the root."""
    looked_at_by_git: tuple[str, ...] = ()
    """Files outside that git itself opens, and nobody can keep it from: said with the promise."""

    @property
    def root(self) -> Path:
        return self.base / "repo"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def marks(self) -> Path:
        return self.base / "marks"

    @property
    def told(self) -> Path:
        """What ``inside.py`` writes down."""
        return self.base / "told"

    def put(self, files: Mapping[str, str]) -> None:
        """Files of the repository."""
        write(self.root, files)

    def link(self, name: str, target: str | Path) -> None:
        """A link in the repository."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def trap(self, path: str | Path, says: str = "") -> str:
        """A program in the repository that leaves a mark; its absolute path. ``says`` is what it prints."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        mark = shlex.quote(str(self.marks / place.name))
        place.write_text(f"#!/bin/sh\n: >> {mark}\nprintf '%s' {shlex.quote(says)}\n", encoding="utf-8")
        place.chmod(0o755)
        return str(place)

    def git(self, *arguments: str) -> str:
        """What git says in the repository."""
        return git(self.root, *arguments)

    def configure(self, **settings: str) -> None:
        """Settings of the repository's own configuration, with ``__`` for a dot and ``_`` for a hyphen."""
        for name, value in settings.items():
            self.git("config", name.replace("__", "."), value)

    def environment(self) -> dict[str, str]:
        """All variables of its processes; a PATH of its own comes before the usual one."""
        usual = environment(self.home)
        path = ":".join(part for part in (self.variables.get("PATH"), usual["PATH"]) if part is not None)
        return usual | self.variables | {"PATH": path}

    def sprung(self) -> list[str]:
        """The programs that have run."""
        return sorted(os.listdir(self.marks))

    def leaks(self) -> list[str]:
        """The files of the home that hold the canary."""
        found = (path for path in sorted(self.home.rglob("*")) if path.is_file() and not path.is_symlink())
        return [str(path.relative_to(self.home)) for path in found if CANARY.encode() in path.read_bytes().lower()]


def make_place(base: Path) -> Place:
    """A repository with one commit and nothing hostile in it, a secret beside it, and an empty home."""
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
