"""What the user of a real client learns when a workflow ends without success."""

from __future__ import annotations

from .runs import run
from .workflow_sessions import Played, course, effects, rounds_of, said, shared_session, status

exhausted = shared_session("[workflow:debug] the total", rounds_of("exhausted"))
"""`debug` whose TEST fails three times, after which the main agent claims that all is well."""

TOLD = "upbeat: workflow debug waits for you: TEST has failed 3 times."


def test_the_model_has_to_say_it(exhausted: Played) -> None:
    """The user gets a message, and the turn is continued once to the model, which reads what failed; then it ends."""
    turns = [turn for turn in exhausted.done.turns if not turn.from_subagent]

    assert "run needs_human TEST" == course(exhausted.records)[-1]
    assert [True] == [text.startswith(TOLD) for text in effects(exhausted.records, "notify_user")]
    assert ["waits_for_user"] == said(exhausted.records, "loop")
    assert (0, 1) == (turns[-2].count(TOLD), turns[-1].count(TOLD))
    assert ["user"] == turns[-1].roles_with("Tell the user this now")
    assert 1 == turns[-1].count("TEST: On «TEST THE REST.»: see above.")


def test_the_status_says_so(exhausted: Played) -> None:
    """A failed step does not count as done, and the exit code is one of its own."""
    shown = run(exhausted.sandbox, ["upbeat", "status"])
    [session] = status(exhausted.sandbox)

    assert 3 == shown.exit_code
    assert "debug needs you  (6/7 done)  not passed: TEST  TEST has used all its attempts" in shown.stdout
    assert ("needs_human", 6, ["TEST"]) == (
        session["needs_user"],
        session["workflow"]["done"],
        session["workflow"]["failed"],
    )
    last = session["workflow"]["step_details"][-1]
    assert ("TEST", "fail", 3, 3) == tuple(last[name] for name in ("key", "result", "tries", "failures"))
