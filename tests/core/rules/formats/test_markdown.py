"""A rule file becomes a rule, or everything that is wrong with it at once, with line, key and the nearest word."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.event import ClientName
from upbeat.core.rules.formats.markdown import MAX_TEXT_CHARS, RULE_KEYS, RuleFile, parse_rule_file
from upbeat.core.rules.globs import Globs
from upbeat.core.rules.pattern import Pattern
from upbeat.core.rules.rule import Action, Condition, FailMode, MatchTarget, Owner, Rule


def of(front: str, text: str = "Words.") -> RuleFile:
    return parse_rule_file(f"---\n{front}\n---\n{text}\n", "r", "r.md", Owner.USER)


def test_everything() -> None:
    """Every key has its place in the rule."""
    front = """\
description: No secrets in sources
event: before-tool
tool: [edit, write, mcp__fs__*]
paths: src/**/*.{ts,tsx}, !src/gen/**
pattern: 'AKIA[A-Z0-9]{16}'
where: content
action: deny
fail: closed
clients: codex-cli
enabled: false"""

    assert RuleFile(
        (
            Rule(
                name="r",
                event="before-tool",
                action=Action.DENY,
                text="Words.",
                file="r.md",
                line=2,
                tools=frozenset({"edit", "write", "mcp__fs__*"}),
                paths=Globs(("src/**/*.{ts,tsx}", "!src/gen/**")),
                conditions=(Condition(MatchTarget.CONTENT, Pattern("AKIA[A-Z0-9]{16}")),),
                fail_mode=FailMode.CLOSED,
                clients=frozenset({ClientName.CODEX_CLI}),
                is_enabled=False,
                description="No secrets in sources",
            ),
        )
    ) == of(front)


def test_every_mistake_at_once() -> None:
    """All mistakes are reported together, by line, with suggestions."""
    found = of(
        "evnt: before-tool\ntool: shel\npattern: (?=a)\naction: den\nfail: closd\nclients: claude\nenabled: maybe\n"
        "paths: '{1..9999}'\nwhere: comand\nonce: true",
        "",
    )
    expected = Path(__file__).with_name("every_mistake.txt").read_text(encoding="utf-8")

    assert () == found.rules
    assert expected.splitlines() == list(found.problems)


WRONG = {name: row for name, *row in read_cases(Path(__file__).with_name("wrong_rules.tsv"))}


@pytest.mark.parametrize(("front", "words"), WRONG.values(), ids=WRONG)
def test_wrong(front: str, words: str) -> None:
    """A mistake is reported, and the rule is kept as one that cannot be evaluated."""
    found = of(front)

    assert (True, 1) == (words in found.problems[0], len(found.problems))
    assert [found.problems[0]] == [rule.problem for rule in found.rules]


def test_the_text_is_limited() -> None:
    """A text of the maximum length is accepted, a longer one is not."""
    front = "event: prompt\naction: tell"

    assert ((), 1) == (of(front, "x" * MAX_TEXT_CHARS).problems, len(of(front, "x" * (MAX_TEXT_CHARS + 1)).problems))


def test_a_file_without_front_matter_is_no_rule() -> None:
    """The problem says how a rule file begins."""
    found = parse_rule_file("Just words.", "r", "r.md", Owner.USER)

    assert ((), 1, True) == (found.rules, len(found.problems), "front matter" in found.problems[0])


MEANT: dict[str, MatchTarget] = {
    "event: before-tool\ntool: shell": MatchTarget.COMMAND,
    "event: before-tool\ntool: Bash": MatchTarget.COMMAND,
    "event: after-tool\ntool: shell": MatchTarget.COMMAND,
    "event: before-tool\ntool: [edit, write]": MatchTarget.CONTENT,
    "event: before-tool\ntool: read": MatchTarget.PATH,
    "event: before-tool\ntool: delegate": MatchTarget.PROMPT,
    "event: prompt": MatchTarget.PROMPT,
    "event: turn-end": MatchTarget.OUTPUT,
}


@pytest.mark.parametrize(("front", "where"), MEANT.items())
def test_default_targets(front: str, where: MatchTarget) -> None:
    """``where`` has a default if there is only one sensible target; a command is matched from its first word."""
    action = "deny" if "before" in front or "end" in front else "tell"
    [rule] = of(f"{front}\naction: {action}\npattern: x").rules

    assert (Condition(where, Pattern("x", is_anchored=where is MatchTarget.COMMAND)),) == rule.conditions


def test_the_text_is_sanitized() -> None:
    """A rule's text has no control characters and no secrets."""
    key = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
    [rule] = of("event: prompt\naction: tell", f"\x1b[31mUse {key}").rules

    assert (False, False) == ("\x1b" in rule.text, key in rule.text)


@given(
    st.dictionaries(
        st.sampled_from([*RULE_KEYS, "x"]),
        st.text(max_size=12) | st.sampled_from(["before-tool", "deny", "shell", "[a, b]", "command", "(", "true"]),
    )
)
def test_never_raises(front: dict[str, str]) -> None:
    """Any front matter makes a rule or a list of problems, each on one line."""
    found = of("\n".join(f"{key}: {value}" for key, value in front.items()))

    assert found.rules or found.problems
    assert not any("\n" in problem for problem in found.problems)
