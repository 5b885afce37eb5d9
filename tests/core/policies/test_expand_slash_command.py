"""When the saved prompt behind ``/name`` is injected."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from policy_play import IN_CODEX, queried, said_by, silent

from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policies.expand_slash_command import MAX_BODY_CHARS, POLICY
from upbeat.core.policy.queries import PromptFileQuery, TextDocument
from upbeat.core.workflow.state import SessionState

PATH = "~/.codex/prompts/review.md"
FILE = "---\ndescription: x\n---\nReview $1 for $2, then all of: $ARGUMENTS. It costs $$5."


def said(prompt: str, text: str = FILE, language: str = "en") -> str:
    found = {PromptFileQuery(name): TextDocument(PATH, text) for name in ("review", "git:review", "upbeat")}
    return "\n".join(one.text for one in said_by(POLICY, PromptSubmitted(IN_CODEX, prompt), language, found=found))


PROMPTS = read_groups(Path(__file__).with_name("command_prompts.tsv"))["no slash command"]

test_says_nothing_for = silent([prompt for (prompt,) in PROMPTS], said)


@pytest.mark.parametrize(
    "event",
    [
        PromptSubmitted(IN_CODEX, "/review a.py", PromptOrigin.SUBAGENT),
        PromptSubmitted(IN_CODEX, "/home/me/review"),
    ],
)
def test_queries_nothing_for(event: PromptSubmitted) -> None:
    """The prompt of a subagent and a path are not slash commands."""
    assert () == queried(POLICY, event, SessionState())


@pytest.mark.parametrize("prompt", ["/review a.py 'old habits'", "/prompts:review a.py 'old habits'"])
def test_fills_in(prompt: str) -> None:
    """The body is injected with the arguments filled in and without its front matter."""
    text = said(prompt)

    assert f"file `{PATH}` contains" in text
    assert "---\nReview a.py for old habits, then all of: a.py 'old habits'. It costs $5.\n---" in text


def test_missing_arguments_are_empty() -> None:
    """Missing arguments are empty, and an argument is not expanded again."""
    assert "\nReview $ARGUMENTS for , then all of: $ARGUMENTS. It" in said("/review $ARGUMENTS")


@pytest.mark.parametrize(("length", "is_whole"), [(MAX_BODY_CHARS, True), (MAX_BODY_CHARS + 1, False)])
def test_a_long_file_is_named_only(length: int, is_whole: bool) -> None:
    """A file that is too long is only named."""
    text = said("/review a.py", "x" * length)

    assert (is_whole, not is_whole) == ("xxx" in text, "read the user's file" in text)


def test_an_empty_file_says_nothing() -> None:
    """A file without a body is not injected."""
    assert ["", ""] == [said("/review", ""), said("/review", "---\na: b\n---\n")]


def test_speaks_both_languages() -> None:
    """The text around the file is in the language of the user."""
    assert "用户保存的文件" in said("/git:review", language="zh")
