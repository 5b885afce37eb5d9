"""What is restored after a compaction: prompts, running subagents and changed files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, IN_CODEX, NONCE, Talk, call, queried, says, silent

from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import (
    Event,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentReturned,
    SubagentStarted,
    ToolKind,
)
from upbeat.core.policies.restore_context_after_compaction import MAX_PROMPT_CHARS, MAX_PROMPTS, POLICY
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.workflow.state import SessionState

COMPACTED = SessionStarted(HERE, "compact")
PROMPT = PromptSubmitted(HERE, "Add retries, and touch no test.")
STARTED = SubagentStarted(HERE, "a1", "upbeat:tester")
CALLED = call("Agent", ToolKind.DELEGATE)
CHANGED = {ChangedFilesQuery(): (ChangedFile("core/a.py", 3, 1),)}

SAYS_NOTHING: dict[str, list[Event]] = {
    "a session in which nothing was said": [COMPACTED],
    "what an agent was handed": [PromptSubmitted(IN_AGENT, "Test it.", PromptOrigin.SUBAGENT), COMPACTED],
    "what a client reports": [PromptSubmitted(HERE, "<task-notification>", PromptOrigin.TASK_NOTIFICATION), COMPACTED],
    "a turn that codex-auto has prepared": [PromptSubmitted(HERE, "framed", PromptOrigin.WRAPPED), COMPACTED],
    "an empty prompt": [PromptSubmitted(HERE, " \n\t " * 500), COMPACTED],
    "an agent that has ended": [STARTED, SubagentEnding(HERE, "a1", "upbeat:tester", "Done."), COMPACTED],
    "a call that has returned": [STARTED, SubagentReturned(HERE, CALLED, "a1", "Done."), COMPACTED],
    "agents of an earlier process": [STARTED, SessionStarted(HERE, "resume"), COMPACTED],
    "a conversation that was cleared": [PROMPT, STARTED, SessionStarted(HERE, "clear"), COMPACTED],
    "a session that begins": [PROMPT, SessionStarted(HERE, "startup")],
    "a session that goes on": [PROMPT, SessionStarted(HERE, "resume")],
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda events: Talk(POLICY).say_all(events))


SAYS: dict[str, tuple[list[Event], str]] = {
    "a prompt": ([PROMPT], '- "Add retries, and touch no test."'),
    "a prompt of several lines": ([replace(PROMPT, prompt=" a\n\n b\x1b[1m ")], '- "a b"'),
    "a prompt of a session that went on": ([PROMPT, SessionStarted(HERE, "resume")], "Add retries"),
    "an agent": ([STARTED], "have not returned yet: `upbeat:tester` (a1). Continue with these"),
    "an agent in the background": ([STARTED, SubagentReturned(HERE, CALLED, "a1")], "`upbeat:tester` (a1)"),
    "a prompt in Codex": ([replace(PROMPT, source=IN_CODEX)], "Add retries"),
}


def recalled(events: list[Event], language: str) -> list[Effect]:
    """The effects of a compaction after ``events``; another one has the same."""
    talk = Talk(POLICY, language=language)
    talk.say_all(events)
    first, second = talk.say(COMPACTED), talk.say(COMPACTED)
    assert first == second
    return list(first)


test_says = says(SAYS, recalled)


def test_the_whole_text() -> None:
    """Prompts come first, then subagents, then files in a frame of untrusted data."""
    talk = Talk(POLICY, CHANGED)
    for event in (PROMPT, STARTED):
        talk.say(event)
    [effect] = talk.say(COMPACTED)
    body = frame_untrusted("core/a.py +3 -1", NONCE, source="git status")

    assert effect.text == (
        "The conversation was just compacted. From upbeat's own record of it:\n"
        "The user's last prompts, oldest first:\n"
        '- "Add retries, and touch no test."\n'
        "Subagents that have not returned yet: `upbeat:tester` (a1). Continue with these; don't start new ones in "
        "their place.\n"
        f"1 file(s) differ from the last commit:\n{body}"
    )


def test_the_last_prompts_only() -> None:
    """The last prompts are kept, each truncated, the latest last."""
    talk = Talk(POLICY)
    for number in range(MAX_PROMPTS + 1):
        talk.say(PromptSubmitted(HERE, f"prompt {number} " + "words " * 200))
    [effect] = talk.say(COMPACTED)
    told = [line for line in effect.text.splitlines() if line.startswith("- ")]

    assert [f'- "prompt {number} ' for number in range(1, MAX_PROMPTS + 1)] == [line[:12] for line in told]
    assert max(len(line) for line in told) <= MAX_PROMPT_CHARS + len('- ""')


@pytest.mark.parametrize("chars", [MAX_PROMPT_CHARS, MAX_PROMPT_CHARS + 1])
def test_a_prompt_at_the_bound(chars: int) -> None:
    """A prompt of the maximum length is complete, a longer one is truncated."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "x" * chars))
    [effect] = talk.say(COMPACTED)

    assert (chars == MAX_PROMPT_CHARS) == (f'"{"x" * chars}"' in effect.text)


def test_secrets_are_not_kept() -> None:
    """A secret in a prompt is not noted, not even a part of it at the limit."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, f"push with {key} please"))
    talk.say(PromptSubmitted(HERE, "x " * 290 + key))

    assert "ghp_" not in "".join(talk.state.notes_of(POLICY.name))


def test_queries_only_after_a_compaction() -> None:
    """Changed files are queried only after a compaction."""
    events: tuple[Event, ...] = (COMPACTED, SessionStarted(HERE, "startup"), PROMPT)

    assert [(ChangedFilesQuery(),), (), ()] == [queried(POLICY, event, SessionState()) for event in events]
