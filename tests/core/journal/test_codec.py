"""Records, facts and states come back from JSON as they went in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from journal_values import FACTS, RUN, STATES, record

from upbeat.core.journal.chain import canonical
from upbeat.core.journal.codec import KINDS, body_of, facts_in, fitted, record_in, state_in, text_of
from upbeat.core.journal.record import Record
from upbeat.core.workflow.facts import Fact, SentOn, StepFinished, WorkflowStarted
from upbeat.core.workflow.fold import fold
from upbeat.core.workflow.state import NEW, SessionState
from upbeat.core.workflow.verdict import Verdict

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


@given(FACTS)
def test_facts_come_back(facts: tuple[Fact, ...]) -> None:
    """Every fact that can happen is the same after it was stored."""
    body = json.loads(canonical(body_of(Record("", "x", facts=facts))))

    assert facts == facts_in(body)


@given(STATES)
def test_states_come_back(state: SessionState) -> None:
    """Every state is the same after it was stored."""
    assert state == state_in(text_of(state))
    assert state == fitted(state)


@given(FACTS, STATES)
def test_what_is_stored_folds_to_what_was_folded(facts: tuple[Fact, ...], state: SessionState) -> None:
    """The state that stored facts make is the state that the facts made."""
    assert fold(facts, state) == fold(facts_in(body_of(Record("", "x", facts=facts))), state_in(text_of(state)))


def test_a_record_comes_back() -> None:
    """A record is the same after it was stored; its mappings are JSON objects."""
    stored = record(facts=(SentOn("f", 0), StepFinished("DEV", Verdict.FAIL, "2 tests red")), turn={"run_id": "r"})

    assert stored == record_in(json.loads(canonical(body_of(stored))))


def test_what_a_newer_version_added_is_left_alone() -> None:
    """Fields and kinds of facts that this version does not know do not make a record or a state unreadable."""
    body = body_of(record(facts=(SentOn("f", 0),))) | {"colour": "red"}
    body["facts"] = [{"kind": "dreamt"}, *({**fact, "mood": 1} for fact in body["facts"])]
    state = json.loads(text_of(replace(NEW, run=RUN)))
    state |= {"mood": 1, "run": state["run"] | {"mood": 1}}

    assert record(facts=(SentOn("f", 0),)) == record_in(body)
    assert replace(NEW, run=RUN) == state_in(json.dumps(state))


def test_a_state_of_an_older_version_is_filled_up() -> None:
    """What an older version did not store has its default."""
    assert replace(NEW, client="codex-cli") == state_in('{"client": "codex-cli"}')


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"run": 5}', '{"loop": {"errors": "many"}}', "\ud800"])
def test_an_unreadable_state_is_an_error(text: str) -> None:
    """What is no state is not taken for one."""
    with pytest.raises(ValueError, match=r"."):
        state_in(text)


@pytest.mark.parametrize("fact", [{"kind": "sent_on"}, {"kind": "step_finished", "key": "DEV", "verdict": "great"}])
def test_an_unreadable_fact_is_an_error(fact: dict[str, str]) -> None:
    """A fact of a known kind in another form is not left out in silence."""
    with pytest.raises(ValueError, match=r"."):
        facts_in({"facts": [fact]})


def test_every_kind_of_fact_is_known() -> None:
    """Each fact has a kind of its own."""
    assert len(get_args(Fact)) == len(KINDS)


def test_states_and_records_are_clean() -> None:
    """No secret comes through, wherever it stands."""
    run = replace(RUN, goal=f"use {KEY}")
    stored = record(about={"x": KEY}, root=f"/{KEY}", facts=(WorkflowStarted(run, 0.0),), turn={KEY: [KEY]})

    assert KEY not in canonical(body_of(stored))
    assert KEY not in text_of(fitted(replace(NEW, run=run, handover=KEY)))
