"""The same rules have the same outcomes in both clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import RULE_EVENTS, MatchResult, Owner, Rule, RuleOutcome

PLACE = {"session_id": "s", "cwd": "/repo", "transcript_path": "/t.jsonl", "stop_hook_active": False}
PATCH = "*** Begin Patch\n*** Add File: src/a.ts\n+let x: any = 1\n*** End Patch"
WRITTEN = {"file_path": "/repo/src/a.ts", "content": "let x: any = 1"}
LINE = {"command": "cd src && sudo rm -rf / > /repo/log.txt"}

Fields = Mapping[str, Any]
PAIRS: dict[str, tuple[Fields, Fields]] = {
    "a shell line": (
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c", "tool_input": LINE},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c", "tool_input": LINE},
    ),
    "what it said": (
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": "c",
            "tool_input": LINE,
            "tool_response": {"stdout": "refused", "stderr": "", "interrupted": False},
        },
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": "c",
            "tool_input": LINE,
            "tool_response": "refused",
        },
    ),
    "a new file": (
        {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "c", "tool_input": WRITTEN},
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch",
            "tool_use_id": "c",
            "tool_input": {"command": PATCH},
        },
    ),
    "a prompt": (
        {"hook_event_name": "UserPromptSubmit", "prompt": "deploy it"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "deploy it"},
    ),
    "a session": (
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "SessionStart", "source": "startup"},
    ),
    "the end of a turn": (
        {"hook_event_name": "Stop", "last_assistant_message": "It should work."},
        {"hook_event_name": "Stop", "last_assistant_message": "It should work."},
    ),
    "a delegation": (
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "Agent",
            "tool_use_id": "c",
            "tool_input": {"subagent_type": "tester", "prompt": "look at production", "description": ""},
        },
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "spawn_agent",
            "tool_use_id": "c",
            "tool_input": {"agent_type": "tester", "message": "look at production"},
        },
    ),
}

FRONTS = (
    "tool: shell\npattern: rm\\s+-rf\naction: {}",
    "tool: shell\npattern: sudo\naction: {}",
    "tool: [edit, write]\npaths: src/**/*.ts\npattern: ':\\s*any'\naction: {}",
    "paths: log.txt\naction: {}",
    "tool: delegate\nwhere: prompt\npattern: production\naction: {}",
    "tool: shell\nwhere: output\npattern: refused\naction: {}",
    "pattern: deploy|should\naction: {}",
    "action: {}",
)


def rules() -> list[Rule]:
    """Every front matter for every event and action that makes a valid rule."""
    texts = (
        f"---\nevent: {event}\n{front.format(action)}\n---\nWords.\n"
        for event, occasion in RULE_EVENTS.items()
        for action in occasion.actions
        for front in FRONTS
    )
    read = (markdown.parse_rule_file(text, f"r{number}", "r.md", Owner.USER) for number, text in enumerate(texts))
    return [found.rules[0] for found in read if found.rules and not found.problems]


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_outcomes_are_equal_in_both_clients(pair: tuple[Fields, Fields]) -> None:
    """Each rule has the same outcome in both clients, and at least one rule matches."""
    events = (CLAUDE_CODEC.decode({**PLACE, **pair[0]}), CODEX_CODEC.decode({**PLACE, **pair[1]}))
    outcomes: list[list[RuleOutcome]] = [[evaluate_rule(rule, event, "/repo") for rule in rules()] for event in events]

    assert outcomes[0] == outcomes[1]
    assert MatchResult.MATCH in {outcome.match_result for outcome in outcomes[0]}
