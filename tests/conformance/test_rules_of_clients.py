"""The same rules have the same outcomes in both clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import RULE_EVENTS, MatchResult, Owner, Rule, RuleOutcome

PLACE = {"session_id": "s", "cwd": "/repo", "transcript_path": "/t.jsonl", "stop_hook_active": False}
PAIRS = read_json_groups(Path(__file__).with_name("payload_pairs.jsonl"))["rules"]
"""What happens, and its payload in Claude Code and in Codex."""

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


@pytest.mark.parametrize(("in_claude", "in_codex"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_outcomes_are_equal_in_both_clients(in_claude: Mapping[str, Any], in_codex: Mapping[str, Any]) -> None:
    """Each rule has the same outcome in both clients, and at least one rule matches."""
    events = (CLAUDE_CODEC.decode({**PLACE, **in_claude}), CODEX_CODEC.decode({**PLACE, **in_codex}))
    outcomes: list[list[RuleOutcome]] = [[evaluate_rule(rule, event, "/repo") for rule in rules()] for event in events]

    assert outcomes[0] == outcomes[1]
    assert MatchResult.MATCH in {outcome.match_result for outcome in outcomes[0]}
