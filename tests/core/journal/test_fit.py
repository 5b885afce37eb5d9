"""What is stored is JSON, clean and bounded; fitting twice changes nothing more."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.core.journal.chain import canonical
from upbeat.core.journal.fit import MAX_BODY, MAX_TEXT, cut, fit, fit_text, plain
from upbeat.core.workflow.verdict import Verdict

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"
REDACTED = "<redacted:aws-access-key>"


def size(body: dict[str, Any]) -> int:
    return len(canonical(body).encode())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, "a", None, True), [1, "a", None, True]),
        ({1: (2,)}, {"1": [2]}),
        ({"b", "a"}, ["a", "b"]),
        (Verdict.PASS, "pass"),
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
    assert expected == plain(value)


def test_depth_is_bounded() -> None:
    """A value without bottom becomes one with a mark."""
    deep: list[Any] = []
    deep.append(deep)

    assert canonical({"x": plain(deep)}).count("[") == 16


def test_items_are_bounded() -> None:
    """Of a long list or mapping the first items are kept, and how many are gone."""
    assert [0, 1, "… 3 more"] == plain(list(range(5)), most=3)
    assert {"0": 0, "1": 1, "…": "3 more"} == plain({str(n): n for n in range(5)}, most=3)


@pytest.mark.parametrize(
    "text", ["", "s-1", "TEST:2", "仓库 测试", "/home/me/repo", "x" * MAX_TEXT, "toolu_01A09q90qw90lq917835lq9"]
)
def test_harmless_texts_stay(text: str) -> None:
    """A text without secrets and controls that is not long stays as it is."""
    assert text == fit_text(text)


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
    assert expected == fit_text(text)


@pytest.mark.parametrize("start", [MAX_TEXT - 40, MAX_TEXT - 10, 32 * 1024 - 12, 32 * 1024 - 1])
@pytest.mark.parametrize("filler", ["x ", "\x1b[0m"])
def test_no_half_secret_is_left_at_a_cut(start: int, filler: str) -> None:
    """Where a text is cut there is not the beginning of a secret."""
    text = (filler * start)[:start] + " " + KEY + " tail" * 2000

    assert KEY[:8] not in fit_text(text)


def test_a_telling_name_makes_its_value_a_secret() -> None:
    """A value under the name of a secret is one; a number or a flag is none."""
    body = fit({"about": {"api_key": "9f8Kd02mfQ1Zx7", "tokens": 5, "stop_hook_active": False, "key": "DEV"}})

    assert {"api_key": "<redacted:key>", "tokens": 5, "stop_hook_active": False, "key": "DEV"} == body["about"]


@given(st.dictionaries(st.sampled_from(["about", "turn", "event", "session_id", "facts"]), JSON, max_size=5))
def test_fitting_twice_changes_nothing_more(body: dict[str, Any]) -> None:
    """What was stored once may be stored again."""
    once = fit(body)

    assert once == fit(once)


@given(st.text(max_size=60), st.integers(30, 80))
def test_cutting_twice_changes_nothing_more(text: str, most: int) -> None:
    """A text that was cut is short enough."""
    assert len(cut(text, most)) <= most
    assert cut(text, most) == cut(cut(text, most), most)


FACT = {"kind": "call_returned", "call_id": "c", "verdict": "fail", "notes": "n" * 3000}


@pytest.mark.parametrize(
    "body",
    [
        {"about": {str(n): "x" * 3000 for n in range(200)}},
        {"about": {"deep": [["y" * 2000] * 50] * 50}},
        {"said": [{"part": "p" * 3000, "looked_at": {"a": "z" * 3000}}] * 300},
        {"facts": [FACT] * 40},
        {"facts": [FACT] * 10, "effects": [{"kind": "inject", "text": "字" * 4000}] * 50},
        {"event": "e" * 9999, "session_id": "s" * 9999, "root": "r" * 9999, "client": "仓" * 9999},
    ],
    ids=["many", "deep", "said", "facts", "all", "names"],
)
def test_a_record_is_bounded(body: dict[str, Any]) -> None:
    """However much comes in, a record stays within its bytes, and no fact is lost."""
    fitted = fit(body)

    assert size(fitted) <= MAX_BODY
    assert len(body.get("facts", [])) == len(fitted.get("facts", []))
    assert fitted == fit(fitted)


def test_the_rest_is_cut_before_the_facts() -> None:
    """Facts stay whole while there is anything else to cut."""
    fitted = fit({"facts": [FACT] * 10, "about": {str(n): "x" * 3000 for n in range(200)}})

    assert [FACT] * 10 == fitted["facts"]
    assert {"…": "171 more"}.items() <= fitted["about"].items()
