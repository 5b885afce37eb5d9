"""A repository context and its resolver without a disk."""

from __future__ import annotations

from typing import Any

from upbeat.core.contract.event import EventSource
from upbeat.core.contract.report import Limit
from upbeat.core.engine.ports import RepoContext, Repository
from upbeat.core.settings import Settings

HERE = Repository(root="/repo", display_path="/repo", root_source="git", identity="/repo")


def repo_context(
    repository: Repository = HERE, limits: tuple[Limit, ...] = (), problems: tuple[str, ...] = (), **settings: Any
) -> RepoContext:
    """Return a repository context with the given settings, the others at their defaults."""
    return RepoContext(repository, Settings(**settings), limits, problems)


class FakeContextResolver:
    """A ``ContextResolver`` that resolves everything to one context and records the requests."""

    def __init__(self, context: RepoContext | None = None) -> None:
        self.context = context or repo_context()
        self.asked: list[tuple[EventSource, str | None, bool]] = []

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        self.asked.append((source, repo_root, is_plan))
        return self.context
