"""What a judged command is worth."""

from __future__ import annotations

from upbeat.core.workflow.evidence.judgement import NO_RUN, Judgement, ObservedRun


def test_what_is_evidence() -> None:
    """A test run without a refusal is evidence; every kind of check is one."""
    assert [True, False, False] == [one.is_evidence for one in (Judgement(True), Judgement(True, "idle"), Judgement())]
    assert [False, True, True, True] == [
        one.is_check
        for one in (NO_RUN, ObservedRun(Judgement(True, "idle")), ObservedRun(other_kind="build"),
                    ObservedRun(masked_kind="lint"))
    ]  # fmt: skip
