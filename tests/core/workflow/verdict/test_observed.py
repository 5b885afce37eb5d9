"""Finished commands as evidence, and what the agent is told at once."""

from __future__ import annotations

from workflow_play import Play

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import Call, ToolFinished
from upbeat.core.workflow.evidence.judgement import Judgement, ObservedRun
from upbeat.core.workflow.state import Evidence
from upbeat.core.workflow.verdict.observed import evidence_of, refusal_note

EVENT = ToolFinished(Play().source, Call("c1", "Bash", {}), "", "pytest -q", 0)


def evidence(observed: ObservedRun, *before: Evidence) -> Evidence | None:
    play = Play()
    play.state = play.state.__class__(evidence=before)
    return evidence_of(EVENT, play.state, play.inputs(observed=observed))


def test_a_run_is_evidence() -> None:
    """A judged run keeps its exit code, scope and place."""
    run = evidence(ObservedRun(Judgement(True, scope="-k a", place="container")))

    assert run is not None
    assert ("tests", 0, False, "-k a", "container") == (run.kind, run.exit_code, run.is_hidden, run.scope, run.place)


def test_a_refused_run_proves_nothing() -> None:
    """A refused run has no exit code, and its reason."""
    run = evidence(ObservedRun(Judgement(True, "idle", "--co")))

    assert run is not None
    assert (None, True, "idle", "--co") == (run.exit_code, run.is_hidden, run.refusal, run.refusal_detail)


def test_other_checks() -> None:
    """A build counts by its exit code, a masked one proves nothing, and other commands are no evidence."""
    build, masked = evidence(ObservedRun(other_kind="build")), evidence(ObservedRun(masked_kind="build"))

    assert build is not None
    assert masked is not None
    assert ((0, False), (None, True)) == ((build.exit_code, build.is_hidden), (masked.exit_code, masked.is_hidden))
    assert evidence(ObservedRun()) is None


def test_a_mark_counts_once() -> None:
    """A recorded exit code is used, and the same record a second time is refused."""
    observed = ObservedRun(Judgement(True), recorded_code=3, mark="m")
    first = evidence(observed)
    assert first is not None
    second = evidence(observed, first)

    assert second is not None
    assert ((3, ""), (None, "mark_used")) == ((first.exit_code, first.refusal), (second.exit_code, second.refusal))


def test_the_agent_is_told_once() -> None:
    """A refused run is told in one line, the same one not twice in a row, and a pass not at all."""
    play = Play()
    refused = Evidence("tests", "pytest --co", "t", is_hidden=True, refusal="idle", refusal_detail="--co")
    [note] = refusal_note(refused, play.state, play.inputs())

    assert isinstance(note, InjectContext)
    assert "upbeat: this does not count as a test run: with `--co` no test runs; run the tests without it." == note.text
    play.state = play.state.__class__(evidence=(refused,))
    assert () == refusal_note(refused, play.state, play.inputs())
    assert () == refusal_note(Evidence("tests", "pytest", "t", 0), play.state, play.inputs())
