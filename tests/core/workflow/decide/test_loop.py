"""The end of a turn: when it is continued, when it ends, and when the loop is over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from workflow_play import FAIL, ISSUES, PASS, REJECT, Play, started, with_own

from upbeat.core.contract import event as events
from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.event import ClientName
from upbeat.core.workflow.decide.features import FEATURE_LEASE_SECONDS
from upbeat.core.workflow.decide.loop import ends_in_question
from upbeat.core.workflow.decision import ArchiveFeature, LoopLimits, TickCheckboxes
from upbeat.core.workflow.facts import LoopEnded, SessionClosed, TurnAllowed, apply_facts
from upbeat.core.workflow.state import PeerSession, RunStatus, StepStatus, StepVerdict


def finished(workflow: str = "single", **fields: object) -> Play:
    """A session whose steps have all ended well."""
    play = started(workflow, **fields)
    play.does("developer")
    return play


def released(play: Play) -> list[str]:
    return [fact.reason for fact in play.last.facts if isinstance(fact, TurnAllowed)]


def test_a_turn_without_a_workflow() -> None:
    """Without a workflow, every turn may end."""
    play = Play()
    play.prompt("what is this?")
    play.ends()

    assert ((), ()) == (play.effects, play.last.facts)


@pytest.mark.parametrize(
    "message", ["Which one?", "用哪个数据库？", "**Which of the two?**", "Which database?\n\n<!-- x -->"]
)
def test_a_question_to_the_user(message: str) -> None:
    """A turn that ends in a question to the user may end."""
    play = started("standard")
    play.ends(message)

    assert (True, "", ["question"]) == (ends_in_question(message), play.continuation, released(play))


@pytest.mark.parametrize("message", ["Shall I continue?", "Anything else?", "需要我继续吗？"])
def test_an_offer_is_continued_once(message: str) -> None:
    """An offer to go on is taken; an agent that only repeats it gets the user's answer, one that worked goes on."""
    play = started("standard")
    play.ends(message)

    assert play.continuation
    play.ends(message)
    assert ("", ["question"]) == (play.continuation, released(play))


@pytest.mark.parametrize("message", ["", "Done.", "Why? Because.", "a ? b : c", "see https://x.org/?q=1 for more"])
def test_messages_that_are_no_question(message: str) -> None:
    """A question mark elsewhere in the message is no question to the user."""
    assert not ends_in_question(message)


def test_a_question_by_the_clients_tool() -> None:
    """A turn in which the agent asked with the client's tool may end, unless it has worked on since."""
    play = started("standard")
    play.asks()
    play.ends()

    assert ("", ["paused_by_user"]) == (play.continuation, released(play))
    play.ends()
    assert play.continuation
    play.asks()
    play.runs("ls")
    play.ends()
    assert play.continuation


def test_a_question_of_the_user() -> None:
    """A turn that answers an unrelated question of the user may end; the next prompt continues the work."""
    play = started("standard")
    play.ends("Per host or in all?")
    play.prompt("what does the planner do?", is_unrelated_question=True)
    play.ends("It plans.")

    assert ("", ["paused_by_user"]) == (play.continuation, released(play))
    play.prompt("implement it without a queue")
    play.ends()
    assert play.continuation


def test_background_agents() -> None:
    """A turn may end while the client counts running subagents, because the client resumes it."""
    play = started("single")
    call = play.delegate("developer")
    play.returned(call, None, "a")
    play.ends(background_task_count=1)

    assert ("", ["background"], 0) == (play.continuation, released(play), play.state.loop.iterations)


def test_a_client_that_does_not_count_its_agents() -> None:
    """Codex drops subagents at the end of a turn: the turn continues to wait for a linked one, and others are lost."""
    waiting, refused = started("single", client=ClientName.CODEX_CLI), started("single", client=ClientName.CODEX_CLI)
    waiting.returned(waiting.delegate("developer"), None, "a")
    refused.delegate("developer")
    for play in (waiting, refused):
        for _turn in range(2):
            play.ends(background_task_count=None)

    assert "Still running: DEV. Wait for the results" in waiting.continuation
    assert (2, 0) == (waiting.state.loop.iterations, waiting.state.loop.turns_without_progress)
    assert () == refused.run.calls
    assert "delegate DEV" in refused.continuation


def test_any_progress_counts() -> None:
    """Changed files, boxes and steps are progress."""
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
    loop = play.state.loop

    assert (12, 0, "") == (loop.iterations, loop.turns_without_progress, loop.end_reason)


def test_the_loop_ends_without_progress() -> None:
    """The user and later prompts get the same number of turns without progress."""
    play = started("standard")
    for _turn in range(4):
        play.ends()
    assert "(no progress in 3 turns)" in play.notified
    play.prompt("what is a retry, in general?")
    play.prompt("add them to save_order")

    assert "The loop has ended (no progress in 3 turns)" in play.injected


def test_a_prompt_restarts_the_count() -> None:
    """A prompt of the user restarts the count of turns without progress."""
    play = started("standard")
    for _round in range(3):
        play.ends()
        play.ends()
        play.prompt("use the second way")

    assert "" == play.state.loop.end_reason


def test_a_disabled_loop() -> None:
    """With ``loop.enabled = off``, no turn is continued."""
    play = started("standard", limits=LoopLimits(is_enabled=False))
    play.ends()

    assert ("", RunStatus.RUNNING) == (play.continuation, play.run.status)


def test_open_boxes() -> None:
    """A workflow whose steps have finished is complete when all boxes are checked."""
    play = finished(tasks="- [x] DEV\n- [ ] tell the operators\n")
    play.ends()
    open_box = (play.continuation, play.run.status)
    play.tasks = "- [x] DEV\n- [x] tell the operators\n"
    play.ends()

    assert "1 boxes in tasks.md are open" in open_box[0]
    assert RunStatus.RUNNING is open_box[1]
    assert (RunStatus.COMPLETE, "") == (play.run.status, play.continuation)


def test_expired_evidence() -> None:
    """A workflow is not complete if files have changed since the tests ran."""
    play = started("debug")
    play.does("debugger", "It is the lock.")
    play.does("developer")
    play.tests(PASS)
    play.tree = "tree 2"
    play.ends()
    expired = (play.continuation, play.run.status)
    play.runs("pytest")
    play.ends()

    assert "files have changed since `pytest -q` (test) ran; run it again" in expired[0]
    assert RunStatus.RUNNING is expired[1]
    assert RunStatus.COMPLETE is play.run.status


def test_a_stage_that_continues_on_failure() -> None:
    """The workflow completes after the last attempt of RETRO, and the user learns that it has not passed."""
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
    assert "Not passed: RETRO" in play.notified
    assert "DEV=pass REVIEW=pass TEST=pass DEV#1=pass REVIEW#1=pass TEST#1=pass" in play.shown


def test_a_rejection_is_repaired() -> None:
    """A rejected review repeats DEV and REVIEW, but not the TEST that has passed."""
    play = started("quick")
    play.does("developer")
    play.does("code-reviewer", REJECT)
    play.tests(PASS)
    play.ends()

    assert ["DEV#1"] == play.now
    assert "error is swallowed" not in play.continuation.splitlines()[0]
    play.does("developer")
    assert "DEV=pass DEV#1=pass REVIEW=reject TEST=pass RETRO" == play.shown
    assert ["REVIEW", "TEST"] == play.now


def used_up(**changes: object) -> Play:
    """A play of debug whose TEST has failed three times."""
    play = started("debug", **changes)
    play.does("debugger")
    play.does("developer")
    for attempt in range(3):
        play.tests(FAIL, exit_code=1)
        if attempt < 2:
            play.does("debugger")
            play.does("developer")
    return play


def test_the_model_says_once_what_waits_for_the_user() -> None:
    """After the last attempt of a step the user is told, and the turn is continued once with what failed."""
    play = used_up()
    play.ends("All is done, everything works.")
    told, continuation = play.notified, play.continuation

    assert "workflow debug waits for you: TEST has failed 3 times. Say continue to try it again, or stop" in told
    assert continuation.startswith("Tell the user this now")
    assert continuation.endswith(f"\n{told}\nTEST: The total is off by one.")
    assert ("needs_human", RunStatus.NEEDS_HUMAN) == (play.state.needs_user, play.run.status)
    for _turn in range(3):
        play.ends("I have nothing to add.")
        assert ("", "") == (play.notified, play.continuation)
    play.prompt("continue")
    assert (["TEST"], "") == (play.now, play.state.needs_user)


def test_no_continuation_without_the_loop() -> None:
    """With the loop off the user is told, and the turn ends."""
    play = used_up(limits=LoopLimits(is_enabled=False))
    play.ends()

    assert ("", True) == (play.continuation, "TEST has failed 3 times" in play.notified)


def test_the_files_of_a_feature() -> None:
    """A step that passes checks its box, and a complete workflow archives the feature."""
    play = Play()
    play.prompt("/upbeat:single retry-limit", features_in_progress=("retry-limit",))
    play.does("developer")
    play.ends()

    assert [TickCheckboxes("retry-limit", ("DEV",)), ArchiveFeature("retry-limit")] == play.workspace_actions


def test_the_clients_own_limit() -> None:
    """The last continuation before a client ends the turn itself tells the user; tool calls start the count anew."""
    limits = LoopLimits(max_turns=100, max_turns_without_progress=100)
    capped, uncapped, working = (
        started("standard", limits=limits, traits=ClientTraits(max_continuations_in_a_row=most)) for most in (8, 0, 8)
    )
    said = []
    for _turn in range(9):
        said.append(bool(capped.ends().facts and capped.continuation))
        uncapped.ends()
        working.ends()
        working.runs("ls")

    assert [True] * 8 + [False] == said
    assert "client_limit" == capped.state.loop.end_reason
    assert ("", "") == (uncapped.state.loop.end_reason, working.state.loop.end_reason)


def test_a_client_that_ends_the_turn_itself() -> None:
    """If the client did not continue the turn, the next prompt says so."""
    play = started("standard", limits=LoopLimits(max_turns=100, max_turns_without_progress=100))
    for _turn in range(9):
        play.ends()
    play.prompt("what happened?", client=ClientTraits(max_continuations_in_a_row=8))

    assert ("overridden", RunStatus.RUNNING) == (play.state.loop.end_reason, play.run.status)
    assert "the client ended the turn" in play.notified


def test_a_claim_without_evidence_is_answered() -> None:
    """The main agent learns why its PASS does not count."""
    play = started("tdd", traits=UNKNOWN_CLIENT)
    play.does("tester", "The specification is written.")
    play.does("developer")
    play.ends('Green.\n<!-- VERDICT: {"stage": "TEST:2", "result": "PASS"} -->')

    assert "TEST:2 was reported as passed, but" in play.continuation


def test_a_failed_stage_needs_no_evidence() -> None:
    """A stage that failed and was continued from needs no evidence of a pass."""
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

    assert RunStatus.COMPLETE is play.run.status
    assert play.continuation.startswith("Tell the user this now")
    assert play.continuation.endswith("Not passed: SMOKE.\nSMOKE: The total is off by one.")
    play.ends()
    assert "" == play.continuation


def test_a_repair_verifies() -> None:
    """A TEST that is inserted as a repair verifies and needs evidence, even if the workflow only specifies."""
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


def test_stages_that_repair_each_other() -> None:
    """A repair never starts the stage that it repairs; the user is asked instead."""
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


def test_continue_keeps_verdicts() -> None:
    """After ``continue``, a rejection that waits for the rest of its group still leads to its repair."""
    play = started("quick")
    play.does("developer")
    play.delegate("tester", "test")
    play.started("tester", "t")
    play.does("code-reviewer", REJECT)
    play.prompt("continue")
    play.runs("pytest")
    play.stopped("tester", "t", PASS)

    assert ["DEV#1"] == play.now


def test_an_agent_that_never_returns() -> None:
    """The loop ends while a subagent does not return, and after ``continue`` its step is pending."""
    play = started("single", client=ClientName.CODEX_CLI, limits=LoopLimits(max_turns=3))
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


def contending() -> tuple[Play, Play]:
    """Two sessions that work on the same feature, the second one knowing the first."""
    first, second = Play(session_id="first"), Play(session_id="second", at=1_000_010.0)
    for play in (first, second):
        play.prompt("/upbeat:standard retry-limit", features_in_progress=("retry-limit",))
    second.peer_sessions = (PeerSession("first", first.state, second.at),)
    return first, second


def test_two_sessions_with_one_feature() -> None:
    """The session that started first continues; the other one waits until the first is idle for long."""
    first, second = contending()
    second.ends()

    assert "another session (first) is working on retry-limit" in second.notified
    assert second.continuation.endswith(f"\n{second.notified}")
    second.ends(was_continued=True)
    assert ("", "") == (second.continuation, second.notified)
    second.at += FEATURE_LEASE_SECONDS
    second.ends()
    assert second.continuation
    first.peer_sessions = (PeerSession("second", second.state, first.at),)
    first.ends()
    assert first.continuation


@pytest.mark.parametrize("end", [SessionClosed(), LoopEnded("no_progress")], ids=["closed", "loop ended"])
def test_a_session_that_has_ended_holds_no_feature(end: SessionClosed | LoopEnded) -> None:
    """A session that was closed, or whose loop has ended, does not keep others from its feature."""
    first, second = contending()
    second.peer_sessions = (PeerSession("first", apply_facts([end], first.state), second.at),)
    second.ends()

    assert ("", True) == (second.notified, bool(second.continuation))


def test_the_token_limit() -> None:
    """Only tokens used since the workflow began count."""
    play = started("quick", tokens=9_000_000)
    play.ends()
    before = bool(play.continuation)
    play.tokens += 5_000_000
    play.ends()

    assert (True, "tokens") == (before, play.state.loop.end_reason)


def test_the_error_limit() -> None:
    """A turn that ends normally restarts the count of failed turns."""
    play = started("quick")
    for _ in range(3):
        play.fails()
        play.fails()
        play.tree += "."
        play.ends()

    assert ("", True) == (play.state.loop.end_reason, bool(play.continuation))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (lambda play: play.ends("Which database shall I use? I will wait for your decision."), "question"),
        (lambda play: play.asks(), "question"),
        (lambda play: play.fails(), "turn_failed"),
        (lambda play: play.handle(events.TurnInterrupted(play.source)), "interrupted"),
    ],
)
def test_whose_turn_it_is(how: Callable[[Play], object], reason: str) -> None:
    """After a question, an error or an interruption it is the user's turn, until a prompt or a call of the agent."""
    play = started("quick")
    assert "" == play.state.awaits_user
    how(play)
    assert reason == play.state.awaits_user

    play.prompt("go on")
    assert "" == play.state.awaits_user
    how(play)
    play.runs("ls")
    assert "" == play.state.awaits_user
