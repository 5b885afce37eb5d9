"""Commands in prompts: only what is unmistakable is one."""

from __future__ import annotations

import pytest
from workflow_play import registry

from upbeat.core.workflow.command import Command, Verb, beside, read, resolve

COMMANDS = {
    "/upbeat:standard add retries": Command(Verb.START, "standard", "add retries"),
    "  /upbeat:tdd\nparse dates\nand times": Command(Verb.START, "tdd", "parse dates\nand times"),
    "$upbeat:quick  rename it": Command(Verb.START, "quick", "rename it"),
    "$upbeat:source-command-secure login": Command(Verb.START, "secure", "login"),
    "/upbeat:standard": Command(Verb.START, "standard"),
    "[workflow:full] a new page": Command(Verb.START, "full", "a new page"),
    "a new page [Workflow: Full]": Command(Verb.START, "full", "a new page"),
    "加上重试 [workflow:quick]": Command(Verb.START, "quick", "加上重试"),
    "/upbeat:stop": Command(Verb.STOP),
    "stop": Command(Verb.STOP),
    "Stop!": Command(Verb.STOP),
    "停。": Command(Verb.STOP),
    "停下來": Command(Verb.STOP),
    "/upbeat:continue": Command(Verb.GO_ON),
    "继续": Command(Verb.GO_ON),
    "Go on.": Command(Verb.GO_ON),
    "/upbeat:status": Command(Verb.OTHER),
    "/upbeat:auto do it": Command(Verb.OTHER),
    "/upbeat:goal all tests pass": Command(Verb.OTHER),
    "[goal: all tests pass] add retries": Command(Verb.OTHER),
    "$upbeat:quiet": Command(Verb.OTHER),
    "/upbeat:start-work retries": Command(Verb.OTHER),
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
def test_is_a_command(prompt: str, command: Command) -> None:
    """These prompts are orders to the workflow."""
    assert command == read(prompt)


@pytest.mark.parametrize("prompt", PROMPTS, ids=repr)
def test_is_no_command(prompt: str) -> None:
    """These prompts are prompts."""
    assert read(prompt) is None


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
        beside(prompt) for prompt in prompts
    ]


def test_names_resolve() -> None:
    """A workflow's own name comes first, then the short form of one that ends in ``-only``."""
    known = registry().workflows

    assert ["standard", "review-only", "e2e-only", ""] == [
        resolve(name, known) for name in ("standard", "review", "e2e", "nothing")
    ]
