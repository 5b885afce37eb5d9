"""The command line of codex exec: an order that works, and no prompt in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.adapters.codex.transport.base import TurnInput
from upbeat.adapters.codex.transport.exec.transport import (
    CodexCommandLine,
    compose_stdin,
    effort_from_flags,
    flags_problem,
)

CASES = read_groups(Path(__file__).with_name("transport_command_line_cases.tsv"))
THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"


@pytest.mark.parametrize(
    ("command", "thread_id", "line"),
    [
        (CodexCommandLine(), "", "codex exec --json -"),
        (CodexCommandLine(), THREAD, f"codex exec --json resume {THREAD} -"),
        (CodexCommandLine(folder="my repo"), THREAD, f"codex exec -C 'my repo' --json resume {THREAD} -"),
        (CodexCommandLine(folder="-x"), "", "codex exec -C ./-x --json -"),
        (CodexCommandLine(is_outside_git=True), "", "codex exec --skip-git-repo-check --json -"),
        (
            CodexCommandLine("/opt/co dex", flags=("-s", "read-only", "-i", "a.png")),
            THREAD,
            f"'/opt/co dex' exec -s read-only -i a.png --json resume {THREAD} -",
        ),
    ],
)
def test_flags_stand_before_resume(command: CodexCommandLine, thread_id: str, line: str) -> None:
    """AC-002: the session is in the command, behind all flags, and the prompt is not."""
    assert line == command.display(thread_id)


def test_the_effort_of_a_turn_comes_last() -> None:
    """How hard the model thinks is in the command of one turn, behind what the user says for all of them."""
    command = CodexCommandLine(flags=("-c", "model_reasoning_effort=low"))

    assert f"codex exec {' '.join(command.flags)} -c model_reasoning_effort=high --json resume {THREAD} -" == (
        command.display(THREAD, "high")
    )


def test_the_effort_that_flags_set() -> None:
    """The effort that the user sets for every turn is known; the last one counts."""
    assert CASES["effort"] == [(flags, effort_from_flags(json.loads(flags))) for flags, _ in CASES["effort"]]


def test_flags_of_codex_are_accepted() -> None:
    """Flags that codex exec understands are passed on unchanged."""
    assert [] == [flags for (flags,) in CASES["accepted"] if flags_problem(json.loads(flags))]


@pytest.mark.parametrize("flags", [json.loads(flags) for (flags,) in CASES["refused"]], ids=str)
def test_other_flags_are_refused(flags: list[str]) -> None:
    """Flags that codex-auto sets itself, and words that would be taken for the prompt, are refused by name."""
    assert any(flag.partition("=")[0] in flags_problem(flags) for flag in flags)


def test_without_context_the_prompt_is_sent_as_it_is() -> None:
    """AC-013: with nothing to say, Codex gets exactly what it would get without codex-auto."""
    prompt = "\ufeff a\r\nb\x00 \n\n"

    assert prompt == compose_stdin(TurnInput(prompt))


def test_context_stands_before_the_prompt() -> None:
    """A prepared turn is the context, a blank line, and the prompt."""
    assert compose_stdin(TurnInput("\ufeffwhy?\n", "context")) == "context\n\nwhy?\n"


def test_guidance_stands_before_all() -> None:
    """What upbeat says about the workflow comes first, outside of what is framed as data."""
    asks = [TurnInput("why?", "context", guidance="do DEV"), TurnInput("why?", guidance="do DEV")]

    assert ["do DEV\n\ncontext\n\nwhy?", "do DEV\n\nwhy?"] == [compose_stdin(ask) for ask in asks]
