"""Every command that the documentation prints runs, or is listed below with the test or reason that stands for it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import ROOT, Fork, environment
from repositories import make_repository

from upbeat.adapters.cli import main as upbeat
from upbeat.adapters.codex_auto.app import main as codex_auto

PAGES = sorted(
    [ROOT / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md")]
    + [*(ROOT / "docs").glob("*.md"), ROOT / "benchmarks/README.md", ROOT / "tests/e2e/README.md"]
)
SHELL_BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED_COMMAND = re.compile(r"^    ((?:\./|just |\.venv/bin/|python -m |PYTHONPATH=).*)$", re.MULTILINE)
INLINE = re.compile(r"`((?:upbeat|just|python -m) (?![a-z ]+:)[^`]+)`")

CHECKED_ELSEWHERE = {
    "uv tool install": "tests/reliability/package.py installs the wheel with uv and pipx",
    "upbeat install": "tests/adapters/cli/test_install.py; it needs a client",
    "upbeat why": "tests/adapters/cli/test_why.py; it needs a recorded event",
    "upbeat tools": "tests/adapters/cli/test_tools_servers.py; it needs a configured server",
    "./install.sh test": ".ci/run runs it",
    "./install.sh try": ".ci/run runs it",
    "codex-auto #": "tests/adapters/codex_auto; it needs Codex and a terminal",
    "codex-auto --once": "tests/adapters/codex_auto; it needs Codex",
    ".venv/bin/pytest tests/e2e": ".ci/run runs it with the real clients",
    "PYTHONPATH=tests .venv/bin/python -m e2e.by_hand": "it needs the real clients",
    "PYTHONPATH=tests .venv/bin/python -m reliability": ".ci/run runs its quick mode",
}
"""Beginning of a command -> what runs it, or why nothing here can."""


def commands_of(page: Path) -> Iterator[str]:
    """The commands in the shell blocks of ``page``, one a line, without comments."""
    text = page.read_text(encoding="utf-8")
    lines = [line for block in SHELL_BLOCK.findall(text) for line in block.splitlines()]
    lines += INDENTED_COMMAND.findall(text)
    yield from (line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


ALL = [(page.relative_to(ROOT).as_posix(), command) for page in PAGES for command in commands_of(page)]
RUN_HERE = ("upbeat", "codex-auto --plan")


def is_checked_elsewhere(command: str) -> bool:
    spaced = re.sub(r"\s+", " ", command)
    return spaced.startswith(tuple(CHECKED_ELSEWHERE)) or spaced.split("  #")[0].strip() == "codex-auto"


def test_the_documentation_prints_commands() -> None:
    """The pages are found and hold commands, so that the tests below cannot pass for want of cases."""
    assert len(ALL) > 20


def test_every_entry_of_the_list_is_needed() -> None:
    """A reason stays in the list only while some page prints such a command."""
    spaced = [re.sub(r"\s+", " ", command) for _, command in ALL]

    assert [] == [start for start in CHECKED_ELSEWHERE if not any(command.startswith(start) for command in spaced)]


@pytest.mark.parametrize("page", sorted({page for page, _ in ALL}))
def test_documented_commands_run(page: str, tmp_path: Path) -> None:
    """The commands of one page, in order, exit with 0 in a fresh repository with an empty home."""
    commands = [command for name, command in ALL if name == page and not is_checked_elsewhere(command)]
    repository, home = make_repository(tmp_path / "repository") if commands else tmp_path, tmp_path / "home"
    home.mkdir()
    failed = []
    for command in commands:
        words = shlex.split(command, comments=True)
        if words[0] == "just" or words[:2] == ["python", "-m"] or "-m" in words[:3]:
            assert_target_exists(words)
            continue
        assert command.startswith(RUN_HERE), f"{page}: add {command!r} to CHECKED_ELSEWHERE, or make it run here"
        program = upbeat.main if words[0] == "upbeat" else codex_auto.main
        with Fork(program, words[1:], repository, environment(home), b"y\n") as fork:
            done = fork.wait(60)
        if done.code:
            failed.append((command, done.code, done.stderr[-500:]))

    assert [] == failed


def assert_target_exists(words: list[str]) -> None:
    """A ``just`` recipe is in the justfile; a module that Python runs is in the checkout."""
    if words[0] == "just":
        assert re.search(rf"^{re.escape(words[1])}\b.*:", (ROOT / "justfile").read_text(encoding="utf-8"), re.MULTILINE)
        return
    module = words[words.index("-m") + 1].replace(".", "/")
    folders = (ROOT, ROOT / "src")
    assert any((folder / f"{module}.py").is_file() or (folder / module / "__main__.py").is_file() for folder in folders)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_inline_commands_exist(page: Path) -> None:
    """A subcommand, recipe or module that a page names in running text exists."""
    for command in INLINE.findall(page.read_text(encoding="utf-8")):
        words = command.split()
        if words[0] == "upbeat":
            assert (
                words[1] in (*upbeat.COMMANDS, "help", "version") or words[1].startswith("-") or words[1].isupper()
            ), f"{page.name}: {command}"
        else:
            assert_target_exists(words)
