"""Work that is handed over: what starts, what is denied, what is left alone, and how it comes back."""

from __future__ import annotations

import pytest
from workflow_play import FAIL, PASS, REJECT, Play, with_own

from upbeat.core.contract.event import Call, EventSource, SubagentEnding, SubagentRequested, SubagentStarted
from upbeat.core.workflow.facts import MAX_UNMATCHED_RESULT_CHARS, WorkflowEnded, apply_facts
from upbeat.core.workflow.prompts import MAX_STEP_PROMPT_CHARS
from upbeat.core.workflow.state import RunStatus, StepStatus, StepVerdict


def started(workflow: str, goal: str = "add retries") -> Play:
    play = Play()
    play.prompt(f"/upbeat:{workflow} {goal}")
    return play


def status(play: Play, key: str) -> StepStatus:
    step = play.run.find_step(key)
    assert step is not None
    return step.status


# --- what the guard says nothing to ---


@pytest.mark.parametrize(
    ("agent", "fields"),
    [
        ("general-purpose:x", {}),
        ("Explore:", {}),
        ("other:developer", {}),
        ("", {}),
        ("", {"title": "find the tester of this team"}),
        ("", {"prompt": "look at [stage:DEV] in the text"}),
        ("upbeat:grader", {}),
        ("upbeat:developers", {}),
        ("upbeat:", {}),
    ],
)
def test_says_nothing_for_what_is_no_stage(agent: str, fields: dict[str, str]) -> None:
    """A call that is for no step of the workflow passes untouched, and leaves the run as it is."""
    play = started("standard")
    before = play.state
    play.delegate(agent, **fields)  # type: ignore[arg-type]

    assert ((), before) == (play.effects, play.state)


def test_says_nothing_without_a_workflow() -> None:
    """Without a workflow every call passes."""
    play = Play()
    play.delegate("tester")

    assert ((), ()) == (play.effects, play.last.explanations)


def test_says_nothing_for_work_that_a_subagent_hands_over() -> None:
    """What an agent hands on is its own affair."""
    play = started("standard")
    source = EventSource(play.client, "/repo", play.session_id, agent_id="a1")
    play.happens(SubagentRequested(source, Call("c", "Agent", {}), "upbeat:tester", "x"))

    assert () == play.effects


def test_says_nothing_for_an_agent_whose_stages_have_ended() -> None:
    """An extra call of the developer after DEV is nobody's stage."""
    play = started("quick")
    play.does("developer")
    play.delegate("developer")

    assert () == play.effects


# --- what it denies ---


@pytest.mark.parametrize(
    ("workflow", "agent", "missing"),
    [
        ("standard", "developer", "PLAN, ARCH, TEST"),
        ("standard", "tester", "PLAN, ARCH"),
        ("standard", "doc-updater", "PLAN, ARCH, TEST, DEV, REVIEW, TEST:2, RETRO"),
        ("debug", "tester", "DEBUG, DEV"),
        ("full", "qa", "PLAN, ARCH, DESIGN, TEST, DEV, REVIEW, TEST:2"),
    ],
)
def test_denies_a_skipped_stage(workflow: str, agent: str, missing: str) -> None:
    """The model reads which steps must finish first."""
    play = started(workflow)
    play.delegate(agent)

    assert f"{missing} must finish first" in play.denied
    assert () == play.run.calls


def test_denies_while_the_stage_before_is_worked_on() -> None:
    """A step that is only begun has not ended; the text says to wait for it."""
    play = started("quick")
    play.delegate("developer")
    play.delegate("code-reviewer")

    assert "DEV is still running" in play.denied


# --- what it allows, and what it puts before the prompt ---


def test_members_of_a_group_start_in_any_order() -> None:
    """REVIEW and TEST of ``quick`` start side by side."""
    play = started("quick")
    play.does("developer")

    assert play.delegate("tester")
    assert play.delegate("code-reviewer")
    assert {StepStatus.ACTIVE} == {status(play, "REVIEW"), status(play, "TEST")}


@pytest.mark.parametrize(
    ("agent", "fields"),
    [
        ("upbeat:planner", {}),
        ("default:", {"title": "upbeat_planner"}),
        ("default:", {"title": "upbeat_planner_2"}),
        ("default:", {"title": "[upbeat:planner] make a plan"}),
        ("default:", {"prompt": "[upbeat:planner] make a plan"}),
        ("default:", {"prompt": "[stage:PLAN] make a plan"}),
        ("default:", {"title": "planner"}),
    ],
)
def test_knows_the_agent(agent: str, fields: dict[str, str]) -> None:
    """An agent is known by its kind, by its title, or by a marker that opens the title or the prompt."""
    play = started("standard")
    play.delegate(agent, **fields)  # type: ignore[arg-type]

    assert [call.step_key for call in play.run.calls] == ["PLAN"]


@pytest.mark.parametrize("title", ["planner_2", "upbeat_planners", "upbeat_plan_2", "upbeat_2_planner"])
def test_does_not_guess_at_an_agent(title: str) -> None:
    """A title that only resembles an agent's name is nobody's."""
    play = started("standard")
    play.delegate("default:", title=title)

    assert [] == [call.step_key for call in play.run.calls]


def test_context_says_what_the_step_is() -> None:
    """Workflow, step, goal, what is to be done, the handoff and the verdict stand before the prompt."""
    play = started("tdd")
    play.delegate("tester")
    assert play.put_before.startswith("upbeat · workflow tdd · step TEST (spec)\n")
    play = started("tdd")
    play.does("tester", "Specified.")
    play.delegate("developer", "the-call")

    assert "workflow tdd · step DEV" in play.put_before
    assert "Goal: add retries" in play.put_before
    assert '"result": "PASS|FAIL", "call": "the-call"' in play.put_before.splitlines()[-1]


def test_context_is_bounded() -> None:
    """However long the goal and the notes are, 1,500 characters are the end, and the verdict's line is there."""
    play = started("quick", "very long " * 400)
    play.does("developer", "Done.")
    play.does("code-reviewer", "The name is wrong. " * 200 + '<!-- VERDICT: {"result": "REJECT"} -->')
    play.tests(PASS)
    play.delegate("developer")

    assert len(play.put_before) <= MAX_STEP_PROMPT_CHARS
    assert "VERDICT" in play.put_before.splitlines()[-1]
    assert "The name is wrong." in play.put_before


# --- how calls come back ---


def test_an_answer_is_parked_until_its_call_is_known() -> None:
    """Of two agents of one name nobody can say which is which before the calls return."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", FAIL)
    parked = play.run.unmatched_results
    play.returned(second, None, "x")
    play.returned(first, PASS, "y")

    assert [("x", FAIL)] == [(one.agent_id, one.message) for one in parked]
    assert (StepStatus.PENDING, StepVerdict.FAIL, ()) == (
        status(play, "DEV"),
        play.run.find_step("DEV").verdict,  # type: ignore[union-attr]
        play.run.unmatched_results,
    )


def test_a_marker_with_the_call_settles_it() -> None:
    """An agent that names its call in the verdict is believed."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", f'<!-- VERDICT: {{"result": "PASS", "call": "{second}"}} -->')

    assert {second: StepVerdict.PASS, first: StepVerdict.NONE} == {
        call.call_id: call.verdict for call in play.run.calls
    }


def test_a_background_agent_is_linked_by_its_launch() -> None:
    """The launch returns at once with the agent's id; the answer comes when the agent stops."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.returned(first, None, "a")
    play.returned(second, None, "b")
    play.stopped("developer", "b", PASS)
    play.stopped("developer", "a", PASS)

    assert "DEV=pass" == play.shown


def test_the_same_answer_counts_once() -> None:
    """The agent's end and the return of its call tell the same thing."""
    play = started("single")
    play.does("developer", FAIL)

    assert 1 == play.run.find_step("DEV").attempts  # type: ignore[union-attr]


def test_an_unclear_answer_is_sent_back_once() -> None:
    """An agent that says nothing about the result is asked for it while it is still there; then it is unclear."""
    play = started("quick")
    play.does("developer")
    call = play.delegate("tester")
    play.stopped("tester", "t", "I have looked at it.", continued=False)
    asked = play.sent_on
    play.stopped("tester", "t", "I have looked at it.", continued=True)

    assert "The result of TEST is unclear" in asked
    assert call
    assert (StepStatus.PENDING, StepVerdict.UNCLEAR) == (
        status(play, "TEST"),
        play.run.find_step("TEST").verdict,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize(
    ("commands", "because"),
    [
        ([], "none"),
        ([("pytest", 1)], "failed"),
        ([("pytest || true", 0)], "hidden"),
        ([("echo pytest", 0)], "not run"),
        ([("pytest", 0), ("pytest", 2)], "the latest counts"),
        ([("npm run build", 0)], "another kind"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_pass_needs_a_witness(commands: list[tuple[str, int]], because: str) -> None:
    """A tester that says PASS without a test run that ended with 0 is sent back, and then not believed."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester")
    for command, code in commands:
        play.runs(command, code)
    play.stopped("tester", "t", PASS, continued=False)
    asked = play.sent_on
    play.stopped("tester", "t", PASS)

    assert "TEST was reported as passed, but" in asked
    assert StepVerdict.UNCLEAR is play.run.find_step("TEST").verdict  # type: ignore[union-attr]


def test_a_witness_expires_when_files_change() -> None:
    """Tests that ran before the last change prove nothing."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester")
    play.runs("pytest")
    play.tree = "tree 2"
    play.stopped("tester", "t", PASS, continued=False)

    assert "TEST was reported as passed, but" in play.sent_on


def test_a_call_that_fails_is_lost() -> None:
    """No agent came of it: the step can be started again."""
    play = started("single")
    call = play.delegate("developer")
    play.returned(call, None, has_failed=True)

    assert ((), StepStatus.PENDING) == (play.run.calls, status(play, "DEV"))


def test_a_sealed_prompt_is_told_when_the_agent_starts() -> None:
    """Where nothing can be put before the prompt, the agent gets its context when it starts, once."""
    play = started("single")
    play.delegate("", title="developer", is_prompt_hidden=True)
    before = play.effects
    start = SubagentStarted(play.source, "a", "default")
    play.happens(start)
    first = play.injected
    play.happens(start)

    assert () == before
    assert "workflow single · step DEV" in first
    assert ("", ()) == (play.injected, play.last.facts)


def test_a_call_that_is_told_twice_starts_one_step() -> None:
    """A hook tells it, and so does whoever drives the client: the second time changes nothing."""
    play = started("quick")
    play.does("developer")
    call_id = play.delegate("code-reviewer")
    before = play.state
    play.delegate("code-reviewer", call_id)
    again = (play.state, play.effects)
    play.returned(call_id, PASS)
    after = play.state
    play.returned(call_id, FAIL)

    assert (before, ()) == again
    assert (after, StepStatus.PENDING) == (play.state, status(play, "TEST"))


def claimed(play: Play, key: str) -> str:
    """A call that hands the step ``key`` to an agent of the client's own."""
    call = Call(f"call for {key}", "Agent", {})
    play.happens(SubagentRequested(play.source, call, "general-purpose", f"[stage:{key}] do it"))
    return call.id


@pytest.mark.parametrize("agent", ["Explore", "upbeat:planner", "default"])
def test_an_agent_of_another_kind_is_nobodys_call(agent: str) -> None:
    """What another kind of agent says, which nobody asked for the step, is not the step's verdict."""
    play = started("review-only")
    call_id = claimed(play, "REVIEW")
    play.happens(SubagentStarted(play.source, "x", agent))
    play.happens(SubagentEnding(play.source, "x", agent, PASS, was_continued=True))
    before = play.shown
    play.returned(call_id, REJECT, "y")

    assert ("REVIEW", StepVerdict.REJECT) == (before, play.run.find_step("REVIEW").verdict)  # type: ignore[union-attr]


def test_a_marker_does_not_speak_for_another_agents_call() -> None:
    """A call whose agent the client has told is not ended by an agent that only repeats its marker."""
    play = started("review-only")
    call_id = play.delegate("code-reviewer")
    play.started("code-reviewer", "r")
    echo = f'<!-- VERDICT: {{"result": "PASS", "call": "{call_id}"}} -->'
    play.happens(SubagentEnding(play.source, "nested", "Explore", echo, was_continued=True))

    assert "REVIEW" == play.shown


def test_of_two_parked_answers_of_one_agent_the_latest_counts() -> None:
    """An agent that another program continued answers twice before its call is known."""
    play = started("single")
    first, _second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", "Not there yet.")
    play.stopped("developer", "x", FAIL)
    parked = [one.message for one in play.run.unmatched_results]
    play.returned(first, None, "x")

    assert ([FAIL], [StepVerdict.FAIL]) == (parked, [c.verdict for c in play.run.calls if c.call_id == first])


def test_a_long_answer_is_parked_with_its_verdict() -> None:
    """What is kept of a parked answer fits a record, and its last line is in it."""
    play = started("single")
    first, _second = play.delegate("developer"), play.delegate("developer")
    play.stopped("developer", "x", "A long tale. " * 100_000 + FAIL)
    kept = play.run.unmatched_results[0].message
    play.returned(first, None, "x")

    assert len(kept) <= MAX_UNMATCHED_RESULT_CHARS
    assert [StepVerdict.FAIL] == [call.verdict for call in play.run.calls if call.call_id == first]


def spent() -> Play:
    """A run that needs a human because of TEST, while the reviewer still works."""
    play = started("quick")
    play.does("developer")
    play.delegate("code-reviewer", "review")
    play.started("code-reviewer", "r")
    for _ in range(3):
        play.does("tester", "I have looked at it.")
    assert RunStatus.NEEDS_HUMAN is play.run.status
    return play


def test_an_answer_counts_while_a_human_is_waited_for() -> None:
    """The verdict of an agent that still worked is not lost because another step ran out of tries."""
    play = spent()
    play.stopped("code-reviewer", "r", REJECT)

    assert (RunStatus.NEEDS_HUMAN, StepVerdict.REJECT) == (
        play.run.status,
        play.run.find_step("REVIEW").verdict,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("status", [RunStatus.STOPPED, RunStatus.HANDED_OVER])
def test_a_late_answer_does_not_wake_a_run_that_has_ended(status: RunStatus) -> None:
    """A run that was stopped or handed over stays so, however its last calls end."""
    play = started("single")
    play.does("developer", FAIL)
    play.does("developer", FAIL)
    call_id = play.delegate("developer")
    play.state = apply_facts([WorkflowEnded(status)], play.state)
    play.returned(call_id, FAIL, "x")

    assert status is play.run.status


def test_a_step_that_has_ended_is_not_begun_again() -> None:
    """A marker that names a step which is done is for nothing: the call passes, and the run stays as it is."""
    play = started("quick")
    play.does("developer")
    before = play.state
    claimed(play, "DEV")

    assert ((), before) == (play.effects, play.state)


def test_an_agent_of_two_steps_begins_the_one_that_nobody_works_on() -> None:
    """Two stages of one group that the same agent does are two calls, one for each."""
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


def test_the_clients_word_on_an_agent_outranks_a_guess() -> None:
    """Of one call that waits the agent was guessed; the client names another one, whose answer counts."""
    play = started("single")
    call_id = play.delegate("developer")
    play.started("developer", "unknown")
    play.returned(call_id, None, "x")
    play.stopped("developer", "unknown", FAIL)
    before = play.shown
    play.stopped("developer", "x", PASS)

    assert ("DEV", "DEV=pass") == (before, play.shown)


def test_what_an_agent_writes_is_cleaned_before_it_is_kept() -> None:
    """Control sequences and invisible characters of an agent do not reach whoever reads its notes."""
    play = started("single")
    play.does("developer", f"The \x1b]0;owned\x07total is\u200b off by one.\n{FAIL}")
    play.prompt("and now?")

    assert not [char for char in ("\x1b", "\x07", "\u200b") if char in play.injected]
    assert "off by one" in play.injected


def test_a_repair_ticks_no_box() -> None:
    """Only the workflow's own steps have boxes."""
    play = Play(features=("retry-limit",))
    play.prompt("/upbeat:debug retry-limit")
    play.does("debugger", "It is the lock.")
    play.does("developer")
    play.tests(FAIL)
    play.workspace_actions.clear()
    play.does("debugger", "It is the other lock.")
    play.does("developer")

    assert [] == play.workspace_actions


def test_a_step_that_passes_in_the_end_has_no_notes_left() -> None:
    """What was wrong with it is over, and is not shown to anybody any more."""
    play = started("quick")
    play.does("developer", FAIL)
    wrong = play.run.find_step("DEV").failure_notes  # type: ignore[union-attr]
    play.does("developer", PASS)

    assert ("The total is off by one.", "") == (wrong, play.run.find_step("DEV").failure_notes)  # type: ignore[union-attr]


def test_one_of_two_calls_that_is_lost_leaves_the_step_to_the_other() -> None:
    """A step is pending again only when nobody works on it."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.returned(first, None, has_failed=True)
    left = status(play, "DEV")
    play.returned(second, PASS, "y")

    assert (StepStatus.ACTIVE, "DEV=pass") == (left, play.shown)
