"""The prompt files of the user and of a project that its user trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.config.prompt_files import MAX_CHARS, find_prompt_file
from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment
from upbeat.core.policy.queries import TextDocument


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def prompt(name: str, root: Path, home: Environment) -> TextDocument | None:
    folders = [home.home / ".codex/prompts", home.home / ".claude/commands"]
    return find_prompt_file(name, str(root), home, folders)


@pytest.mark.parametrize("name", ["nothing", "x:y", "a" * 300])
def test_a_prompt_without_a_file(name: str, root: Path, home: Environment) -> None:
    """Where there is no file nothing is known."""
    assert prompt(name, root, home) is None


def test_a_users_own_prompt(root: Path, home: Environment) -> None:
    """Codex's folder takes precedence over Claude Code's; secrets and control characters are removed."""
    put(home.home / ".claude/commands/review.md", "Claude's")
    second = put(home.home / ".claude/commands/git/log.md", "Log $1")
    first = put(home.home / ".codex/prompts/review.md", "Review \x1b[31m$1\x1b[0m with ghp_" + "aB3dE6gH9j" * 4)

    assert [
        TextDocument(str(first), "Review $1 with <redacted:github-token>"),
        TextDocument(str(second), "Log $1"),
    ] == [prompt(name, root, home) for name in ("review", "git:log")]


def test_a_projects_prompt_needs_trust(root: Path, home: Environment) -> None:
    """Before and after a change the user's own file of that name counts, or none."""
    path = put(root / ".claude/commands/review.md", "Project's")
    before = prompt("review", root, home)
    trust(path, path.read_bytes(), home)
    trusted = prompt("review", root, home)
    put(path, "Something else")

    assert (None, TextDocument(".claude/commands/review.md", "Project's"), None) == (
        before,
        trusted,
        prompt("review", root, home),
    )


def test_a_prompt_that_cannot_be_read(root: Path, home: Environment) -> None:
    """A folder, bytes that are no text, and a file that is too long are none."""
    prompts = home.home / ".codex/prompts"
    (prompts / "folder.md").mkdir(parents=True)
    (prompts / "bytes.md").write_bytes(b"\xff\xfe\xff")
    put(prompts / "long.md", "x" * (4 * MAX_CHARS + 1))

    assert [None] * 3 == [prompt(name, root, home) for name in ("folder", "bytes", "long")]


def test_a_link_out_of_the_repository(root: Path, home: Environment, tmp_path: Path) -> None:
    """A project's file that lies elsewhere does not count, trusted or not."""
    outside = put(tmp_path / "outside.md", "x")
    link = root / ".claude/commands/out.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    trust(link, link.read_bytes(), home)

    assert prompt("out", root, home) is None
