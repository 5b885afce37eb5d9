"""Prefixes of a prompt that add instructions."""

from __future__ import annotations

from pathlib import Path

from case_files import read_groups
from policy_play import HERE, said_by, says, silent

from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policies.expand_prompt_prefix import POLICY

PROMPTS = read_groups(Path(__file__).with_name("prompt_prefixes.tsv"))
SILENT = [prompt for (prompt,) in PROMPTS["none"]]

test_says_nothing_for = silent(SILENT, lambda prompt: said_by(POLICY, PromptSubmitted(HERE, prompt)))


test_says = says(
    {prompt: (prompt, words) for prompt, words in PROMPTS["says"]},
    lambda prompt, language: said_by(POLICY, PromptSubmitted(HERE, prompt), language),
)


def test_prompts_of_subagents_expand_only_ulw() -> None:
    """In the prompt of a subagent only ``ulw`` counts, and in a task notification nothing."""
    said = [
        len(said_by(POLICY, PromptSubmitted(HERE, prompt, origin)))
        for prompt in ("ulw add retries", "search: retries")
        for origin in (PromptOrigin.SUBAGENT, PromptOrigin.TASK_NOTIFICATION)
    ]

    assert [1, 0, 0, 0] == said
