"""Workflows with trouble, on the real clients: failed tests, rejected code, stages that are skipped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import (
    CLIENTS,
    FOREIGN,
    RED,
    TEST,
    Played,
    course,
    effects,
    part,
    play_on_all,
    said,
    subagent_turns,
    write_test,
)

pytestmark = pytest.mark.e2e
MakeSandbox = Callable[[], Sandbox]

FAILED: list[Round] = [
    [part("tester", "Write the behaviour down.")],
    [part("developer", "Write the code.", "PASS", write_test(RED))],
    [part("tester", "Test the code.", "FAIL", TEST)],
    "It is written, and there I leave it.",
    [part("debugger", "Find the cause.")],
    [part("developer", "Fix it.", "PASS", write_test())],
    [part("tester", "Test it again.", "PASS", TEST)],
    "All of it is done.",
]
TWICE_BAD: list[Round] = [
    [part("developer", "Write the code.", "PASS", write_test(RED), "sleep 2"), part("developer", "Write the rest.")],
    [part("code-reviewer", "Review the code.", "REJECT"), part("tester", "Test the code.", "FAIL", TEST)],
    [part("debugger", "Find the cause.")],
    [part("developer", "Fix it.", "PASS", write_test())],
    [part("code-reviewer", "Review it once more."), part("tester", "Test it again.", "PASS", TEST)],
    [part("retrospective", "Look back at it.")],
    "All of it is done.",
]
SKIPPED: list[Round] = [
    [
        part("developer", "Write the code at once.", refused=True),
        part(FOREIGN, "Count the files."),
        part("tester", "Write the behaviour down."),
        part("tester", "[stage:TEST:2] Test what is not there.", refused=True),
    ],
    "Shall the developer begin?",
]


@pytest.fixture(scope="module")
def failed(fresh: MakeSandbox) -> dict[str, Played]:
    """`tdd` whose last TEST fails once."""
    return play_on_all(fresh, "[workflow:tdd] add retries to save_order", FAILED)


@pytest.fixture(scope="module")
def twice_bad(fresh: MakeSandbox) -> dict[str, Played]:
    """`quick` in which the code is rejected and fails at the same time."""
    return play_on_all(fresh, "[workflow:quick] add retries to save_order", TWICE_BAD)


@pytest.fixture(scope="module")
def skipped(fresh: MakeSandbox) -> dict[str, Played]:
    """`tdd` whose main agent wants to skip steps."""
    return play_on_all(fresh, "[workflow:tdd] add retries to save_order", SKIPPED)


def ended(key: str, how: str) -> list[str]:
    """The course of a step by itself."""
    return [f"{key} allow", f"{key} started", f"{key} {how}"]


@pytest.mark.parametrize("client", CLIENTS)
def test_failed_last_stage_is_repaired(failed: dict[str, Played], client: str) -> None:
    """A last TEST that fails brings debugger, developer and tester, and only then is the workflow complete."""
    expected = [
        *("run started tdd", *ended("TEST", "pass"), *ended("DEV", "pass"), *ended("TEST:2", "fail")),
        *("repair DEBUG#1, DEV#1 for TEST:2", *ended("DEBUG#1", "pass"), *ended("DEV#1", "pass")),
        *(*ended("TEST:2", "pass"), "run complete"),
    ]
    assert expected == course(failed[client].records)


@pytest.mark.parametrize("client", CLIENTS)
def test_failed_last_stage_is_not_complete(failed: dict[str, Played], client: str) -> None:
    """The turn that wants to end after the failure is continued to the debugger, and nobody is told of completion."""
    played = failed[client]

    assert ["continue_turn", "complete"] == said(played.records, "loop")
    [onward] = effects(played.records, "continue_turn")
    assert "Next step: delegate DEBUG#1 to the subagent upbeat:debugger." in onward
    [request] = [
        turn for turn in played.done.turns if turn.texts_with("[upbeat 1/30]") and not turn.texts_with("Round 5")
    ]
    assert ["user"] == request.roles_with("[upbeat 1/30] workflow tdd: TEST ✓ → DEV ✓ → DEBUG#1 → DEV#1 → TEST:2 ✗")
    [done] = effects(played.records, "notify_user")
    assert "upbeat: workflow tdd is complete: TEST ✓ → DEV ✓ → DEBUG#1 ✓ → DEV#1 ✓ → TEST:2 ✓" == done


@pytest.mark.parametrize("client", CLIENTS)
def test_the_debugger_knows_what_failed(failed: dict[str, Played], client: str) -> None:
    """Its task names the failed step with the tester's own words."""
    [head] = subagent_turns(failed[client].done, "Find the cause.")[0].texts_with("upbeat · workflow ")

    assert "Earlier attempts failed. Address this first:\n- TEST:2: On «TEST THE CODE.»: see above." in head.text


@pytest.mark.parametrize("client", CLIENTS)
def test_double_failure(twice_bad: dict[str, Played], client: str) -> None:
    """The failed test comes before the rejection: one repair for both, and then both once more.

    Two developers work on DEV, which ends when both have returned.
    """
    expected = [
        *("run started quick", "DEV allow", "DEV started", *ended("DEV", "pass")),
        *(*ended("REVIEW", "reject"), *ended("TEST", "fail")),
        *("repair DEBUG#1, DEV#1 for TEST, REVIEW", *ended("DEBUG#1", "pass"), *ended("DEV#1", "pass")),
        *(*ended("REVIEW", "pass"), *ended("TEST", "pass"), *ended("RETRO", "pass"), "run complete"),
    ]
    assert expected == course(twice_bad[client].records)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_developer_gets_both_reasons(twice_bad: dict[str, Played], client: str) -> None:
    """It reads what the reviewer and what the tester reported."""
    [head] = subagent_turns(twice_bad[client].done, "Fix it.")[0].texts_with("upbeat · workflow ")

    assert "- TEST: On «TEST THE CODE.»: see above.\n- REVIEW: On «REVIEW THE CODE.»: see above." in head.text


@pytest.mark.parametrize("client", CLIENTS)
def test_skipping_is_denied(skipped: dict[str, Played], client: str) -> None:
    """The model reads which step is missing, and no agent starts."""
    played = skipped[client]

    [first, second] = effects(played.records, "deny")
    assert "DEV cannot start yet: TEST must finish first. Delegate that now, then DEV." == first
    assert second.startswith("TEST:2 cannot start yet: ")
    last = [turn for turn in played.done.turns if not turn.from_subagent][-1]
    results = {one.kind for reason in (first, second) for one in last.texts_with(reason)}
    assert results <= {"tool_result", "function_call_output"}
    assert [1, 1] == [last.count(reason) for reason in (first, second)]
    assert [] == [
        turn for turn in played.done.turns if turn.from_subagent and turn.texts_with("Write the code at once.")
    ]
    assert [] == [
        turn for turn in played.done.turns if turn.from_subagent and turn.texts_with("Test what is not there.")
    ]


@pytest.mark.parametrize("client", CLIENTS)
def test_other_agents_are_left_alone(skipped: dict[str, Played], client: str) -> None:
    """An agent that is not the workflow's gets its prompt byte by byte."""
    first = subagent_turns(skipped[client].done, "Count the files.")[0]

    assert ["Count the files."] == [said.text for said in first.texts_with("Count the files.")]
    assert 0 == first.count("upbeat · workflow")
