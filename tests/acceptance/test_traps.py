"""The traps that a workflow must survive, each by its number in the design: 1 to 4 and 14."""

from __future__ import annotations

from doctor_values import NOW, client, installation
from workflow_play import FAIL, PASS, REJECT, Play

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.doctor.diagnose import diagnose
from upbeat.core.doctor.findings import Fault, HookPoint, Reason
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import RunStatus, StepStatus

MESSAGES = load_messages("doctor", "en")


def started(workflow: str, **fields: object) -> Play:
    """Return a session that runs ``workflow``."""
    play = Play(**fields)  # type: ignore[arg-type]
    play.begin()
    play.prompt(f"/upbeat:{workflow} add retries to the client")
    return play


def test_trap_1_a_failed_last_stage_is_not_complete() -> None:
    """After the final TEST fails, the turn is continued with the repair, and the run is not complete."""
    play = started("tdd")
    play.does("tester", "The specification is in bdd.md.")
    play.does("developer")
    play.tests(FAIL, exit_code=1)
    play.ends()

    assert "complete" not in play.notified
    assert "DEBUG#1" in play.continuation
    assert RunStatus.RUNNING is play.run.status


def test_trap_1_the_retry_completes_the_run() -> None:
    """After debugger, developer and tester the pass is recorded, and the workflow is complete."""
    play = started("tdd")
    play.does("tester", "The specification is in bdd.md.")
    play.does("developer")
    play.tests(FAIL, exit_code=1)
    play.does("debugger", "The bound is exclusive.")
    play.does("developer", "It is inclusive now.")
    play.tests(PASS)
    play.ends()

    assert "TEST=pass DEV=pass DEBUG#1=pass DEV#1=pass TEST:2=pass" == play.shown
    assert (RunStatus.COMPLETE, "") == (play.run.status, play.continuation)
    assert () == play.run.calls


def test_trap_2_the_second_tester_before_the_developer_is_denied() -> None:
    """TEST:2 cannot start before DEV, although it has the agent of the first TEST."""
    play = started("tdd")
    play.does("tester", "The specification is in bdd.md.")
    denied = play.delegate("tester")

    assert "" == denied
    assert "TEST:2 cannot start yet: DEV must finish first" in play.denied
    assert StepStatus.PENDING is play.run.find_step("TEST:2").status  # type: ignore[union-attr]


def test_trap_2_secure_names_all_three_members_after_dev() -> None:
    """In ``secure`` REVIEW, TEST and SECURITY follow DEV at the same time."""
    play = started("secure")
    for agent in ("planner", "architect", "tester", "developer"):
        play.does(agent, "Done: see the files.")
    play.ends()

    assert ["REVIEW", "TEST:2", "SECURITY"] == play.now
    assert "in parallel in one message: REVIEW" in play.continuation
    assert all(
        word in play.continuation for word in ("upbeat:code-reviewer", "upbeat:tester", "upbeat:security-reviewer")
    )


def test_trap_3_sessions_stay_apart() -> None:
    """Two sessions in one repository, their events interleaved, each have their own workflow."""
    one, two = started("quick", session_id="one"), started("debug", session_id="two")
    one.does("developer", "Written.")
    two.does("debugger", "It is the lock.")

    assert ("quick", "debug") == (one.run.workflow, two.run.workflow)
    assert ["REVIEW", "TEST"] == one.now
    assert ["DEV"] == two.now


def test_trap_3_two_developers_of_the_same_name() -> None:
    """Two developers in parallel: the step ends when both calls have returned, whichever comes first."""
    play = started("single")
    first, second = play.delegate("developer"), play.delegate("developer")
    play.started("developer", "b")
    play.started("developer", "a")
    play.stopped("developer", "b", "The parser is written.")
    play.returned(second, "The parser is written.", "b")
    after_one = play.run.find_step("DEV").status  # type: ignore[union-attr]
    play.stopped("developer", "a", "The printer is written.")
    play.returned(first, "The printer is written.", "a")

    assert (StepStatus.ACTIVE, StepStatus.DONE) == (after_one, play.run.find_step("DEV").status)  # type: ignore[union-attr]
    assert () == play.run.calls + play.run.unmatched_results


def test_trap_4_the_loop_stops_by_itself() -> None:
    """Of twenty turns without progress three are continued to work and one to tell the user; then the loop ends."""
    play = started("standard")
    continuations = [bool(play.ends().facts and play.continuation) for _turn in range(20)]

    assert [True] * 4 + [False] * 16 == continuations
    told = [effect for effect in play.effects if isinstance(effect, NotifyUser)]
    assert ("no_progress", []) == (play.state.loop.end_reason, told)


def test_trap_4_a_question_ends_the_turn() -> None:
    """A turn that ends in a question is not continued; the loop continues after the answer."""
    play = started("standard")
    play.ends("Should retries be counted per host or in all?")
    asked = play.continuation
    play.prompt("implement it per host")
    play.ends("I have begun.")

    assert ("", True) == (asked, bool(play.continuation))


def test_trap_4_errors_count() -> None:
    """Three failed turns in a row end the loop."""
    play = started("standard")
    for _turn in range(3):
        play.fails()
    play.ends()

    assert "errors" == play.state.loop.end_reason
    assert "Tell the user this now" in play.continuation
    play.ends()
    assert "" == play.continuation


def test_trap_4_every_cap_ends_the_loop() -> None:
    """Turns, minutes and tokens end the loop even if there is progress."""
    endless = LoopLimits(max_turns=5, max_minutes=10, max_tokens=1000)
    by_turns, by_time, by_tokens = (started("standard", limits=endless) for _session in range(3))
    for turn in range(10):
        by_turns.tree = f"tree {turn}"
        by_turns.ends()
    by_time.at += 601
    by_time.ends()
    by_tokens.tokens = 1001
    by_tokens.ends()

    assert ("turns", 5) == (by_turns.state.loop.end_reason, by_turns.state.loop.iterations)
    assert ("minutes", "tokens") == (by_time.state.loop.end_reason, by_tokens.state.loop.end_reason)


def test_trap_4_a_word_stops_it() -> None:
    """``stop`` ends the loop at once; ``/upbeat:continue`` resumes it."""
    play = started("standard")
    play.does("planner", "Planned.")
    play.prompt("停!")
    play.ends()
    stopped = (play.run.status, play.continuation)
    play.prompt("/upbeat:continue")
    play.ends()

    assert (RunStatus.STOPPED, "") == stopped
    assert ["ARCH"] == play.now
    assert "ARCH" in play.continuation


def test_double_failure_has_the_failed_test_first() -> None:
    """After TEST FAIL and REVIEW REJECT the debugger runs first, and the developer gets both reasons."""
    play = started("quick")
    play.does("developer", "Written.")
    reviewer, tester = play.delegate("code-reviewer"), play.delegate("tester")
    play.runs("pytest", 1)
    play.returned(reviewer, REJECT)
    early = play.shown
    play.returned(tester, FAIL)
    debugger = play.delegate("debugger")
    play.returned(debugger, "The bound is exclusive.")
    play.delegate("developer")

    assert "#" not in early
    assert "DEV=pass DEBUG#1=pass DEV#1 REVIEW=reject TEST=fail RETRO" == play.shown
    assert "off by one" in play.prepended
    assert "error is swallowed" in play.prepended


def test_the_third_failure_needs_the_user() -> None:
    """After the third failure the model tells the user and no more; the next prompt says so again."""
    play = started("tdd")
    play.does("tester", "The specification is in bdd.md.")
    play.does("developer")
    for number in range(3):
        play.tests(FAIL, exit_code=1)
        if number < 2:
            play.does("debugger", "A guess.")
            play.does("developer", "Changed.")
    play.ends()

    assert (RunStatus.NEEDS_HUMAN, "TEST:2") == (play.run.status, play.run.reason)
    assert "TEST:2 has failed 3 times" in play.continuation
    play.ends()
    assert "" == play.continuation
    play.prompt("what is in the way?")
    assert "TEST:2 has used all its attempts" in play.injected


def test_trap_14_an_untrusted_hook_is_inactive() -> None:
    """A hook of Codex without trust, or changed since: its hook point is inactive, whatever it did before."""
    for reason in (Reason.UNTRUSTED, Reason.TRUST_CHANGED):
        seen = client(client="codex-cli", faults=(Fault(reason, "Stop", frozenset({HookPoint.END})),))
        report = diagnose(NOW, [seen], installation(), MESSAGES)

        assert not report.active
        assert [HookPoint.END] == [point.hook_point for point in report.clients[0].hook_points if not point.active]
