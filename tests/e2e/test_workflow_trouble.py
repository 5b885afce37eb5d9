"""Workflows with trouble, on the real clients: failed tests, rejected code, stages that are skipped."""

from __future__ import annotations

from .workflow_sessions import (
    Played,
    course,
    effects,
    ended,
    rounds_of,
    said,
    shared_session,
    subagent_turns,
)

failed = shared_session("[workflow:tdd] add retries to save_order", rounds_of("failed"))
"""`tdd` whose last TEST fails once."""


twice_bad = shared_session("[workflow:quick] add retries to save_order", rounds_of("twice_bad"))
"""`quick` in which the code is rejected and fails at the same time."""


skipped = shared_session("[workflow:tdd] add retries to save_order", rounds_of("skipped"))
"""`tdd` whose main agent wants to skip steps."""


def test_failed_last_stage_is_repaired(failed: Played) -> None:
    """A last TEST that fails brings debugger, developer and tester, and only then is the workflow complete."""
    expected = [
        *("run started tdd", *ended("TEST"), *ended("DEV"), *ended("TEST:2", "fail")),
        *("repair DEBUG#1, DEV#1 for TEST:2", *ended("DEBUG#1"), *ended("DEV#1")),
        *(*ended("TEST:2"), "run complete"),
    ]
    assert expected == course(failed.records)


def test_failed_last_stage_is_not_complete(failed: Played) -> None:
    """The turn that wants to end after the failure is continued to the debugger, and nobody is told of completion."""

    assert ["continue_turn", "complete"] == said(failed.records, "loop")
    [onward] = effects(failed.records, "continue_turn")
    assert "Next step: delegate DEBUG#1 to the subagent upbeat:debugger." in onward
    [request] = [
        turn for turn in failed.done.turns if turn.texts_with("[upbeat 1/30]") and not turn.texts_with("Round 5")
    ]
    assert ["user"] == request.roles_with("[upbeat 1/30] workflow tdd: TEST ✓ → DEV ✓ → DEBUG#1 → DEV#1 → TEST:2 ✗")
    [done] = effects(failed.records, "notify_user")
    assert "upbeat: workflow tdd is complete: TEST ✓ → DEV ✓ → DEBUG#1 ✓ → DEV#1 ✓ → TEST:2 ✓" == done


def test_the_debugger_knows_what_failed(failed: Played) -> None:
    """Its task names the failed step with the tester's own words."""
    [head] = subagent_turns(failed.done, "Find the cause.")[0].texts_with("upbeat · workflow ")

    assert "Earlier attempts failed. Address this first:\n- TEST:2: On «TEST THE CODE.»: see above." in head.text


def test_double_failure(twice_bad: Played) -> None:
    """The failed test comes before the rejection: one repair for both, and then both once more.

    Two developers work on DEV, which ends when both have returned.
    """
    expected = [
        *("run started quick", "DEV allow", "DEV started", *ended("DEV")),
        *(*ended("REVIEW", "reject"), *ended("TEST", "fail")),
        *("repair DEBUG#1, DEV#1 for TEST, REVIEW", *ended("DEBUG#1"), *ended("DEV#1")),
        *(*ended("REVIEW"), *ended("TEST"), *ended("RETRO"), "run complete"),
    ]
    assert expected == course(twice_bad.records)


def test_the_developer_gets_both_reasons(twice_bad: Played) -> None:
    """It reads what the reviewer and what the tester reported."""
    [head] = subagent_turns(twice_bad.done, "Fix it.")[0].texts_with("upbeat · workflow ")

    assert "- TEST: On «TEST THE CODE.»: see above.\n- REVIEW: On «REVIEW THE CODE.»: see above." in head.text


def test_skipping_is_denied(skipped: Played) -> None:
    """The model reads which step is missing, and no agent starts."""

    [first, second] = effects(skipped.records, "deny")
    assert "DEV cannot start yet: TEST must finish first. Delegate that now, then DEV." == first
    assert second.startswith("TEST:2 cannot start yet: ")
    last = [turn for turn in skipped.done.turns if not turn.from_subagent][-1]
    results = {one.kind for reason in (first, second) for one in last.texts_with(reason)}
    assert results <= {"tool_result", "function_call_output"}
    assert [1, 1] == [last.count(reason) for reason in (first, second)]
    assert [] == [
        turn for turn in skipped.done.turns if turn.from_subagent and turn.texts_with("Write the code at once.")
    ]
    assert [] == [
        turn for turn in skipped.done.turns if turn.from_subagent and turn.texts_with("Test what is not there.")
    ]


def test_other_agents_are_left_alone(skipped: Played) -> None:
    """An agent that is not the workflow's gets its prompt whole, at most after code that it is about."""
    first = subagent_turns(skipped.done, "Count the files.")[0]
    [said] = first.texts_with("Count the files.")

    assert said.text.endswith("Count the files.")
    assert 1 == said.text.count("Count the files.")
    assert 0 == first.count("upbeat · workflow")
