"""What is stored is JSON, clean and bounded; fitting twice changes nothing more."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.core.journal.chain import canonical_json
from upbeat.core.journal.fit import (
    MAX_RECORD_BYTES,
    MAX_TEXT_CHARS,
    make_storable,
    make_text_storable,
    to_json_value,
    truncate_with_mark,
)
from upbeat.core.workflow.state import StepVerdict

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
REDACTED = "<redacted:aws-access-key>"


def size(body: dict[str, Any]) -> int:
    return len(canonical_json(body).encode())


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
    """What JSON has no form for is told in words."""
    assert expected == to_json_value(value)


def test_depth_is_bounded() -> None:
    """A value without bottom becomes one with a mark."""
    deep: list[Any] = []
    deep.append(deep)

    assert canonical_json({"x": to_json_value(deep)}).count("[") == 16


def test_items_are_bounded() -> None:
    """Of a long list or mapping the first items are kept, and how many are gone."""
    assert [0, 1, "… 3 more"] == to_json_value(list(range(5)), max_items=3)
    assert {"0": 0, "1": 1, "…": "3 more"} == to_json_value({str(n): n for n in range(5)}, max_items=3)


@pytest.mark.parametrize(
    "text", ["", "s-1", "TEST:2", "仓库 测试", "/home/me/repo", "x" * MAX_TEXT_CHARS, "toolu_01A09q90qw90lq917835lq9"]
)
def test_harmless_texts_stay(text: str) -> None:
    """A text without secrets and controls that is not long stays as it is."""
    assert text == make_text_storable(text)


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
    """Secrets and controls are taken out, long texts cut with a mark."""
    assert expected == make_text_storable(text)


@pytest.mark.parametrize("start", [MAX_TEXT_CHARS - 40, MAX_TEXT_CHARS - 10, 32 * 1024 - 12, 32 * 1024 - 1])
@pytest.mark.parametrize("filler", ["x ", "\x1b[0m"])
def test_no_half_secret_is_left_at_a_cut(start: int, filler: str) -> None:
    """Where a text is cut there is not the beginning of a secret."""
    text = (filler * start)[:start] + " " + KEY + " tail" * 2000

    assert KEY[:8] not in make_text_storable(text)


def test_a_telling_name_makes_its_value_a_secret() -> None:
    """A value under the name of a secret is one; a number or a flag is none."""
    body = make_storable(
        {"event_fields": {"api_key": "9f8Kd02mfQ1Zx7", "tokens": 5, "stop_hook_active": False, "key": "DEV"}}
    )

    assert {"api_key": "<redacted:key>", "tokens": 5, "stop_hook_active": False, "key": "DEV"} == body["event_fields"]


@given(st.dictionaries(st.sampled_from(["about", "turn", "event", "session_id", "facts"]), JSON, max_size=5))
def test_fitting_twice_changes_nothing_more(body: dict[str, Any]) -> None:
    """What was stored once may be stored again."""
    once = make_storable(body)

    assert once == make_storable(once)


@given(st.text(max_size=60), st.integers(30, 80))
def test_cutting_twice_changes_nothing_more(text: str, most: int) -> None:
    """A text that was cut is short enough."""
    assert len(truncate_with_mark(text, most)) <= most
    assert truncate_with_mark(text, most) == truncate_with_mark(truncate_with_mark(text, most), most)


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
    """However much comes in, a record stays within its bytes, and no fact is lost."""
    fitted = make_storable(body)

    assert size(fitted) <= MAX_RECORD_BYTES
    assert len(body.get("facts", [])) == len(fitted.get("facts", []))
    assert fitted == make_storable(fitted)


def test_the_rest_is_cut_before_the_facts() -> None:
    """Facts stay whole while there is anything else to cut."""
    fitted = make_storable({"facts": [FACT] * 10, "event_fields": {str(n): "x" * 3000 for n in range(200)}})

    assert [FACT] * 10 == fitted["facts"]
    assert {"…": "171 more"}.items() <= fitted["event_fields"].items()
