"""A repository and settings without a disk."""

from __future__ import annotations

from typing import Any

from upbeat.core.contract.event import Source
from upbeat.core.contract.report import Limit
from upbeat.core.ports import Repository, Situation
from upbeat.core.settings import Settings

HERE = Repository(root="/repo", shown="/repo", source="git", identity="/repo")


def situation(
    repository: Repository = HERE, limits: tuple[Limit, ...] = (), problems: tuple[str, ...] = (), **settings: Any
) -> Situation:
    """A situation with those settings that are not at their defaults."""
    return Situation(repository, Settings(**settings), limits, problems)


class FakeSurroundings:
    """Implements ``core.ports.Surroundings``: finds the one situation, and remembers what it was asked."""

    def __init__(self, found: Situation | None = None) -> None:
        self.found = found or situation()
        self.asked: list[tuple[Source, str | None, bool]] = []

    def locate(self, source: Source, repo_root: str | None, *, plan: bool) -> Situation:
        self.asked.append((source, repo_root, plan))
        return self.found
