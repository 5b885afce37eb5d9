"""Rules of other programs are found above the file that was touched, once they are trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repositories import write

from upbeat.adapters.system.config.guidance import MAX_FILES, GuidanceFiles, guidance_files
from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment

TS = "---\nglobs: **/*.ts\n---\nTypes.\n"
FILES = {
    ".cursor/rules/ts.mdc": TS,
    ".cursor/rules/deep/always.mdc": "---\nalwaysApply: true\n---\nAlways.\n",
    ".cursor/rules/notes.md": "no rule of Cursor",
    ".claude/rules/all.md": "All.\n",
    ".opencode/rules/all.md": "All, too.\n",
    ".github/instructions/ts.instructions.md": '---\napplyTo: "**/*.ts"\n---\nCopilot.\n',
    ".github/copilot-instructions.md": "Everything.\n",
    "web/.cursor/rules/near.mdc": TS,
    "node_modules/x/.cursor/rules/theirs.mdc": TS,
    "web/a.ts": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES).resolve()


def shown(files: GuidanceFiles, root: Path, *names: str) -> list[str]:
    return [rule.path for rule in files.guidance_for(str(root), [str(root / name) for name in names])]


def test_nothing_before_trust(root: Path, home: Environment) -> None:
    """A cloned repository is not its user."""
    assert [] == shown(GuidanceFiles(home), root, "web/a.ts")


def test_the_nearest_first(root: Path, home: Environment) -> None:
    """The file's own folder comes before those above it, and guidance for its type before other guidance."""
    for file in guidance_files(str(root)):
        trust(file.path, file.path.read_bytes(), home)
    files = GuidanceFiles(home)

    assert [
        "web/.cursor/rules/near.mdc",
        ".cursor/rules/ts.mdc",
        ".github/instructions/ts.instructions.md",
        ".claude/rules/all.md",
        ".cursor/rules/deep/always.mdc",
        ".github/copilot-instructions.md",
        ".opencode/rules/all.md",
    ] == shown(files, root, "web/a.ts")
    assert [] == shown(files, root.parent, "web/a.ts")
    assert [
        ".claude/rules/all.md",
        ".cursor/rules/deep/always.mdc",
        ".github/copilot-instructions.md",
        ".opencode/rules/all.md",
    ] == shown(files, root, "x.py")


def test_a_change_is_noticed(root: Path, home: Environment) -> None:
    """A file that has changed is not shown until it is trusted again; a new one not before."""
    path = root / ".cursor/rules/ts.mdc"
    trust(path, path.read_bytes(), home)
    files = GuidanceFiles(home)
    seen = [shown(files, root, "a.ts")]
    path.write_text(TS + "More.\n")
    seen.append(shown(files, root, "a.ts"))
    trust(path, path.read_bytes(), home)
    seen.append(shown(files, root, "a.ts"))
    path.unlink()
    seen.append(shown(files, root, "a.ts"))

    assert [[".cursor/rules/ts.mdc"], [], [".cursor/rules/ts.mdc"], []] == seen


def test_the_users_own(root: Path, home: Environment) -> None:
    """What its user has for Claude Code needs no trust, and is known as theirs."""
    folder = home.home / ".claude/rules"
    write(folder, {"style/mine.md": "---\npaths: '*.ts'\n---\nMine.\n"})
    [one] = GuidanceFiles(home, {"claude": folder}).guidance_for(str(root), [str(root / "web/a.ts")])

    assert ("~/.claude/rules/style/mine.md", True) == (one.path, one.is_user_level)


def test_what_is_to_be_trusted(root: Path) -> None:
    """Every file of this kind wherever in the repository, but in what was installed."""
    assert {name for name in FILES if "/rules/" in name or ".github" in name} - {
        ".cursor/rules/notes.md",
        "node_modules/x/.cursor/rules/theirs.mdc",
    } == {file.display_name for file in guidance_files(str(root))}


def test_a_hostile_repository(root: Path, home: Environment, tmp_path: Path) -> None:
    """Links out of the repository, link loops, FIFOs and very many files and folders are bounded and never raise."""
    write(tmp_path, {"out/x.mdc": TS})
    folder = root / ".cursor/rules"
    os.mkfifo(folder / "fifo.mdc")
    (folder / "out").symlink_to(tmp_path / "out")
    (folder / "round").symlink_to(folder)
    (folder / "zero.mdc").symlink_to("/dev/zero")
    deep = folder
    for _ in range(30):
        deep = deep / "d"
        deep.mkdir()
    (deep / "x.mdc").write_text(TS)
    for number in range(500):
        (folder / f"{number}.mdc").write_text(TS)
    files = guidance_files(str(root))

    assert len(files) <= MAX_FILES
    assert not any("/d/d/d/d/d/d/d/" in file.display_name or "out" in file.display_name for file in files)
    assert [] == shown(GuidanceFiles(home), root, "web/a.ts", "web/" * 200 + "b.ts")
