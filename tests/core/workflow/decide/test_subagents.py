"""Delegations: which steps may start, which calls are denied or ignored, and how results are matched to steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups
from workflow_play import FAIL, PASS, REJECT, Play, started, with_own

from upbeat.core.contract.event import Call, EventSource, SubagentEnding, SubagentRequested, SubagentStarted
from upbeat.core.workflow.facts import MAX_UNMATCHED_RESULT_CHARS, WorkflowEnded, apply_facts
from upbeat.core.workflow.state import RunStatus, StepStatus, StepVerdict

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))


def status(play: Play, key: str) -> StepStatus:
    step = play.run.find_step(key)
    assert step is not None
    return step.status


@pytest.mark.parametrize(("agent", "fields"), CASES["no stage"])
def test_agents_without_a_stage(agent: str, fields: dict[str, str]) -> None:
    """A call that is for no step of the workflow passes, and the run is unchanged."""
    play = started("standard")
    before = play.state
    play.delegate(agent, **fields)  # type: ignore[arg-type]

    assert ((), before) == (play.effects, play.state)


def test_delegations_that_are_no_step() -> None:
    """A call without a workflow, by a subagent, or for a step that is done passes, and the run is unchanged."""
    idle, nested, done = Play(), started("standard"), started("quick")
    idle.delegate("tester")
    source = EventSource(nested.client, "/repo", nested.session_id, agent_id="a1")
    nested.handle(SubagentRequested(source, Call("c", "Agent", {}), "upbeat:tester", "x"))
    done.does("developer")
    before = done.state
    done.delegate("developer")
    assert () == done.effects
    claimed(done, "DEV")

    assert before == done.state
    assert ((), (), ()) == (idle.effects, nested.effects, done.effects)


@pytest.mark.parametrize(("workflow", "agent", "missing"), CASES["skipped"])
def test_a_skipped_stage_is_denied(workflow: str, agent: str, missing: str) -> None:
    """The denial names the steps that must finish first."""
    play = started(workflow)
    play.delegate(agent)

    assert f"{missing} must finish first" in play.denied
    assert () == play.run.calls


def test_a_step_waits_for_a_running_one() -> None:
    """A step is denied while an earlier one is running, and the text says to wait."""
    play = started("quick")
    play.delegate("developer")
    play.delegate("code-reviewer")

    assert "DEV is still running" in play.denied


def test_steps_of_a_group_start_in_any_order() -> None:
    """REVIEW and TEST of ``quick`` may run in parallel."""
    play = started("quick")
    play.does("developer")

    assert play.delegate("tester")
    assert play.delegate("code-reviewer")
    assert {StepStatus.ACTIVE} == {status(play, "REVIEW"), status(play, "TEST")}


@pytest.mark.parametrize(("agent", "fields"), CASES["agent"])
def test_the_agent_of_a_call(agent: str, fields: dict[str, str]) -> None:
    """The agent is recognized by its type, by the title, or by a marker at the start of the title or the prompt."""
    play = started("standard")
    play.delegate(agent, **fields)  # type: ignore[arg-type]

    assert [call.step_key for call in play.run.calls] == ["PLAN"]


@pytest.mark.parametrize("title", ["planner_2", "upbeat_planners", "upbeat_plan_2", "upbeat_2_planner"])
def test_titles_that_name_no_agent(title: str) -> None:
    """A title that only resembles the name of an agent does not name it."""
    play = started("standard")
    play.delegate("default:", title=title)

    assert [] == [call.step_key for call in play.run.calls]


def test_the_prompt_of_a_step() -> None:
    """The workflow, the step, the goal and the requested verdict are prepended to the prompt."""
    play = started("tdd")
    play.delegate("tester")
    assert play.prepended.startswith("upbeat · workflow tdd · step TEST (spec)\n")
    play = started("tdd")
    play.does("tester", "Specified.")
    play.delegate("developer", "the-call")

    assert "workflow tdd · step DEV" in play.prepended
    assert "Goal: add retries" in play.prepended
    assert '"result": "PASS|FAIL", "call": "the-call"' in play.prepended.splitlines()[-1]


def test_a_result_is_queued_until_its_call_is_known() -> None:
    """If several calls match, a result waits for the return of its call; the latest one of a subagent counts."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", "Not there yet.")
    play.stopped("developer", "x", FAIL)

    assert [("x", FAIL)] == [(result.agent_id, result.message) for result in play.run.unmatched_results]
    play.returned(second, None, "x")
    play.returned(first, PASS, "y")
    assert ("DEV=fail", StepStatus.PENDING, ()) == (play.shown, status(play, "DEV"), play.run.unmatched_results)


def test_a_long_result_is_queued_with_its_verdict() -> None:
    """A queued result fits into a record, and keeps the verdict at its end."""
    play = started("single")
    first, _second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", "A long tale. " * 1_000 + FAIL)

    assert len(play.run.unmatched_results[0].message) <= MAX_UNMATCHED_RESULT_CHARS
    play.returned(first, None, "x")
    assert [StepVerdict.FAIL] == [call.verdict for call in play.run.calls if call.call_id == first]


def test_a_marker_names_the_call() -> None:
    """A result with the call in its marker is matched to that call."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", f'<!-- VERDICT: {{"result": "PASS", "call": "{second}"}} -->')

    assert {second: StepVerdict.PASS, first: StepVerdict.NONE} == {
        call.call_id: call.verdict for call in play.run.calls
    }


def test_a_background_agent_is_linked_by_its_launch() -> None:
    """A background call returns at once with the subagent's id; its result comes when the subagent stops."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.returned(first, None, "a")
    play.returned(second, None, "b")
    play.stopped("developer", "b", PASS)
    play.stopped("developer", "a", PASS)

    assert "DEV=pass" == play.shown


def test_an_unclear_result_is_asked_for_once() -> None:
    """A subagent whose result is unclear is asked once; then the step is pending again."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester")
    play.stopped("tester", "t", "I have looked at it.", continued=False)

    assert "The result of TEST is unclear" in play.continuation
    play.stopped("tester", "t", "I have looked at it.", continued=True)
    assert "DEV=pass REVIEW TEST=unclear RETRO" == play.shown
    assert StepStatus.PENDING is status(play, "TEST")


@pytest.mark.parametrize(("commands", "because"), CASES["no evidence"])
def test_a_pass_needs_evidence(commands: list[tuple[str, int]], because: str) -> None:
    """PASS counts only after a test run that exited with code 0 on the current files; the agent is asked once."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester")
    for command, code in commands:
        play.tree += "." if command == "edit" else ""
        play.runs(command, code)
    play.stopped("tester", "t", PASS, continued=False)
    asked = play.continuation
    play.stopped("tester", "t", PASS)

    assert "TEST was reported as passed, but" in asked
    assert StepVerdict.UNCLEAR is play.run.find_step("TEST").verdict  # type: ignore[union-attr]


def test_a_failed_call_is_lost() -> None:
    """If no subagent started, the step is pending again."""
    play = started("single")
    call = play.delegate("developer")
    play.returned(call, None, has_failed=True)

    assert ((), StepStatus.PENDING) == (play.run.calls, status(play, "DEV"))


def test_a_hidden_prompt() -> None:
    """If hooks cannot change the prompt, the subagent gets its step once, when it starts."""
    play = started("single")
    play.delegate("", title="developer", is_prompt_hidden=True)
    before = play.effects
    start = SubagentStarted(play.source, "a", "default")
    play.handle(start)
    first = play.injected
    play.handle(start)

    assert () == before
    assert "workflow single · step DEV" in first
    assert ("", ()) == (play.injected, play.last.facts)


def test_a_call_that_is_reported_twice() -> None:
    """A call reported by a hook and by the program that drives the client starts and returns once."""
    play = started("quick")
    play.does("developer")
    call_id = play.delegate("code-reviewer")
    before = play.state
    play.delegate("code-reviewer", call_id)
    again = (play.state, play.effects)
    play.returned(call_id, PASS)
    after = play.state
    play.returned(call_id, FAIL)
    single = started("single")
    single.does("developer", FAIL)

    assert [1] == [step.attempts for step in single.run.steps]
    assert (before, ()) == again
    assert (after, StepStatus.PENDING) == (play.state, status(play, "TEST"))


def claimed(play: Play, key: str) -> str:
    """The id of a call that delegates the step ``key`` to an agent of the client."""
    call = Call(f"call for {key}", "Agent", {})
    play.handle(SubagentRequested(play.source, call, "general-purpose", f"[stage:{key}] do it"))
    return call.id


@pytest.mark.parametrize("agent", ["Explore", "upbeat:planner", "default"])
def test_agents_of_another_type(agent: str) -> None:
    """The message of an agent of another type is not the result of the step."""
    play = started("review-only")
    call_id = claimed(play, "REVIEW")
    play.handle(SubagentStarted(play.source, "x", agent))
    play.handle(SubagentEnding(play.source, "x", agent, PASS, was_continued=True))
    before = play.shown
    play.returned(call_id, REJECT, "y")

    assert ("REVIEW", StepVerdict.REJECT) == (before, play.run.find_step("REVIEW").verdict)  # type: ignore[union-attr]


def test_a_marker_of_another_agent() -> None:
    """A call that is linked to its subagent is not ended by another agent that repeats its marker."""
    play = started("review-only")
    call_id = play.delegate("code-reviewer")
    play.started("code-reviewer", "r")
    echo = f'<!-- VERDICT: {{"result": "PASS", "call": "{call_id}"}} -->'
    play.handle(SubagentEnding(play.source, "nested", "Explore", echo, was_continued=True))

    assert "REVIEW" == play.shown


def test_a_result_counts_while_the_run_waits_for_the_user() -> None:
    """The verdict of a running subagent counts although another step has used all its attempts."""
    play = started("quick")
    play.does("developer")
    play.delegate("code-reviewer", "review")
    play.started("code-reviewer", "r")
    for _ in range(3):
        play.does("tester", "I have looked at it.")
    play.stopped("code-reviewer", "r", REJECT)

    assert RunStatus.NEEDS_HUMAN is play.run.status
    assert "REVIEW=reject" in play.shown


@pytest.mark.parametrize("status", [RunStatus.STOPPED, RunStatus.HANDED_OVER])
def test_a_late_result_does_not_resume_a_run(status: RunStatus) -> None:
    """A run that was stopped or handed over stays so when its last calls return."""
    play = started("single")
    play.does("developer", FAIL)
    play.does("developer", FAIL)
    call_id = play.delegate("developer")
    play.state = apply_facts([WorkflowEnded(status)], play.state)
    play.returned(call_id, FAIL, "x")

    assert status is play.run.status


def test_an_agent_of_two_steps() -> None:
    """Two calls of an agent with two pending steps are for one step each."""
    own = """
        workflows.both.stages = [["ONE", "TWO"]]
        stages.ONE.agent = "developer"
        stages.TWO.agent = "developer"
    """
    play = Play(known=with_own(own))
    play.prompt("/upbeat:both add retries")
    play.delegate("developer")
    play.delegate("developer")

    assert ["ONE", "TWO"] == [call.step_key for call in play.run.calls]


def test_the_client_links_a_call() -> None:
    """The link that the client reports replaces one that was inferred."""
    play = started("single")
    call_id = play.delegate("developer")
    play.started("developer", "unknown")
    play.returned(call_id, None, "x")
    play.stopped("developer", "unknown", FAIL)
    before = play.shown
    play.stopped("developer", "x", PASS)

    assert ("DEV", "DEV=pass") == (before, play.shown)


def test_failure_notes_are_sanitized() -> None:
    """Failure notes have no control sequences and no invisible characters."""
    play = started("single")
    play.does("developer", f"The \x1b]0;owned\x07total is\u200b off by one.\n{FAIL}")
    play.prompt("and now?")

    assert not [char for char in ("\x1b", "\x07", "\u200b") if char in play.injected]
    assert "off by one" in play.injected


def test_a_repair_checks_no_box() -> None:
    """Only the steps of the workflow itself have boxes."""
    play = Play(features=("retry-limit",))
    play.prompt("/upbeat:debug retry-limit")
    play.does("debugger", "It is the lock.")
    play.does("developer")
    play.tests(FAIL)
    play.workspace_actions.clear()
    play.does("debugger", "It is the other lock.")
    play.does("developer")

    assert [] == play.workspace_actions


def reviewing(**fields: object) -> Play:
    """A play of quick in which the reviewer ``r`` has started."""
    play = started("quick", **fields)
    play.does("developer")
    play.delegate("code-reviewer")
    play.started("code-reviewer", "r")
    return play


def test_a_review_that_read_nothing_is_unclear() -> None:
    """The reviewer is asked once, and told what would count; then its PASS is no pass."""
    play = reviewing(changed=("a.py", "b.py"))
    play.reads("r", "/repo/README.md")
    play.stopped("code-reviewer", "r", PASS, continued=False)

    assert "Read `git diff` or the changed files (a.py, b.py), then report again." in play.continuation
    play.stopped("code-reviewer", "r", PASS)
    assert StepVerdict.UNCLEAR is play.run.steps[1].verdict


def test_a_review_that_read_the_change_passes() -> None:
    """One changed file is enough, before or after it was asked."""
    play = reviewing(changed=("a.py", "b.py"))
    play.stopped("code-reviewer", "r", PASS, continued=False)
    play.reads("r", "/repo/b.py")
    play.stopped("code-reviewer", "r", PASS)

    assert StepVerdict.PASS is play.run.steps[1].verdict
    assert () == play.run.readings


def test_what_another_agent_read_does_not_count() -> None:
    """Neither the main agent's reading nor that of the tester is a review."""
    play = reviewing(changed=("a.py",))
    play.delegate("tester")
    play.started("tester", "t")
    play.reads("t", "/repo/a.py")
    play.reads("", "/repo/a.py")
    play.stopped("code-reviewer", "r", PASS)

    assert StepVerdict.UNCLEAR is play.run.steps[1].verdict


def test_a_rejection_needs_no_reading() -> None:
    """What sends the work back is taken at its word."""
    play = reviewing(changed=("a.py",))
    play.stopped("code-reviewer", "r", REJECT, continued=False)

    assert StepVerdict.REJECT is play.run.steps[1].verdict


def test_a_review_of_existing_code_reads_any_file() -> None:
    """A workflow that begins with the review has changed nothing yet."""
    play = started("review-only", changed=("a.py",))
    play.delegate("code-reviewer")
    play.started("code-reviewer", "r")
    play.stopped("code-reviewer", "r", PASS, continued=False)
    asked = play.continuation
    play.reads("r", "/repo/old.py")
    play.stopped("code-reviewer", "r", PASS)

    assert "its agent has read no file" in asked
    assert StepVerdict.PASS is play.run.steps[0].verdict


def test_a_pass_that_the_text_contradicts_is_unclear() -> None:
    """The marker is in a sentence that goes on: the tester is asked."""
    play = started("tdd")
    play.does("tester")
    play.does("developer")
    play.delegate("tester")
    play.started("tester", "t")
    play.runs("pytest")
    play.stopped("tester", "t", f"I would write {PASS} but 3 tests fail.", continued=False)

    assert "The result of TEST:2 is unclear" in play.continuation


def test_an_agent_whose_result_has_counted_works_for_no_other_call() -> None:
    """A resumed agent does not lend its name, or what it has read, to a call whose agent is not known yet."""
    play = started("quick", changed=("a.py",))
    play.does("developer")
    developer = play.run.ended_agents[0]
    call = play.delegate("code-reviewer")
    play.started("code-reviewer", developer)
    play.reads(developer, "/repo/a.py")
    play.stopped("code-reviewer", developer, PASS)

    assert [""] == [each.agent_id for each in play.run.calls]
    assert StepVerdict.NONE is play.run.steps[1].verdict
    play.returned(call, PASS)
    assert StepVerdict.UNCLEAR is play.run.steps[1].verdict
