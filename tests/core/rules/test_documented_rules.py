"""The examples of docs/rules.md do what the page says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from policy_play import HERE, ROOT, call, finished, shell, starting

from upbeat.core.contract.event import Event, FileEdit, PromptSubmitted, ToolKind, TurnEnding
from upbeat.core.rules.formats.markdown import parse_rule_file
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import Action, MatchResult, Owner

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
from rules_page import EXAMPLES


def write(path: str, text: str) -> Event:
    whole = f"{ROOT}/{path}"
    return starting(call("Write", ToolKind.WRITE, (whole,), (FileEdit(whole, text),)))


PLAYED: dict[str, tuple[list[Event], list[Event]]] = {
    "no-force-push": (
        [starting(shell(line)) for line in ("sudo git push -f", "bash -c 'git push --force'", "cd x && git push -f")],
        [
            starting(shell(line))
            for line in ("git push", 'git commit -m "never git push -f"', "git push origin x-force")
        ],
    ),
    "migrations": ([write("migrations/1.sql", "x")], [write("migrations/README.md", "x"), write("src/a.sql", "x")]),
    "no-keys": ([write("a.py", "x\n-----BEGIN RSA PRIVATE KEY-----")], [write("a.py", "key = config.secret()")]),
    "prices": (
        [finished(call("Read", ToolKind.READ, (f"{ROOT}/src/prices/a/b.tsx",)))],
        [finished(call("Read", ToolKind.READ, (f"{ROOT}/src/a.tsx",)))],
    ),
    "deploys": (
        [PromptSubmitted(HERE, text) for text in ("Please deploy it", "Now: Deploy.", "把它上线")],
        [PromptSubmitted(HERE, text) for text in ("redeployment", "fix the test")],
    ),
    "no-maybe": ([TurnEnding(HERE, "It should now work.")], [TurnEnding(HERE, "It works: 12 passed.")]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    """An example is valid, matches its cases, and does not match similar ones."""
    found = parse_rule_file(EXAMPLES[name][1], name, f"{name}.md", Owner.USER)
    matching, near = PLAYED[name]

    assert ((), 1) == (found.problems, len(found.rules))
    assert {MatchResult.MATCH} == {evaluate_rule(found.rules[0], event, ROOT).match_result for event in matching}
    assert {MatchResult.NO_MATCH} == {evaluate_rule(found.rules[0], event, ROOT).match_result for event in near}


def test_the_first_example_fails_closed() -> None:
    """The first example denies a line that cannot be evaluated."""
    [rule] = parse_rule_file(EXAMPLES["no-force-push"][1], "x", "x.md", Owner.USER).rules
    outcome = evaluate_rule(rule, starting(shell("eval $X")), ROOT)

    assert (Action.DENY, MatchResult.UNKNOWN, True) == (rule.action, outcome.match_result, outcome.effect is not None)
