"""Policies' queries are answered by their sources, and never raise."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.workspace import FakeTranscripts
from repositories import make_repository, write

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.workspace.workspace import LocalWorkspace
from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.policy import queries

NAMES = ("AGENTS.md",)


def looked(root: Path, query: queries.Query) -> object | None:
    """The answer to ``query`` for the repository at ``root``."""
    world = LocalWorldQueries(specs=LocalWorkspace(SystemClock()))
    return world.query(query, EventSource(ClientName.CLAUDE_CODE, str(root)), str(root.resolve()))


def test_files_and_changes_of_a_repository(tmp_path: Path) -> None:
    """Each query is answered by its source."""
    root = write(make_repository(tmp_path, {"a.py": "1\n"}), {"AGENTS.md": "text"})
    document = queries.TextDocument("AGENTS.md", "text")

    assert [(document,), (), (document,), (queries.ChangedFile("AGENTS.md"),)] == [
        looked(root, query)
        for query in (
            queries.FilesAboveQuery(str(root / "a.py"), NAMES),
            queries.FilesAboveQuery(str(root / "a.py"), NAMES, includes_root=False),
            queries.FolderFilesQuery("."),
            queries.ChangedFilesQuery(),
        )
    ]
    assert looked(root, queries.FolderFilesQuery("a\0b")) is None


@pytest.mark.parametrize("path", ["/etc/passwd", "{root}/../x.py", "relative.py", "", "/\0", "/" + "a/" * 4000])
def test_files_above_of_what_lies_outside(tmp_path: Path, path: str) -> None:
    """Nothing is read for a path that does not lie in the repository, or that no system takes."""
    root = write(tmp_path / "repo", {"AGENTS.md": "root"})
    write(tmp_path, {"AGENTS.md": "outside"})

    assert not looked(root, queries.FilesAboveQuery(path.format(root=root), NAMES))


def test_existing(tmp_path: Path) -> None:
    """Existing paths are returned, also a dangling link."""
    (tmp_path / "link").symlink_to("nowhere")
    there, gone = str(tmp_path / "link"), str(tmp_path / "gone")

    assert looked(tmp_path, queries.ExistingPathsQuery((there, gone, "a\0"))) == frozenset({there})


def test_context_use(tmp_path: Path) -> None:
    """The use of the context window comes from the transcript; without one the answer is None."""
    source = EventSource(ClientName.CODEX_CLI, str(tmp_path))
    ground = LocalWorldQueries(FakeTranscripts(use=queries.ContextUsage(5, 10)))

    assert ground.query(queries.ContextUsageQuery(), source, str(tmp_path)) == queries.ContextUsage(5, 10)
    assert looked(tmp_path, queries.ContextUsageQuery()) is None


def test_features(tmp_path: Path) -> None:
    """The features in progress, and those in the backlog; a folder that is no feature is left out."""
    for name in ("in-progress/retry", "backlog/login", "paused/other", "backlog/Not A Name"):
        write(tmp_path, {f"specs/features/{name}/tasks.md": "- [ ] DEV\n"})

    assert queries.FeaturesByStatus(("retry",), ("login",)) == looked(tmp_path, queries.FeaturesQuery())
    assert queries.FeaturesByStatus() == looked(tmp_path / "nowhere", queries.FeaturesQuery())
