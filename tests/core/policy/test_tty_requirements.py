"""Which commands wait for input at a terminal."""

from __future__ import annotations

import pytest

from upbeat.core.policy.tty_requirements import PROGRAM_PATTERN, InteractionKind, TtyRequirement, find_tty_requirement
from upbeat.core.shell import parse_commands

WAITS = {
    "vim a.txt": TtyRequirement(InteractionKind.EDITOR, "vim"),
    "sudo -u dev htop": TtyRequirement(InteractionKind.FULL_SCREEN, "htop"),
    "git commit": TtyRequirement(
        InteractionKind.GIT_MESSAGE, "git commit", "-m 'TEXT', or --no-edit for a message that git has prepared"
    ),
    "git commit --amend": TtyRequirement(InteractionKind.GIT_EDITOR, "git commit --amend", "--no-edit"),
    "git rebase -i HEAD~3": TtyRequirement(InteractionKind.GIT_REBASE_TODO, "git rebase -i"),
    "git add -p": TtyRequirement(InteractionKind.GIT_HUNKS, "git add -p"),
    "python3.12": TtyRequirement(InteractionKind.REPL, "python"),
    "ssh host": TtyRequirement(InteractionKind.REMOTE_SHELL, "ssh"),
    "apt-get install jq": TtyRequirement(InteractionKind.CONFIRMATION, "apt-get install", "-y"),
    "npm init": TtyRequirement(InteractionKind.CONFIRMATION, "npm init", "-y"),
    "top": TtyRequirement(InteractionKind.FULL_SCREEN, "top", "top -b -n 1"),
}


def requirement(line: str) -> TtyRequirement | None:
    """The requirement of the last command of ``line``."""
    return find_tty_requirement(parse_commands(line).items[-1])


@pytest.mark.parametrize(("line", "expected"), WAITS.items(), ids=WAITS)
def test_waits(line: str, expected: TtyRequirement) -> None:
    """A command that waits is found by the quick check, too, with its kind, its name and a workaround."""
    assert (expected, True) == (requirement(line), PROGRAM_PATTERN.search(line) is not None)


@pytest.mark.parametrize("line", ["make test", "echo vimrc", "git-lfs pull", "my-ssh host"])
def test_the_quick_check_reads_whole_words(line: str) -> None:
    """A line without the name of such a program does not need to be parsed."""
    assert not PROGRAM_PATTERN.search(line)
