"""Workflow commands in prompts."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from workflow_play import registry

from upbeat.core.workflow.decide import command


@pytest.mark.parametrize(("verb", "workflow", "goal", "prompt"), read_cases(Path(__file__).parent / "prompt_cases.tsv"))
def test_prompts(verb: str, workflow: str, goal: str, prompt: str) -> None:
    """Only an unmistakable command is one; any other prompt is an ordinary one."""
    assert (
        None if verb == "-" else command.WorkflowCommand(command.Verb(verb), workflow, goal)
    ) == command.parse_command_at_work(prompt)


def test_plain_words_count_only_at_work() -> None:
    """Where nothing would be continued, only a command stops."""
    assert [None, None, command.WorkflowCommand(command.Verb.STOP)] == [
        command.parse_workflow_command(prompt) for prompt in ("stop", "wait", "/upbeat:stop")
    ]


def test_other_commands() -> None:
    """A command that does not concern the workflow is returned with its argument; any other prompt is not."""
    prompts = (
        "/upbeat:goal  all tests\npass ",
        "x [goal: a `b` c]",
        "/upbeat:quiet",
        "/upbeat:quick x",
        "goal",
        "stop",
    )

    assert [("goal", "all tests\npass"), ("goal", "a `b` c"), ("quiet", ""), None, None, None] == [
        command.parse_other_command(prompt) for prompt in prompts
    ]


def test_names_resolve() -> None:
    """A workflow has its name, and a short form if it ends in ``-only``."""
    known = registry().workflows

    assert ["standard", "review-only", "e2e-only", ""] == [
        command.resolve_workflow_name(name, known) for name in ("standard", "review", "e2e", "nothing")
    ]
