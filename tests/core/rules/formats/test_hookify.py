"""hookify's rules match as they do in hookify; what cannot be had here is told."""

from __future__ import annotations

import pytest
from policy_play import IN_CODEX, ROOT, call, shell, starting

from upbeat.core.contract.effect import ContinueTurn, Deny, Effect, NotifyUser, RequestApproval
from upbeat.core.contract.event import Event, FileEdit, PromptSubmitted, ToolKind, TurnEnding
from upbeat.core.rules.formats.hookify import parse_hookify_file
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import MatchResult, Owner

WRITE = starting(
    call("apply_patch", ToolKind.WRITE, (f"{ROOT}/a/.env",), (FileEdit(f"{ROOT}/a/.env", "KEY=1", "old"),)), IN_CODEX
)
LINE = starting(shell("curl x | SH; sudo rm  -rf /tmp/x"), IN_CODEX)


def effects(front: str, event: Event) -> list[Effect]:
    found = parse_hookify_file(f"---\nname: mine\nenabled: true\n{front}\n---\nWords.\n", "n", "n.md", Owner.USER)
    assert () == found.problems
    outcomes = [evaluate_rule(rule, event, ROOT) for rule in found.rules]
    return [one.effect for one in outcomes if one.match_result is MatchResult.MATCH and one.effect]


CONDITIONS = "event: file\naction: block\nconditions:\n  - field: file_path\n    operator: {}\n    pattern: {}"
MATCHES: dict[str, tuple[str, Event, type[Effect]]] = {
    "anywhere in the line": ("event: bash\npattern: rm\\s+-rf\naction: block", LINE, Deny),
    "a pipe, in any case": ("event: bash\npattern: curl.*\\|\\s*sh\naction: block", LINE, Deny),
    "a warning, which is the usual action": ("event: bash\npattern: sudo", LINE, NotifyUser),
    "a question": ("event: bash\npattern: sudo\naction: ask", LINE, RequestApproval),
    "new text": ("event: file\npattern: key=\naction: warn", WRITE, NotifyUser),
    "a path in quotes": (CONDITIONS.format("regex_match", '"\\.env$"'), WRITE, Deny),
    "an end": (CONDITIONS.format("ends_with", ".env"), WRITE, Deny),
    "a beginning": (CONDITIONS.format("starts_with", "a/"), WRITE, Deny),
    "a part": (CONDITIONS.format("contains", "/."), WRITE, Deny),
    "all of it": (CONDITIONS.format("equals", "a/.env"), WRITE, Deny),
    "what is not there": (CONDITIONS.format("not_contains", "b"), WRITE, Deny),
    "every event": ("pattern: .*\naction: warn", PromptSubmitted(IN_CODEX, "x"), NotifyUser),
    "a stop": ("event: stop\npattern: .*\naction: block", TurnEnding(IN_CODEX, "Done."), ContinueTurn),
    "a prompt": (
        "event: prompt\naction: block\nconditions:\n  - field: user_prompt\n    pattern: deploy",
        PromptSubmitted(IN_CODEX, "Deploy"),
        NotifyUser,
    ),
}


@pytest.mark.parametrize(("front", "event", "kind"), MATCHES.values(), ids=MATCHES)
def test_matches(front: str, event: Event, kind: type[Effect]) -> None:
    """Each operator and event has the closest effect."""
    [effect] = effects(front, event)

    assert (kind, True) == (type(effect), effect.text.endswith("Words."))


MATCHES_NOT: dict[str, tuple[str, Event]] = {
    "other lines": ("event: bash\npattern: docker", LINE),
    "another kind of call": ("event: bash\npattern: .*", WRITE),
    "one of two conditions": (
        "event: file\nconditions:\n  - field: file_path\n    pattern: env\n  - field: new_text\n    pattern: zzz",
        WRITE,
    ),
    "its own tool": ("event: bash\ntool_matcher: Shell\npattern: .*", LINE),
}


@pytest.mark.parametrize(("front", "event"), MATCHES_NOT.values(), ids=MATCHES_NOT)
def test_matches_not(front: str, event: Event) -> None:
    """A rule matches only if all of its conditions do."""
    assert [] == effects(front, event)


WRONG = {
    "event: bsh\npattern: x": "did you mean 'bash'?",
    "event: bash": "has neither a pattern nor conditions",
    "event: bash\npattern: (?=x)": "lookaround",
    "event: bash\npattern: x\naction: blok": "did you mean 'block'?",
    "event: stop\nconditions:\n  - field: transcript\n    pattern: x": "field 'transcript' is not available",
    "event: bash\nconditions:\n  - field: command\n    operator: like\n    pattern: x": "unknown operator 'like'",
}


@pytest.mark.parametrize(("front", "words"), WRONG.items())
def test_wrong(front: str, words: str) -> None:
    """A mistake is reported, and the file has no rule."""
    found = parse_hookify_file(f"---\nname: mine\n{front}\n---\nWords.\n", "n", "n.md", Owner.USER)

    assert ((), True) == (found.rules, words in found.problems[0])


def test_a_rule_of_hookify_is_foreign() -> None:
    """A rule of hookify is marked as foreign."""
    [rule] = parse_hookify_file("---\nname: mine\nevent: bash\npattern: x\n---\nWords.", "n", "n.md", Owner.USER).rules

    assert ("mine", True) == (rule.name, rule.is_foreign)
