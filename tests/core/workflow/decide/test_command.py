"""Commands in prompts: only what is unmistakable is one."""

from __future__ import annotations

import pytest
from workflow_play import registry

from upbeat.core.workflow.decide.command import (
    Verb,
    WorkflowCommand,
    parse_other_command,
    parse_workflow_command,
    resolve_workflow_name,
)

COMMANDS = {
    "/upbeat:standard add retries": WorkflowCommand(Verb.START, "standard", "add retries"),
    "  /upbeat:tdd\nparse dates\nand times": WorkflowCommand(Verb.START, "tdd", "parse dates\nand times"),
    "$upbeat:quick  rename it": WorkflowCommand(Verb.START, "quick", "rename it"),
    "$upbeat:source-command-secure login": WorkflowCommand(Verb.START, "secure", "login"),
    "/upbeat:standard": WorkflowCommand(Verb.START, "standard"),
    "[workflow:full] a new page": WorkflowCommand(Verb.START, "full", "a new page"),
    "a new page [Workflow: Full]": WorkflowCommand(Verb.START, "full", "a new page"),
    "加上重试 [workflow:quick]": WorkflowCommand(Verb.START, "quick", "加上重试"),
    "/upbeat:stop": WorkflowCommand(Verb.STOP),
    "stop": WorkflowCommand(Verb.STOP),
    "Stop!": WorkflowCommand(Verb.STOP),
    "停。": WorkflowCommand(Verb.STOP),
    "停下來": WorkflowCommand(Verb.STOP),
    "/upbeat:continue": WorkflowCommand(Verb.CONTINUE),
    "继续": WorkflowCommand(Verb.CONTINUE),
    "Go on.": WorkflowCommand(Verb.CONTINUE),
    "/upbeat:status": WorkflowCommand(Verb.OTHER),
    "/upbeat:auto do it": WorkflowCommand(Verb.OTHER),
    "/upbeat:goal all tests pass": WorkflowCommand(Verb.OTHER),
    "[goal: all tests pass] add retries": WorkflowCommand(Verb.OTHER),
    "$upbeat:quiet": WorkflowCommand(Verb.OTHER),
    "/upbeat:start-feature retries": WorkflowCommand(Verb.OTHER),
}

PROMPTS = [
    "",
    "stop the server when the test ends",
    "why does it stop?",
    "it should not stop",
    "停止服务器之后再测试",
    "continue with the parser, please",
    "what does /upbeat:standard do?",
    "write `[workflow:full]` into the README",
    "```\n[workflow:full] a new page\n```\nwhat is this?",
    'he wrote "[workflow:tdd]" in the issue',
    "/standard add retries",
    "/upbeat standard",
    "upbeat:standard add retries",
    "[workflow full]",
    "`[goal: all tests pass]`",
    "[goal: ]",
    "[workflow:]",
    "the workflow: full",
    "/other:standard add retries",
    "$HOME/upbeat:standard",
    "继续加上测试",
    "取消按钮不见了",
]


@pytest.mark.parametrize(("prompt", "command"), COMMANDS.items(), ids=repr)
def test_is_a_command(prompt: str, command: WorkflowCommand) -> None:
    """These prompts are orders to the workflow."""
    assert command == parse_workflow_command(prompt)


@pytest.mark.parametrize("prompt", PROMPTS, ids=repr)
def test_is_no_command(prompt: str) -> None:
    """These prompts are prompts."""
    assert parse_workflow_command(prompt) is None


def test_what_is_beside_the_workflow() -> None:
    """A command that the workflow leaves alone is told with what stands behind it; no other prompt is."""
    prompts = (
        "/upbeat:goal  all tests\npass ",
        "x [goal: a `b` c]",
        "/upbeat:quiet",
        "/upbeat:quick x",
        "goal",
        "stop",
    )

    assert [("goal", "all tests\npass"), ("goal", "a `b` c"), ("quiet", ""), None, None, None] == [
        parse_other_command(prompt) for prompt in prompts
    ]


def test_names_resolve() -> None:
    """A workflow's own name comes first, then the short form of one that ends in ``-only``."""
    known = registry().workflows

    assert ["standard", "review-only", "e2e-only", ""] == [
        resolve_workflow_name(name, known) for name in ("standard", "review", "e2e", "nothing")
    ]
