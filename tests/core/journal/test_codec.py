"""Records, facts and states come back from JSON as they went in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from journal_values import FACTS, RUN, STATES, record

from upbeat.core.journal.chain import canonical_json
from upbeat.core.journal.codec import (
    FACT_TYPES,
    decode_facts,
    decode_record,
    decode_state,
    encode_record,
    encode_state,
    make_state_storable,
)
from upbeat.core.journal.record import Record
from upbeat.core.workflow.facts import Fact, StepFinished, TurnContinued, WorkflowStarted
from upbeat.core.workflow.reducer import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState, StepVerdict

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


@given(FACTS)
def test_facts_come_back(facts: tuple[Fact, ...]) -> None:
    """Every fact that can happen is the same after it was stored."""
    body = json.loads(canonical_json(encode_record(Record("", "x", facts=facts))))

    assert facts == decode_facts(body)


@given(STATES)
def test_states_come_back(state: SessionState) -> None:
    """Every state is the same after it was stored."""
    assert state == decode_state(encode_state(state))
    assert state == make_state_storable(state)


@given(FACTS, STATES)
def test_what_is_stored_folds_to_what_was_folded(facts: tuple[Fact, ...], state: SessionState) -> None:
    """The state that stored facts make is the state that the facts made."""
    assert apply_facts(facts, state) == apply_facts(
        decode_facts(encode_record(Record("", "x", facts=facts))), decode_state(encode_state(state))
    )


def test_a_record_comes_back() -> None:
    """A record is the same after it was stored; its mappings are JSON objects."""
    stored = record(
        facts=(TurnContinued("f", 0), StepFinished("DEV", StepVerdict.FAIL, "2 tests red")), turn={"run_id": "r"}
    )

    assert stored == decode_record(json.loads(canonical_json(encode_record(stored))))


def test_what_a_newer_version_added_is_left_alone() -> None:
    """Fields and kinds of facts that this version does not know do not make a record or a state unreadable."""
    body = encode_record(record(facts=(TurnContinued("f", 0),))) | {"colour": "red"}
    body["facts"] = [{"kind": "dreamt"}, *({**fact, "mood": 1} for fact in body["facts"])]
    state = json.loads(encode_state(replace(NEW_SESSION, run=RUN)))
    state |= {"mood": 1, "run": state["run"] | {"mood": 1}}

    assert record(facts=(TurnContinued("f", 0),)) == decode_record(body)
    assert replace(NEW_SESSION, run=RUN) == decode_state(json.dumps(state))


def test_a_state_of_an_older_version_is_filled_up() -> None:
    """What an older version did not store has its default."""
    assert replace(NEW_SESSION, client="codex-cli") == decode_state('{"client": "codex-cli"}')


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", '{"run": 5}', '{"loop": {"consecutive_errors": "many"}}', "\ud800"]
)
def test_an_unreadable_state_is_an_error(text: str) -> None:
    """What is no state is not taken for one."""
    with pytest.raises(ValueError, match=r"."):
        decode_state(text)


@pytest.mark.parametrize(
    "fact", [{"kind": "turn_continued"}, {"kind": "step_finished", "step_key": "DEV", "verdict": "great"}]
)
def test_an_unreadable_fact_is_an_error(fact: dict[str, str]) -> None:
    """A fact of a known kind in another form is not left out in silence."""
    with pytest.raises(ValueError, match=r"."):
        decode_facts({"facts": [fact]})


def test_every_kind_of_fact_is_known() -> None:
    """Each fact has a kind of its own."""
    assert len(get_args(Fact)) == len(FACT_TYPES)


def test_states_and_records_are_clean() -> None:
    """No secret comes through, wherever it stands."""
    run = replace(RUN, goal=f"use {KEY}")
    stored = record(event_fields={"x": KEY}, root=f"/{KEY}", facts=(WorkflowStarted(run, 0.0),), turn={KEY: [KEY]})

    assert KEY not in canonical_json(encode_record(stored))
    assert KEY not in encode_state(make_state_storable(replace(NEW_SESSION, run=run, handover_client=KEY)))
