"""The end of a turn: when it is continued, when it ends, and when the loop is over."""

from __future__ import annotations

import pytest
from workflow_play import FAIL, ISSUES, PASS, REJECT, Play, with_own

from upbeat.core.contract.event import ClientName
from upbeat.core.workflow.decide.loop import FEATURE_LEASE_SECONDS, ends_in_question
from upbeat.core.workflow.decision import ArchiveFeature, LoopLimits, TickCheckboxes
from upbeat.core.workflow.facts import LoopEnded, SessionClosed, TurnAllowed, apply_facts
from upbeat.core.workflow.state import PeerSession, RunStatus, StepStatus, StepVerdict


def started(workflow: str, goal: str = "add retries", **fields: object) -> Play:
    play = Play(**fields)  # type: ignore[arg-type]
    play.prompt(f"/upbeat:{workflow} {goal}")
    return play


def finished(workflow: str = "single", **fields: object) -> Play:
    """A session whose steps have all ended well."""
    play = started(workflow, **fields)
    play.does("developer")
    return play


def released(play: Play) -> list[str]:
    return [fact.reason for fact in play.last.facts if isinstance(fact, TurnAllowed)]


def test_says_nothing_without_a_workflow() -> None:
    """A turn of a session that runs no workflow ends when it wants to."""
    play = Play()
    play.prompt("what is this?")
    play.ends()

    assert ((), ()) == (play.effects, play.last.facts)


@pytest.mark.parametrize(
    "message", ["Which one?", "要不要继续？", "**Shall I?**", 'He asks: "why?"', "Shall I?\n\n<!-- x -->"]
)
def test_a_question_to_the_user_is_let_go(message: str) -> None:
    """A message that ends in a question is one."""
    play = started("standard")
    play.ends(message)

    assert (True, "", ["question"]) == (ends_in_question(message), play.sent_on, released(play))


@pytest.mark.parametrize("message", ["", "Done.", "Why? Because.", "a ? b : c", "see https://x.org/?q=1 for more"])
def test_other_messages_are_no_question(message: str) -> None:
    """A question mark somewhere is not a question to the user."""
    assert not ends_in_question(message)


def test_a_question_by_the_clients_tool() -> None:
    """A turn in which the agent asked with the client's tool may end, unless it has worked on since."""
    play = started("standard")
    play.asks()
    play.ends()

    assert ("", ["paused_by_user"]) == (play.sent_on, released(play))
    play.ends()
    assert play.sent_on
    play.asks()
    play.runs("ls")
    play.ends()
    assert play.sent_on


def test_a_question_of_the_user() -> None:
    """A turn that answers an unrelated question of the user may end; the next prompt continues the work."""
    play = started("standard")
    play.ends("Per host or in all?")
    play.prompt("what does the planner do?", is_unrelated_question=True)
    play.ends("It plans.")

    assert ("", ["paused_by_user"]) == (play.sent_on, released(play))
    play.prompt("implement it without a queue")
    play.ends()
    assert play.sent_on


def test_background_agents_are_waited_for() -> None:
    """While the client says that something runs, the turn may end: the client comes back."""
    play = started("single")
    call = play.delegate("developer")
    play.returned(call, None, "a")
    play.ends(background_task_count=1)

    assert ("", ["background"], 0) == (play.sent_on, released(play), play.state.loop.iterations)


def test_a_client_that_does_not_count_is_made_to_wait() -> None:
    """Codex drops agents when its turn ends: the turn is continued to wait, and that is no standstill."""
    play = started("single", client=ClientName.CODEX_CLI)
    call = play.delegate("developer")
    play.returned(call, None, "a")
    for _turn in range(5):
        play.ends(background_task_count=None)

    assert "Still running: DEV. Wait for the results" in play.sent_on
    assert (5, 0, "") == (
        play.state.loop.iterations,
        play.state.loop.turns_without_progress,
        play.state.loop.end_reason,
    )


def test_calls_that_became_nobody_are_lost() -> None:
    """A call that was refused by the user or the client never returns; its step can be started again."""
    play = started("single", client=ClientName.CODEX_CLI)
    play.delegate("developer")
    play.ends(background_task_count=None)

    assert () == play.run.calls
    assert "delegate DEV" in play.sent_on


def test_progress_of_any_kind_keeps_it_going() -> None:
    """Files, boxes or steps that change are progress."""
    play = started("standard", tasks="- [ ] one\n- [ ] two\n")
    for turn in range(12):
        match turn % 3:
            case 0:
                play.tree = f"tree {turn}"
            case 1:
                play.tasks = (play.tasks or "") + "- [ ] more\n"
            case 2:
                play.does(("planner", "architect", "tester", "developer")[turn // 3], "Done.")
        play.ends()

    assert (12, 0, "") == (
        play.state.loop.iterations,
        play.state.loop.turns_without_progress,
        play.state.loop.end_reason,
    )


def test_a_loop_that_stood_still_says_for_how_long() -> None:
    """The text of the next prompt has the number that the user was told, whatever has been said meanwhile."""
    play = started("standard")
    for _turn in range(4):
        play.ends()
    assert "(no progress in 3 turns)" in play.told
    play.prompt("what is a retry, in general?")
    play.prompt("add them to save_order")

    assert "The loop has ended (no progress in 3 turns)" in play.injected


def test_the_user_starts_the_count_of_standstill_anew() -> None:
    """Two turns without progress, a word of the user, two more: the loop goes on."""
    play = started("standard")
    for _round in range(3):
        play.ends()
        play.ends()
        play.prompt("use the second way")

    assert "" == play.state.loop.end_reason


def test_switched_off_nothing_is_sent_on() -> None:
    """``loop.enabled = off``: the workflow is shown and guarded, and every turn ends when it wants to."""
    play = started("standard", caps=LoopLimits(is_enabled=False))
    play.ends()

    assert ("", RunStatus.RUNNING) == (play.sent_on, play.run.status)


def test_open_boxes_keep_a_finished_workflow_open() -> None:
    """All steps have ended, and a box is open: it is not complete until the box is ticked."""
    play = finished(tasks="- [x] DEV\n- [ ] tell the operators\n")
    play.ends()
    open_box = (play.sent_on, play.run.status)
    play.tasks = "- [x] DEV\n- [x] tell the operators\n"
    play.ends()

    assert "1 boxes in tasks.md are open" in open_box[0]
    assert RunStatus.RUNNING is open_box[1]
    assert (RunStatus.COMPLETE, "") == (play.run.status, play.sent_on)


def test_a_witness_that_has_expired_is_asked_for_again() -> None:
    """Code that changed after the tests have passed is not proven; prose does not change the tree."""
    play = started("debug")
    play.does("debugger", "It is the lock.")
    play.does("developer")
    play.tests(PASS)
    play.tree = "tree 2"
    play.ends()
    expired = (play.sent_on, play.run.status)
    play.runs("pytest")
    play.ends()

    assert "files have changed since `pytest -q` (test) ran; run it again" in expired[0]
    assert RunStatus.RUNNING is expired[1]
    assert RunStatus.COMPLETE is play.run.status


def test_issues_are_repaired_three_times_and_then_left() -> None:
    """RETRO moves on after its last try, and what was left open is said."""
    play = started("quick")
    play.does("developer")
    play.does("code-reviewer")
    play.tests(PASS)
    for number in range(3):
        play.does("retrospective", ISSUES)
        if number < 2:
            play.does("developer")
            play.does("code-reviewer")
            play.tests(PASS)
    play.ends()

    assert RunStatus.COMPLETE is play.run.status
    assert "Not passed: RETRO" in play.told
    assert "DEV=pass REVIEW=pass TEST=pass DEV#1=pass REVIEW#1=pass TEST#1=pass" in play.shown


def test_a_rejection_goes_to_the_developer() -> None:
    """REVIEW rejects, TEST has passed: only the developer and the reviewer come again."""
    play = started("quick")
    play.does("developer")
    play.does("code-reviewer", REJECT)
    play.tests(PASS)
    play.ends()

    assert ["DEV#1"] == play.now
    assert "error is swallowed" not in play.sent_on.splitlines()[0]
    play.does("developer")
    assert "DEV=pass DEV#1=pass REVIEW=reject TEST=pass RETRO" == play.shown
    assert ["REVIEW", "TEST"] == play.now


def test_the_main_agent_may_do_a_step_itself() -> None:
    """A marker that names the step is its verdict; without evidence a pass is not accepted."""
    play = started("debug")
    play.ends('Found it.\n<!-- VERDICT: {"stage": "DEBUG", "result": "PASS"} -->')
    play.ends('<!-- VERDICT: {"stage": "DEV", "result": "PASS"} -->')
    play.ends('<!-- VERDICT: {"stage": "TEST", "result": "PASS"} -->')
    unproven = play.shown
    play.runs("pytest")
    play.ends('<!-- VERDICT: {"stage": "TEST", "result": "PASS"} -->')

    assert "DEBUG=pass DEV=pass TEST=unclear" == unproven
    assert RunStatus.COMPLETE is play.run.status


def test_a_verdict_may_name_the_stage() -> None:
    """A marker with the stage's name counts for its only current step, such as a repair."""
    play = started("debug")
    play.does("debugger")
    play.does("developer")
    play.tests(FAIL, exit_code=1)
    play.ends('It was the lock.\n<!-- VERDICT: {"stage": "DEBUG", "result": "PASS"} -->')

    assert "DEBUG=pass DEV=pass DEBUG#1=pass DEV#1 TEST=fail" == play.shown


def test_a_verdict_for_an_unknown_step_is_answered() -> None:
    """The agent learns that the workflow has no such step, and which steps are current."""
    play = started("debug")
    play.ends('<!-- VERDICT: {"stage": "QA", "result": "PASS"} -->')

    assert "There is no step QA in this workflow" in play.sent_on
    assert "The current steps: DEBUG." in play.sent_on


def test_the_end_of_a_turn_says_what_waits_for_the_user() -> None:
    """After the last attempt of a step, the user learns once what failed and how to go on."""
    play = started("debug")
    play.does("debugger")
    play.does("developer")
    for attempt in range(3):
        play.tests(FAIL, exit_code=1)
        if attempt < 2:
            play.does("debugger")
            play.does("developer")
    play.ends("The tests still fail.")
    waits = play.told

    assert "workflow debug waits for you: TEST has failed 3 times. Say continue to try it again, or stop" in waits
    assert ("", RunStatus.NEEDS_HUMAN) == (play.sent_on, play.run.status)
    play.ends("I have nothing to add.")
    assert "" == play.told
    play.prompt("continue")
    assert ["TEST"] == play.now


def test_steps_that_cannot_be_claimed() -> None:
    """A marker of the main agent does not count for a later step, nor for one that a subagent is working on."""
    play = started("quick")
    play.ends('<!-- VERDICT: {"stage": "TEST", "result": "PASS"} -->')
    play.does("developer")
    play.delegate("code-reviewer")
    play.started("code-reviewer", "r")
    play.ends('<!-- VERDICT: {"stage": "REVIEW", "result": "PASS"} -->', background_task_count=1)

    assert "DEV=pass REVIEW TEST RETRO" == play.shown


def test_two_sessions_do_not_work_on_one_feature() -> None:
    """The session that came first holds the feature until it has not been heard of for long."""
    first, second = Play(session_id="first"), Play(session_id="second", at=1_000_010.0)
    for play in (first, second):
        play.prompt("/upbeat:standard retry-limit", features_in_progress=("retry-limit",))
    second.peer_sessions = (PeerSession("first", first.state, second.at),)
    second.ends()
    held = (second.sent_on, second.told)
    second.at += FEATURE_LEASE_SECONDS
    second.ends()

    first.peer_sessions = (PeerSession("second", second.state, first.at),)
    first.ends()

    assert first.sent_on
    assert "" == held[0]
    assert "another session (first) is working on retry-limit" in held[1]
    assert second.sent_on


def test_a_finished_feature_is_archived_and_its_boxes_ticked() -> None:
    """Each step that passes ticks its box; the end moves the feature."""
    play = Play()
    play.prompt("/upbeat:single retry-limit", features_in_progress=("retry-limit",))
    play.does("developer")
    play.ends()

    assert [TickCheckboxes("retry-limit", ("DEV",)), ArchiveFeature("retry-limit")] == play.workspace_actions


def test_the_clients_own_limit() -> None:
    """Claude Code ends a turn after eight continuations without a tool call, and the user learns that work is left."""
    idle, working = (
        started("standard", caps=LoopLimits(max_turns=100, max_turns_without_progress=100)) for _ in range(2)
    )
    for _turn in range(9):
        idle.ends()
        working.ends()
        working.runs("ls")
    idle.prompt("what happened?")
    working.prompt("go on, please do")

    assert ("overridden", RunStatus.RUNNING) == (idle.state.loop.end_reason, idle.run.status)
    assert "the client ended the turn" in idle.told
    assert "" == working.state.loop.end_reason


def test_a_specification_that_fails_is_written_again() -> None:
    """Before there is code nothing can be debugged: the tester comes again, and nobody else."""
    play = started("tdd")
    play.does("tester", '<!-- VERDICT: {"result": "FAIL"} -->')

    assert ("TEST=fail DEV TEST:2", ["TEST"]) == (play.shown, play.now)


def test_a_claim_that_is_not_believed_is_answered_with_why() -> None:
    """The main agent says that the tests pass, and none ran: it is told so, or it would only say it again."""
    play = started("tdd")
    play.does("tester", "The specification is written.")
    play.does("developer")
    play.ends('Green.\n<!-- VERDICT: {"stage": "TEST:2", "result": "PASS"} -->')

    assert "TEST:2 was reported as passed, but" in play.sent_on


def test_what_moved_on_needs_no_witness() -> None:
    """A stage that ended badly and was left is not asked to prove that it passed."""
    own = """
        [workflows.smoke]
        stages = ["DEV", "SMOKE"]
        [stages.SMOKE]
        agent = "tester"
        verdicts = ["pass", "fail"]
        required_evidence = "tests"
        max_attempts = 1
        continues_on_failure = true
    """
    play = started("smoke", known=with_own(own))
    play.does("developer")
    play.does("tester", FAIL)
    play.ends()

    assert ("", RunStatus.COMPLETE) == (play.sent_on, play.run.status)


def test_a_repair_checks_even_where_the_workflow_only_specifies() -> None:
    """TEST stands only before DEV; put in to repair something after it, it checks, and needs its evidence."""
    play = started("spec-first", known=with_own('workflows.spec-first.stages = ["TEST", "DEV", "RETRO"]'))
    play.does("tester", "The specification is written.")
    play.does("developer")
    play.does("retrospective", ISSUES)
    play.does("developer")
    play.does("code-reviewer")
    play.does("tester", PASS)

    step = play.run.find_step("TEST#1")
    assert step is not None
    assert ("verify", StepVerdict.UNCLEAR) == (step.mode, step.verdict)


def test_stages_that_repair_each_other_come_to_an_end() -> None:
    """A repair of a repair never calls what it is to repair: a human is asked instead."""
    own = """
        workflows.ring.stages = ["ONE"]
        stages.ONE = { agent = "developer", verdicts = ["pass", "fail"], repair.fail = ["TWO"] }
        stages.TWO = { agent = "debugger", verdicts = ["pass", "fail"], repair.fail = ["THREE"] }
        stages.THREE = { agent = "architect", verdicts = ["pass", "fail"], repair.fail = ["ONE", "TWO"] }
    """
    play = started("ring", known=with_own(own))
    agents = {"ONE": "developer", "TWO": "debugger", "THREE": "architect"}
    for _ in range(20):
        if play.run.is_running:
            play.does(agents[play.now[0].partition("#")[0]], FAIL)

    assert (RunStatus.NEEDS_HUMAN, "THREE#1=fail TWO#1=fail ONE=fail") == (play.run.status, play.shown)


def test_go_on_while_it_runs_takes_no_verdict_back() -> None:
    """The user only says "continue": a rejection that waits for the rest of its group still leads to its repair."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester", "test")
    play.started("tester", "t")
    play.does("code-reviewer", REJECT)
    play.prompt("continue")
    play.runs("pytest")
    play.stopped("tester", "t", PASS)

    assert ["DEV#1"] == play.now


def test_an_agent_that_never_answers_does_not_hold_its_step_for_ever() -> None:
    """Codex tells nothing of an agent that was cut off: the loop ends, and with "continue" its step can start again."""
    play = started("single", client=ClientName.CODEX_CLI, caps=LoopLimits(max_turns=3))
    call_id = play.delegate("developer")
    play.returned(call_id, None, "gone")
    for _ in range(4):
        play.ends(background_task_count=None)
    ended = play.state.loop.end_reason
    play.prompt("/upbeat:continue")
    step = play.run.find_step("DEV")

    assert ("turns", StepStatus.PENDING) == (ended, step.status if step else None)
    play.does("developer")
    assert "DEV=pass" == play.shown


@pytest.mark.parametrize("end", [SessionClosed(), LoopEnded("no_progress")], ids=["closed", "its loop is over"])
def test_a_session_that_goes_no_further_holds_nothing(end: SessionClosed | LoopEnded) -> None:
    """Whoever comes next to its feature goes on with it at once."""
    first, second = Play(session_id="first"), Play(session_id="second", at=1_000_010.0)
    for play in (first, second):
        play.prompt("/upbeat:standard retry-limit", features_in_progress=("retry-limit",))
    second.peer_sessions = (PeerSession("first", apply_facts([end], first.state), second.at),)
    second.ends()

    assert ("", True) == (second.told, bool(second.sent_on))


def test_only_the_tokens_of_the_workflow_count() -> None:
    """What the session had used before the workflow began is no matter of its cap."""
    play = started("quick", tokens=9_000_000)
    play.ends()
    before = bool(play.sent_on)
    play.tokens += 5_000_000
    play.ends()

    assert (True, "tokens") == (before, play.state.loop.end_reason)


def test_only_failures_in_a_row_end_the_loop() -> None:
    """A turn that ends as it should begins the count of failed ones anew."""
    play = started("quick")
    for _ in range(3):
        play.fails()
        play.fails()
        play.tree += "."
        play.ends()

    assert ("", True) == (play.state.loop.end_reason, bool(play.sent_on))
