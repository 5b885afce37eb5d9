"""Which commands wait for input at a terminal, and which are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from policy_play import asked, call, said_by, says, shell, silent, starting, view_of

from upbeat.core.contract.effect import RewriteInput
from upbeat.core.contract.event import ToolKind
from upbeat.core.policies.block_interactive_commands import ENVIRONMENT, POLICY
from upbeat.core.policy.tty_requirements import PROGRAM_PATTERN

LINES = read_groups(Path(__file__).with_name("interactive_lines.tsv"))
SILENT, DENIED, REWRITTEN = ([line for (line,) in LINES[effect]] for effect in ("none", "deny", "rewrite"))
test_says_nothing_for = silent(SILENT, lambda line: said_by(POLICY, starting(shell(line))))

test_denies = says(
    {line: (line, "waits for input at a terminal") for line in DENIED},
    lambda line, language: said_by(POLICY, starting(shell(line)), language),
)


@pytest.mark.parametrize("line", REWRITTEN)
def test_rewrites(line: str) -> None:
    """A single git command that only opens an editor gets one that does nothing; its line stays unchanged."""
    [effect] = said_by(POLICY, starting(shell(line)))

    assert isinstance(effect, RewriteInput)
    assert {"command": ENVIRONMENT + line} == effect.fields
    assert "GIT_EDITOR=:" in effect.text


@pytest.mark.parametrize(("line", "alternative"), LINES["alternative"])
def test_names_the_alternative(line: str, alternative: str) -> None:
    """The text names the flag or the program that works."""
    [effect] = said_by(POLICY, starting(shell(line)))

    assert alternative in effect.text


def test_the_program_pattern_misses_nothing() -> None:
    """The program pattern matches every line that is denied or rewritten; calls of other tools are ignored."""
    assert all(PROGRAM_PATTERN.search(line) for line in (*DENIED, *REWRITTEN))
    assert not PROGRAM_PATTERN.search("ls -la src && make test")
    assert () == said_by(POLICY, starting(call("Write", ToolKind.WRITE, given={"content": "vim a.py"})))


@given(st.text(max_size=80), st.sampled_from((*DENIED, *REWRITTEN)))
def test_any_line(text: str, line: str) -> None:
    """No line raises."""
    for one in (text, f"{line} {text}", f"{text} {line}"):
        asked(POLICY, starting(shell(one)), view_of(POLICY))
