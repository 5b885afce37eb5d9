"""Prefixes of a prompt that add instructions."""

from __future__ import annotations

from policy_play import HERE, said_by, says, silent

from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policies.expand_prompt_prefix import POLICY

SAYS_NOTHING = [
    "",
    "add retries, ulw",
    "please search: the retry limit",
    "search for the retry limit",
    "search the code",
    "analyze the crash in parse()",
    "ulwx add retries",
    "ulwazi",
    "ulw",
    "the word ulw is short",
    "`ulw ` is a prefix",
    "```\nulw add retries\n```",
    '"search: x" fails in the shell',
    "> ulw add retries",
    "搜索重试上限",
    "分析一下这个函数",
    "深入浅出地解释 parse",
    "重试上限，搜索：全部",
    "research: retries",
    "/upbeat:quick ulw x",
]

SAYS = {
    "ulw add retries": "done completely",
    "ULW: add retries": "done completely",
    "ultrawork: add retries": "done completely",
    "  ultrawork：加上重试": "done completely",
    "search: the retry limit": "search first",
    "搜索：重试上限": "search first",
    "搜尋: 重試": "search first",
    "analyze: the crash": "an analysis first",
    "Analyse: the crash": "an analysis first",
    "分析：崩溃": "an analysis first",
    "深入：崩溃": "an analysis first",
}


test_says_nothing_for = silent(SAYS_NOTHING, lambda prompt: said_by(POLICY, PromptSubmitted(HERE, prompt)))


test_says = says(
    {prompt: (prompt, words) for prompt, words in SAYS.items()},
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
