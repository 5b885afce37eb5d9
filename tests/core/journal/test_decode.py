"""Values come back as the dataclasses that they were written from, or the problem is named."""

from __future__ import annotations

from enum import StrEnum

import pytest

from upbeat.core.journal.decode import decode_as
from upbeat.core.lazy_dataclass import dataclass, field


class Size(StrEnum):
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Whole:
    count: int
    size: Size = Size.SMALL
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    names: tuple[str, ...] = field(default_factory=tuple)
    is_new: bool = False


def test_a_value_comes_back() -> None:
    """Nested objects, lists and enums have their types; a whole number is read where a fraction may be."""
    value = {"count": 2, "size": "small", "part": {"name": "a", "weight": 2}, "parts": [{"name": "b"}], "names": ["c"]}

    assert Whole(2, Size.SMALL, Part("a", 2.0), (Part("b"),), ("c",)) == decode_as(Whole, value)
    assert isinstance(decode_as(Part, {"name": "a", "weight": 2}).weight, float)


def test_what_is_missing_has_its_default_and_what_is_unknown_is_left_out() -> None:
    """Older and newer versions write other fields."""
    assert Whole(1) == decode_as(Whole, {"count": 1, "color": "red", "part": None})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "all of it: expected an object"),
        ({}, "count: missing"),
        ({"count": True}, "count: expected int, got bool"),
        ({"count": "1"}, "count: expected int, got str"),
        ({"count": 1, "size": "huge"}, "size: no Size"),
        ({"count": 1, "part": {"name": 5}}, "part.name: expected str, got int"),
        ({"count": 1, "parts": [{"name": "a"}, {}]}, "parts.1.name: missing"),
        ({"count": 1, "names": "abc"}, "names: expected a list"),
        ({"count": 1, "is_new": 1}, "is_new: expected bool, got int"),
    ],
)
def test_another_form_is_an_error(value: object, problem: str) -> None:
    """The error names the place and not the value."""
    with pytest.raises(ValueError, match=problem):
        decode_as(Whole, value)
