"""The work of the guards grows with a line's length, not with its square."""

from __future__ import annotations

import time

import pytest

from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.policy.own_controls import mentions_in_line

LOCATION = ShellLocation("/work/project", "/work/project")
CHARS = 30_000
MAX_CPU_SECONDS = 4.0
"""Each takes less than half a second; what was quadratic took seven and more."""

REPEATED = (
    *("x", "a/", "/", "../", "1", "a_", "a:", "a.", "a-", "=", "-", "\\", "*", "~", "文", "#"),  # one word
    *(" ", "\n", '"', "'", "`", "(", "{", "[", "$(", "<(", "${a:-", "(("),  # never closed
    *("$a", "${a}", "$(a) ", '"a" ', "a=b ", "a=$a$a;", "> a ", "-rf ", "<<E "),  # many words
    *("; rm -rf a ", "| cat ", "&& ls ", "\nls a", "; ./a ", "; f() { f; } ", "; cd a "),  # many commands
    *("sudo ", "bash -c ", "eval ", "xargs ", "docker exec ", "upbeat ", "Remove-Item ", "del "),  # one in another
)


@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("line", ["rm -rf ~ # {}", "{}rm -rf ~"])
def test_a_long_line_is_judged_in_bounded_time(line: str, repeated: str) -> None:
    """A line of many words, commands, openings or one long word is found destructive, or asked about, in seconds."""
    text = line.replace("{}", repeated * (CHARS // len(repeated)))
    before = time.process_time()
    mentions_in_line(text)
    hazards = find_hazards(text, LOCATION)
    assert time.process_time() - before < MAX_CPU_SECONDS
    assert hazards or line.startswith("{}")


@pytest.mark.parametrize("wrapper", ["xargs ", "setsid ", "sudo ", "eval ", "xargs -n1 sudo "])
def test_a_command_in_many_others_is_asked_about(wrapper: str) -> None:
    """However often a command is wrapped, it is found destructive or asked about."""
    assert all(find_hazards(wrapper * count + "rm -rf ~", LOCATION) for count in (1, 90, 400, 3_000))
