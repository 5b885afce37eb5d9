"""The loop on the real clients: turns are continued while there is work, and let go when the user wants that."""

from __future__ import annotations

import pytest
from processes import read_log

from .received import Request
from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import (
    CLAUDES,
    Played,
    carry_out,
    course,
    effects,
    ended,
    prepare,
    rounds_of,
    said,
    set_up,
    shared,
    shared_session,
    status,
)

SINGLE = "[workflow:single] add retries to save_order"
IDLE: list[Round] = ["That would be all from me."]
ASKS: list[Round] = ["Which of the two databases is meant?"]
VAGUE_AT_FIRST = ({"said": ["Review the code."], "reply": [{"text": "I have looked at it."}]},)


idle = shared_session(SINGLE, IDLE)
"""A main agent that does nothing but end its turn."""


unsure = shared_session("[workflow:quick] add retries to save_order", rounds_of("unsure"), VAGUE_AT_FIRST)
"""`quick` whose reviewer forgets the verdict, and whose tester claims what it has not seen."""


@shared
def stopped(sandbox: Sandbox, client: str) -> list[Played]:
    """A turn that ends in a question, and the user's answer: stop."""
    prepare(sandbox, client)
    asked = carry_out(sandbox, client, SINGLE, ASKS)
    before = read_log(sandbox.home)
    answered = carry_out(sandbox, client, "stop", IDLE, session=before[-1]["session_id"])
    return [Played(sandbox, asked, before), Played(sandbox, answered, read_log(sandbox.home)[len(before) :])]


def root_turns(played: Played) -> list[Request]:
    """The requests of the main agent."""
    return [turn for turn in played.done.turns if not turn.from_subagent]


def test_an_idle_turn_is_continued(idle: Played) -> None:
    """Each time the model reads once, as the user's words, what comes next; the last time, what to tell the user."""
    turns = root_turns(idle)

    assert [0, 1, 2, 3, 3] == [turn.count("workflow single: DEV\nNext step: delegate DEV to") for turn in turns]
    onward = [turns[-1].texts_with(f"[upbeat {number}/30] workflow single: DEV\n") for number in (1, 2, 3)]
    assert [["user"]] * 3 == [[one.role for one in each] for each in onward]
    assert [0, 0, 0, 0, 1] == [turn.count("Tell the user this now") for turn in turns]


def test_idle_turns_end_by_themselves(idle: Played) -> None:
    """After three turns without progress it ends, and says why and what is left."""

    assert [*["continue_turn"] * 3, "ended", "allow_end"] == said(idle.records, "loop")
    assert ["run started single"] == course(idle.records)
    [told] = effects(idle.records, "notify_user")
    assert told.startswith("upbeat: paused workflow single (no progress in 3 turns). ")
    [session] = status(idle.sandbox)
    assert ("running", "no_progress") == (session["workflow"]["status"], session["loop"]["end_reason"])


def test_a_turn_that_ends_in_a_question_ends(stopped: list[Played]) -> None:
    """It is not continued."""
    asked, _ = stopped

    assert (["allow_end"], 1) == (said(asked.records, "loop"), len(root_turns(asked)))


def test_stop_ends_the_workflow(stopped: list[Played]) -> None:
    """In the resumed session the turn ends with all its work left."""
    _, answered = stopped

    assert 1 == len(root_turns(answered))
    assert ["run stopped stopped"] == [one for one in course(answered.records) if one.startswith("run ")]
    assert "stopped workflow single" in effects(answered.records, "notify_user")[-1]
    assert ["stopped"] == [one["workflow"]["status"] for one in status(answered.sandbox)]


def test_an_unclear_answer_is_returned_once(unsure: Played) -> None:
    """The reviewer is asked for its verdict and gives it; the tester is asked to run the tests and does not."""

    assert ["REVIEW", "TEST"] == sorted(asked(unsure))
    assert [
        *("run started quick", *ended("DEV"), *ended("REVIEW"), *ended("TEST", "unclear"), *ended("TEST")),
        *(*ended("RETRO"), "run complete"),
    ] == course(unsure.records)


def asked(played: Played) -> list[str]:
    """The steps whose agents were sent back."""
    return [
        one["inputs"]["step"]
        for record in played.records
        for one in record.get("explanations", ())
        if one["decision"] == "request_verdict"
    ]


@pytest.mark.parametrize("client", CLAUDES)
def test_cap_of_the_client_is_recorded(sandbox: Sandbox, client: str) -> None:
    """Claude Code lets the ninth turn in a row end whatever a hook says, so the eighth tells the user."""
    set_up(sandbox, "[loop]\nmax_turns_without_progress = 20\nmax_turns = 100\n")
    done = carry_out(sandbox, client, SINGLE, IDLE)

    assert [*["continue_turn"] * 7, "ended", "allow_end"] == said(read_log(sandbox.home), "loop")
    assert [1] == [turn.count("Tell the user this now") for turn in done.turns[-1:]]
    [session] = status(sandbox)
    assert ("running", "client_limit") == (session["workflow"]["status"], session["needs_user"])


def test_codex_is_capped_by_the_settings(sandbox: Sandbox) -> None:
    """Codex itself never stops a hook; the user's cap of turns does."""
    prepare(sandbox, "codex")
    set_up(sandbox, "[loop]\nmax_turns_without_progress = 20\nmax_turns = 12\n")
    carry_out(sandbox, "codex", SINGLE, IDLE)

    assert [*["continue_turn"] * 12, "ended", "allow_end"] == said(read_log(sandbox.home), "loop")
    assert "turns" == status(sandbox)[0]["loop"]["end_reason"]
