"""How many attempts stages need, counted over records."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.core.journal.pass_rates import MAX_SESSIONS, PassCounter, StageAttempts


def ended(key: str, verdict: str, session: str = "s") -> dict[str, Any]:
    return {"session_id": session, "facts": [{"kind": "step_finished", "step_key": key, "verdict": verdict}]}


def begun(session: str = "s") -> dict[str, Any]:
    return {"session_id": session, "facts": [{"kind": "workflow_started"}]}


def counted(*bodies: dict[str, Any]) -> tuple[StageAttempts, ...]:
    counter = PassCounter()
    for body in bodies:
        counter.add(body)
    return counter.stages()


def test_attempts_of_a_step() -> None:
    """The first attempt counts for pass@1, the first three for pass@3; TEST:2 and DEV#1 are of TEST and DEV."""
    late = [ended("TEST:2", verdict) for verdict in ("fail", "unclear", "pass")]
    never = [ended("DEV#1", "fail")] * 3
    too_late = [*never, ended("DEV#1", "pass")]

    assert (StageAttempts("DEV", 2, 1, 1), StageAttempts("TEST", 1, 0, 1)) == counted(
        ended("DEV", "pass"), *late, *too_late
    )


def test_runs_are_apart() -> None:
    """The same step of another run or another session is another step."""
    assert (StageAttempts("DEV", 3, 2, 2),) == counted(
        begun(), ended("DEV", "fail"), begun(), ended("DEV", "pass"), ended("DEV", "pass", "other")
    )


def test_memory_is_bounded() -> None:
    """The session that was idle for longest is closed first, and nothing is lost."""
    bodies = [ended("DEV", "pass", f"s{number}") for number in range(MAX_SESSIONS + 10)]

    assert (StageAttempts("DEV", *[MAX_SESSIONS + 10] * 3),) == counted(*bodies)


@given(st.lists(st.dictionaries(st.sampled_from(["facts", "session_id"]), JSON)))
def test_any_record_counts(bodies: list[dict[str, Any]]) -> None:
    """Records of another form raise nothing."""
    counted(*bodies)
