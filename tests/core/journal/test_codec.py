"""Records, facts and states are stored as clean, bounded JSON, come back as they were, and are chained by hashes."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import FACTS, JSON, RUN, STATES, record

from upbeat.core.journal import codec
from upbeat.core.journal.record import ChainBreak, Record
from upbeat.core.workflow.facts import Fact, WorkflowStarted, apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState, StepVerdict

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
REDACTED = "<redacted:aws-access-key>"
NOT_NEXT = "does not follow the record before it: one was taken out, put in or changed"
CHANGED = "was changed after it was written"


@given(FACTS, STATES)
def test_facts_and_states_come_back(facts: tuple[Fact, ...], state: SessionState) -> None:
    """Every fact and every state is the same after it was stored, so folding them gives the same state."""
    decoded = codec.decode_facts(json.loads(codec.canonical_json(codec.encode_record(Record("", "x", facts=facts)))))

    assert facts == decoded
    assert state == codec.decode_state(codec.encode_state(state)) == codec.make_state_storable(state)
    assert apply_facts(facts, state) == apply_facts(decoded, codec.decode_state(codec.encode_state(state)))


def test_additions_of_newer_versions_are_ignored() -> None:
    """Fields and kinds of facts that this version does not know make neither a record nor a state unreadable."""
    started = WorkflowStarted(RUN, 1.0)
    body = codec.encode_record(record(facts=(started,))) | {"color": "red"}
    body["facts"] = [{"kind": "dreamt"}, *({**fact, "mood": 1} for fact in body["facts"])]
    state = json.loads(codec.encode_state(replace(NEW_SESSION, run=RUN)))
    state |= {"mood": 1, "run": state["run"] | {"mood": 1}}

    assert (started,) == codec.decode_facts(body)
    assert replace(NEW_SESSION, run=RUN) == codec.decode_state(json.dumps(state))


def test_a_state_of_an_older_version() -> None:
    """A field that an older version did not store has its default."""
    assert replace(NEW_SESSION, client="codex-cli") == codec.decode_state('{"client": "codex-cli"}')


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", '{"run": 5}', '{"loop": {"consecutive_errors": "many"}}', "\ud800"]
)
def test_an_unreadable_state_is_an_error(text: str) -> None:
    """A text that is not a state raises ValueError."""
    with pytest.raises(ValueError, match=r"."):
        codec.decode_state(text)


@pytest.mark.parametrize(
    "fact", [{"kind": "turn_continued"}, {"kind": "step_finished", "step_key": "DEV", "verdict": "great"}]
)
def test_an_unreadable_fact_is_an_error(fact: dict[str, str]) -> None:
    """A fact of a known kind in another form raises ValueError."""
    with pytest.raises(ValueError, match=r"."):
        codec.decode_facts({"facts": [fact]})


def test_every_kind_of_fact_is_known() -> None:
    """Each fact has a kind of its own."""
    assert {fact.__name__ for fact in codec.FACT_KINDS} == {fact.__name__ for fact in Fact.__subclasses__()}
    assert len(codec.FACT_KINDS) == len(set(codec.FACT_KINDS.values()))


def test_records_and_states_have_no_secrets() -> None:
    """A secret is redacted in every field of a record and of a state."""
    run = replace(RUN, goal=f"use {KEY}")
    stored = record(event_fields={"x": KEY}, root=f"/{KEY}", facts=(WorkflowStarted(run, 0.0),), turn={KEY: [KEY]})

    assert KEY not in codec.canonical_json(codec.encode_record(stored))
    assert KEY not in codec.encode_state(codec.make_state_storable(replace(NEW_SESSION, run=run, handover_client=KEY)))


def size(body: dict[str, Any]) -> int:
    return len(codec.canonical_json(body).encode())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, "a", None, True), [1, "a", None, True]),
        ({1: (2,)}, {"1": [2]}),
        ({"b", "a"}, ["a", "b"]),
        (StepVerdict.PASS, "pass"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (2**64, "a whole number of 65 bits"),
        (10**5000, "a whole number of 16610 bits"),
        (b"abc", "3 bytes"),
        (object, "<class 'object'>"),
    ],
    ids=lambda value: str(type(value)),
)
def test_anything_becomes_json(value: object, expected: object) -> None:
    """A value that JSON has no form for is described in words."""
    assert expected == codec.to_json_value(value)


def test_depth_is_bounded() -> None:
    """Deeply nested values are cut, with a mark."""
    deep: list[Any] = []
    deep.append(deep)

    assert codec.canonical_json({"x": codec.to_json_value(deep)}).count("[") == 16


def test_items_are_bounded() -> None:
    """Of a long list or mapping, the first items and the number of the omitted ones are kept."""
    assert [0, 1, "… 3 more"] == codec.to_json_value(list(range(5)), max_items=3)
    assert {"0": 0, "1": 1, "…": "3 more"} == codec.to_json_value({str(n): n for n in range(5)}, max_items=3)


@pytest.mark.parametrize(
    "text",
    ["", "s-1", "TEST:2", "仓库 测试", "/home/me/repo", "x" * codec.MAX_TEXT_CHARS, "toolu_01A09q90qw90lq917835lq9"],
)
def test_harmless_texts_are_unchanged(text: str) -> None:
    """A short text without secrets and control characters is stored unchanged."""
    assert text == codec.make_text_storable(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\x1b[31m{KEY}\u202e\ud800", f"{REDACTED}\ufffd"),
        (f"password = {KEY}", "password = <redacted:aws-access-key>"),
        ("x" * 5000, "x" * 3975 + " … [1025 more characters]"),
        ("y" * 40000, "y" * 3974 + " … [36026 more characters]"),
    ],
    ids=["controls", "secret", "long", "very long"],
)
def test_other_texts_change(text: str, expected: str) -> None:
    """Secrets and control characters are removed, and long texts are cut with a mark."""
    assert expected == codec.make_text_storable(text)


@pytest.mark.parametrize("start", [codec.MAX_TEXT_CHARS - 40, codec.MAX_TEXT_CHARS - 10, 32 * 1024 - 12, 32 * 1024 - 1])
@pytest.mark.parametrize("filler", ["x ", "\x1b[0m"])
def test_no_half_secret_is_left_at_a_cut(start: int, filler: str) -> None:
    """A cut never leaves the beginning of a secret."""
    text = (filler * start)[:start] + " " + KEY + " tail" * 2000

    assert KEY[:8] not in codec.make_text_storable(text)


def test_our_own_words_stay() -> None:
    """What upbeat told its user or the model is stored as it was said, without secrets."""
    said = "upbeat: the workflow quick waits for you; the token is ghp_" + "a1B2" * 9
    body = codec.make_storable({"effects": [{"kind": "notify_user", "text": said}], "prompt": said})

    assert "[filtered]" == body["prompt"]
    assert body["effects"][0]["text"].startswith("upbeat: the workflow quick waits for you; the token is <redacted:")


def test_the_name_of_a_field_tells_that_its_value_is_a_secret() -> None:
    """A text under the name of a secret is redacted; a number or a flag is not."""
    body = codec.make_storable(
        {"event_fields": {"api_key": "9f8Kd02mfQ1Zx7", "tokens": 5, "stop_hook_active": False, "key": "DEV"}}
    )

    assert {"api_key": "<redacted:key>", "tokens": 5, "stop_hook_active": False, "key": "DEV"} == body["event_fields"]


@given(st.dictionaries(st.sampled_from(["about", "turn", "event", "session_id", "facts"]), JSON, max_size=5))
def test_fitting_twice_changes_nothing_more(body: dict[str, Any]) -> None:
    """Storing what was stored changes nothing more."""
    once = codec.make_storable(body)

    assert once == codec.make_storable(once)


@given(st.text(max_size=300), st.integers(60, 200))
def test_a_cut_text_tells_its_length(text: str, most: int) -> None:
    """A text that was cut is short enough, is not cut again, and its mark tells how long it was."""
    shown = codec.truncate_with_mark(text, most)

    assert len(shown) <= most
    assert shown == codec.truncate_with_mark(shown, most)
    assert shown == text or codec.original_length(shown) == len(text)


FACT = {"kind": "call_returned", "call_id": "c", "verdict": "fail", "notes": "n" * 3000}


@pytest.mark.parametrize(
    "body",
    [
        {"event_fields": {str(n): "x" * 3000 for n in range(200)}},
        {"event_fields": {"deep": [["y" * 2000] * 50] * 50}},
        {"explanations": [{"component": "p" * 3000, "inputs": {"a": "z" * 3000}}] * 300},
        {"facts": [FACT] * 40},
        {"facts": [FACT] * 10, "effects": [{"kind": "inject_context", "text": "字" * 4000}] * 50},
        {"event": "e" * 9999, "session_id": "s" * 9999, "root": "r" * 9999, "client": "仓" * 9999},
    ],
    ids=["many", "deep", "explanations", "facts", "all", "names"],
)
def test_a_record_is_bounded(body: dict[str, Any]) -> None:
    """A record never exceeds its size limit, and no fact is lost."""
    fitted = codec.make_storable(body)

    assert size(fitted) <= codec.MAX_RECORD_BYTES
    assert len(body.get("facts", [])) == len(fitted.get("facts", []))
    assert fitted == codec.make_storable(fitted)


def test_facts_are_cut_last() -> None:
    """Facts stay complete while there is anything else to cut."""
    fitted = codec.make_storable({"facts": [FACT] * 10, "event_fields": {str(n): "x" * 3000 for n in range(200)}})

    assert [FACT] * 10 == fitted["facts"]
    assert {"…": "171 more"}.items() <= fitted["event_fields"].items()


def chain(*texts: str, previous: str = codec.GENESIS) -> list[codec.Link]:
    links = []
    for seq, text in enumerate(texts, start=1):
        links.append(codec.Link(seq, text, previous, codec.compute_digest(previous, text)))
        previous = links[-1].digest
    return links


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_canonical_text_is_one_text(body: dict[str, object]) -> None:
    """The canonical text does not depend on the order of keys."""
    assert codec.canonical_json(body) == codec.canonical_json(dict(reversed(body.items())))


def test_canonical_text() -> None:
    """Keys are sorted, and there are no spaces and no escapes of letters."""
    assert '{"a":[1,null],"b":"仓"}' == codec.canonical_json({"b": "仓", "a": [1, None]})


def test_a_digest_is_sha256() -> None:
    """The hash of a record is the SHA-256 of the hash before it, a line end and its text."""
    assert hashlib.sha256(b"0" * 64 + b"\n{}").hexdigest() == codec.compute_digest(codec.GENESIS, "{}")


@given(st.lists(st.text(max_size=20), max_size=8))
def test_an_unchanged_chain_is_intact(texts: list[str]) -> None:
    """A chain that was not changed has no break, whatever it begins with."""
    assert codec.find_first_break(chain(*texts), codec.GENESIS) is None
    assert codec.find_first_break(chain(*texts, previous="f" * 64), "f" * 64) is None


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([chain("a", "b")[0], replace(chain("a", "b")[1], text="c")], ChainBreak(2, CHANGED)),
        ([chain("a", "b", "c")[0], chain("a", "b", "c")[2]], ChainBreak(3, NOT_NEXT)),
        (chain("a", "b")[1:], ChainBreak(2, NOT_NEXT)),
        ([*chain("a"), *chain("b")], ChainBreak(1, NOT_NEXT)),
        ([replace(chain("a")[0], digest="0" * 64)], ChainBreak(1, CHANGED)),
    ],
    ids=["changed", "taken out", "first gone", "put in", "other hash"],
)
def test_breaks_of_a_chain(links: list[codec.Link], expected: ChainBreak) -> None:
    """The first link that does not fit is named, with the reason."""
    assert expected == codec.find_first_break(links, codec.GENESIS)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6), st.data())
def test_any_change_of_a_text_breaks_the_chain(texts: list[str], data: st.DataObject) -> None:
    """A changed text is found at its record."""
    links = chain(*texts)
    index = data.draw(st.integers(0, len(links) - 1))
    links[index] = replace(links[index], text=links[index].text + "x")

    assert ChainBreak(index + 1, CHANGED) == codec.find_first_break(links, codec.GENESIS)
