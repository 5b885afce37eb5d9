"""The next step is told when a subagent has returned."""

from __future__ import annotations

from workflow_play import FAIL, PASS, Play, started

from upbeat.core.contract import event as events


def notified(play: Play) -> str:
    """What the main agent reads beside the client's report of a background task."""
    origin = events.PromptOrigin.TASK_NOTIFICATION
    play.handle(events.PromptSubmitted(play.source, "<task-notification>", origin))
    return play.injected


def test_the_return_of_the_call_tells_it() -> None:
    """It comes with the result of the delegating call, once, without a continuation."""
    play = started("quick")
    play.does("developer")
    told = play.injected
    play.runs("ls")

    assert told.startswith("upbeat · workflow quick: 1/4 done.\nNext steps, to delegate in parallel")
    assert ("", 0) == (play.injected, play.state.loop.iterations)


def test_a_group_is_told_of_when_it_is_over() -> None:
    """While others of the group still work, there is nothing to do next."""
    play = started("quick")
    play.does("developer")
    tester = play.delegate("tester")
    play.does("code-reviewer")
    early = play.injected
    play.runs("pytest")
    play.returned(tester, PASS, "t")

    assert "" == early
    assert (
        play.injected
        == "upbeat · workflow quick: 3/4 done.\nNext step: delegate RETRO to the subagent upbeat:retrospective."
    )


def test_a_repair_is_told_of() -> None:
    """After a failed test, the repair comes next."""
    play = started("tdd")
    play.does("tester")
    play.does("developer")
    call = play.delegate("tester")
    play.returned(call, FAIL, "t")

    assert "Next step: delegate DEBUG#1" in play.injected


def test_an_unclear_result_is_told_with_its_reason() -> None:
    """The main agent learns why the step is to be repeated."""
    play = started("debug")
    play.does("debugger")
    play.does("developer")
    call = play.delegate("tester")
    play.returned(call, PASS, "t")

    assert "TEST was reported as passed, but" in play.injected
    assert "Next step: delegate TEST to" in play.injected


def test_the_notification_of_a_background_task_tells_it() -> None:
    """The call returned when the agent was launched; the client's own prompt comes when it has ended."""
    play = started("tdd")
    call = play.delegate("tester")
    play.returned(call, None, "a")
    launched = play.injected
    play.stopped("tester", "a", PASS)

    assert "" == launched
    assert "Next step: delegate DEV" in notified(play)
    assert "" == notified(play)


def test_a_tool_that_waits_for_agents_tells_it() -> None:
    """Any result of the main agent's own tools does, but none of a subagent's."""
    play = started("tdd")
    call = play.delegate("tester")
    play.returned(call, None, "a")
    play.stopped("tester", "a", PASS)
    other = events.EventSource(play.client, "/repo", play.session_id, "other")
    play.handle(events.ToolFinished(other, events.Call("x", "Bash", {})))
    for_other = play.injected
    play.handle(events.ToolFinished(play.source, events.Call("y", "wait_agent", {})))

    assert ("", True) == (for_other, "Next step: delegate DEV" in play.injected)


def test_a_continuation_tells_it_instead() -> None:
    """Nothing is said twice."""
    play = started("tdd")
    call = play.delegate("tester")
    play.returned(call, None, "a")
    play.stopped("tester", "a", PASS)
    play.ends()
    play.runs("ls")

    assert "" == play.injected


def test_nothing_is_told_where_it_does_not_help() -> None:
    """Not where context does not reach the model, not in a loop that has ended, and not when all steps are done."""
    play = started("single")
    play.does("developer")
    assert "" == play.injected

    deaf = started("tdd")
    call = deaf.delegate("tester")
    deaf.handle(events.SubagentReturned(deaf.source, events.Call(call, "Agent", {}), "a", PASS), can_inject=False)
    assert "" == deaf.injected
    deaf.handle(events.ToolFinished(deaf.source, events.Call("y", "Bash", {})))
    assert "Next step: delegate DEV" in deaf.injected
